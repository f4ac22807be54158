"""Samples of the audit: those that are drawn together have the law of the code."""

import dataclasses
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.special import gammaincc

from shortlist.audit.audited_parameters import settings_of
from shortlist.audit.exact.enumerator import law
from shortlist.audit.samples._sampled_together import sample
from shortlist.audit.stand_ins import bare
from shortlist.audit.universes import universe_of
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace, Normal
from shortlist.mechanisms import (
    Association,
    ItemsThenPairs,
    Peeling,
    PerGroup,
    PolicyGreedy,
    Selection,
    SetOrPeel,
    ThresholdTopK,
)
from shortlist.mechanisms.registry import every_mechanism


def on_coarse_grid(mechanism):
    """The variant that is enumerated, where what is rounded down to is a part of the law."""
    if isinstance(mechanism, SetOrPeel):  # a set of both items tells nothing
        return dataclasses.replace(mechanism, k=1)
    return mechanism.audit_hints().coarse if hasattr(mechanism, "design") else mechanism


MECHANISMS = [
    on_coarse_grid(next(settings_of(kind, quick=True)))
    for kind in every_mechanism()
    if kind not in (PerGroup, ItemsThenPairs)
]
"""But for groups and pairs: in so small ones hardly any is named, and exact laws say more."""
N = 20_000


def two_items(mechanism):
    """A data set of a mechanism's universe, and where its scores are cut."""
    universe = universe_of(mechanism)
    families = [f for f in universe.families() if universe.n_items(f[0]) == 2]
    data = max(max(families, key=len), key=lambda data: (len(set(data)), min(data)))
    return universe.evidence_of(data), universe_of(mechanism, quick=True).edges(2)


def sampled(mechanism, n, *, margin=0.0, seed=1):
    """The outcomes of samples: positions, and cells of scores."""
    evidence, edges = two_items(mechanism)

    def run(draws):
        selection = mechanism.select(evidence, draws)
        positions = tuple(selection.positions.tolist())
        if selection.scores is None or not edges:
            return [(positions, ())]
        columns = np.searchsorted(edges, bare(selection.scores), side="right").T
        return [(positions, tuple(column)) for column in columns.tolist()]

    return sample(run, n, SeededBits(seed), margin)


def exact(mechanism):
    """The law of the same outcomes."""
    evidence, edges = two_items(mechanism)
    enumerable = universe_of(mechanism).enumerable()

    def run(draws):
        selection = enumerable.select(evidence, draws)
        told = () if selection.scores is None or not edges else selection.scores
        of_multiples = hasattr(mechanism, "design") and not isinstance(mechanism, Association)
        if of_multiples or isinstance(mechanism, PolicyGreedy):  # whose units are whole
            told = np.searchsorted(edges, told, side="right")
        return tuple(selection.positions.tolist()), tuple(abs(float(x)) for x in told)

    return law(run, edges)


def doubt(seen, expected):
    """The chance that frequencies of this law are so far from it (chi-square)."""
    n = seen.total()
    likely = [o for o, p in expected.items() if n * p >= 10]
    observed = [seen[o] for o in likely]
    means = [n * expected[o] for o in likely]
    observed, means = [*observed, n - sum(observed)], [*means, max(n - sum(means), 1e-6)]
    distance = sum((x - m) ** 2 / m for x, m in zip(observed, means, strict=True) if x or m > 1)
    return gammaincc(max(len(likely) - 1 + (means[-1] > 1), 1) / 2, distance / 2)


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(one, marks=[pytest.mark.exhaustive] if isinstance(one, ThresholdTopK) else [])
        for one in MECHANISMS
    ],
    ids=lambda m: type(m).__name__,
)
def test_samples_have_the_exact_law(mechanism):
    seen = sampled(mechanism, N)
    assert seen.total() == N
    assert doubt(seen, exact(mechanism)) > 1e-4
    louder = dataclasses.replace(mechanism, epsilon=mechanism.epsilon * 1.3)
    assert doubt(seen, exact(louder)) < 1e-6


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_samples_forced_to_be_slow_are_the_same(mechanism):
    assert sampled(mechanism, 100, margin=math.inf) == sampled(mechanism, 100)


def test_a_group_of_one_is_as_alone():
    mechanism = Peeling(k=2, epsilon=1.0)
    evidence, _ = two_items(mechanism)

    def run(draws):
        return [tuple(mechanism.select(evidence, draws).positions.tolist())]

    for seed in range(20):
        (together,) = sample(run, 1, SeededBits(seed))
        assert [together] == run(ExactDraws(SeededBits(seed)))


def test_what_was_drawn_later_belongs_to_what_was_told_before():
    # The value of each sample, and a coin that is thrown after it: two columns, no third.
    heads = Normal(1.0, bounds=np.array([0]), above=np.array([True]))

    class Half:
        def __len__(self):
            return 1

        def approximate(self):
            return np.array([0.5]), np.zeros(1)

    def run(draws):
        values = draws.order(Order(np.array([0]), [Laplace(1.0)], digits=3)).values
        again = draws.order(Order(np.array([0]), [heads], digits=3)).values
        coin = bool(draws.coin(Half())[0])
        return [(coin, *x) for x in np.vstack([bare(values), bare(again)]).T.tolist()]

    seen = sample(run, 2000, SeededBits(5))
    assert seen.total() == 2000
    assert len(seen) > 1500
    assert min(again for _, _, again in seen) >= 0
    for coin in (True, False):
        values = np.array([[x, y] for c, x, y in seen if c is coin])
        assert abs(len(values) - 1000) < 150
        assert abs(np.corrcoef(values.T)[0, 1]) < 0.15


def both(first, second):
    """Two tellings, averaged, in the place of the first."""
    mean = np.empty_like(first)
    mean[[0, 1]] = (first + second[:]) / 2 - 3
    mean[0] = 2 * mean[0]
    return 0.0 - mean[::-1]


def shifted(first, _):
    """A value that was told, and is not its place in the array once that is changed."""
    one, _ = first
    first[0] = 7.5
    return -one * len(first) + first[0]


def caught(first, _):
    """Code that goes on, whatever happens."""
    try:
        return float(first[0] > 3)
    except Exception:  # noqa: BLE001
        return 0.0


ALIKE = [both, shifted, lambda first, second: second - first]

APART = [
    caught,
    lambda first, _: "large" if first[0] > 3 else "small",
    lambda first, _: np.where(first > 2, 100.0, first),
    lambda first, second: (first - second).mean(),
    lambda first, _: np.mean(first),
    lambda first, _: max(first) - sum(first.tolist()),
    lambda first, _: np.sort(first) - first.sum(),
    lambda first, _: np.array([1, 2])[np.argsort(first)],
    lambda first, _: np.asarray(first).max(),
    lambda first, _: first * np.array([1, 2]),
    lambda first, _: np.add(first, 1, where=np.array([True, False]), out=np.zeros(2)),
    lambda first, _: np.concatenate([first, [first.shape[0]]]),
    lambda first, _: round(first[1], -1),
    lambda first, _: dict.fromkeys(first, 1).get(2.0, 0),
    lambda first, _: f"{first}",
    lambda first, _: first[None, 0],
    lambda first, _: isinstance(first, np.ndarray) and isinstance(first[0], float),
    lambda first, _: Selection(np.array([int(first[0])]), first[0] == 2).positions,
]


def told(draws):
    """Two values, told twice."""
    order = Order(np.array([3, 1]), [Laplace(1.0)], digits=0)
    return [draws.order(order).by_position() for _ in range(2)]


def texts(made):
    return [str(column) for column in bare(made).T.tolist()]


def told_twice(way, calls):
    """A run: two values that are told, told again, and what is made of all four."""

    def run(draws):
        calls.append(draws)
        return texts(way(*told(draws)))

    return run


@cache
def told_alone():
    """What runs of the code itself are told: the same for whatever is made of it."""
    draws = ExactDraws(SeededBits(6))
    return [told(draws) for _ in range(1500)]


def homogeneous(first, second):
    """The chance that frequencies of one law are so far from each other (chi-square)."""
    n, m = first.total(), second.total()
    often = [o for o in first | second if first[o] + second[o] >= 20]
    cells = [(first[o], second[o]) for o in often]
    cells.append((n - sum(x for x, _ in cells), m - sum(y for _, y in cells)))
    far = sum((x * m - y * n) ** 2 / (n * m * (x + y)) for x, y in cells if x + y)
    return gammaincc(len(often) / 2, far / 2)


@pytest.mark.parametrize("way", ALIKE + APART)
def test_whatever_is_made_of_told_values_has_the_law_of_the_code(way):
    together = sample(told_twice(way, []), 500, SeededBits(5))
    made = (way(*(values.copy() for values in run)) for run in told_alone())
    alone = Counter(outcome for one in made for outcome in texts(one))
    assert together.total() == 500
    assert homogeneous(together, alone) > 1e-4


@pytest.mark.parametrize("way", ALIKE)
def test_code_that_passes_told_values_on_runs_once_for_each_order(way):
    calls = []
    sample(told_twice(way, calls), 2000, SeededBits(5))
    assert len(calls) <= 1 + 2 + 4


def test_samples_that_part_are_told_plain_arrays():
    calls = []
    sample(told_twice(APART[1], calls), 50, SeededBits(5))
    assert len(calls) >= 50

    def run(draws):
        first = draws.order(Order(np.array([3, 1]), [Laplace(1.0)], digits=0)).values
        second = draws.order(Order(np.array([3, 1]), [Laplace(1.0)], digits=0)).values
        return [(type(first), type(second), first.shape, second.shape)]

    seen = sample(run, 3, SeededBits(5))
    assert seen == {(np.ndarray, np.ndarray, (2,), (2,)): 3}


def test_samples_that_are_lost_are_noticed():
    with pytest.raises(ArithmeticError, match="do not add up"):
        sample(lambda _: ["one", "two", "three"], 100, SeededBits(1))
