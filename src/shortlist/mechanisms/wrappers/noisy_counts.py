"""A selection, and a noisy count of each selected item from a share of the budget."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from shortlist.draws import Draws, Floats, Ints, Order
from shortlist.draws.noise import Laplace, Normal
from shortlist.errors import InputError
from shortlist.evidence import UserSets, Wants, WeightedHistogram
from shortlist.mechanisms.mechanism import (
    ADD_OR_REMOVE,
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    require_bounded,
    score_digits,
)
from shortlist.mechanisms.wrappers._floor import Floor, FoundAndCounted
from shortlist.mechanisms.wrappers._wrapper import Counted
from shortlist.parameters import Delta, Epsilon, Share, Whole
from shortlist.privacy import (
    ZCDP,
    Approximate,
    Composed,
    Cost,
    Either,
    Gaussian,
    Pure,
    round_down,
    round_up,
)
from shortlist.privacy.accountant import GaussianStage, PureStage
from shortlist.privacy.accountant.fitting import largest_after
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma
from shortlist.privacy.composed import composition_of

if TYPE_CHECKING:
    from shortlist.mechanisms.finding import Detection

# Where one user changes more counts, normal noise is smaller than Laplace noise.
_FEW_COUNTS = 4
MOST_SD_OF_AMOUNTS = 2.0**20
"""Of noisy amounts, in caps, of which each has 2^20 steps: for the reason below."""
# Noise of this standard deviation reaches 2^53, where floats are coarse, with probability e^-700.
MOST_SD = 2.0**44


class InNoise(Mechanism):
    """A mechanism whose scores are counts in noise of their own, rounded to whole numbers."""

    derived: ClassVar[tuple[str, ...]] = ("count_noise", "count_sd", "count_shared_sd")
    score_unit: ClassVar[str | None] = "noisy count"

    @property
    @abstractmethod
    def _best(self) -> PricedNoise:
        """The noise, by public parameters."""

    @property
    def cost(self) -> Cost:
        return self._best.cost

    @property
    def count_noise(self) -> str:
        """The noise's law before rounding."""
        return type(self._best.noise).__name__

    @property
    def count_sd(self) -> float:
        """The standard deviation of the rounded noise of a count."""
        return self._best.of_each.rounded_sd

    @property
    def count_shared_sd(self) -> float | None:
        """The standard deviation of the part of it that all counts share; None if none is."""
        shared = self._best.shared
        return None if shared is None else shared.sd

    @property
    def noise_varies(self) -> bool:
        return False

    def _explained_noise(self, counts: str) -> str:
        """How much noise such counts have, in a sentence or two."""
        noise = (
            f"{counts} is published with noise of standard deviation "
            f"{self.count_sd:.3g} ({self.count_noise}, rounded)."
        )
        return " ".join([noise, *self._explained_shared("counts")])

    def _explained_shared(self, counts: str) -> list[str]:
        """How much of the noise all such numbers share, in a sentence."""
        if self.count_shared_sd is None:
            return []
        shared = (
            f"A part of it, of standard deviation {self.count_shared_sd:.3g}, is the same for "
            f"all {counts}: it cancels in differences and adds up in sums."
        )
        return [shared]

    def _noisy(self, counts: Ints, draws: Draws, unit: float = 1.0) -> Floats:
        return draws.order(self._order(counts, unit)).by_position()

    def _order(self, counts: Ints, unit: float = 1.0) -> Order:
        noise, _, shared = self._best
        digits = 0 if unit == 1 else score_digits(self._best.sd) + 1
        return Order(counts, [noise], shared=shared, unit=unit, digits=digits)


class CountedInNoise(InNoise, Counted):
    """A selection, and after it numbers in noise of their own, for what it leaves of the budget."""

    @property
    @abstractmethod
    def _changed(self) -> int:
        """What one user changes in the numbers at most: the sum of all changes."""

    @abstractmethod
    def _laid(self, mu: float) -> CorrelatedNoise:
        """Normal noise with which the numbers are mu-Gaussian-private."""

    @cached_property
    def _best(self) -> PricedNoise:
        """The way with the least noise, for its price; a choice by public parameters."""
        return min(self._ways(), key=self._loudness)

    def _loudness(self, way: PricedNoise) -> float:
        """How much noise there is: for what all costs in zCDP, where that is what adds up."""
        sd = way.of_each.rounded_sd
        in_zcdp = getattr(self.selection, "accounting", None) is Accounting.ZCDP
        return sd * math.sqrt(way.cost.rho) if in_zcdp else sd

    def _ways(self) -> Iterator[PricedNoise]:
        yield from self._added_up()
        yield from self._by_guarantees()
        if self._has_stages:
            yield from self._after_stages()

    def _added_up(self) -> Iterator[PricedNoise]:
        """Noise whose cost is added to the selection's."""
        before, changed = self.selection.cost, self._changed
        rate = self._largest(lambda rate: before + Pure(rate) * changed)
        scale = round_up(1 / Fraction(rate))
        rate = round_up(1 / Fraction(scale))
        yield PricedNoise(Laplace(scale), before + Pure(rate) * changed)
        if self.delta > 0 and not isinstance(before, Approximate) and (rho := self._rho_left):
            yield self._normal(rho, before + ZCDP(rho))

    def _by_guarantees(self) -> Iterator[PricedNoise]:
        """Noise for the epsilon and the delta that are left: both guarantees add up."""
        if self.delta == 0:
            return
        epsilon, delta = self._left
        scale = round_up(self._changed / Fraction(epsilon))
        each = Pure(round_up(1 / Fraction(scale))) * self._changed
        yield PricedNoise(Laplace(scale), self._beside_guarantee(epsilon, 0.0, each))
        rho = gaussian_rho(epsilon=epsilon, delta=delta)
        yield self._normal(rho, self._beside_guarantee(epsilon, delta, ZCDP(rho)))

    def _after_stages(self) -> Iterator[PricedNoise]:
        """As one stage more of a selection that is known by its worst case, or pure."""
        before, changed = self.selection.cost, self._changed
        stages = composition_of(before)
        known = isinstance(before, Composed | Pure | Either | Gaussian)
        if self.delta == 0 or stages is None or not known:
            return
        budget = self.epsilon, self.delta
        mu = largest_after(stages, GaussianStage, epsilon=budget[0], delta=budget[1])
        if mu > 0:
            rho = ZCDP(round_up(Fraction(mu) ** 2 / 2))
            yield self._gaussian(mu, self._followed_by((GaussianStage(mu),), stages, rho))
        if changed > _FEW_COUNTS:
            return
        each = partial(PureStage, times=changed)
        rate = largest_after(stages, each, epsilon=budget[0], delta=budget[1])
        if rate > 0:
            scale = round_up(1 / Fraction(rate))
            rate = round_up(1 / Fraction(scale))
            cost = self._followed_by((each(rate),), stages, Pure(rate) * changed)
            yield PricedNoise(Laplace(scale), cost)

    def _normal(self, rho: float, cost: Cost) -> PricedNoise:
        return self._gaussian(round_down(1 / Fraction(gaussian_sigma(rho))), cost)

    def _gaussian(self, mu: float, cost: Cost) -> PricedNoise:
        noise = self._laid(mu)
        return PricedNoise(Normal(noise.own), cost, Normal(noise.shared) if noise.shared else None)


@dataclass(frozen=True, kw_only=True)
class NoisyCounts(CountedInNoise):
    """Another mechanism's selection, each item with its count in fresh noise, a whole number.

    The noise is continuous, Laplace or normal, whichever is smaller, and what is released is the
    count plus noise, rounded exactly to a whole number. Where neighbours add or remove a user, who
    moves all counts the same way, a part of normal noise is the same for all counts, so that less
    noise is enough. It cancels in differences between counts, and adds up in their sum.

    Guarantee: (epsilon, delta)-DP by composition. count_share of epsilon and delta is withheld from
    the selection; the counts get all that the selection does not use. One user is in at most min(k,
    max_items_per_user) of the selected counts, once in each; in up to k, where the selection looks
    at weights or at users' sets, beside which counts are of all that a user holds.

    Source: composition, `docs/proofs/costs.md`. Proof note: `docs/proofs/noisy-counts.md`.

    Attributes:
        selection: The mechanism that selects.
        k: How many items it selects at most.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
        max_items_per_user: In how many counts one user is at most; None if there is no bound.
        min_users: How many users an item has to have to be named, as far as its noisy count says;
            None for any number.
    """

    selection: Mechanism
    k: Whole
    epsilon: Epsilon
    delta: Delta
    count_share: Share
    max_items_per_user: Whole | None = None
    min_users: Whole | None = None

    def __post_init__(self) -> None:
        most = self.selection.parameters().get("k")
        if not isinstance(most, int) or most > self.k:
            raise InputError("its selection may name more items", given={"k": self.k})
        super().__post_init__()
        self._require_useful_counts(self.count_sd, MOST_SD)

    @property
    def evidence(self) -> type:  # type: ignore[override]
        return self.selection.evidence

    @property
    def reads_unit(self) -> bool:  # type: ignore[override]
        return self.selection.reads_unit and self.min_users is None

    @property
    def wants(self) -> Wants:
        wants = self.selection.wants
        if issubclass(wants.kind, UserSets):
            return wants
        # All items are shown, also those of little weight: the counts of any may be needed.
        bounds = [b for b in (wants.bound, self.max_items_per_user) if b is not None]
        return Wants(wants.kind, min(bounds, default=None))

    @property
    def _changed(self) -> int:
        """How many of the selected counts one user can change.

        Those beside weights and users' sets are of all that a user holds.
        """
        whole = issubclass(self.evidence, WeightedHistogram | UserSets)
        bounded = self.adjacency == ADD_OR_REMOVE and not whole
        bound = self.max_items_per_user if bounded else None
        return self.k if bound is None else min(self.k, bound)

    def _laid(self, mu: float) -> CorrelatedNoise:
        """Normal noise with which the counts are mu-Gaussian-private."""
        if self.adjacency == ADD_OR_REMOVE:
            return least_correlated(mu, k=self.k, m=self._changed)
        return independent(mu, m=self._changed)

    def audit_hints(self) -> AuditHints:
        inner = self.selection.audit_hints()
        bounds = [b for b in (inner.user_bound, self.max_items_per_user) if b is not None]
        return replace(
            inner,
            most_items=self.k,
            user_bound=min(bounds, default=None),
            score_sd=self.count_sd,
            inner=self.selection,
            coarse=None if inner.coarse is None else replace(self, selection=inner.coarse),
        )

    def _explained_counts(self) -> list[str]:
        noise = self._explained_noise("Each selected item's count")
        floor = self._floor
        return [noise] if floor is None else [noise, *floor.explained()]

    def _told_of_floor(self, min_users: int) -> dict[str, object]:
        floor = Floor.of(self._best.of_each, min_users)
        return {"min_users": min_users, "kept_from": floor.kept_from}

    @property
    def _floor(self) -> Floor | None:
        if self.min_users is None:
            return None
        return Floor.of(self._best.of_each, self.min_users)

    @property
    def finding(self) -> Detection | None:
        found, floor = super().finding, self._floor
        if found is None or floor is None:
            return found
        return FoundAndCounted(found, floor, self._best.of_each)

    def select(self, evidence: Any, draws: Draws) -> Selection:
        """The selection, with noisy counts as its scores; of it what reaches the floor."""
        if not issubclass(self.evidence, UserSets):
            require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        selection = self.selection.select(evidence, draws)
        positions, counts = selection.positions, evidence.counts[selection.positions]
        unit = evidence.unit if self.reads_unit else 1.0
        if (floor := self._floor) is None:
            scores = self._noisy(counts, draws, unit)
        else:
            least = np.full(len(counts), floor.least)
            found = draws.order(replace(self._order(counts), at_least=least))
            as_before = found.positions.argsort()
            positions, scores = positions[found.positions[as_before]], found.values[as_before]
        return selection._replace(
            positions=positions,
            scores=scores,
            noise_sd=self.count_sd if unit == 1 else self._best.sd,
            shared_sd=self.count_shared_sd,
        )


class PricedNoise(NamedTuple):
    """A noise for each count, what it costs with the selection, and a noise that all share."""

    noise: Laplace | Normal
    cost: Cost
    shared: Normal | None = None

    @property
    def of_each(self) -> Laplace | Normal:
        """The law of a count's noise, together with what all share."""
        if self.shared is None or isinstance(self.noise, Laplace):
            return self.noise
        return Normal(math.hypot(self.noise.sd, self.shared.sd))

    @property
    def sd(self) -> float:
        """The standard deviation of a count's noise, which is not rounded to a whole number."""
        each = self.of_each
        return math.sqrt(2) * each.scale if isinstance(each, Laplace) else each.sd


class CorrelatedNoise(NamedTuple):
    """Standard deviations of the two parts of the noise, of which every count has the sum.

    One user who is added or removed moves j of the k counts by 1, all the same way. To noise that
    all counts share that looks like a common move, so a shared part hides it, and each count's own
    part can be smaller.

    Attributes:
        shared: Of one normal draw for all counts; 0 if there is none.
        own: Of a normal draw for each count.
    """

    shared: float
    own: float

    @property
    def sd(self) -> float:
        """Of the sum."""
        return math.hypot(self.shared, self.own)

    def is_within(self, mu: float, *, k: int, m: int) -> bool:
        """Whether the counts are mu-Gaussian-private, exactly, for users in at most m of k."""
        a, v = Fraction(self.shared) ** 2, Fraction(self.own) ** 2
        # The squared distance of neighbours who differ in j counts is a parabola in j.
        vertex = math.floor((v + k * a) / (2 * a)) if a else m
        moved = (min(j, m) for j in (vertex, vertex + 1))
        return max((j - a * j * j / (v + k * a)) / v for j in moved) <= Fraction(mu) ** 2


def least_correlated(mu: float, *, k: int, m: int) -> CorrelatedNoise:
    """Noise of about the least variance with which k counts are mu-Gaussian-private.

    It is never less than that takes: the floats themselves satisfy it.

    >>> noise = least_correlated(1.0, k=100, m=100)
    >>> f"{noise.sd:.2f} instead of {math.sqrt(100):.2f}"
    '5.50 instead of 10.00'

    Args:
        mu: Neighbours are told apart as N(0, 1) and N(mu, 1) are, at best; above 0.
        k: How many counts.
        m: In how many of them one user is, at most; from 1 to k.
    """
    ratio = min(_ratios(k, m), key=lambda ratio: (1 + ratio) * _squared_distance(ratio, k, m))
    own = math.sqrt(_squared_distance(ratio, k, m)) / mu
    noise = CorrelatedNoise(math.sqrt(ratio) * own, own)
    while not noise.is_within(mu, k=k, m=m):
        noise = noise._replace(own=noise.own * (1 + 2.0**-51))
    return noise


def independent(mu: float, *, m: int) -> CorrelatedNoise:
    """The same without a shared part, for users who move m counts either way."""
    own = math.sqrt(m) / mu
    while Fraction(own) ** 2 * Fraction(mu) ** 2 < m:
        own *= 1 + 2.0**-51
    return CorrelatedNoise(0.0, own)


def _squared_distance(ratio: float, k: int, m: int) -> float:
    """Of neighbours, at most, where the own variance is 1 and the shared one is `ratio`."""
    weight = ratio / (1 + k * ratio)
    top = math.floor(1 / (2 * weight)) if weight else m
    return max(j - j * j * weight for j in (min(top, m), min(top + 1, m)))


def _ratios(k: int, m: int) -> Iterator[float]:
    """Ratios of the variances that may be best: where a slope is 0, or two parabolas meet.

    The best is found where m counts move, or where about (k + sqrt k) / 2 do.
    """
    yield 0.0
    if m == 1:
        return
    near = math.floor((k + math.sqrt(k)) / 2)
    for j in {m, *(min(max(near + i, 2), m) for i in (-1, 0, 1, 2))}:
        if j < k:
            rest = k - j
            yield (math.sqrt(rest * (rest + k * (j - 1))) - rest) / (k * rest)
        if 2 * j - 1 > k:
            yield 1 / (2 * j - 1 - k)  # where j - 1 and j are as far
