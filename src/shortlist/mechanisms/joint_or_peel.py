"""A private choice between JOINT and peeling: whichever suits the gaps between the counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shortlist import privacy
from shortlist.algorithms.grouping import Groups
from shortlist.algorithms.slack import SlackWeights
from shortlist.draws import Draws, Floats
from shortlist.draws.reals import ULP
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.accounting import Accounting, alone
from shortlist.mechanisms.base import Mechanism, Selection, picked_in_turn
from shortlist.mechanisms.joint import as_a_whole, draw_joint
from shortlist.mechanisms.peeling import first, odds, pick, picks
from shortlist.mechanisms.permute_and_flip import flip
from shortlist.parameters import Delta, Epsilon, Share, Whole
from shortlist.privacy import Cost, Pure, round_down
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    PureStage,
    Stage,
)
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import divide_down, largest, subtract_down

if TYPE_CHECKING:
    from flint import arb

__all__ = ["JointOrPeel"]

_WITH_DELTA, _PURE = 40, 80  # where the choice switches; measured, see bench/results/choice.md
_EDGE = 1.05  # at equal parameters permute-and-flip errs about half as often


@dataclass(frozen=True, kw_only=True)
class JointOrPeel(Mechanism):
    """Top-k of public items, the default: `Joint` where few sequences compete, else one by one.

    Where the gaps between the largest counts are wide, JOINT is exact and peeling errs; where they
    are narrow, very many sequences have about the same slack, and JOINT draws any of them. The
    logarithm of JOINT's normaliser says how many compete. A small share of epsilon compares it,
    with Laplace noise, with a threshold; the rest goes to the mechanism that was chosen. The other
    one is `Peeling`, or `PermuteAndFlip` where delta is 0 or k so small that delta buys nothing.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of the
    choice and of whichever way follows. The choice is choice_share of epsilon, pure; `Joint` is
    pure with the rest; the picks get what (epsilon, delta) leaves beside the choice.

    Source: Gillenwater et al. (2022) for JOINT and peeling; the choice is ours. Proof notes:
    `docs/proofs/joint-or-peel.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In [0, 1); with 0 the guarantee is pure, and for so few items that it buys nothing.
        choice_share: The choice's share of epsilon. Its default and the threshold's were measured,
            see `bench/results/choice.md`.
        threshold: Items are picked one by one where the noisy logarithm of the number of competing
            sequences is at least this; None for 40 where a delta is used, and 80 where not.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = JointOrPeel(k=20, epsilon=1.0, delta=1e-6)
    >>> mechanism.joint_epsilon, round(mechanism.local_epsilon, 4)
    (0.95, 0.1045)
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    choice_share: Share = 0.05
    threshold: Whole | None = None
    accounting: Accounting = Accounting.EXACT

    evidence: ClassVar[type] = PublicCounts
    derived: ClassVar[tuple[str, ...]] = (
        "choice_epsilon",
        "switch_at",
        "joint_epsilon",
        "local_epsilon",
    )

    @cached_property
    def choice_epsilon(self) -> float:
        """The epsilon of the choice."""
        return self.epsilon * self.choice_share

    @cached_property
    def joint_epsilon(self) -> float:
        """The epsilon of JOINT, if it is chosen."""
        return subtract_down(self.epsilon, self.choice_epsilon)

    @property
    def switch_at(self) -> int:
        """The threshold, with its default."""
        if self.threshold is not None:
            return self.threshold
        return _PURE if self.flips else _WITH_DELTA

    @cached_property
    def _pure_epsilon(self) -> float:
        return divide_down(self.joint_epsilon, self.k)

    @cached_property
    def _composed_epsilon(self) -> float:
        """The parameter of k picks by the exponential mechanism, composed with the choice."""
        choice = Pure(self.choice_epsilon)
        by_rho = largest(
            lambda e: choice + Pure.bounded_range(e) * self.k,
            epsilon=self.epsilon,
            delta=self.delta,
        )
        stages = Composition(self._stages(by_rho))
        if self.accounting is Accounting.ZCDP or not stages.is_feasible:
            return by_rho  # the way of JOINT, which is pure, is left out there
        return largest_within(self._stages, epsilon=self.epsilon, delta=self.delta, by_rho=by_rho)

    def _stages(self, local_epsilon: float) -> tuple[Stage, ...]:
        """The choice and the picks: what follows it instead, `Joint`, is pure."""
        joint = BoundedRange(self.joint_epsilon)
        one_by_one = BoundedRange(local_epsilon, self.k)
        return PureStage(self.choice_epsilon), EitherStage((joint,), (one_by_one,))

    @cached_property
    def flips(self) -> bool:
        """Whether items are picked by permute-and-flip: unless a delta makes up for its edge."""
        return self.delta == 0 or self._composed_epsilon <= _EDGE * self._pure_epsilon

    @property
    def local_epsilon(self) -> float:
        """The parameter of each pick, if items are picked one by one."""
        return self._pure_epsilon if self.flips else self._composed_epsilon

    @cached_property
    def slope(self) -> float:
        """One over the scale of the choice's noise.

        The normaliser's logarithm moves by at most joint_epsilon / 2.
        """
        return round_down(2 * Fraction(self.choice_epsilon) / Fraction(self.joint_epsilon))

    @cached_property
    def cost(self) -> Cost:
        """The choice, and the larger of what may follow it."""
        one = Pure if self.flips else Pure.bounded_range
        one_by_one = one(self.local_epsilon) * self.k
        by_rho = Pure(self.choice_epsilon) + privacy.max(
            Pure.bounded_range(self.joint_epsilon), one_by_one
        )
        if self.flips:
            return by_rho
        composition = Composition(self._stages(self.local_epsilon))
        return alone(self.accounting, composition, by_rho, self.epsilon)

    def explain(self) -> list[str]:
        """The choice and both ways in plain words."""
        choice = (
            f"First, {self.choice_epsilon:.3g} of epsilon tells, with noise of scale "
            f"{1 / self.slope:.3g}, whether the logarithm of the number of competing sequences "
            f"reaches {self.switch_at}."
        )
        name = "permute-and-flip" if self.flips else "the exponential mechanism"
        one_by_one = f"If so, {picked_in_turn(self.k)} by {name}: "
        whole = as_a_whole(self.k, self.joint_epsilon)
        one_by_one += odds(self.local_epsilon)
        return [choice, f"If not, a{whole[1:]}", one_by_one, *self.unused]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items, best first (all, if there are fewer), and which way they were drawn."""
        k = min(self.k, len(evidence.counts))
        if k == 0:
            return Selection(np.empty(0, np.int64))
        groups = Groups.of(evidence.counts)
        weights = SlackWeights.of(groups, k, self.joint_epsilon / 2)
        crowded = draws.coin(_Crowded(weights, self.slope, self.switch_at))[0]
        if not crowded:
            return Selection(draw_joint(weights, draws), branch="as a whole")
        way = partial(flip if self.flips else pick, self.local_epsilon)
        picked = picks(groups.values, groups.sizes, way, draws)
        return Selection(groups.draw_members(first(k, picked), draws), branch="one by one")


@dataclass(frozen=True)
class _Crowded:
    """P(ln Z + Laplace noise of scale 1/slope >= threshold), Z the normaliser of JOINT.

    Attributes:
        weights: Their sum, times exp(shift), is Z.
        slope: Above 0.
        threshold: A whole number.
    """

    weights: SlackWeights
    slope: float
    threshold: int

    def __len__(self) -> int:
        return 1

    def approximate(self) -> tuple[Floats, Floats]:
        """The chance moves by at most half as much as its argument."""
        log_sum, error = self.weights.log_sum()
        x = (log_sum + self.weights.shift - self.threshold) * self.slope
        rounding = 8 * ULP * (abs(log_sum) + abs(self.weights.shift) + self.threshold)
        tail = np.exp(-abs(x)) / 2
        chance = np.array([1 - tail if x > 0 else tail])
        return chance, np.array([self.slope * (error + rounding) + 8 * ULP])

    def ball(self, i: int) -> arb:  # noqa: ARG002 - there is one
        """The chance; where the argument's sign is open, both of its forms."""
        from flint import arb

        total = sum((self.weights.ball(j) for j in range(len(self.weights))), arb(0))
        log_z = total.log() + arb(self.weights.shift)
        x = (log_z - self.threshold) * arb(self.slope)
        below, above = x.exp() / 2, 1 - (-x).exp() / 2
        if x > 0:
            return above
        return below if x < 0 else below.union(above)
