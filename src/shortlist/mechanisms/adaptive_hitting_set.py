"""Adaptive hitting set: rounds that name items until there are enough to pick from, then picks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.search_in_rounds import Search, StopRule, Towards
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import ExponentialWeights, NormalCDF
from shortlist.evidence import UserSets
from shortlist.mechanisms._in_rounds import InRounds, SearchDesign, in_turn
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Selection,
    cost_of_release,
    score_digits,
)
from shortlist.mechanisms.peeling import odds
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaAboveZero, Epsilon, Whole
from shortlist.privacy import Cost, Gaussian, round_down, round_up
from shortlist.privacy.accountant import Composition
from shortlist.privacy.accountant.cost_of_rounds import (
    RoundsRelease,
    Schedule,
    fitted,
    with_a_stop,
    zcdp_of_noise,
)
from shortlist.privacy.accountant.picks_by_reach import picks_by_reach_below
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma
from shortlist.questions import HittingSet, Question

_RESERVED = Fraction(1, 20)  # of the zCDP, for picks if all rounds are run
_EXPECTED_GAIN = 3.0
_LOOK = Fraction(1, 200)  # of the zCDP, for each look at how many users the found items reach
_POWER = 3.0  # of its estimated weight, in the odds of an item, at the first pick
_POWER_OF_FEW = 1.5  # the same, where all that was found reaches too few
_MOST_POWER = 4.0
_STEP = 0.3  # up the likelihood of a pick
_LOST = 0.5  # of delta, in zCDP
_LOST_IN_PICKS = Fraction(1, 20)  # of delta: by so much it may be above that of normal noise
_ROUNDING = 1 + 1e-9  # of a sum of floats: more


@dataclass(frozen=True, kw_only=True)
class HittingSetDesign(SearchDesign):
    """What is fixed of `AdaptiveHittingSet`.

    Attributes:
        schedule: How the rounds share what may be spent.
        enough: How many items are enough to pick from, times k, after each round but the last.
        reach: Which share of all users they have to reach, too, after each of the first rounds.
        plenty: How many are enough whomever they reach, times k.
    """

    schedule: Schedule
    enough: tuple[Fraction, ...]
    reach: tuple[Fraction, ...]
    plenty: int

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        schedule = replace(self.schedule, parts=(1, 5), losses=(0.4, 0.6))
        few = replace(super().coarse, schedule=schedule, enough=(Fraction(1),))
        return replace(few, reach=self.reach[:1])


_DESIGN = HittingSetDesign(
    schedule=Schedule(
        parts=(3, 3, 3, 4, 5),
        floor=Fraction(0),
        losses=(0.08, 0.08, 0.08, 0.16, 0.6),
        cap=4.0,
    ),
    enough=(Fraction(2), Fraction(3, 2), Fraction(6, 5), Fraction(1)),
    reach=(Fraction(3, 4), Fraction(3, 4), Fraction(2, 3)),
    plenty=6,
)


@dataclass(frozen=True, kw_only=True)
class AdaptiveHittingSet(InRounds):
    """Hitting set of private items: found in rounds until they are enough, and then picked.

    Items are found in rounds, as by `AdaptiveGaussian`. After each but the last, the rounds stop if
    enough items are found: twice k after the first, fewer later, and k after the fourth. Where
    items cluster, many may reach few users. So after the first two, a private look also has to find
    that they reach three quarters of all users, and after the third two thirds, unless they are
    more than 6 k. The rest of the budget then pays for k picks among them, each by how many more
    users it reaches. If all rounds are run, at least a thirtieth is left for the picks. A user whom
    a pick has reached counts no more and spends no more, so that 200 picks cost hardly more than
    50.

    Where items would reach few more users, noise hides which are better. So the odds of an item
    also grow with a power of its weight as the rounds' noisy weights estimate it, which costs
    nothing. The power is 3 at first, or 1.5 if the last look found that too few are reached. It
    follows the picks: it rises while they are of items of more weight than the power alone makes
    likely, and falls, down to 0, where those who hold common items are reached.

    The noisy weights of the first round are released with the items. They tell how common an item
    is, and not how many more users it reaches.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. The picks cost no more than
    normal noise would for what is left, but for a twentieth of delta. So all of it costs as much
    as normal noise, whenever the rounds stop. A user whose items are all held by others spends
    delta on that noise, and one who alone holds some spends it on the thresholds too. All are
    looked at.

    Source: of this project; picks are those of Dick et al. (2026), Algorithm 4. Proof notes:
    `docs/proofs/adaptive-hitting-set.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are found.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count in the rounds.
        accounting: By the worst case of all users, or in zCDP, for one release of many.

    >>> mechanism = AdaptiveHittingSet(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    accounting: Accounting = Accounting.EXACT
    design: HittingSetDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = HittingSet
    derived: ClassVar[tuple[str, ...]] = ("rho", "local_epsilon", "sigma", "threshold")
    score_unit: ClassVar[str | None] = "noisy weight"

    # --- what is spent

    @cached_property
    def _release(self) -> RoundsRelease:
        """The noise that all of it is worth, and what may be lost."""
        if self.accounting is Accounting.EXACT:
            delta = round_down(Fraction(self.delta) - Fraction(self._lost_in_picks))
            return fitted(self._rounds, epsilon=self.epsilon, delta=delta)
        lost = self.delta * _LOST
        rho = gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost)
        of_thresholds = round_down(Fraction(lost) - Fraction(self._lost_in_picks))
        return RoundsRelease(gaussian_sigma(rho), of_thresholds)

    @cached_property
    def _lost_in_picks(self) -> float:
        return round_down(Fraction(self.delta) * _LOST_IN_PICKS)

    @property
    def _first(self) -> float:
        """The share of the first round, or a little less than that."""
        first = self.design.schedule.spent(1) * (1 - _RESERVED)
        return round_down(first) * (1 - 2.0**-40)

    @property
    def composition(self) -> Composition:
        """The rounds and the picks, and the items that one user alone may hold."""
        lost = self._lost_in_picks
        return with_a_stop(self._release, self._first, self.max_items_per_user, lost=lost)

    def _rounds(self, release: RoundsRelease) -> Composition:
        return with_a_stop(release, self._first, self.max_items_per_user)

    @cached_property
    def cost(self) -> Cost:
        """Normal noise, and the items that one user alone may hold."""
        if self.accounting is Accounting.ZCDP:
            return Gaussian(self.rho, self.composition.lost)
        by_rho = Gaussian(self.composition.rho, self.composition.lost)
        return cost_of_release(self.accounting, self.composition, by_rho, self.epsilon)

    @cached_property
    def rho(self) -> float:
        """The zCDP of rounds and picks together."""
        return zcdp_of_noise(self._release.sigma)

    @cached_property
    def _in_rounds(self) -> float:
        return round_down(Fraction(self.rho) * (1 - _RESERVED))

    @cached_property
    def _of_look(self) -> float:
        return round_down(Fraction(self.rho) * _LOOK)

    @cached_property
    def look_sd(self) -> float:
        """The standard deviation of the noise of a look at what one user changes by at most 1."""
        return gaussian_sigma(self._of_look)

    def left_after(self, rounds: int, looks: int) -> float:
        """The zCDP of normal noise that picks may cost as much as, after so many rounds."""
        in_rounds = self.design.schedule.spent(rounds) * Fraction(self._in_rounds)
        return round_down(Fraction(self.rho) - in_rounds - looks * Fraction(self._of_look))

    def picks_after(self, rounds: int, looks: int) -> float:
        """The local epsilon of the picks, after so many rounds and looks."""
        mu = math.sqrt(2 * self.left_after(rounds, looks)) * (1 - 2.0**-50)
        return picks_by_reach_below(mu, self.k, self._lost_in_picks)

    # --- what is told of it

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick, where the first round finds enough."""
        return self.picks_after(1, 1)

    @cached_property
    def search(self) -> Search:
        """The rounds, among users of at most `max_items_per_user` items."""
        return Search.of(
            self.design.schedule,
            RoundsRelease(gaussian_sigma(self._in_rounds), self._release.lost),
            self.max_items_per_user,
            self.design.grid,
            _EXPECTED_GAIN,
            Towards.NEXT_THRESHOLD,
        )

    @cached_property
    def enough(self) -> tuple[int, ...]:
        """How many items are enough to pick from, after each round but the last."""
        return tuple(math.ceil(times * self.k) for times in self.design.enough)

    @property
    def plenty(self) -> int:
        """How many items are enough whomever they reach."""
        return self.design.plenty * self.k

    def audit_hints(self) -> AuditHints:
        """The thresholds, and the noise in the scores."""
        return replace(super().audit_hints(), score_sd=self.search.first_sd)

    def explain(self) -> list[str]:
        """The rounds and the picks in plain words."""
        stops = in_turn([str(enough) for enough in self.enough])
        picked = "1 item is" if self.k == 1 else f"up to {self.k} items are"
        shares = in_turn([f"{float(share):.0%}" for share in self.design.reach])
        looks = (
            f"Fewer than {self.plenty} also have to reach enough of all users, by a noisy look: "
            f"{shares}."
        )
        reach = (
            "by how many more people each would reach, and by its noisy weights, as far as earlier "
            "picks bear these out"
        )
        return [
            *self._explain_rounds("found", may_stop=True),
            f"The rounds stop early once enough items are found: {stops}.",
            looks,
            f"Then {picked} picked, {reach}.",
            f"If the rounds stop after the first, {odds(self.local_epsilon)} If later, by less.",
            people_needed(self.threshold),
        ]

    # --- the selection

    @property
    def noise_varies(self) -> bool:
        return False

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """At most k items in the order picked, each with its noisy weight of the first round."""
        held = evidence.bounded(self.max_items_per_user, draws)
        stop = _UntilManyAreReached(self, evidence, draws)
        found = self.search.found_early(stop, held, draws)
        local_epsilon = self.picks_after(found.rounds, stop.looks)
        weights = np.maximum(found.estimates / self.threshold, 1.0)
        power = _POWER if stop.many_are_reached else _POWER_OF_FEW
        picks = pick_by_reach(evidence, found.items, weights, self.k, local_epsilon, draws, power)
        sd = self.search.first_sd
        scores = np.round(found.first[picks], score_digits(sd))
        return Selection(found.items[picks], scores, noise_sd=sd)


@dataclass
class _UntilManyAreReached(StopRule):
    """Stop when so many items are found; after the first rounds, only if they reach many users.

    Attributes:
        asked: What says how many, and how a look is paid for.
        held: Users' whole sets, as the picks read them.
        draws: All randomness.
        looks: How many looks were taken.
        many_are_reached: What the last of them found.
    """

    asked: AdaptiveHittingSet
    held: UserSets
    draws: Draws
    looks: int = 0
    many_are_reached: bool = True

    def is_enough(self, search: Search, rounds: int, found: Ints, estimates: Floats) -> bool:  # noqa: ARG002 - any search
        """Whether there are as many, and reach as many."""
        reach = self.asked.design.reach
        if len(found) < self.asked.enough[rounds - 1]:
            return False
        if rounds > len(reach) or len(found) >= self.asked.plenty:
            return True
        self.looks += 1
        self.many_are_reached = self._look(found, reach[rounds - 1])
        return self.many_are_reached

    def _look(self, found: Ints, share: Fraction) -> bool:
        """Whether such a share of users hold anything of what was found: a number in noise.

        With a share of a/b, those who do count for b - a, and the others for -a.
        """
        reached, all_users = _holders(self.held.among(found)), _holders(self.held)
        ahead = np.array([share.denominator * reached - share.numerator * all_users])
        most = max(share.numerator, share.denominator - share.numerator)  # of one user
        sd = round_up(most * Fraction(self.asked.look_sd))
        return bool(self.draws.coin(NormalCDF(ahead, sd, 1.0))[0])


def _holders(held: UserSets) -> int:
    """How many users hold anything."""
    return int(held.users_of_size()[1:].sum())


def pick_by_reach(
    held: UserSets,
    domain: Ints,
    weights: Floats,
    k: int,
    local_epsilon: float,
    draws: Draws,
    power: float = _POWER,
) -> Ints:
    """Places in the domain of `k` items (all, if fewer), in the order picked.

    Each has odds weight^power · exp(local_epsilon · count), count the number of users who hold it
    and no item picked before. The power follows from the picks before.

    Args:
        held: Users' whole sets.
        domain: Item codes, none twice, shape (n,).
        weights: Of each, at least 1, shape (n,); they are released, or follow from what is.
        k: How many.
        local_epsilon: By how much one user changes the logarithm of odds, at most.
        draws: The exact draws.
        power: That of the first pick, at most `_MOST_POWER`.
    """
    picked: list[int] = []
    unreached = held.unreached(domain)
    logs = np.log(weights)
    left = np.argsort(logs)
    at_most = float(np.exp(_MOST_POWER * logs).sum()) * _ROUNDING
    for _ in range(min(k, len(domain))):
        worth = np.exp(power * logs)
        places, counts = unreached.in_order()
        odds = ExponentialWeights(counts, worth[places], local_epsilon, at_most)
        place = int(places[odds.pick(draws)])
        # By weight: in an order that hangs on counts or rows, rounding would tell of these.
        power = followed(power, worth[left], logs[left], float(logs[place]))
        picked.append(place)
        left = left[left != place]
        unreached.reach(place)
        unreached.leave_out(place)
    return np.array(picked, np.int64)


def followed(power: float, worth: Floats, logs: Floats, log: float) -> float:
    """The power for the next pick: a step up the likelihood of this one by weights alone.

    Where what is counted agrees with the weights, picks are of more weight than by weights alone.

    Args:
        power: That of this pick.
        worth: The weight to that power of each item that was left, rising, shape (n,).
        logs: The logarithms of these weights, shape (n,).
        log: That of the item that this pick is.
    """
    expected = float(np.einsum("i,i", worth, logs) / np.einsum("i->", worth))
    return min(max(power + _STEP * (log - expected), 0.0), _MOST_POWER)
