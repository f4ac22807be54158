"""Noisy counts beside a selection: the law of what is released, and what is stated of it."""

import math
from collections import Counter

import numpy as np
import pytest

from helpers.noisy_counts import HUGE, build, cells, every, evidence, scaled
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.noise import Laplace, Normal
from shortlist.evidence import PublicCounts


def deviation(seen, expected):
    """The largest distance of a frequency from its probability, in standard errors."""
    n = sum(seen.values())
    return max(
        abs(seen.get(i, 0) - n * p) / math.sqrt(max(n * p * (1 - p), 1))
        for i, p in expected.items()
    )


NOISY = {
    "Laplace": [
        build("peeling", k=1, epsilon=2.0, count_share=0.5),
        build("permute-and-flip", k=4, epsilon=2.0, delta=0.0, bound=1),
        build("joint", k=2, epsilon=9.0, delta=0.0),
    ],
    "Normal": [
        build("gamma, general", k=100, epsilon=30.0, delta=1e-3),
        build("gamma, general", k=50, epsilon=9.0, delta=0.1, count_share=0.8),
    ],
}

noisy = pytest.mark.parametrize(
    ("law", "mechanism"), [(law, mechanism) for law in NOISY for mechanism in NOISY[law]]
)


@noisy
def test_frequency_of_noisy_counts(law, mechanism):
    assert mechanism.count_noise == law
    assert mechanism.count_sd < 6
    n, noise = 20_000, mechanism._best.noise
    counts = np.arange(n) % 50
    drawn = mechanism._noisy(counts, ExactDraws(SeededBits(1))) - counts
    assert (drawn == np.round(drawn)).all()
    seen = Counter(drawn.tolist())
    assert deviation(seen, cells(noise)) < 4.5
    for factor in (0.7, 1.3):
        assert deviation(seen, cells(scaled(noise, factor))) > 4.5
    # Each item's noise is its own: it goes neither with its place nor with its neighbour's.
    standard = drawn / mechanism.count_sd
    for other in (np.linspace(-1.7, 1.7, n), np.roll(standard, 1), counts / 15):
        assert abs(np.mean(standard * (other - other.mean()))) < 4.5 / math.sqrt(n)


@pytest.mark.parametrize(("law", "mechanism"), [(law, NOISY[law][0]) for law in NOISY])
def test_frequency_of_the_scores_of_a_selection(law, mechanism):  # noqa: ARG001 - names the test
    counts, draws = np.array([50, 40, 30, 20]) * 1000, ExactDraws(SeededBits(2))
    seen = Counter()
    for _ in range(3600 // min(mechanism.k, len(counts))):
        selection = mechanism.select(PublicCounts(counts, 1), draws)
        seen.update((selection.scores - counts[selection.positions]).tolist())
        assert selection.noise_sd == mechanism.count_sd
    noise = mechanism._best.noise
    assert deviation(seen, cells(noise)) < 4.5
    for factor in (0.7, 1.3):
        assert deviation(seen, cells(scaled(noise, factor))) > 4.5


@every
@pytest.mark.parametrize("seed", range(3))
def test_forced_to_be_slow_it_releases_the_same(kind, seed):
    mechanism = build(kind, epsilon=3.0)
    seen = evidence(mechanism, [900, 40, 0, 800, 3, 700])
    bits = SeededBits(seed), SeededBits(seed)
    fast, slow = (
        mechanism.select(seen, ExactDraws(b, margin))
        for b, margin in zip(bits, (0.0, math.inf), strict=True)
    )
    assert fast.positions.tolist() == slow.positions.tolist()
    assert fast.scores.tolist() == slow.scores.tolist()
    assert bits[0].words(1) == bits[1].words(1)
    assert fast.scores.shape == fast.positions.shape


@every
def test_it_selects_what_its_selection_does_and_knows_what_its_noise_is(kind):
    mechanism = build(kind, epsilon=3.0)
    seen = evidence(mechanism, [90_000, 40, 0, 80_000, 3, 70_000])
    alone = mechanism.selection.select(seen, ExactDraws(SeededBits(5)))
    together = mechanism.select(seen, ExactDraws(SeededBits(5)))
    assert together.positions.tolist() == alone.positions.tolist()
    assert together.ordered == alone.ordered
    assert together.noise_sd == mechanism.count_sd
    off = together.scores - seen.counts[together.positions]
    assert np.abs(off).max(initial=0) < 12 * mechanism.count_sd
    assert mechanism.evidence is mechanism.selection.evidence
    assert mechanism.adjacency == mechanism.selection.adjacency


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_huge_counts(margin):
    counts = np.array([HUGE, HUGE - 1, 2**53 + 1, 2**52, 5, 0])
    mechanism = build("peeling", k=6, epsilon=20.0, delta=0.0)
    for seed in range(4):
        draws = ExactDraws(SeededBits(seed), margin)
        selection = mechanism.select(PublicCounts(counts), draws)
        words = SeededBits(seed)
        mechanism.selection.select(PublicCounts(counts), ExactDraws(words))
        noise = mechanism._noisy(np.zeros(6, np.int64), ExactDraws(words)).tolist()
        for position, score, own in zip(selection.positions, selection.scores, noise, strict=True):
            assert score == float(int(counts[position]) + int(own))  # rounded once, at the end


def test_noise_that_hides_everything_is_refused():
    refusal(lambda: build("permute-and-flip", k=2**32, epsilon=1e-9, delta=0.0), "count_share=")
    loud = build("permute-and-flip", k=1000, epsilon=1e-6, delta=0.0, count_share=1e-3)
    assert 1e12 < loud.count_sd < 2e12
    loud.select(PublicCounts(np.array([HUGE, 0])), ExactDraws(SeededBits(1)))


# --- the standard deviation that is stated


@pytest.mark.parametrize("scale", [1e-3, 0.01, 0.1, 0.3, 1.0, 2.5, 10.0, 40.0])
def test_sd_of_rounded_laplace_noise(scale):
    direct = math.sqrt(math.fsum(n * n * p for n, p in cells(Laplace(scale)).items()))
    assert math.isclose(Laplace(scale).rounded_sd, direct, rel_tol=1e-9, abs_tol=1e-20)
    assert Laplace(scale).rounded_sd > 0


@pytest.mark.parametrize("sigma", [1e-3, 0.03, 0.1, 0.3, 1.0, 2.9, 3.0, 3.1, 10.0, 40.0])
def test_sd_of_rounded_normal_noise(sigma):
    direct = math.sqrt(math.fsum(n * n * p for n, p in cells(Normal(sigma)).items()))
    assert math.isclose(Normal(sigma).rounded_sd, direct, rel_tol=1e-9, abs_tol=1e-20)
    assert Normal(sigma).rounded_sd > 0


@noisy
def test_the_sd_that_is_stated_is_that_of_what_is_drawn(law, mechanism):
    drawn = mechanism._noisy(np.zeros(20_000, np.int64), ExactDraws(SeededBits(3)))
    # The variance of a square is that of the square itself, estimated.
    error = np.std(drawn**2) / math.sqrt(len(drawn))
    assert abs(np.mean(drawn**2) - mechanism.count_sd**2) < 4.5 * error
    assert abs(np.mean(drawn**2) - (0.7 * mechanism.count_sd) ** 2) > 4.5 * error
    assert law in mechanism.explain()[-1]
