"""Top-k by the threshold algorithm as it is drawn, and how much it reads."""

import math

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.threshold import EPSILON, KINDS, Unbatched, build, every, reading_everything
from helpers.views import Listed, hard_family
from shortlist.algorithms.race import Race
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import threshold_top_k
from shortlist.mechanisms.threshold_top_k import ThresholdTopK


@every
@pytest.mark.parametrize("seed", range(8))
def test_selecting_the_slow_way_is_the_same(noise, seed):
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random(60) < 0.1, -1, rng.integers(0, 5, 60))
    outcomes = []
    for margin in (0.0, math.inf):
        bits, view = SeededBits(seed), Listed(scores)
        built = build(ThresholdTopK, noise, 1 + seed % 4, 0.7)
        told = built.select(view, ExactDraws(bits, margin)).positions.tolist()
        outcomes.append((told, view.n_sorted, view.n_random, int(bits.words(1)[0])))
    assert outcomes[0] == outcomes[1]


@every
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 50.0), (50.0, 1.0)])
def test_gaps_are_never_named_and_all_others_are_where_k_is_large(noise, costs):
    rng = np.random.default_rng(5)
    for scores in ([], [-1], [-1] * 9, [4], np.where(rng.random(90) < 0.7, -1, 2**62)):
        exists = np.flatnonzero(np.array(scores) >= 0).tolist()
        for k in (1, 5, 200):
            view = Listed(np.array(scores, int), costs)
            named = build(ThresholdTopK, noise, k).select(view, ExactDraws()).positions.tolist()
            assert set(named) <= set(exists)
            assert len(set(named)) == len(named) == min(k, len(exists))


@pytest.mark.parametrize("noise", [KINDS[0], *exhaustive(*KINDS[1:])])
def test_the_code_draws_from_its_law(noise):
    scores, n, k = (3, 2, 0, 1), 2000, 2
    built, draws, seen = build(ThresholdTopK, noise, k), ExactDraws(SeededBits(11)), {}
    for _ in range(n):
        outcome = tuple(built.select(Listed(scores), draws).positions.tolist())
        seen[outcome] = seen.get(outcome, 0) + 1

    def deviation(epsilon):
        expected = reading_everything(noise, scores, k, epsilon)
        return max(
            abs(seen.get(o, 0) - n * p) / math.sqrt(n * p * (1 - p)) for o, p in expected.items()
        )

    assert deviation(EPSILON) < 4
    assert deviation(EPSILON / 1.3) > 4.5
    assert deviation(EPSILON / 0.7) > 4.5


SHAPES = {
    "zipf": lambda m, _: np.ceil(1e6 / np.arange(1, m + 1)).astype(np.int64),
    "equal": lambda m, _: np.full(m, 7),
    "huge": lambda m, _: 2**62 - np.arange(m) // 50,
    "hard": hard_family,
}


def accesses(kind, scores, k, seed, **given):
    view = Listed(scores, **given)
    kind(k=k, epsilon=1.0).select(view, ExactDraws(SeededBits(seed)))
    return view


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, *exhaustive(10)])
def test_accesses_are_within_the_bound(shape, k):
    m, runs = 4000, 30
    scores = np.random.default_rng(1).permutation(SHAPES[shape](m, k))
    bound = 2 * (math.sqrt(m * k) + math.sqrt(m / 2))
    single = [accesses(Unbatched, scores, k, seed).accesses for seed in range(runs)]
    paged = [accesses(ThresholdTopK, scores, k, seed).accesses for seed in range(runs)]
    error = 4 * np.std(single) / math.sqrt(runs)
    assert np.mean(single) <= bound + error
    assert np.mean(paged) <= 2 * np.mean(single) + 2 * error
    assert shape == "hard" or np.mean(single) < bound / 2


@pytest.mark.parametrize("seed", range(10))
def test_reading_in_pages_costs_at_most_twice_as_much_on_the_same_noise(monkeypatch, seed):
    # The same numbers for both: those of a race that was run to its end.
    m, k = 2000, 1 + 9 * (seed % 2)
    race = Race(m, ExactDraws(SeededBits(seed)))
    ids, told = race.sorted_access(0, m)
    by_id = told[np.argsort(ids)]

    class Fixed:
        def __init__(self, *_):
            pass

        def sorted_access(self, start, n):
            return ids[start : start + n], told[start : start + n]

        def random_access(self, asked):
            return by_id[asked]

    monkeypatch.setattr(threshold_top_k, "Race", Fixed)
    for shape in SHAPES.values():
        scores = np.random.default_rng(seed).permutation(shape(m, k))
        single, paged = (accesses(kind, scores, k, seed) for kind in (Unbatched, ThresholdTopK))
        assert paged.n_sorted <= 2 * single.n_sorted + 1
        assert paged.accesses <= 2 * single.accesses + 2


def test_dear_accesses_are_fewer():
    scores = hard_family(40_000, 10)
    spent = {}
    for costs in [(1.0, 1.0), (1.0, 25.0), (25.0, 1.0)]:
        views = [accesses(ThresholdTopK, scores, 10, seed, costs=costs) for seed in range(8)]
        spent[costs] = [np.mean([getattr(v, n) for v in views]) for n in ("n_sorted", "n_random")]
        total = float(np.dot(spent[costs], costs))
        bound = 2 * (math.sqrt(40_000 * 10) + math.sqrt(20_000)) * math.sqrt(math.prod(costs))
        assert total <= 2 * bound
    assert spent[1.0, 25.0][1] < spent[1.0, 1.0][1] / 2
    assert spent[25.0, 1.0][0] < spent[1.0, 1.0][0] / 2
