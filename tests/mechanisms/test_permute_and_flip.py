"""Permute-and-flip as it is drawn: its law, its numbers, the slow path, and how long it takes."""

import contextlib
import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import betaln

from helpers.exactness import OnesFirst, between, ints, within_stated_error
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences
from shortlist.algorithms.slack import SlackClasses
from shortlist.audit.exact.enumerator import Enumerator, law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.exact_draws import _Urn, first_accepted
from shortlist.draws.reals import Decay, ExponentialWeights, UrnChance
from shortlist.mechanisms import PermuteAndFlip

fixed = settings(derandomize=True, deadline=None, max_examples=80)
HUGE = 2**62


def classes_of(counts, sizes, epsilon):
    return ExponentialWeights(ints(*counts), ints(*sizes), epsilon, math.inf)


def slack_classes(counts, k, decay):
    return SlackClasses(Sequences(EqualCounts.of(np.array(counts, np.int64)), k), decay)


CANDIDATES = {
    "alone": classes_of([7], [1], 1.0),
    "ties alone": classes_of([7], [3], 1.0),
    "two": classes_of([5, 0], [1, 1], 0.2),
    "three": classes_of([5, 4, 3], [1, 2, 1], 0.7),
    "ties at the top": classes_of([9, 7], [3, 2], 0.3),
    "nearly alike": classes_of([5, 4, 0], [1, 1, 3], 1e-6),
    "hardly ever another": classes_of([5, 4, 0], [1, 2, 5], 50.0),
    "far apart": classes_of([HUGE, HUGE - 3, 0], [1, 1, 1], 0.4),
    "some have nobody left": classes_of([8, 7, 6, 5], [1, 0, 2, 0], 0.5),
    "chances near 1": classes_of([40, 39, 37, 20], [1, 4, 2, 1], 0.01),
    "sequences": slack_classes([6, 5, 5, 3], 2, 0.4),
    "sequences with ties": slack_classes([5, 5, 5, 4, 1], 3, 0.2),
}

each = pytest.mark.parametrize("candidates", CANDIDATES.values(), ids=CANDIDATES)


def by_definition(candidates):
    """Of the class that is named: all items are visited, in all orders, until one is accepted."""
    chances = [float(candidates.chance(i).approximate()[0][0]) for i in range(len(candidates))]
    sizes = sizes_of(candidates)
    items = [i for i, size in enumerate(sizes) for _ in range(size)]
    orders = list(itertools.permutations(items))
    named = defaultdict(float)
    for order in orders:
        reached = 1 / len(orders)
        for i in order:
            named[i] += reached * chances[i]
            reached *= 1 - chances[i]
    return dict(named)


def sizes_of(candidates):
    with ctx.workprec(200):
        scale = arb(candidates.shift).exp()
        balls = [
            candidates.ball(i) * scale / candidates.chance(i).ball(0)
            for i in range(len(candidates))
        ]
        return [round(float(ball)) for ball in balls]


def by_integral(candidates):
    """By the time y at which the first one that is accepted arrives: a polynomial of y."""
    sizes = np.array(sizes_of(candidates))
    chances = [candidates.chance(i).approximate()[0][0] for i in range(len(candidates))]
    nodes, shares = np.polynomial.legendre.leggauss(sizes.sum() // 2 + 1)
    waiting = 1 - np.outer(chances, (nodes + 1) / 2)
    nobody = np.prod(waiting ** sizes[:, None], axis=0)
    masses = sizes * chances * (nobody / waiting @ (shares / 2))
    return dict(enumerate(masses.tolist()))


@each
def test_the_integral_is_the_law_by_definition(candidates):
    if sum(sizes_of(candidates)) > 8:
        return
    expected = by_definition(candidates)
    found = by_integral(candidates)
    assert all(math.isclose(found.get(i, 0), p, abs_tol=1e-12) for i, p in expected.items())


class Pruned(Exception):  # noqa: N818 - no error
    """A branch of too little probability."""


class Pruning(Enumerator):
    """Replays the real permute-and-flip along all branches of its choices and coins."""

    least = 5e-5

    def permute_and_flip(self, candidates):
        return first_accepted(candidates, self)

    def _branch(self, asked, options):
        value = super()._branch(asked, options)
        if self.probability < self.least:
            raise Pruned
        return value

    def coin(self, chances):
        heads = arb(float(chances.approximate()[0][0]))
        return np.array([self._branch("coin", lambda: [(True, heads), (False, 1 - heads)])])

    def choice(self, weights):
        values = weights.approximate()[0]
        chances = (values / values.sum()).tolist()
        return self._branch("choice", lambda: [(i, arb(p)) for i, p in enumerate(chances)])


def replayed(candidates):
    """Lower bounds of the probability of each class; what they lack to 1 was pruned."""
    named, draws = defaultdict(float), Pruning()
    while draws is not None:
        with contextlib.suppress(Pruned):
            named[draws.permute_and_flip(candidates)] += float(draws.probability)
        draws = draws.next()
    return named


def excess(candidates, expected):
    """By how much replayed branches contradict a law, at most."""
    found = replayed(candidates)
    pruned = 1 - sum(found.values())
    assert pruned < 0.04
    return max(
        max(found[i] - p, p - found[i] - pruned)
        for i, p in ((i, expected.get(i, 0)) for i in range(len(candidates)))
    )


@each
def test_all_branches_of_the_code_together_have_the_law(candidates):
    assert excess(candidates, by_integral(candidates)) < 1e-9


def sharper(candidates, factor):
    if isinstance(candidates, SlackClasses):
        return SlackClasses(candidates.lists, candidates.decay * factor)
    epsilon = candidates.epsilon * factor
    return ExponentialWeights(candidates.counts, candidates.multiplicities, epsilon, math.inf)


def by_weights(candidates):
    """The exponential mechanism's law: what would come out if every proposal were kept."""
    values = candidates.approximate()[0]
    return dict(enumerate((values / values.sum()).tolist()))


@pytest.mark.parametrize("name", ["two", "three", "sequences", "sequences with ties"])
def test_branches_contradict_a_law_that_is_30_percent_off(name):
    candidates = CANDIDATES[name]
    for factor in (0.7, 1.3):
        assert excess(candidates, by_integral(sharper(candidates, factor))) > 0.002


@pytest.mark.parametrize("name", ["two", "three"])
def test_branches_contradict_a_law_without_thinning(name):
    candidates = CANDIDATES[name]
    assert excess(candidates, by_weights(candidates)) > 0.01


def deviation(seen, expected):
    """The largest distance of a frequency from its probability, in standard errors."""
    n = sum(seen.values())
    assert seen.keys() <= expected.keys()
    return max(
        abs(seen.get(i, 0) - n * p) / math.sqrt(max(n * p * (1 - p), 1))
        for i, p in expected.items()
    )


def frequencies(candidates, n=3000, seed=11):
    draws = ExactDraws(SeededBits(seed))
    return Counter(draws.permute_and_flip(candidates) for _ in range(n))


@each
def test_frequency_of_classes(candidates):
    seen = frequencies(candidates)
    assert deviation(seen, by_integral(candidates)) < 4
    assert all(sizes_of(candidates)[i] > 0 for i in seen)


@pytest.mark.parametrize("name", ["two", "three", "sequences", "sequences with ties"])
def test_frequencies_tell_a_law_that_is_30_percent_off(name):
    candidates = CANDIDATES[name]
    seen = frequencies(candidates)
    for factor in (0.7, 1.3):
        assert deviation(seen, by_integral(sharper(candidates, factor))) > 4.5


@pytest.mark.parametrize("name", ["two", "three"])
def test_frequencies_tell_a_law_without_thinning(name):
    candidates = CANDIDATES[name]
    assert deviation(frequencies(candidates), by_weights(candidates)) > 4.5


# --- the slow path, and how many draws there are


@each
@pytest.mark.parametrize("seed", range(12))
def test_forced_to_be_slow_it_names_the_same(candidates, seed):
    bits = SeededBits(seed), SeededBits(seed)
    fast, slow = ExactDraws(bits[0]), ExactDraws(bits[1], math.inf)
    for _ in range(3):
        assert fast.permute_and_flip(candidates) == slow.permute_and_flip(candidates)
    assert bits[0].words(1) == bits[1].words(1)


@dataclass(frozen=True)
class Counting(ExactDraws):
    """Draws that note each proposal."""

    proposals: list = field(default_factory=list)

    def choice(self, weights):
        self.proposals.append(super().choice(weights))
        return self.proposals[-1]


@each
def test_there_are_fewer_than_two_proposals_on_average(candidates):
    draws, n = Counting(SeededBits(3)), 1000
    for _ in range(n):
        draws.permute_and_flip(candidates)
    assert n <= len(draws.proposals) < 2 * n


MANY = [
    (np.arange(3000) // 2, 150, 0.05),
    (np.arange(3000) // 2, 150, 1e-6),
    ((10**6 / np.arange(1, 2000)).astype(np.int64), 100, 0.01),
    (np.append(HUGE - np.arange(500), np.zeros(10**5, np.int64)), 200, 0.5),
]


@pytest.mark.parametrize(
    ("counts", "k", "decay", "margin", "n"),
    [*((*many, 0.0, 200) for many in MANY), *((*MANY[i], math.inf, 3) for i in (0, 1, 3))],
)
def test_astronomically_many_sequences_take_few_draws(counts, k, decay, margin, n):
    candidates = slack_classes(counts, k, decay)
    assert candidates.shift > 300
    draws = Counting(SeededBits(8), margin)
    named = [draws.permute_and_flip(candidates) for _ in range(n)]
    # So many compete that the first accepted arrives at once: nothing is thinned out.
    assert draws.proposals == named
    fast = ExactDraws(SeededBits(8))
    assert named == [fast.permute_and_flip(candidates) for _ in range(n)]


def test_frequency_of_astronomically_many():
    # Then the classes have the odds of their weights.
    counts, k, decay = MANY[0]
    seen = frequencies(slack_classes(counts, k, decay), n=1000)

    def law_of(decay):
        return by_weights(slack_classes(counts, k, decay))

    def in_five(law):
        """Five ranges of classes that are about as probable under the true law."""
        cuts = np.searchsorted(np.cumsum([p for _, p in sorted(law_of(decay).items())]), FIFTHS)
        ranges = Counter()
        for i, p in law.items():
            ranges[int(np.searchsorted(cuts, i))] += p
        return ranges

    assert deviation(in_five(seen), in_five(law_of(decay))) < 4
    assert deviation(in_five(seen), in_five(law_of(1.3 * decay))) > 4.5
    assert deviation(in_five(seen), in_five(law_of(0.7 * decay))) > 4.5


FIFTHS = [0.2, 0.4, 0.6, 0.8]


def test_many_ties_are_as_likely_as_their_number():
    candidates = classes_of([9, 7, 2], [10, 40, 50], 0.4)
    seen = frequencies(candidates)
    assert deviation(seen, by_integral(candidates)) < 4
    for factor in (0.7, 1.3):
        assert deviation(seen, by_integral(sharper(candidates, factor))) > 4.5


# --- the mechanism and the picks


@fixed
@given(k=st.integers(1, 10**6), epsilon=between(1e-6, 50))
def test_the_picks_share_epsilon(k, epsilon):
    mechanism = PermuteAndFlip(k=k, epsilon=epsilon)
    assert k * Fraction(mechanism.local_epsilon) <= Fraction(epsilon)
    assert k * Fraction(math.nextafter(mechanism.local_epsilon, 1e9)) > Fraction(epsilon)
    assert mechanism.cost.delta(epsilon) == 0


@pytest.mark.parametrize(
    "way", [ExactDraws.permute_and_flip, lambda draws, weights: weights.pick(draws)]
)
def test_groups_of_which_nobody_is_left_are_never_picked(way):
    values, left = ints(60, 9, 8, 7, 3, 1, 0), ints(2, 0, 1, 0, 0, 1, 3)
    draws, seen = ExactDraws(SeededBits(1)), set()
    for _ in range(400):
        seen.add(way(draws, ExponentialWeights(values, left, 0.05)))
    assert seen == {0, 2, 5, 6}
    values, left = ints(10**6, 9, 8, 7, 3, 1, 0), ints(1, 0, 1, 0, 0, 1, 3)
    weights = ExponentialWeights(values, left, 9.0)
    assert {way(draws, weights) for _ in range(50)} == {0}


def test_a_pick_that_lands_far_below_is_one_of_what_is_left_there():
    # What is lumped weighs 2^-131, so three words of ones fall there, and the next are fresh.
    values, left = ints(100, 9, 8, 7), ints(1, 0, 2, 3)
    weights = ExponentialWeights(values, left, 1.0)
    assert weights.single == 1
    seen = Counter(weights.pick(ExactDraws(OnesFirst(3, seed))) for seed in range(4000))

    def odds(epsilon):
        share = 3 / (3 + 2 * math.exp(epsilon))
        return {2: 1 - share, 3: share}

    assert deviation(seen, odds(1.0)) < 4
    for factor in (0.7, 1.3):
        assert deviation(seen, odds(factor)) > 4.5


COUNTS = st.lists(
    st.integers(0, 50) | st.integers(0, HUGE) | st.sampled_from([HUGE, HUGE - 1, 2**40]),
    min_size=1,
    max_size=12,
    unique=True,
)


# --- reals: floats within their stated error of the ball


@fixed
@given(gaps=st.lists(st.integers(0, 60) | st.integers(0, HUGE)), epsilon=between(1e-12, 60))
@example(gaps=[0, 1, HUGE], epsilon=1e19)
@example(gaps=[0, 1, HUGE], epsilon=1e-300)
@example(gaps=[690, 693, 694, 700, 740, 745, 746, 800], epsilon=1.0)
def test_decays_are_within_their_stated_error(gaps, epsilon):
    values, errors = within_stated_error(Decay(np.array(gaps, np.int64), epsilon))
    assert (errors <= values * 2.0**-40 + 2.0**-999).all()


@fixed
@given(
    counts=COUNTS,
    epsilon=between(1e-12, 60),
    at_most=st.sampled_from([2.0**32, math.inf]),
    data=st.data(),
)
@example(counts=[HUGE, 0], epsilon=1e-6, at_most=2.0**32, data=None)
def test_weights_are_within_their_stated_error(counts, epsilon, at_most, data):
    counts = np.sort(ints(*counts))[::-1]
    sizes = np.ones(len(counts), np.int64)
    if data is not None:
        size = st.integers(0, 3) | st.integers(0, 2**32 // len(counts))
        sizes[1:] = data.draw(st.lists(size, min_size=len(counts) - 1, max_size=len(counts) - 1))
        sizes[0] = data.draw(st.integers(1, 2**32 // len(counts)))
    weights = ExponentialWeights(counts, sizes, epsilon, at_most)
    assert len(weights) == (
        len(counts) if at_most == math.inf else min(weights.single + 1, len(counts))
    )
    values, errors = within_stated_error(weights)
    assert (errors <= values * 2.0**-40 + math.exp(-44)).all()
    for i in range(weights.single):
        assert sizes[i] > 0 or values[i] == errors[i] == 0
        with ctx.workprec(300):
            decay = (-arb(epsilon) * int(counts[0] - counts[i])).exp()
            assert weights.ball(i).overlaps(decay * int(sizes[i]))
            assert weights.chance(i).ball(0).overlaps(decay)


@fixed
@given(counts=COUNTS, epsilon=between(1e-6, 60), large=between(1.0, 1e290))
def test_weights_of_multiplicities_that_are_no_whole_numbers(counts, epsilon, large):
    counts = np.sort(ints(*counts))[::-1]
    sizes = np.geomspace(1.0, large, len(counts))
    weights = ExponentialWeights(counts, sizes, epsilon, math.inf)
    values, errors = within_stated_error(weights)
    assert (errors <= values * 2.0**-40 + sizes * 2.0**-999).all()
    with ctx.workprec(300):
        for i in range(len(counts)):
            decay = (-arb(epsilon) * int(counts[0] - counts[i])).exp()
            assert weights.ball(i).overlaps(decay * float(sizes[i]))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("far", [0, 1, 5])
def test_what_is_lumped_is_all_beyond_and_weighs_little(epsilon, far):
    counts = np.append(1000 - np.arange(0, 200, 2), np.arange(far)[::-1])
    sizes = np.arange(len(counts)) % 3 + 1
    some, every = (ExponentialWeights(counts, sizes, epsilon, most) for most in (2.0**32, math.inf))
    assert some.single < len(counts) == every.single == len(every)
    with ctx.workprec(200):
        rest = sum((every.ball(i) for i in range(some.single, len(counts))), arb(0))
        assert some.ball(some.single).overlaps(rest)
        assert rest < (-arb(45)).exp()
        assert [some.ball(i).overlaps(every.ball(i)) for i in range(some.single)]


@each
def test_urns_are_within_their_stated_error(candidates):
    for late, early in itertools.product([0, 1, 2, 7, 1000], repeat=2):
        urn = UrnChance(candidates, late, early)
        values, errors = within_stated_error(urn)
        assert errors[0] <= values[0] * 2.0**-40
        with ctx.workprec(300):
            total = sum((candidates.ball(i) for i in range(len(candidates))), arb(0))
            total *= arb(candidates.shift).exp()
            assert urn.ball(0).overlaps((1 + late) / (1 + late + early + total))


@fixed
@given(
    k=st.integers(1, 150),
    n=st.integers(150, 1000),
    epsilon=between(1e-6, 5),
    late=st.integers(0, 20),
    early=st.integers(0, 20),
)
def test_urns_of_astronomically_many_are_within_their_stated_error(k, n, epsilon, late, early):
    candidates = slack_classes(np.arange(n) // 3, k, epsilon / 2)
    within_stated_error(UrnChance(candidates, late, early), bits=150)


@pytest.mark.parametrize("name", ["alone", "two", "ties at the top", "sequences"])
def test_answers_of_an_urn_are_those_of_one_share_that_is_never_drawn(name):
    # The share y of late answers is that until the first arrival at the rate W: 1 - y has the
    # density W (1 - y)^(W - 1), so that E y^late (1 - y)^early is a quotient of Beta functions.
    candidates = CANDIDATES[name]
    values = candidates.approximate()[0]
    rate = values.sum() * math.exp(candidates.shift)

    def answers(draws):
        urn = _Urn(candidates)
        return tuple(urn.is_late(draws) for _ in range(5))

    for told, p in law(answers).items():
        late, early = sum(told), 5 - sum(told)
        expected = math.exp(betaln(1 + late, rate + early) - betaln(1, rate))
        assert math.isclose(p, expected, rel_tol=1e-9)
