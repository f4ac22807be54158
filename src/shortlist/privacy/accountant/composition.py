"""Stages composed: the delta that they leave at an epsilon, bounded from above and from below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import gaussian_curve, zcdp_delta
from shortlist.privacy.accountant._loss_grid import is_feasible
from shortlist.privacy.accountant._value_functions import (
    both_directions,
    valuation,
    values_at_epsilon,
    worst,
)
from shortlist.privacy.accountant.items_of_one_user import (
    Cases,
    ItemsByThreshold,
    ItemsOfOneUser,
    ThresholdDelta,
)
from shortlist.privacy.accountant.stages import (
    LossStage,
    Stages,
    as_stages,
    farthest_of,
    is_gaussian,
    lost_of,
    mu_of,
    n_branches,
    names_own_items,
    operations_of,
    rho_of,
    with_loss,
    without_losses,
    without_pure_ways,
)
from shortlist.privacy.rounding import round_up

Set: TypeAlias = ThresholdDelta | ItemsOfOneUser | None

_BRANCHES = 4
_REMEMBERED = 512  # deltas, which take milliseconds each: one calibration needs about 30
_LEAST = 1e-300  # added to every delta that is not 0: what underflows may have been there
_NOTHING = 1e-290  # a delta that is not worth a grid


@dataclass(frozen=True)
class Composition:
    """The stages of one mechanism, of kinds that are fixed beforehand.

    Which mechanism of its kind a stage is may depend on what the stages before it released.

    Neighbours are a table and the same without one user, in either role. Proof note:
    `docs/proofs/accountant.md`.

    Attributes:
        stages: In the order in which they run; what follows a branch follows both ways.
        own_items: The items that one user alone may hold, or mass that is lost; None where there is
            neither.

    >>> from shortlist.privacy.accountant import BoundedRange
    >>> twenty = Composition((BoundedRange(0.1065, times=20),))
    >>> round(twenty.delta(1.0) * 1e6, 2)
    0.95
    """

    stages: Stages
    own_items: Set = None

    def __post_init__(self) -> None:
        if n_branches(self.stages) > _BRANCHES:  # each doubles what is to be computed
            raise InputError("there are more than {n} branches", n=_BRANCHES)

    @cached_property
    def merged(self) -> Stages:
        """The stages that do anything, neighbours of one kind as one."""
        return as_stages(self.stages)

    @cached_property
    def _kept(self) -> Stages:
        return without_losses(self.merged)

    @cached_property
    def _always_lost(self) -> float:
        return lost_of(tuple(stage for stage in self.merged if isinstance(stage, LossStage)))

    @cached_property
    def rho(self) -> float:
        """Its zCDP, rounded up."""
        return round_up(rho_of(self.merged))

    @property
    def lost(self) -> float:
        """The mass that its zCDP leaves out: the probability to name an item of one user alone."""
        if isinstance(self.own_items, ItemsOfOneUser):
            own = float(self.own_items.cases.lost[-1])
        else:
            own = 0.0 if self.own_items is None else self.own_items.delta
        inside = names_own_items(self.merged)
        in_stages = lost_of(with_loss(self.merged, own if inside else 0.0))
        return in_stages + (0.0 if inside else own)

    @cached_property
    def is_feasible(self) -> bool:
        """Whether the worst case is computed on a grid; else `delta` is that of zCDP."""
        return is_feasible(self._kept)

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019 - numbers alone are kept, and few
    def delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        """The least delta known for this epsilon, rounded up.

        Args:
            epsilon: The epsilon of the guarantee, at least 0.
            fineness: How fine the grid is; the result is too large by a share that falls with the
                square of it.
        """
        if not 0 <= epsilon < math.inf:
            raise InputError("must be at least 0", given={"epsilon": epsilon})
        if isinstance(self.own_items, ItemsOfOneUser):
            return self._worst(self.own_items, self.own_items.cases, epsilon, fineness)
        known = self._by_zcdp(epsilon, self.lost)
        if not self._is_worth_a_grid(epsilon) or epsilon >= self._farthest:
            return known
        lost = self._always_lost + (0.0 if self.own_items is None else self.own_items.delta)
        stages = without_pure_ways(with_loss(self._kept, 0.0), epsilon)
        value = lost + values_at_epsilon(stages, epsilon, fineness, self.rho).value(1.0, 0.0)
        return min(value * (1 + self._rounding) + _LEAST, known)

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019 - numbers alone are kept, and few
    def own_items_delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        """As `delta`, for users only who hold an item that nobody else holds."""
        if not isinstance(self.own_items, ItemsOfOneUser):
            return 0.0
        shared, lost = self.own_items.cases
        cases = Cases(shared[lost > 0], lost[lost > 0])
        return self._worst(self.own_items, cases, epsilon, fineness)

    def _worst(self, own: ItemsOfOneUser, cases: Cases, epsilon: float, fineness: float) -> float:
        if not len(cases.lost):
            return 0.0
        known = self._by_zcdp(epsilon, self.lost)
        if not self._is_worth_a_grid(epsilon):
            return known
        readings = values_at_epsilon(self._kept, epsilon, fineness, self.rho)
        value = worst(cases, readings.value if own.by_coin else readings.value_beside)
        value += self._always_lost
        return min(value * (1 + self._rounding) + _LEAST, known)

    def least_delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        """A lower bound of the true worst case, by the same code with everything rounded down."""
        # Of users with items of their own, some cases are enough for a lower bound: those who share
        # nothing, those who share everything, and one between.
        if not self._is_worth_a_grid(epsilon):
            return 0.0
        if not isinstance(self.own_items, ItemsByThreshold):
            # Nothing is known of the mass that is lost: perhaps there is none.
            return self._least(epsilon, 1.0, 0.0, fineness)
        cases = self.own_items.cases
        some = {0, len(cases.shared) // 2, len(cases.shared) - 1}
        return max(self._least(epsilon, cases.shared[i], cases.lost[i], fineness) for i in some)

    def _least(self, epsilon: float, shared: float, lost: float, fineness: float) -> float:
        # The coin moves epsilon instead of the loss, which is the same.
        if lost >= 1:
            return 1.0

        def value(moved: float) -> float:
            rest = epsilon - moved
            if is_gaussian(self._kept):
                return float(gaussian_curve(rest, mu_of(self._kept, shared), up=False))
            stages = without_pure_ways(with_loss(self._kept, 0.0), rest)
            values = valuation(stages, rest, fineness, self.rho, 0.0, up=False)
            profile = values.value(stages, shared)
            return float(profile.values[-profile.first])

        return max(both_directions(value, lost) * (1 - self._rounding) - _LEAST, 0.0)

    def _is_worth_a_grid(self, epsilon: float) -> bool:
        return self.is_feasible and zcdp_delta(self.rho, epsilon) > _NOTHING

    @cached_property
    def _farthest(self) -> float:
        return math.inf if math.isinf(far := farthest_of(self.merged)) else round_up(Fraction(far))

    def _by_zcdp(self, epsilon: float, lost: float) -> float:
        rest = 0.0 if epsilon >= self._farthest else zcdp_delta(self.rho, epsilon)
        return min((lost + rest) * (1 + 2.0**-50), 1.0)

    @cached_property
    def _rounding(self) -> float:
        """A bound of the relative rounding error of all floats; see the proof note."""
        if is_gaussian(self._kept):
            return 2.0**-44
        return 1e-10 + 2.0**-52 * operations_of(self._kept)
