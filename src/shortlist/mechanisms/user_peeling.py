"""User peeling: k items that together reach many users, each picked among users not yet reached."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist.algorithms.grouping import sample
from shortlist.draws import Draws, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import UserSets
from shortlist.mechanisms.finding import ByThreshold
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    cost_of_release,
    picked_in_turn,
)
from shortlist.mechanisms.peeling import odds, picks_cost, picks_epsilon
from shortlist.mechanisms.weighted_gaussian import (
    WeightedGaussian,
    discover,
    people_needed,
    show_from,
    weight_added,
)
from shortlist.parameters import (
    Delta,
    Epsilon,
    Share,
    Whole,
    require_delta_above_zero,
)
from shortlist.privacy import Approximate, Cost, Gaussian, Pure, round_down
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    ItemsByThreshold,
    LossStage,
    Stage,
    Threshold,
)
from shortlist.privacy.accountant.cost_of_rounds import zcdp_of_noise
from shortlist.privacy.accountant.fitting import (
    SET_APART,
    noise_and_loss,
    noise_on_weights,
    normal_noise,
)
from shortlist.privacy.accountant.gaussian_threshold import sigma_to_spare
from shortlist.privacy.accountant.picks_by_reach import picks_by_reach_below
from shortlist.privacy.calibration import (
    bounded_range_epsilon,
    gaussian_sigma,
    peeling_epsilon_lemma_b1,
    subtract_down,
    threshold,
    zcdp_rho,
)
from shortlist.questions import HittingSet, Question

_LOST_IN_PICKS = Fraction(3, 10)  # of delta, where a user is paid for until reached


class _Discovery(NamedTuple):
    """How private items are named, for the picks to be made from."""

    sigma: float
    threshold: float
    max_items_per_user: int


class _Stages(NamedTuple):
    """The noise of the discovery, if there is one, and of the picks, and what they cost."""

    local_epsilon: float
    cost: Cost
    discovery: _Discovery | None = None


@dataclass(frozen=True, kw_only=True)
class UserPeeling(Mechanism):
    """Hitting set: k items, each picked by how many users hold it whom no earlier pick reached.

    Each pick has odds exp(local_epsilon · count). Then all who hold the item are left out of
    the counts. Where items are private, a `WeightedGaussian` names those to pick from at first. All
    k picks are made, as long as there are items: that no user is left is private.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, which moves any counts of
    a round by at most 1, all the same way. Each pick is local_epsilon-bounded-range, and tells
    nothing more of a user whom an earlier one reached. So many picks of public items cost no more
    than normal noise would, but for a part of delta, and hardly more than few. Discovery is normal
    noise on weights of which one user changes at most ℓ2 norm 1, and may name an item that one user
    alone holds. All stages together are within (epsilon, delta).

    Source: Dick et al. (2026), Algorithm 4 and Theorem 4.5; Mitrovic et al. (2017). Proof notes:
    `docs/proofs/user-peeling.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are discovered.
        epsilon: Above 0.
        delta: In [0, 1) for public items, where the guarantee is pure with 0, and for so few items
            that it buys nothing; in (0, 1) for private ones.
        max_items_per_user: The most items of one user that count for discovery; None where
            everybody knows the items, so that there is nothing to discover.
        accounting: By the worst case of all stages; in zCDP, for one release of many; or as
            published, half of epsilon and delta for discovery and half for picks.
        discovery_share: The share of the zCDP that pays for discovery, unless as published.
        threshold_share: The share of delta that pays for the discovery's threshold, in zCDP.

    >>> [round(UserPeeling(k=k, epsilon=1.0, delta=1e-6).local_epsilon, 3) for k in (20, 200)]
    [0.121, 0.091]
    >>> private = UserPeeling(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(private.local_epsilon, 4), round(private.threshold, 1)
    (0.0747, 33.7)
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    max_items_per_user: Whole | None = None
    accounting: Accounting = Accounting.EXACT
    discovery_share: Share = 0.5
    threshold_share: Share = 0.3

    question: ClassVar[type[Question]] = HittingSet
    evidence: ClassVar[type] = UserSets
    discovers: ClassVar[bool | None] = None
    accountings: ClassVar[tuple[Accounting, ...]] = tuple(Accounting)
    derived: ClassVar[tuple[str, ...]] = ("local_epsilon", "sigma", "threshold")

    def __post_init__(self) -> None:
        # Refused here: without a delta no noise can be calibrated, and that refusal says no reason.
        if self.max_items_per_user is not None:
            require_delta_above_zero("delta", self.delta)
        super().__post_init__()

    @property
    def idle(self) -> tuple[str, ...]:
        # What says how a discovery shares the budget has no effect where it does not.
        shares = ("discovery_share", "threshold_share")
        if self.max_items_per_user is None or self.accounting is Accounting.PUBLISHED:
            return shares
        return shares[1:] if self.accounting is Accounting.EXACT else ()

    @cached_property
    def _calibrated(self) -> _Stages:
        if self.max_items_per_user is None:
            return self._without_discovery()
        if self.accounting is Accounting.PUBLISHED:
            return self._by_halves(self.max_items_per_user)
        return self._composed(self.max_items_per_user)

    def _without_discovery(self) -> _Stages:
        epsilon, delta = self.epsilon, self.delta
        local = picks_epsilon(self.accounting, self.k, epsilon=epsilon, delta=delta)
        if self.accounting is Accounting.EXACT and delta:
            reached = self._until_reached()
            if reached.local_epsilon > local:
                return reached
        return _Stages(local, picks_cost(self.accounting, self.k, local, self.epsilon))

    def _until_reached(self) -> _Stages:
        """Picks that cost no more than normal noise and a loss, as a user is paid for but once."""
        lost = round_down(Fraction(self.delta) * _LOST_IN_PICKS)
        left = round_down(Fraction(self.delta) - Fraction(lost))
        rho = zcdp_of_noise(sigma_to_spare(epsilon=self.epsilon, delta=left))
        local = picks_by_reach_below(math.sqrt(2 * rho) * (1 - 2.0**-50), self.k, lost)
        composition = Composition((normal_noise(rho), LossStage(lost)))
        by_rho = Gaussian(rho, lost)
        return _Stages(local, cost_of_release(self.accounting, composition, by_rho, self.epsilon))

    def _composed(self, bound: int) -> _Stages:
        epsilon, delta = self.epsilon, self.delta
        is_exact = self.accounting is Accounting.EXACT
        threshold_delta = delta * (SET_APART if is_exact else self.threshold_share)
        rho = zcdp_rho(epsilon=epsilon, delta=delta, lost=threshold_delta)

        def thresholds(rho: float, threshold_delta: float) -> tuple[Threshold, ...]:
            sigma = gaussian_sigma(rho * self.discovery_share)
            least = threshold(sigma=sigma, delta=threshold_delta, max_items_per_user=bound)
            return (Threshold(sigma, least),)

        if is_exact:
            rho, threshold_delta = noise_and_loss(
                self._stages, thresholds, bound, epsilon=epsilon, delta=delta, by_rho=rho
            )
        passed = thresholds(rho, threshold_delta)
        first = rho * self.discovery_share
        local = bounded_range_epsilon(self.k, subtract_down(rho, first))
        by_rho = Gaussian(first, threshold_delta) + Pure.bounded_range(local) * self.k
        composition = Composition(self._stages(rho), ItemsByThreshold(passed, bound))
        return _Stages(
            local,
            cost_of_release(self.accounting, composition, by_rho, self.epsilon),
            _Discovery(passed[0].sigma, passed[0].least, bound),
        )

    def _stages(self, rho: float) -> tuple[Stage, ...]:
        """Noise on the weights and picks, where they cost so much zCDP together."""
        first = rho * self.discovery_share
        local = bounded_range_epsilon(self.k, subtract_down(rho, first))
        return noise_on_weights(first), BoundedRange(local, self.k)

    def _by_halves(self, max_items_per_user: int) -> _Stages:
        epsilon, delta = self.epsilon / 2, self.delta / 2
        discovery = WeightedGaussian(
            epsilon=epsilon,
            delta=delta,
            max_items_per_user=max_items_per_user,
            accounting=Accounting.ZCDP,
        )
        return _Stages(
            peeling_epsilon_lemma_b1(self.k, epsilon=epsilon, delta=delta),
            Approximate(epsilon, delta) * 2,
            _Discovery(discovery.sigma, discovery.threshold, max_items_per_user),
        )

    @property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        return self._calibrated.local_epsilon

    @property
    def sigma(self) -> float | None:
        """The standard deviation of the discovery's noise, if there is one."""
        discovery = self._calibrated.discovery
        return None if discovery is None else discovery.sigma

    @property
    def threshold(self) -> float | None:
        """The least noisy weight to be discovered, if items are."""
        discovery = self._calibrated.discovery
        return None if discovery is None else discovery.threshold

    @property
    def names_private_items(self) -> bool:
        return self.max_items_per_user is not None

    @property
    def cost(self) -> Cost:
        return self._calibrated.cost

    def audit_hints(self) -> AuditHints:
        thresholds = () if self.threshold is None else (self.threshold,)
        return replace(super().audit_hints(), thresholds=thresholds)

    @property
    def finding(self) -> ByThreshold | None:
        if self.max_items_per_user is None or self.sigma is None or self.threshold is None:
            return None
        return ByThreshold(self.sigma, self.threshold, self.max_items_per_user)

    def explain(self) -> list[str]:
        picks = f"{picked_in_turn(self.k)}: {odds(self.local_epsilon)}"
        leave = "Each pick counts only the people who hold no item picked before."
        if (named_by := self._calibrated.discovery) is None:
            return [picks, leave, *self.unused]
        discovery = (
            f"First, noise of standard deviation {named_by.sigma:.3g} is added to the weights, and "
            f"the items whose noisy weight is at least {named_by.threshold:.4g} are named."
        )
        added, needed = weight_added(named_by.max_items_per_user), people_needed(named_by.threshold)
        return [added, discovery, f"Of these, up to {picks}", leave, needed]

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """At most k items in the order picked, from whole sets of items."""
        domain = self._domain(evidence, draws)
        return Selection(domain[peel_users(evidence, domain, self.k, self.local_epsilon, draws)])

    def _domain(self, evidence: UserSets, draws: Draws) -> Ints:
        if (named_by := self._calibrated.discovery) is None:
            return np.arange(evidence.n_items)
        bounded = evidence.bounded(named_by.max_items_per_user, draws)
        weighed = bounded.weigh(show_from(named_by.sigma, named_by.threshold))
        return discover(weighed, named_by.sigma, named_by.threshold, draws).named.positions


def peel_users(held: UserSets, domain: Ints, k: int, local_epsilon: float, draws: Draws) -> Ints:
    """Places in the domain of `k` items (all, if fewer), each picked by whom it reaches anew.

    Items that the same number of users hold have equal odds, so that each pick is of a count, by
    its odds times the number of items left that have it, and then of one of these items. Where
    nobody is left, all that follow are a uniform draw without replacement.
    """
    picked: list[int] = []
    unreached = held.unreached(domain)
    k = min(k, len(domain))
    while len(picked) < k:
        counts, sizes = unreached.groups()
        if counts[0] == 0:
            members = unreached.members(0)
            picked += members[sample(len(members), k - len(picked), draws)].tolist()
            break
        group = ExponentialWeights(counts, sizes, local_epsilon).pick(draws)
        member = draws.integer(sizes[group : group + 1])[0]
        picked.append(int(unreached.members(counts[group])[member]))
        unreached.reach(picked[-1])
        unreached.leave_out(picked[-1])
    return np.array(picked, np.int64)
