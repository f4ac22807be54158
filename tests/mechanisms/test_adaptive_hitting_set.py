"""Adaptive hitting sets: what they cost, what they release, and mistakes that are caught."""

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from helpers.audited import broken
from helpers.hitting import contributions, picks_oracle
from helpers.laws import agree
from helpers.oracles import ORACLES
from shortlist.algorithms.search_in_rounds import Search, UntilMany
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import Accounting, AdaptiveHittingSet, adaptive_hitting_set
from shortlist.mechanisms.adaptive_hitting_set import followed, pick_by_reach
from shortlist.privacy._delta_curves import gaussian_curve
from shortlist.privacy.accountant import BoundedRange
from shortlist.privacy.accountant.picks_as_noise import normal_noise_above
from shortlist.privacy.accountant.picks_by_reach import noise_above_reach
from shortlist.privacy.calibration import bounded_range_epsilon

ORACLE = ORACLES[AdaptiveHittingSet]
SETTINGS = {"k": 7, "epsilon": 1.0, "delta": 1e-5, "max_items_per_user": 20}
SMALL = {"k": 1, "epsilon": 2.0, "delta": 0.2, "max_items_per_user": 2}
FEW = AdaptiveHittingSet.design.coarse


@dataclass(frozen=True, kw_only=True)
class AllOfTheBudget(AdaptiveHittingSet):
    """Picks are paid as if the rounds had cost nothing."""

    def left_after(self, _rounds, _looks):
        return self.rho


@dataclass(frozen=True, kw_only=True)
class LooksAreFree(AdaptiveHittingSet):
    """Looks at whom the found items reach are not paid for."""

    def left_after(self, rounds, _looks):
        return super().left_after(rounds, 0)


@dataclass(frozen=True, kw_only=True)
class LooksSharply(AdaptiveHittingSet):
    """Looks have a third of their noise."""

    @property
    def look_sd(self):
        return super().look_sd / 3


@dataclass(frozen=True, kw_only=True)
class AsInZcdp(AdaptiveHittingSet):
    """Picks by what they cost in zCDP, and not as normal noise."""

    def picks_after(self, rounds, looks):
        return bounded_range_epsilon(self.k, self.left_after(rounds, looks))


@dataclass(frozen=True, kw_only=True)
class AsOfHalf(AdaptiveHittingSet):
    """Picks as if there were half as many."""

    def picks_after(self, rounds, looks):
        of_half = AdaptiveHittingSet(**SETTINGS | {"k": self.k // 2})
        return of_half.picks_after(rounds, looks)


@dataclass(frozen=True, kw_only=True)
class ForTheLast(AdaptiveHittingSet):
    """An early stop leaves picks what is left after all rounds."""

    def left_after(self, rounds, looks):
        return super().left_after(max(rounds, self.design.schedule.rounds), looks)


@dataclass(frozen=True, kw_only=True)
class OfBounded(AdaptiveHittingSet):
    """Picks by bounded sets."""

    def select(self, evidence, draws):
        return super().select(evidence.bounded(self.max_items_per_user, draws), draws)


@dataclass(frozen=True, kw_only=True)
class Sharp(AdaptiveHittingSet):
    """The item that reaches most users is picked."""

    def picks_after(self, _rounds, _looks):
        return 50.0


class ByAll(Search):
    """The rounds stop after the first if there are two items that may yet be found."""

    def found_early(self, _stop, held, draws):
        is_alone = len(self.begin(held).items) == 1
        return super().found_early(UntilMany((9 if is_alone else 0,)), held, draws)


class StopsByAll(AdaptiveHittingSet):
    @property
    def search(self):
        return ByAll(**vars(super().search))


def coarse(kind, **given):
    """With a coarse grid and few rounds."""
    return kind(**{"design": FEW} | SMALL | given)


def mean_of_squares(mechanism, rounds, share, looks=1):
    """Twice the zCDP of rounds, looks and picks as noise, for who alone holds such a share."""
    schedule, sigma = mechanism.design.schedule, mechanism.sigma
    first, heard = (float(schedule.spent(n)) for n in (1, rounds))
    picks = BoundedRange(mechanism.picks_after(rounds, looks), mechanism.k)
    of_picks = min(normal_noise_above(picks), noise_above_reach(picks, mechanism._lost_in_picks))
    of_looks = looks / mechanism.look_sd**2
    return (heard - first * share) / sigma**2 + of_looks + of_picks**2


@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
@pytest.mark.parametrize("k", [1, 7, 60, 300])
def test_rounds_and_picks_cost_no_more_than_the_noise_wherever_they_stop(k, accounting):
    mechanism = AdaptiveHittingSet(**SETTINGS | {"k": k, "accounting": accounting})
    for rounds, looks in itertools.product(range(1, 6), range(4)):
        for share in (0.0, 0.05, 0.5, 1.0):
            allowed = 2 * mechanism.rho * (1 - mechanism._first * share)
            spent = mean_of_squares(mechanism, rounds, share, looks)
            assert 0.99 * allowed < spent <= allowed


@pytest.mark.parametrize(
    ("kind", "k"),
    [(AllOfTheBudget, 7), (AsInZcdp, 2), (AsOfHalf, 8), (LooksAreFree, 7), (LooksSharply, 7)],
)
def test_what_costs_more_is_seen(kind, k):
    mechanism = kind(**SETTINGS | {"k": k})
    assert mean_of_squares(mechanism, 2, 0.0, 2) > 1.005 * 2 * mechanism.rho


def test_the_cost_is_that_of_the_worst_user():
    mechanism = AdaptiveHittingSet(**SETTINGS)
    mu, lost = 1 / mechanism._release.sigma, mechanism._release.lost
    first = 3 / 18 * 0.95
    shares = [0, *(n / 20 for n in range(1, 21))]
    deltas = [
        share * lost + float(gaussian_curve(1.0, mu * math.sqrt(1 - first * share), up=False))
        for share in shares
    ]
    deltas = [delta + 5e-7 for delta in deltas]  # of the picks
    assert max(deltas) <= mechanism.cost.delta(1.0) <= 1e-5
    assert max(deltas) > 0.99e-5
    assert lost > 0.6e-5


@pytest.mark.exhaustive
def test_three_rounds_have_the_law_of_their_definition():
    schedule = replace(FEW.schedule, parts=(1, 2, 3), losses=(0.2, 0.3, 0.5))
    design = replace(FEW, schedule=schedule, enough=(Fraction(2), Fraction(1)))
    design = replace(design, reach=(Fraction(3, 4), Fraction(2, 3)), plenty=3)
    mechanism = coarse(AdaptiveHittingSet, design=design)
    oracle = replace(ORACLE, data=[({0},) * 2, ({0, 1}, {0}), ({0, 1}, {0}, {1})])
    assert oracle.distance(mechanism, mechanism) < ORACLE.within


@pytest.mark.parametrize("kind", [AllOfTheBudget, ForTheLast, OfBounded])
def test_a_mistake_has_another_law(kind):
    bound = 1 if kind is OfBounded else 2
    alone, several = ({0},) * 4 + ({1},) * 3, ({0, 1},) * 3 + ({0},) * 2
    given = {"epsilon": 4.0, "max_items_per_user": bound}
    oracle = replace(ORACLE, data=[several if kind is OfBounded else alone])
    right = coarse(AdaptiveHittingSet, **given)
    assert oracle.distance(right, right) < ORACLE.within
    assert oracle.differs(coarse(kind, **given), right, by=5e-3)


@pytest.mark.parametrize(("kind", "family"), [(Sharp, [(9, 9, 0)]), (StopsByAll, [(9, 0, 0)])])
def test_the_audit_catches(kind, family):
    given = {"epsilon": 1.0, "delta": 0.02}
    assert not broken(audit_exactly(coarse(AdaptiveHittingSet, **given), families=[family]))
    assert "delta" in broken(audit_exactly(coarse(kind, **given), families=[family]))


def told(mechanism, data, n_items, seeds):
    held = contributions([frozenset(items) for items in data], n_items)
    return [mechanism.select(held, ExactDraws(SeededBits(seed))) for seed in range(seeds)]


def test_scores_are_the_first_round_s_noisy_weights():
    mechanism = AdaptiveHittingSet(k=2, epsilon=1.0, delta=1e-5, max_items_per_user=2)
    answers = told(mechanism, [{0, 1}] * 300 + [{0}] * 200, 2, 200)
    sd = answers[0].noise_sd
    assert sd == pytest.approx(mechanism.sigma * math.sqrt(18 / 3))
    true = {0: 300 / math.sqrt(2) + 200, 1: 300 / math.sqrt(2)}
    for item, weight in true.items():
        scores = np.array([a.scores[a.positions.tolist().index(item)] for a in answers])
        assert abs(scores.mean() - weight) < 5 * sd / math.sqrt(200)
        assert abs(scores.mean() - 1.3 * weight) > 5 * sd / math.sqrt(200)
        assert scores.std() == pytest.approx(sd, rel=0.25)


def test_where_enough_is_found_picks_are_by_whom_they_reach():
    mechanism = AdaptiveHittingSet(k=2, epsilon=20.0, delta=0.1, max_items_per_user=3)
    for answer in told(mechanism, [{0, 1}] * 120 + [{0}] * 2 + [{2}] * 60, 3, 5):
        assert set(answer.positions.tolist()) in ({0, 2}, {1, 2})


def test_where_few_are_found_all_are_named():
    mechanism = AdaptiveHittingSet(k=9, epsilon=5.0, delta=1e-3, max_items_per_user=3)
    for answer in told(mechanism, [{0, 1}] * 80 + [{2}] * 60 + [{3}], 4, 5):
        assert sorted(answer.positions.tolist()) == [0, 1, 2]


def test_explaining_names_every_threshold_and_when_it_is_enough():
    mechanism = AdaptiveHittingSet(k=20, epsilon=1.0, delta=1e-5, max_items_per_user=100)
    text = " ".join(mechanism.explain())
    assert all(f"{threshold:.4g}" in text for threshold in mechanism.thresholds)
    assert "items are found: 40 after the first round, or 30, 24 and 20 after the next" in text
    assert "Fewer than 120 also have to reach enough of all users, by a noisy look: 75%" in text


def test_rounds_go_on_where_enough_items_reach_few():
    """Ten items of a tenth of the users are found at once, which others' items are not."""
    held = [set(range(10))] * 800 + [{10 + user % 240} for user in range(7200)]
    mechanism = AdaptiveHittingSet(k=5, epsilon=1.0, delta=1e-5, max_items_per_user=10)
    never = replace(mechanism, design=replace(mechanism.design, reach=()))
    of_others = [
        sum(int((answer.positions >= 10).sum()) for answer in told(way, held, 250, 10))
        for way in (mechanism, never)
    ]
    assert of_others[0] > 1.3 * of_others[1]


# --- picks by users reached anew, of items of which some weigh more

SETS = [frozenset(s) for n in range(1, 4) for s in itertools.combinations(range(3), n)]
WEIGHTS = {0: 1.0, 1: 2.0, 2: 1.4}


def picks_law(data, domain, k, epsilon, weights):
    held, each = contributions(data, 3), np.array([weights[x] for x in domain])

    def run(draws):
        places = pick_by_reach(held, np.array(domain, np.int64), each, k, epsilon, draws)
        return tuple(domain[place] for place in places)

    return law(run)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("domain", [(0, 1, 2), (0, 2), ()])
def test_picks_have_the_law_of_their_definition(k, domain):
    for data in itertools.combinations_with_replacement(SETS, 2):
        oracle = picks_oracle(data, domain, k, 0.7, WEIGHTS)
        agree(picks_law(data, domain, k, 0.7, WEIGHTS), oracle, 1e-12)


def test_weights_left_out_or_another_epsilon_is_another_law():
    data, oracle = SETS[:4], picks_oracle(SETS[:4], (0, 1, 2), 2, 0.7, WEIGHTS)
    for epsilon, weights in ((0.7, dict.fromkeys(range(3), 1.0)), (0.91, WEIGHTS)):
        found = picks_law(data, (0, 1, 2), 2, epsilon, weights)
        assert max(abs(found[told] - p) for told, p in oracle.items()) > 0.01


class Heaviest(ExactDraws):
    """Picks what is of most weight among what is left, and keeps all public factors of odds."""

    def choice(self, weights):
        seen = vars(self).setdefault("seen", [])
        seen.append(np.sort(weights.multiplicities))
        return int(np.argmax(weights.multiplicities))


def factors_seen(counts, weights):
    data = [frozenset({item}) for item, count in enumerate(counts) for _ in range(count)]
    draws = Heaviest()
    domain = np.arange(len(counts))
    picks = pick_by_reach(contributions(data, len(counts)), domain, weights, 60, 0.1, draws)
    return picks.tolist(), draws.seen


def test_no_bit_of_the_public_factors_depends_on_counts():
    rng = np.random.default_rng(5)
    weights, counts = 1 + 9 * rng.random(300), rng.integers(0, 20, 300).tolist()
    (picks, seen), (others, beside) = (factors_seen(c, weights) for c in (counts, counts[::-1]))
    assert picks == others
    assert all(np.array_equal(*both) for both in zip(seen, beside, strict=True))


def factors_both_ways():
    """Of items in one order and in the other, some of which have the same weight."""
    rng = np.random.default_rng(5)
    weights, counts = 1 + rng.integers(0, 90, 300) / 10, rng.integers(0, 20, 300).tolist()
    both = factors_seen(counts, weights)[1], factors_seen(counts[::-1], weights[::-1])[1]
    return all(np.array_equal(*each) for each in zip(*both, strict=True))


def test_no_bit_of_the_public_factors_depends_on_the_order_of_items(monkeypatch):
    assert factors_both_ways()
    monkeypatch.setattr(adaptive_hitting_set.np, "argsort", lambda logs: np.arange(len(logs)))
    assert not factors_both_ways()


@pytest.mark.parametrize(("place", "rises"), [(0, True), (2, False)])
def test_the_power_follows_the_picks_and_stays_in_its_range(place, rises):
    logs, power, seen = np.log(np.array([1.5, 1.2, 1.0])), 3.0, []
    for _ in range(60):
        power = followed(power, np.exp(power * logs), logs, logs[place])
        seen.append(power)
    assert np.all(np.diff([3.0, *seen]) * (1 if rises else -1) >= 0)
    assert seen[-1] == pytest.approx(4.0 if rises else 0.0, abs=0.01)


def test_few_far_ahead_are_picked_before_thousands():
    data = [frozenset({user % 3}) for user in range(300)] + [
        frozenset({3 + n}) for n in range(4000)
    ]
    held, domain = contributions(data, 4003), np.arange(4003)
    picks = pick_by_reach(held, domain, np.ones(4003), 5, 2.0, ExactDraws(SeededBits(1)))
    assert sorted(picks[:3].tolist()) == [0, 1, 2]
    assert len(set(picks.tolist())) == 5
