"""Noise added once, or in a cube: scales, utility, and what is drawn."""

import itertools
import math

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.one_shot import BOTH, EPSILON, build, without_cells
from helpers.oracles_one_shot import cube_law, laplace_law
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import (
    Adjacency,
    Extreme,
    Gamma,
    OneShotExponential,
    OneShotLaplace,
    PermuteAndFlip,
    Selection,
)
from shortlist.metrics import one_shot_laplace_success
from shortlist.privacy import Pure
from shortlist.privacy.calibration import cube_noise_scale, one_shot_laplace_scale


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.3, 1.0, 7.7, 50.0])
@pytest.mark.parametrize("k", [1, 3, 10, 1000, 2**32])
@pytest.mark.parametrize("spread", [1.0, 2.0, 0.0123])
def test_scales_are_rounded_up_and_hardly(epsilon, k, spread):
    from fractions import Fraction

    exact = k * Fraction(spread) / Fraction(epsilon)
    scale = one_shot_laplace_scale(k, epsilon=epsilon, spread=spread)
    assert exact <= Fraction(scale) <= exact * (1 + Fraction(1, 2**52))
    least = one_shot_laplace_scale(k, epsilon=epsilon, spread=spread, total=spread / 4)
    assert Fraction(spread) / 4 / Fraction(epsilon) <= Fraction(least) < exact
    cube = Fraction(cube_noise_scale(epsilon=epsilon, spread=spread))
    exact = Fraction(spread) / 2 / Fraction(epsilon)
    assert exact <= cube <= exact * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize(("k", "m", "delta"), [(500, 166_000, 1e-6), (2000, 10**6, 1e-290)])
@pytest.mark.parametrize("epsilon", [1e-3, 0.2])
def test_the_scale_with_a_delta_is_rounded_up(k, m, delta, epsilon):
    from flint import arb, ctx

    scale = one_shot_laplace_scale(k, epsilon=epsilon, delta=delta, n_items=m)
    with ctx.workprec(200):
        exact = 4 * (k * (arb(m) / arb(delta)).log()).sqrt() / arb(epsilon)
        pure = arb(k) / arb(epsilon)
        exact = min(pure, exact)
        assert exact <= scale
        assert exact * (1 + arb(2) ** -46) >= scale


def test_bounds_and_deltas_never_add_noise():
    for k, delta in itertools.product([1, 40, 400], [0.0, 1e-3]):
        scale = one_shot_laplace_scale(k, epsilon=0.1, delta=delta, n_items=50)
        assert scale <= one_shot_laplace_scale(k, epsilon=0.1)
        assert one_shot_laplace_scale(k, epsilon=0.1, delta=delta, n_items=50, total=3) <= min(
            scale, 30.0 * (1 + 1e-15)
        )


@pytest.mark.parametrize("epsilon", [1e-300, 1e290])
def test_noise_beyond_the_floats_is_refused(epsilon):
    for mechanism in (OneShotLaplace, Gamma):
        refusal(lambda m=mechanism: m(k=5, epsilon=epsilon), f"epsilon={epsilon!r}")


# --- the utility theorem


@pytest.mark.parametrize("counts", [(0, 30, 60), (10, 45, 100, 300), (0, 25)])
def test_the_chance_of_the_true_order_is_at_least_the_bound(counts):
    scale, n = 8.0, 20_000
    bound = one_shot_laplace_success(np.array(counts), scale=scale)
    assert 0 < bound < 1
    exact = laplace_law(counts, scale, len(counts))
    order = tuple(np.argsort(counts)[::-1].tolist())
    assert exact[order, (0,) * len(counts)] >= bound
    draws = ExactDraws(SeededBits(3))
    right = 0
    for _ in range(n // 10):
        ranked = draws.order(Order(np.array(counts), [Laplace(scale)], unit=1.0))
        right += tuple(ranked.positions.tolist()) == order
    p = exact[order, (0,) * len(counts)]
    assert abs(right / (n // 10) - p) < 4 * math.sqrt(p * (1 - p) / (n // 10))
    # The bound with 30 % less noise is more than is true.
    wrong = one_shot_laplace_success(np.array(counts), scale=0.7 * scale)
    assert len(counts) > 2 or wrong > p


def test_the_bound_for_two_counts_is_their_chance():
    for gap in (0, 1, 5, 40):
        exact = laplace_law((0, gap), 3.0, 1)
        assert exact[(1,), (0,)] == pytest.approx(
            one_shot_laplace_success(np.array([gap, 0]), scale=3.0), abs=1e-14
        )


def test_the_bound_says_nothing_of_ties_and_is_sure_of_one_item():
    assert one_shot_laplace_success(np.array([4, 4, 90]), scale=1.0) == 0
    assert one_shot_laplace_success(np.array([4]), scale=1.0) == 1
    assert one_shot_laplace_success(np.array([], int), scale=1.0) == 1
    far = np.array([0, 2**62 - 1])
    assert one_shot_laplace_success(far, scale=1e-3) == 1


# --- what is drawn


def deviation(seen, n, law):
    """The largest distance of a frequency from its probability, in standard errors."""
    assert seen.keys() <= law.keys()
    return max(
        abs(seen.get(o, 0) - n * p) / math.sqrt(max(n * p * (1 - p), 1)) for o, p in law.items()
    )


@pytest.mark.parametrize("neighbours", [BOTH[0], *exhaustive(*BOTH[1:])])
@pytest.mark.parametrize("mechanism", [OneShotLaplace, Gamma])
def test_the_code_draws_from_its_law(mechanism, neighbours):
    counts, n, k = (0, 2, 3, 5), 4000, 2
    times = 1 if neighbours is Adjacency.ADD_REMOVE else 2
    built, draws, seen = build(mechanism, k, neighbours), ExactDraws(SeededBits(20)), {}
    for _ in range(n):
        outcome = tuple(built.select(PublicCounts(np.array(counts)), draws).positions.tolist())
        seen[outcome] = seen.get(outcome, 0) + 1

    def expected(factor):
        if mechanism is Gamma:
            return cube_law(counts, factor * times / 2 / EPSILON, k)
        return without_cells(laplace_law(counts, factor * times * k / EPSILON, k))

    assert deviation(seen, n, expected(1.0)) < 4
    assert deviation(seen, n, expected(0.7)) > 6
    assert deviation(seen, n, expected(1.3)) > 6


@pytest.mark.parametrize("k", [1, 3, 5])
def test_free_counts_have_the_noise_that_is_stated(k):
    n, truth = 4000, np.array([50, 90, 10, 70, 30])
    built = OneShotLaplace(k=k, epsilon=0.5, max_items_per_user=1)
    draws, errors = ExactDraws(SeededBits(21)), []
    for _ in range(n // k):
        selection = built.select(PublicCounts(truth, 1), draws)
        errors += (selection.scores - truth[selection.positions]).tolist()
        assert selection.scores.tolist() == sorted(selection.scores, reverse=True)
        assert all(float(score).is_integer() for score in selection.scores)
    # Gaps are far above the noise, so ranking says nothing of it. A Laplace variable's square has
    # mean sd² and standard deviation sqrt(5) sd².
    mean = float(np.square(errors).mean())
    expected = selection.noise_sd**2
    assert abs(mean - expected) < 4 * math.sqrt(5 / n) * expected
    assert abs(mean - 1.69 * expected) > 4 * math.sqrt(5 / n) * expected
    assert abs(np.mean(errors)) < 4 * selection.noise_sd / math.sqrt(n)


SHAPES = {
    "none": np.zeros(0, int),
    "one": np.array([7]),
    "equal": np.full(400, 1000),
    "zeros": np.zeros(50, int),
    "distinct": np.arange(3000),
    "huge": np.repeat([2**62 - 1, 2**62 - 2, 2**61, 3], 50),
    "huge and small": np.array([2**62 - 1, 0, 0, 1, 1, 2]),
}


@pytest.mark.parametrize("counts", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 50.0])
@pytest.mark.parametrize("mechanism", [OneShotLaplace, Gamma])
def test_no_item_is_named_twice(mechanism, epsilon, counts):
    d = len(counts)
    for k in {1, 2, 100, max(d, 1)}:
        selection = mechanism(k=k, epsilon=epsilon).select(
            PublicCounts(counts), ExactDraws(SeededBits(4))
        )
        assert isinstance(selection, Selection)
        assert len(set(selection.positions.tolist())) == min(k, d)
    if mechanism is OneShotLaplace:
        for extreme in Extreme:
            built = OneShotLaplace(
                k=max(d, 1), epsilon=epsilon, max_items_per_user=1, extreme=extreme
            )
            selection = built.select(PublicCounts(counts, 1), ExactDraws(SeededBits(4)))
            assert len(set(selection.positions.tolist())) == d
            near = np.abs(selection.scores - counts[selection.positions])
            assert (near <= 60 / epsilon + 1024).all()


@pytest.mark.parametrize("mechanism", [OneShotLaplace, Gamma])
@pytest.mark.parametrize("seed", range(12))
def test_selecting_the_slow_way_is_the_same(mechanism, seed):
    counts = np.random.default_rng(seed).integers(0, 6, 12)
    given = {"max_items_per_user": 2} if mechanism is OneShotLaplace and seed % 2 else {}
    built = mechanism(k=1 + seed % 5, epsilon=0.7, **given)
    outcomes = []
    for margin in (0.0, math.inf):
        bits = SeededBits(seed)
        selection = built.select(
            PublicCounts(counts, given.get("max_items_per_user")), ExactDraws(bits, margin)
        )
        told = None if selection.scores is None else selection.scores.tolist()
        outcomes.append((selection.positions.tolist(), told, int(bits.words(1)[0])))
    assert outcomes[0] == outcomes[1]


def test_the_adjacency_is_told():
    for mechanism in (OneShotLaplace, Gamma):
        assert build(mechanism, 1).adjacency == "add or remove one user"
        general = build(mechanism, 1, Adjacency.GENERAL)
        assert general.adjacency == "add, remove or change one user"


def test_evidence_bounded_more_loosely_is_refused():
    built = OneShotLaplace(k=3, epsilon=1.0, max_items_per_user=2)
    for bound in (None, 3):
        refusal(
            lambda b=bound: built.select(PublicCounts(np.zeros(4, int), b), ExactDraws()), "=2: "
        )
    assert built.select(PublicCounts(np.zeros(4, int), 1), ExactDraws()).scores is not None


def test_exponential_noise_errs_less_than_permute_and_flip_for_many():
    counts, draws = np.sort(np.arange(400) ** 2 // 40)[::-1].copy(), ExactDraws(SeededBits(3))

    def error(kind):
        chosen = [kind(k=30, epsilon=1.0).select(PublicCounts(counts), draws) for _ in range(60)]
        return np.mean([np.abs(counts[:30] - counts[c.positions]).sum() for c in chosen])

    assert error(OneShotExponential) < 0.93 * error(PermuteAndFlip)


def test_exponential_noise_is_pure_and_said_in_plain_words():
    mechanism = OneShotExponential(k=20, epsilon=0.5)
    assert mechanism.cost == Pure(0.5)
    assert mechanism.explain()[0] == "Exponential noise of mean 40 is added to every count once."
