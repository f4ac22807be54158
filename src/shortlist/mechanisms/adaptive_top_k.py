"""Adaptive top-k: the better of two ways, chosen privately; rounds that name, counts that rank."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from shortlist import privacy
from shortlist.algorithms.clipped_counts import TwoMeasurements, best_first, sd_of_counts
from shortlist.algorithms.rounding_grids import (
    GridOfCounts,
    coarse_grid_above_zero,
    fine_grid,
    grid_of_two,
)
from shortlist.algorithms.search_in_rounds import FoundEarly, Search, StopRule, Towards, UntilSafe
from shortlist.draws import Draws, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import UserSets
from shortlist.mechanisms._in_rounds import InRounds, SearchDesign
from shortlist.mechanisms.limited_domain import LimitedPicks
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    Selection,
    cost_of_release,
    score_digits,
)
from shortlist.mechanisms.peeling import odds
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaAboveZero, Epsilon, Share, Whole
from shortlist.privacy import ZCDP, Cost, Pure, round_down, round_up
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    LossStage,
    OwnItemsStage,
    Stage,
    Stages,
    ThresholdDelta,
)
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, Schedule, with_a_stop
from shortlist.privacy.accountant.fitting import largest_between, largest_within
from shortlist.privacy.calibration import bounded_range_epsilon, gaussian_sigma, zcdp_rho

_ROUTE = 0.025  # of the zCDP, for the choice between the two ways
_CHOICE = 0.02  # of the zCDP of the rounds, for each of the two choices of a clipping bound
_CHOICES = 2
_SLACK = 6.0  # by how many local epsilons a lead has to be larger than what "nobody" has
_EXPECTED_GAIN = 3.0
_MARGINS = 1.5, 1.0, 0.5  # standard deviations, above which the k-th best is safe
_RANKED = 2  # times k: of what was found, no more are measured
_HALVINGS = 6  # of what may be lost in rounds, which is then within 1.2 % of delta


class _Rounds(NamedTuple):
    """What rounds and ranks may cost, beside the choice.

    Attributes:
        rho: The zCDP of both.
        lost: The probability that an item is named of a user who alone holds all items of theirs.
    """

    rho: float
    lost: float


@dataclass(frozen=True, kw_only=True)
class TopKDesign(SearchDesign):
    """What is fixed of `AdaptiveTopK`.

    Attributes:
        schedule: How the rounds share what may be spent.
        times_k: So many times k of the largest counts may take part in picks by counts.
        in_all: So many, if that is more than k, may take part in others.
        bounds: Of the squared norm of a user's part in a count, to choose from.
        grid_of_counts: What noisy counts are rounded down to.
    """

    schedule: Schedule
    times_k: int = 20
    in_all: int = 10_000
    bounds: tuple[int, ...] = tuple(2**n for n in range(9))
    grid_of_counts: GridOfCounts = fine_grid

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(
            self,
            schedule=replace(self.schedule, parts=(3, 4), losses=(0.3, 0.7)),
            times_k=1,
            in_all=2,
            bounds=(1, 2),
            grid=coarse_grid_above_zero,
            grid_of_counts=grid_of_two,
        )


_DESIGN = TopKDesign(
    schedule=Schedule(parts=(3, 4, 5, 6), floor=Fraction(0), losses=(0.07, 0.1, 0.13, 0.7), cap=4.0)
)


@dataclass(frozen=True, kw_only=True)
class AdaptiveTopK(InRounds):
    """Top-k of private items: by their counts where the best are far ahead, else in rounds.

    A private choice looks at how far the k-th count is ahead of a count much further down. If the
    lead is large, items are picked by their counts, as by `LimitedDomain`. If not, items are found
    in rounds, as by `AdaptiveGaussian`, until the k best are most likely among them. The rest of
    the budget then ranks the best of them by noisy counts, in which each user's part is clipped at
    a bound that is chosen privately. Noise is added twice: to all these counts, and then to those
    alone that may still be among the k best. If all rounds are run, the best are named by what the
    rounds released.

    A selection has the noisy counts, if there are any; a release does not.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of all
    stages together, whichever way was taken. threshold_share of delta bounds the probability that
    picks name an item which one user alone holds. In rounds, a user who alone holds some items
    spends delta on these, and less on the noise in the others' items: all users are looked at.

    Source: of this project; picks are those of Durfee & Rogers (2019), Algorithm 1. Proof notes:
    `docs/proofs/adaptive-top-k.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are found.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count in the rounds.
        threshold_share: The share of delta that may be lost in picks; in zCDP, in rounds too.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = AdaptiveTopK(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    threshold_share: Share = 0.25
    accounting: Accounting = Accounting.EXACT
    design: TopKDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    derived: ClassVar[tuple[str, ...]] = (
        "rho",
        "route_epsilon",
        "local_epsilon",
        "lead",
        "sigma",
        "threshold",
    )
    # Only rounds that stop early give scores. Whether a release has a column must not tell which
    # way was taken, so that these are dropped.
    score_unit: ClassVar[str | None] = None

    # --- what is spent

    @property
    def threshold_delta(self) -> float:
        """The probability granted to picking an item that one user alone holds."""
        return self.delta * self.threshold_share

    @cached_property
    def _by_rho(self) -> float:
        """The zCDP that is known to be allowed, beside what is lost."""
        return zcdp_rho(epsilon=self.epsilon, delta=self.delta, lost=self.threshold_delta)

    @cached_property
    def route_epsilon(self) -> float:
        """The range of the choice between the two ways."""
        return bounded_range_epsilon(1, self._by_rho * _ROUTE)

    @cached_property
    def rho(self) -> float:
        """The zCDP of picks, beside the choice: what each way may cost at the same loss."""
        by_rho = self._by_rho * (1 - _ROUTE) * (1 - 2.0**-50)
        if self.accounting is Accounting.ZCDP:
            return by_rho
        return largest_within(
            lambda rho: self._choice_and((self._picking(rho),), self._ranking_in(rho).stages),
            epsilon=self.epsilon,
            delta=self.delta,
            by_rho=by_rho,
            own_items=ThresholdDelta(self.threshold_delta),
        )

    @cached_property
    def _rounds(self) -> _Rounds:
        """The zCDP of rounds and ranks, and what is lost in rounds.

        Users whose items others hold too lose nothing in rounds, so that these may cost more than
        picks; then users who alone hold some limit what is lost.
        """
        same = _Rounds(self.rho, self.threshold_delta)
        if self.accounting is Accounting.ZCDP:
            return same
        rho = largest_within(
            lambda rho: self._composed(_Rounds(rho, 0.0)).stages,
            epsilon=self.epsilon,
            delta=self.delta,
            by_rho=self.rho,
        )

        def fits(lost: float) -> bool:
            return self._composed(_Rounds(rho, lost)).delta(self.epsilon) <= self.delta

        if not fits(same.lost):
            return same
        lost = largest_between(same.lost, self.delta, fits, halvings=_HALVINGS)
        return _Rounds(rho, lost)

    def _choice_and(self, picks: Stages, rounds: Stages) -> Stages:
        return BoundedRange(self.route_epsilon), EitherStage(picks, rounds)

    def _picking(self, rho: float) -> Stage:
        return BoundedRange(bounded_range_epsilon(self.k, rho), self.k)

    def _ranking_in(self, rho: float, lost: float = 0.0) -> Composition:
        """Rounds that may stop, and the choices of clipping bounds among what follows them."""
        release = RoundsRelease(gaussian_sigma(_in_gaussians(rho)), lost)
        rounds = with_a_stop(release, self._first, self.max_items_per_user)
        choice = BoundedRange(bounded_range_epsilon(1, rho * _CHOICE), _CHOICES)
        return replace(rounds, stages=(*rounds.stages, choice))

    @property
    def _first(self) -> float:
        """The share of the first round, or a little less than that."""
        return round_down(self.design.schedule.spent(1)) * (1 - 2.0**-40)

    def _composed(self, rounds: _Rounds) -> Composition:
        """The choice, and both ways, each with what may be lost on it alone."""
        of_rounds = self._ranking_in(*rounds)
        picks = LossStage(self.threshold_delta), self._picking(self.rho)
        stages = self._choice_and(picks, (OwnItemsStage(), *of_rounds.stages))
        return Composition(stages, of_rounds.own_items)

    @cached_property
    def cost(self) -> Cost:
        """The choice, and the larger of both ways."""
        picks = Pure.bounded_range(self.local_epsilon) * self.k
        choice = Pure.bounded_range(self._choice_epsilon) * _CHOICES
        ways = privacy.max(picks, ZCDP(self._in_gaussians) + choice)
        lost = max(self.threshold_delta, self._rounds.lost)
        by_rho = Pure.bounded_range(self.route_epsilon) + ways + ZCDP(0.0, lost)
        composition = self._composed(self._rounds)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick, where items are picked by their counts."""
        return bounded_range_epsilon(self.k, self.rho)

    @cached_property
    def _choice_epsilon(self) -> float:
        return bounded_range_epsilon(1, self._rounds.rho * _CHOICE)

    @property
    def _in_gaussians(self) -> float:
        return _in_gaussians(self._rounds.rho)

    # --- what is told of it

    @cached_property
    def search(self) -> Search:
        """The rounds, among users of at most `max_items_per_user` items."""
        return Search.of(
            self.design.schedule,
            RoundsRelease(gaussian_sigma(self._in_gaussians), self._rounds.lost),
            self.max_items_per_user,
            self.design.grid,
            _EXPECTED_GAIN,
            Towards.NEXT_THRESHOLD,
        )

    def explain(self) -> list[str]:
        """Both ways in plain words."""
        picked, best = "1 item is picked by its count", "best item has"
        if self.k > 1:
            picked, best = f"up to {self.k} items are picked by their counts", f"best {self.k} have"
        test = f"First, a noisy test checks whether the {_ordinal(self.k)} largest count is"
        below = ", or ".join(f"the {_ordinal(number + 1)}" for number in self._looked_at)
        first, *rounds = self._explain_rounds("found", may_stop=True)
        ranks = "What is left of epsilon then pays for noisy counts of the best items found"
        return [
            f"{test} far larger than {below}.",
            f"If it is ahead by about {self.lead:.0f}, {picked}: {odds(self.local_epsilon)}",
            f"If not, t{first[1:]}",
            *rounds,
            f"The rounds stop early once the {best} probably been found. {ranks}, to rank them.",
            "If the rounds do not stop early, items are ranked by their mean noisy weights.",
            people_needed(self.threshold),
        ]

    # --- the selection

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """At most k items, best first; with noisy counts, where the rounds were stopped early."""
        looked_at = self._route(evidence.counts, draws)
        if looked_at is not None:
            return Selection(self._picks(looked_at).select(evidence.counts, draws))
        held = evidence.bounded(self.max_items_per_user, draws)
        found = self.search.found_early(self._stop, held, draws)
        best = best_first(found.estimates, draws)
        if found.rounds == self.design.schedule.rounds:
            return Selection(found.items[best[: self.k]])
        return self._ranked(evidence, found, np.sort(best[: _RANKED * self.k]), draws)

    @property
    def _stop(self) -> StopRule:
        return UntilSafe(self.k, _MARGINS)

    def _route(self, counts: Ints, draws: Draws) -> int | None:
        """How many of the largest counts to pick from; None for the rounds.

        The odds of a lead are exp(route_epsilon · (the k-th count - the first not looked at - what
        "nobody" and the slack take)); those of the rounds are 1. Without the k-th count, which all
        have in common, they are those of the other counts.
        """
        ways: list[int | None] = [*self._looked_at, None]
        scores = self._scores_of_ways(_largest(counts, self._looked_at[-1] + 1))
        factors = np.exp(-self.route_epsilon * np.array([*self._leads, 0.0]))  # public: as it may
        odds = ExponentialWeights.of_ways(scores, factors, self.route_epsilon)
        return ways[odds.pick_way(draws)]

    def _scores_of_ways(self, largest: Ints) -> Ints:
        """The first count not looked at, and for the rounds the k-th, all negative."""
        return -np.array([_at(largest, place) for place in (*self._looked_at, self.k - 1)])

    @property
    def _looked_at(self) -> tuple[int, ...]:
        """How many of the largest counts may take part."""
        several, many = self.design.times_k * self.k, self.design.in_all
        return tuple(sorted({several, max(self.k, many)}))

    @cached_property
    def _leads(self) -> tuple[float, ...]:
        """The leads that picks need, not to be ended by "nobody": of each number looked at."""
        logs = [math.log(self._nobody(looked_at)) for looked_at in self._looked_at]
        leads = tuple(1 + (log + _SLACK) / self.local_epsilon for log in logs)
        if not math.isfinite(leads[-1]):
            raise OverflowError  # no item could have it
        return leads

    @property
    def lead(self) -> float:
        """By how much the k-th count has to lead for the odds of picks to be those of rounds."""
        return self._leads[0]

    def _picks(self, looked_at: int) -> LimitedPicks:
        return LimitedPicks(self.k, looked_at, self._nobody(looked_at), self.local_epsilon)

    def _nobody(self, looked_at: int) -> float:
        """How many items of the bar's count have the odds of "nobody", rounded up."""
        return round_up(looked_at / Fraction(self.threshold_delta))

    def _ranked(self, evidence: UserSets, found: FoundEarly, kept: Ints, draws: Draws) -> Selection:
        """The best of what was found, by noisy counts for what the rounds left of the budget."""
        items = found.items[kept]
        measurements = self._measurements(self._left(found.rounds))
        ranked = measurements.best(evidence.among(items), self.k, draws)
        sd = float(ranked.sds.max())
        scores = np.round(ranked.counts, score_digits(sd))
        return Selection(items[ranked.items], scores, noise_sd=sd)

    def _left(self, rounds: int) -> float:
        """What so many rounds leave of their zCDP."""
        return round_down(self.design.schedule.left(rounds) * Fraction(self._in_gaussians))

    def _measurements(self, rho: float) -> TwoMeasurements:
        bounds = self.design.bounds
        sds = tuple(sd_of_counts(bound, rho / 2) for bound in bounds)
        return TwoMeasurements(bounds, sds, self._choice_epsilon, self.design.grid_of_counts)


def _in_gaussians(rho: float) -> float:
    """What two choices of a clipping bound leave, rounded down."""
    return round_down(Fraction(rho) * (1 - _CHOICES * Fraction(_CHOICE)))


def _largest(counts: Ints, n: int) -> Ints:
    # Of the negative: where most counts are 1, NumPy finds the largest thirty times more slowly.
    some = -np.partition(-counts, n)[:n] if n < len(counts) else counts
    return np.sort(some)[::-1]


def _at(largest: Ints, place: int) -> int:
    """The count at a place, counted from 0; 0 where there are fewer."""
    return int(largest[place]) if place < len(largest) else 0


def _ordinal(number: int) -> str:
    """The number in a row.

    >>> _ordinal(1), _ordinal(12), _ordinal(10_003)
    ('1st', '12th', '10,003rd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ending}"
