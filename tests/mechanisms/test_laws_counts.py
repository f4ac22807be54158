"""Output laws of the mechanisms of counts, on every small universe: brute force, and privacy.

Sorted counts stand for all their orders: that order changes nothing is in `test_laws.py`.
"""

import itertools
import math
from functools import cache, partial

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.losses import hockey_stick, largest_log_ratio
from helpers.oracles_of_counts import distance, oracle
from shortlist.algorithms.competition import Competition, Crowded, CrowdedByOdds
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PrivateCounts, PublicCounts
from shortlist.mechanisms import (
    Accounting,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    OneShotExponential,
    Peeling,
    PermuteAndFlip,
    SetOrPeel,
)

EPSILON, DELTA = 1.3, 0.05
LARGEST = 4
UNIVERSES = [
    counts
    for d in range(1, 6)
    for counts in itertools.combinations_with_replacement(range(LARGEST, -1, -1), d)
]
KINDS = {
    "joint": Joint,
    "joint-permute-and-flip": JointPermuteAndFlip,
    "permute-and-flip": PermuteAndFlip,
    "peeling": Peeling,
    "peeling, pure": partial(Peeling, delta=0.0),
    "peeling, lemma 4.2": partial(Peeling, accounting=Accounting.PUBLISHED),
    "one-shot exponential": OneShotExponential,
    "joint or peel": partial(JointOrPeel, choice_share=0.3, threshold=1),
    "joint or peel, pure": partial(JointOrPeel, choice_share=0.3, threshold=1.5, delta=0.0),
    "joint or peel, of many": partial(
        JointOrPeel, choice_share=0.3, threshold=1.5, accounting=Accounting.ZCDP
    ),
    "set or peel": partial(SetOrPeel, choice_share=0.3, threshold=1),
    "set or peel, pure": partial(SetOrPeel, choice_share=0.3, threshold=1.5, delta=0.0),
    "set or peel, of many": partial(
        SetOrPeel, choice_share=0.3, threshold=1.5, accounting=Accounting.ZCDP
    ),
    "set or peel, whole": partial(SetOrPeel, delta=0.0),
    "limited domain": LimitedDomain,
    "limited domain, two": partial(LimitedDomain, k_bar=3, max_items_per_user=2),
    "limited domain, three": partial(LimitedDomain, k_bar=3),
    "limited domain, all": partial(LimitedDomain, max_items_per_user=5),
}
every = pytest.mark.parametrize("kind", KINDS)


@cache
def build(kind, k, epsilon=EPSILON, delta=DELTA):
    make = KINDS[kind]
    given = {"k": k, "epsilon": epsilon, "delta": delta}
    fields = getattr(make, "func", make).fields()
    options = getattr(make, "keywords", {})
    return make(**{name: given[name] for name in fields if name in given and name not in options})


def evidence(mechanism, counts):
    counts = np.array(counts, np.int64)
    if mechanism.evidence is PrivateCounts:
        return PrivateCounts(counts, mechanism.max_items_per_user)
    return PublicCounts(counts)


def select(mechanism, counts, draws):
    return tuple(mechanism.select(evidence(mechanism, counts), draws).positions.tolist())


@cache
def law_of(mechanism, counts):
    return law(partial(select, mechanism, counts))


def lengths(counts):
    return range(1, min(3, len(counts)) + 1)


# --- laws


@every
@pytest.mark.parametrize("d", [1, 2, 3, *exhaustive(4, 5)])
def test_the_law_is_that_of_the_definition(kind, d):
    for counts in UNIVERSES:
        # Of many, where only differences matter, as is shown below, the last count is 0.
        if len(counts) == d and (d < 4 or kind.startswith("limited") or not counts[-1]):
            for k in lengths(counts):
                mechanism = build(kind, k)
                found = law_of(mechanism, counts)
                assert abs(sum(found.values()) - 1) < 1e-12
                assert distance(found, oracle(kind, mechanism, counts, k)) < 1e-12, (counts, k)


@every
@pytest.mark.parametrize("epsilon", [1e-6, *exhaustive(0.1), 50.0])
def test_the_law_is_that_of_the_definition_at_any_epsilon(kind, epsilon):
    for counts in [(4, 3, 3, 0), (2, 2, 2), (4, 1, 0, 0), (4, 4, 2, 1, 0)]:
        for k in (2, min(3, len(counts))):
            mechanism = build(kind, k, epsilon)
            found = law_of(mechanism, counts)
            assert distance(found, oracle(kind, mechanism, counts, k)) < 1e-12, (counts, k)


@every
def test_a_scale_that_is_30_percent_off_has_another_law(kind):
    counts = (9, 7, 6, 2)
    mechanism = build(kind, 2, EPSILON * 1.3)
    assert distance(law_of(mechanism, counts), oracle(kind, build(kind, 2), counts, 2)) > 0.005


# --- privacy

EPSILONS = [0.0, 0.3, 0.6, 0.9, 1.1, 1.3, 1.5, 2.0]


def more_by_one_user(counts, most=None):
    for added in itertools.product([0, 1], repeat=len(counts)):
        more = tuple(c + a for c, a in zip(counts, added, strict=True))
        if 0 < sum(added) <= (most or len(counts)) and max(more) <= LARGEST:
            yield more


def relabelled(mechanism, counts):
    """The law at counts in any order, from that at the sorted ones."""
    order = sorted(range(len(counts)), key=lambda i: -counts[i])
    found = law_of(mechanism, tuple(counts[i] for i in order))
    named = sorted if mechanism.names_sets else list
    return {tuple(named(order[i] for i in outcome)): p for outcome, p in found.items()}


def losses(mechanism, most=5):
    """The laws of all neighbours of up to so many items, both ways."""
    for counts in UNIVERSES:
        if mechanism.k <= len(counts) <= most:
            p = law_of(mechanism, counts)
            for more in more_by_one_user(counts, getattr(mechanism, "max_items_per_user", None)):
                q = relabelled(mechanism, more)
                yield p, q
                yield q, p


def worst_loss(mechanism, most=5):
    return max(largest_log_ratio(p, q) for p, q in losses(mechanism, most))


def exceeds(mechanism, epsilon):
    """Whether some loss is more: the first that is will do."""
    return any(largest_log_ratio(p, q) > epsilon for p, q in losses(mechanism))


def worst_excess(mechanism, cost, most):
    """By how much some delta exceeds what the cost says."""
    allowed = {epsilon: cost.delta(epsilon) for epsilon in EPSILONS}
    return max(
        hockey_stick(p, q, epsilon) - delta
        for p, q in losses(mechanism, most)
        for epsilon, delta in allowed.items()
    )


PURE = [kind for kind in KINDS if build(kind, 2).cost.delta(EPSILON) == 0]
NOT_PURE = [kind for kind in KINDS if kind not in PURE]


SMALL = pytest.mark.parametrize(
    ("k", "most"), [(1, 4), *exhaustive((1, 5), (3, 5))]
)  # 2: quick audit


@SMALL
@pytest.mark.parametrize("kind", PURE)
def test_the_pure_loss_of_all_neighbours_is_within_epsilon(kind, k, most):
    assert worst_loss(build(kind, k), most) <= EPSILON + 1e-12


@SMALL
@pytest.mark.parametrize("kind", NOT_PURE)
def test_the_delta_of_all_neighbours_is_within_the_cost(kind, k, most):
    mechanism = build(kind, k)
    assert worst_excess(mechanism, mechanism.cost, most) <= 1e-12


@pytest.mark.parametrize(
    ("kind", "k"),
    [("joint", 3), ("joint-permute-and-flip", 2), ("permute-and-flip", 1), ("peeling, pure", 1)],
)
def test_an_epsilon_that_is_30_percent_more_is_caught(kind, k):
    assert exceeds(build(kind, k, EPSILON * 1.3), EPSILON * 1.02)


class Loud(JointOrPeel):
    """Both ways with 30 % more than what the choice leaves."""

    @property
    def whole_epsilon(self):
        return 1.3 * super().whole_epsilon


@pytest.mark.exhaustive
@pytest.mark.parametrize("threshold", [1, 50])
def test_ways_that_cost_more_than_they_say_are_caught(threshold):
    given = {"k": 3, "epsilon": EPSILON, "choice_share": 0.01, "threshold": threshold}
    assert worst_loss(JointOrPeel(**given)) <= EPSILON + 1e-12
    assert exceeds(Loud(**given), EPSILON)


class SharpChoice(JointOrPeel):
    """The choice with 30 % less noise."""

    @property
    def slope(self):
        return super().slope / 0.7


def test_a_choice_that_is_30_percent_sharp_is_caught():
    # Nearly all sequences are of items that are one behind, and then not.
    given = {"k": 2, "epsilon": 1.0, "choice_share": 0.5, "threshold": 2}
    fewer, more = np.array([5, 5] + [4] * 60), np.full(62, 5)

    def loss(mechanism):
        chances = []
        for counts in (fewer, more):
            pairs = Sequences(EqualCounts.of(counts), 2)
            near = Competition(pairs, mechanism.joint_epsilon / 2, floor=1)
            crowded = Crowded(near.weights, mechanism.slope, mechanism.switch_at)
            chances.append(1 - crowded.approximate()[0][0])
        return math.log(chances[0] / chances[1])

    assert 0.45 < loss(JointOrPeel(**given)) <= 0.5 + 1e-9
    assert loss(SharpChoice(**given)) > 0.65


def test_odds_that_are_30_percent_sharp_have_a_wider_range():
    # What one more person moves the logarithm of the odds by is the range of the choice.
    given = {"k": 5, "epsilon": 1.0, "delta": 1e-6, "choice_share": 0.2, "threshold": 2}
    fewer, more = np.array([5] * 5 + [4] * 60), np.full(65, 5)

    def moved(mechanism):
        assert not mechanism.one_shot
        logits = []
        for counts in (fewer, more):
            near = mechanism.competition(EqualCounts.of(counts))
            crowded = CrowdedByOdds(near.weights, mechanism.slope, mechanism.switch_at)
            chance = crowded.approximate()[0][0]
            logits.append(math.log(chance / (1 - chance)))
        return logits[1] - logits[0]

    assert 0.18 < moved(JointOrPeel(**given)) <= 0.2 + 1e-9
    assert moved(SharpChoice(**given)) > 0.26


class LowBar(LimitedDomain):
    """A bar with 30 % less lead."""

    @property
    def _nobody(self):
        return super()._nobody ** 0.7


def test_a_bar_that_is_30_percent_low_is_caught():
    given = {"k": 1, "epsilon": 2.0, "delta": 0.01, "max_items_per_user": 1}
    for kind, caught in ((LimitedDomain, False), (LowBar, True)):
        mechanism = kind(**given)
        p, q = law_of(mechanism, (1,)), law_of(mechanism, (0,))
        assert bool(hockey_stick(p, q, 2.0) > 0.01) is caught


# --- the code draws from its law


@pytest.mark.exhaustive
@every
def test_sampled_frequencies(kind):
    counts, k = (9, 7, 6, 2), 2
    mechanism = build(kind, k)
    draws, n, seen = ExactDraws(SeededBits(31)), 6000, {}
    for _ in range(n):
        outcome = select(mechanism, counts, draws)
        seen[outcome] = seen.get(outcome, 0) + 1

    def deviation(law):
        return max(
            abs(seen.get(o, 0) / n - p) / math.sqrt(max(p * (1 - p), 1 / n) / n)
            for o, p in law.items()
        )

    expected = law_of(mechanism, counts)
    assert seen.keys() <= expected.keys()
    assert deviation(expected) < 4
    assert deviation(law_of(build(kind, k, EPSILON * 1.3), counts)) > 4


@every
def test_the_slow_way_draws_the_same(kind):
    for counts in [(4, 3, 3, 1), (2, 2, 2), (9, 9, 4, 0, 0)]:
        for seed in range(12):
            mechanism = build(kind, 2)
            fast = select(mechanism, counts, ExactDraws(SeededBits(seed)))
            assert select(mechanism, counts, ExactDraws(SeededBits(seed), margin=math.inf)) == fast


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("limited")])
@pytest.mark.parametrize("shift", [1, 2**61])
def test_only_differences_of_counts_matter(kind, shift):
    for counts in UNIVERSES[::7]:
        mechanism = build(kind, min(2, len(counts)))
        raised = tuple(c + shift for c in counts)
        bits = [ExactDraws(SeededBits(5)), ExactDraws(SeededBits(5))]
        assert select(mechanism, counts, bits[0]) == select(mechanism, raised, bits[1])


HARD = [
    np.full(300, 7),
    np.zeros(300, np.int64),
    np.arange(300) % 4 + 10**9,
    2**62 - np.arange(300) ** 2,
    np.linspace(0, 2**62, 300).astype(np.int64),
    np.append(np.arange(299), 2**62),
    np.append(2 ** np.arange(63), np.arange(237)),
]


@every
@pytest.mark.parametrize("epsilon", [1e-6, *exhaustive(1.0), 50.0])
def test_hard_counts_end_in_time_and_name_nothing_twice(kind, epsilon):
    for counts, k in itertools.product(HARD, (1, 40, 300)):
        if kind in ("limited domain, two", "limited domain, three") and k > 3:
            continue
        positions = select(build(kind, k, epsilon, 1e-6), counts, ExactDraws(SeededBits(8)))
        assert len(set(positions)) == len(positions) <= k
        assert len(positions) == k or kind.startswith("limited")


@every
@pytest.mark.parametrize("counts", [[5], [0], []])
def test_one_item_or_none(kind, counts):
    positions = select(build(kind, 3), counts, ExactDraws(SeededBits(8)))
    expected = list(range(len(counts)))
    assert list(positions) in ([expected, []] if kind.startswith("limited") else [expected])
