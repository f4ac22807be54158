"""Noisy values rounded down to a grid: whole numbers, with which mechanisms may compute."""

import itertools

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.special import ndtr

from helpers.drawn import ONE, noise_at
from helpers.exactness import Script, ints
from shortlist import kernels
from shortlist.audit.exact.enumerator import law
from shortlist.audit.samples._sampled_together import sample
from shortlist.audit.stand_ins import Unknown
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, RoundingGrid, _rounded_normals, noisy_values
from shortlist.draws.noise import Laplace, Normal
from shortlist.runtime import threads


@pytest.mark.parametrize("margin", [0.0, np.inf])
@pytest.mark.parametrize("step", [1, ONE // 8, 4 * ONE])
@pytest.mark.parametrize("sd", [0.01, 3.0, 1e4])
def test_they_are_the_exact_values_rounded_down(sd, step, margin):
    n = 40
    scores = (np.arange(n) * 1237 - 20_000) * (ONE // 64)
    bits, words = SeededBits(8), SeededBits(8).words(n)
    rounded = ExactDraws(bits, margin).rounded_down(scores, Normal(sd), RoundingGrid(step))
    with ctx.workprec(300):
        exact = [
            arb(int(scores[i])) / ONE + noise_at(fmpq(2 * int(w) + 1, 2**65), sd, 1, None, True)
            for i, w in enumerate(words)
        ]
        down = [int((value * ONE / step).floor().unique_fmpz()) for value in exact]
    assert rounded.tolist() == down


@pytest.fixture
def by_table(monkeypatch):
    """A table of the quantile function also for few values."""
    monkeypatch.setattr(_rounded_normals, "_WORTH_A_TABLE", 0)


@pytest.mark.usefixtures("by_table")
@pytest.mark.parametrize("margin", [0.0, np.inf])
@pytest.mark.parametrize(
    ("sd", "step"), [(0.01, ONE // 8), (3.0, ONE // 256), (3.0, 4 * ONE), (1e4, ONE)]
)
def test_by_a_table_they_are_the_exact_values_rounded_down(sd, step, margin):
    n = 2**12
    scores = (np.arange(n) * 1237 - 20_000) * (ONE // 64)
    words = SeededBits(8).words(n // 2).view(np.uint32)
    grid = RoundingGrid(step, -2000, 2**61)
    rounded = ExactDraws(SeededBits(8), margin).rounded_down(scores, Normal(sd), grid)
    some = slice(None, None, 32)
    with ctx.workprec(300):
        exact = [
            arb(score) / ONE + noise_at(fmpq(2 * int(w) + 1, 2**33), sd, 1, None, True)
            for score, w in zip(scores.tolist()[some], words[some], strict=True)
        ]
        down = [int((value * ONE / step).floor().unique_fmpz()) for value in exact]
    assert rounded[some].tolist() == np.maximum(down, -2001).tolist()


@pytest.mark.usefixtures("by_table")
def test_a_value_that_32_bits_leave_open_goes_by_later_ones():
    """The median of the noise lies on an edge, between two words; and the far end of a tail."""
    words = np.array([2**31 - 1, 2**31, 0, 2**32 - 1], np.uint32).view(np.uint64)
    for later, ends in ((0, (-1, 0)), (2**64 - 1, (-1, 0))):
        bits = Script(*words.tolist(), later, later, later, later)
        drawn = ExactDraws(bits).rounded_down(
            ints(0, 0, 0, 0), Normal(3.0), RoundingGrid(ONE, -5, 5)
        )
        assert drawn.tolist() == [*ends, -6, 5]


@pytest.mark.parametrize("octave", [8, 9, 15, 24, 28, 29, 30])
def test_the_table_is_the_quantile_function(octave):
    """Of uniforms at the ends of cells, and in between: within what the kernel takes for it."""
    cubics, n = _rounded_normals._cubics(), kernels.CELLS
    at = np.array([0.0, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0])
    for cell in range(0, n, 9):
        given = (
            np.vander(at, 4, increasing=True) @ cubics[(octave - kernels.FIRST_OCTAVE) * n + cell]
        )
        for place, value in zip(at, given, strict=True):
            uniform = 2.0 ** (octave - 32) * (1 + (cell + place) / n)
            with ctx.workprec(200):
                exact = -arb(2).sqrt() * (2 * arb(uniform)).erfcinv()
                assert abs(exact - float(value)) < 2.0**-31.5


@pytest.mark.parametrize("sd", [1e-6, 0.01, 3.0])
def test_noise_next_to_an_edge_is_on_its_side_of_it(sd):
    """The median of the noise lies on the edge, between two words: floats cannot tell the sides."""
    for word, value in ((2**63 - 1, -1), (2**63, 0)):
        drawn = ExactDraws(Script(word, word)).rounded_down(
            ints(0, ONE), Normal(sd), RoundingGrid(ONE)
        )
        assert drawn.tolist() == [value, value + 1]


def test_beyond_the_grid_its_ends_stand_for_all():
    scores = np.arange(-3, 6) * ONE
    rounded = ExactDraws(SeededBits(1)).rounded_down(scores, Normal(1e-9), RoundingGrid(ONE, -1, 3))
    spread = ExactDraws(SeededBits(1)).rounded_down(scores, Normal(1e-9), RoundingGrid(ONE))
    assert set(np.unique(rounded - spread)) > {0}
    assert rounded.tolist() == np.clip(spread, -2, 3).tolist()


def test_counts_far_above_the_noise_keep_all_their_digits():
    scores = ints(2**61, 2**61 - 1, -(2**61))
    rounded = ExactDraws(SeededBits(3)).rounded_down(
        scores, Normal(1e-3), RoundingGrid(1), unit=1.0
    )
    assert all(abs(value - score) <= 1 for value, score in zip(rounded, scores, strict=True))


def test_the_enumerator_knows_the_chance_of_each_multiple():
    scores, grid, sd = ints(0, ONE // 2), RoundingGrid(ONE, -1, 2), 1.3
    found = law(lambda draws: tuple(draws.rounded_down(scores, Normal(sd), grid).tolist()))
    ends = np.array([-np.inf, -1, 0, 1, 2, np.inf])
    for rounded in itertools.product(range(-2, 3), repeat=2):
        chances = [
            np.diff(ndtr((ends - score / ONE) / sd))[value + 2]
            for score, value in zip(scores, rounded, strict=True)
        ]
        assert found[rounded] == pytest.approx(np.prod(chances), rel=1e-9)
    assert len(found) == 25


def test_samples_are_drawn_together_as_alone():
    scores, grid = ints(0, ONE), RoundingGrid(ONE, -1, 1)
    expected = law(lambda draws: tuple(draws.rounded_down(scores, Normal(0.8), grid).tolist()))
    drawn = sample(
        lambda draws: [tuple(draws.rounded_down(scores, Normal(0.8), grid).tolist())],
        20_000,
        SeededBits(4),
    )
    for rounded, p in expected.items():
        band = 5 * np.sqrt(20_000 * p * (1 - p)) + 1
        assert abs(drawn[rounded] - 20_000 * p) < band


@pytest.mark.parametrize(
    ("noise", "grid"), [(Laplace(1.0), RoundingGrid(ONE, -1, 1)), (Normal(1.0), RoundingGrid(1))]
)
def test_the_enumerator_says_what_it_cannot(noise, grid):
    with pytest.raises(Unknown):
        law(lambda draws: draws.rounded_down(ints(0), noise, grid)[0])


@pytest.mark.parametrize("margin", [0.0, 2.0**-12, np.inf])
@pytest.mark.parametrize("n", [0, 1, 40, 99])
@pytest.mark.parametrize("worth_a_table", [0, 1000])
def test_blocks_and_threads_change_nothing(monkeypatch, margin, n, worth_a_table):
    monkeypatch.setattr(_rounded_normals, "_WORTH_A_TABLE", worth_a_table)
    scores = np.random.default_rng(1).integers(-(10**6), 10**6, n)

    def rounded():
        draws = ExactDraws(SeededBits(5), margin)
        return draws.rounded_down(scores, Normal(3.0), RoundingGrid(2**10)).tolist()

    expected = rounded()
    monkeypatch.setattr(noisy_values, "_BLOCK", 8)
    monkeypatch.setattr(threads, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 3)
    assert rounded() == expected
