"""Planted mistakes, each one function replaced, that the checks of the accountant catch."""

import math

import numpy as np
import pytest

from helpers import accountant_twins as twins
from shortlist.kernels.compiling import InnerKernel
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    ItemsByThreshold,
    LossStage,
    Threshold,
    _value_functions,
    composition,
)
from shortlist.privacy.accountant import _bounded_range as loops
from shortlist.privacy.accountant import _normal_noise as gaussians
from shortlist.privacy.accountant._loss_grid import LossGrid, Profile, Window

PICKS, EPSILON, COARSE = (BoundedRange(0.5, 3),), 0.8, 0.001


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    yield
    forget()


@pytest.fixture
def plain(monkeypatch):
    """The loops as they are written, so that one of them can be replaced; and the compiled ones."""
    compiled = {name: loop for name, loop in vars(loops).items() if isinstance(loop, InnerKernel)}
    assert len(compiled) == 7
    assert all(loop.compiled for loop in compiled.values())
    for name, loop in compiled.items():
        monkeypatch.setattr(loops, name, loop.plain)
    forget()
    return compiled


def forget():
    for remembered in (Composition.delta, Composition.own_items_delta):
        remembered.cache_clear()
    _value_functions.values_at_epsilon.cache_clear()
    _value_functions.ValuesAtEpsilon._valuation.cache_clear()
    _value_functions._valuation_on.cache_clear()


@pytest.mark.parametrize("up", [True, False])
def test_compiled_loops_do_what_is_written(plain, up):
    values, steps, nodes = np.sort(np.random.default_rng(1).random(300)), 12, np.arange(400)
    decay = np.exp(-nodes * 0.01)
    excess = decay[: steps + 1] * -np.expm1((nodes[: steps + 1] - steps) * 0.01)
    results = []
    for sweep in (loops.sweep, plain["sweep"]):
        room = np.append(values, np.zeros(40))
        firsts, lasts = (
            np.array([0, -5, -9, -3, -8, -9, 0]),
            np.array([299, 290, 295, 280, 281, 8, 3]),
        )
        linear, edges = np.full(7, 1.5), np.empty(80, np.int64)
        rise, padded, target = -np.expm1(-nodes * 0.01), np.empty(400), np.empty(340)
        sweep(room, firsts, lasts, steps, decay, rise, excess, up, linear, padded, target, edges)
        results.append(room[:4])
    assert results[0] == pytest.approx(results[1], rel=1e-12)


@pytest.mark.usefixtures("plain")
def test_a_cell_bound_of_its_ends_alone_is_caught(monkeypatch):
    """The chance taken to be linear in the cell, and so the best choice to be at an end."""

    def ends(near, far, near_low, far_low, near_chance, far_chance, arch):  # noqa: ARG001
        return max(
            near_low + near_chance * (near - near_low), far_low + far_chance * (far - far_low)
        )

    local, mu, epsilon = 1.0, 3.0, 0.8
    truth = max(
        chance * float(twins.curve(epsilon - t, mu).mid())
        + (1 - chance) * float(twins.curve(epsilon - t + local, mu).mid())
        for t in np.linspace(0, local, 400)
        for chance in [math.expm1(t - local) / math.expm1(-local)]
    )
    stages = BoundedRange(local), GaussianStage(mu)
    assert Composition(stages).delta(epsilon, fineness=COARSE) >= truth
    monkeypatch.setattr(loops, "cell_bound", ends)
    forget()
    assert Composition(stages).delta(epsilon, fineness=COARSE) < truth


@pytest.mark.usefixtures("plain")
def test_the_arch_of_the_chance_cannot_be_left_out():
    """A first-order bound, with the chance on its own chord: exact values on one wide cell tell."""
    local = 3.0
    cell_bound = loops.cell_bound
    nodes = np.array([0.0, local])
    decay, whole = np.exp(-nodes), -math.expm1(-local)
    arch = decay[1] * (decay[0] - decay[1]) ** 2 / (whole * decay[1] ** 2 * decay[0])

    def value(x):  # linear in R, so that chords are exact
        return 1 - math.exp(-x - 5)

    ends = value(0), value(local), value(-local), value(0)
    truth = max(
        chance * value(t) + (1 - chance) * value(t - local)
        for t in np.linspace(0, local, 200)
        for chance in [math.expm1(t - local) / math.expm1(-local)]
    )
    assert cell_bound(*ends, 1.0, 0.0, arch) >= truth
    assert cell_bound(*ends, 1.0, 0.0, 0.0) < truth


def test_a_chord_from_below_is_caught(monkeypatch):
    """Between nodes and beyond the last one, the value of the node below."""
    mu = 1.0
    stages = gaussian_on_the_grid(mu)
    truth = float(twins.curve(1.0, mu).mid())
    assert Composition(stages).delta(1.0, fineness=0.05) >= truth

    def below(panels, places, parts, width, mu):
        near, far = cell_masses(panels, places, parts, width, mu)
        return near + far, np.zeros_like(far)

    cell_masses = gaussians.cell_masses
    monkeypatch.setattr(gaussians, "cell_masses", below)
    forget()
    assert Composition(stages).delta(1.0, fineness=0.05) < truth


def test_what_is_beyond_the_grid_cannot_stay_at_its_last_value(monkeypatch):
    """The chord to R = 0 taken from below: the last value, wherever more is asked for."""
    truth = twins.value(PICKS, EPSILON, 60)
    stages = (GaussianStage(1e-3), *PICKS)
    assert Composition(stages).delta(EPSILON) >= truth

    def windows(self, before, after, start):
        first, last = ordinary(self, before, after, start)
        short = np.floor(self.epsilon / self.step).astype(np.int64) - 2
        return np.minimum(first, short), np.minimum(last, short)  # nothing above epsilon is kept

    ordinary = LossGrid.windows
    monkeypatch.setattr(LossGrid, "windows", windows)
    forget()
    assert Composition(PICKS).delta(EPSILON) >= truth  # bounded by the chord: sound, if loose
    monkeypatch.setattr(
        LossGrid, "_above", lambda _, profile, nodes: np.full(len(nodes), profile.values[-1])
    )
    forget()
    short = Composition((GaussianStage(0.5), EitherStage((GaussianStage(0.8),), ())))
    assert short.delta(EPSILON) < float(twins.curve(EPSILON, math.hypot(0.5, 0.8)).mid())


def gaussian_on_the_grid(mu):
    """A Gaussian before a branch whose first way is the worse everywhere: together one of mu."""
    return GaussianStage(0.6 * mu), EitherStage((GaussianStage(0.8 * mu),), (GaussianStage(0.1),))


def test_a_dropped_tail_is_caught(monkeypatch):
    mu, epsilon = 1.0, 1.0
    truth = float(twins.curve(epsilon, mu).mid())

    def near(step, mu, far):  # noqa: ARG001
        return ordinary(step, mu, 2.0)

    def dropped(step, mu, far):  # noqa: ARG001
        return ordinary(step, mu, 2.0)._replace(beyond=0.0)

    ordinary = gaussians.masses_above
    for law, sound in ((near, True), (dropped, False)):
        monkeypatch.setattr(gaussians, "masses_above", law)
        forget()
        assert (Composition(gaussian_on_the_grid(mu)).delta(epsilon) >= truth) is sound


@pytest.mark.parametrize("up", [True, False])
def test_values_that_are_hardly_there_change_nothing_else(monkeypatch, up):
    """They are left out of a convolution for its speed; rounding up, as much is added."""
    grid = LossGrid(0.01, 1, 1.0, up, 1e-300)
    window = Window(-900, 300)
    inner = Profile(-2000, np.maximum(np.exp(np.linspace(-1400, -1, 3000)), 2.5e-301))
    found = gaussians.apply(grid, inner, 0.1, window).values
    monkeypatch.setattr(gaussians, "_LEAST", 0.0)
    plain = gaussians.apply(grid, inner, 0.1, window).values
    tells = plain > 1e-280
    assert 0 < np.count_nonzero(tells) < len(plain)
    np.testing.assert_array_equal(found[tells], plain[tells])
    assert np.all(found >= plain if up else found <= plain)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_what_was_computed_before_changes_no_bit(epsilon):
    """Value functions on one grid are shared by stages that end alike."""
    ends = BoundedRange(0.11, 20), GaussianStage(0.12)
    lists = [
        (*starts, EitherStage(ends[:1], (*lost, *ends[1:], BoundedRange(0.05, 2))))
        for starts in ((), (BoundedRange(0.2),))
        for lost in ((), (LossStage(1e-9),))
    ]

    def alone(stages):
        forget()
        return Composition(stages).delta(epsilon)

    one_by_one = [alone(stages) for stages in lists]
    forget()
    assert [Composition(stages).delta(epsilon) for stages in reversed(lists)] == one_by_one[::-1]


@pytest.mark.parametrize("step", [0.01, 0.3, 2.0])
def test_the_q_mass_of_cells_is_kept(step, monkeypatch):
    """On a function that is linear in R, noise changes nothing: its mean of R is that of before."""
    grid = LossGrid(step, 1, -3.0, True, 1e-12)
    window = Window(math.ceil(-1 / step), math.ceil(1 / step))

    def noisy():
        law = gaussians.masses_above(step, 0.8, 7.4)
        wide = Window(window.first + law.first, window.last + law.first + len(law.masses))
        inner = Profile(wide.first, -np.expm1(np.minimum(-3.0 - grid.losses(wide), 0.0)))
        inner = Profile(wide.first, 1 - np.exp(-3.0 - grid.losses(wide)))
        return gaussians.apply(grid, inner, 0.8, window).values

    truth = 1 - np.exp(-3.0 - grid.losses(window))
    assert np.all(noisy() >= truth - 1e-12)
    assert noisy() == pytest.approx(truth, abs=1e-9)

    def by_losses(panels, places, parts, width, mu):
        """The mean of L is kept instead: a chord in x, which lies below the function."""
        near, far = cell_masses(panels, places, parts, width, mu)
        share = (places + 0.5) / parts
        return (near + far) * (1 - share), (near + far) * share

    cell_masses = gaussians.cell_masses
    monkeypatch.setattr(gaussians, "cell_masses", by_losses)
    assert np.any(noisy() < truth - 1e-9)


def test_a_threshold_as_if_it_excluded_the_noise_is_caught(monkeypatch):
    """The larger of what the threshold and what the noise loses, instead of both together."""
    truth = twins.both_ways(1.0, 2.0, 9.0, 1, 2)  # half the weight is on items of one user alone

    def apart(value, lost):
        return max(lost, value(0.0))

    cases = ItemsByThreshold((Threshold(2.0, 9.0),), 2).cases
    place = int(np.flatnonzero(np.isclose(cases.shared, 0.5))[0])
    readings = _value_functions.values_at_epsilon(
        (GaussianStage(1 / 2.0, on_weights=True),), 1.0, 1.0, 0.125
    )
    case = float(cases.shared[place]), float(cases.lost[place])
    assert readings.value(*case) >= truth * (1 - 1e-12)
    monkeypatch.setattr(_value_functions, "both_directions", apart)
    assert readings.value(*case) < truth


def test_thresholds_of_both_ways_add_up(monkeypatch):
    """With the larger chance of two correlated tests instead of their sum, a user is forgotten."""
    correlation, sigma, least = math.sqrt(0.3), (2.0, 1.0), (8.0, 4.6)
    tests = tuple(Threshold(*pair) for pair in zip(sigma, least, strict=True))
    random = np.random.default_rng(5)
    first = random.standard_normal(4_000_000)
    mean = correlation * first + math.sqrt(1 - 0.3) * random.standard_normal(len(first))
    named = np.mean((1 + 2 * first >= 8) | (1 + mean >= 4.6))
    assert ItemsByThreshold(tests, 1).cases.lost[-1] >= named

    def larger(self, items, weight):
        return items * max(t.chance(weight) for t in self.thresholds)

    monkeypatch.setattr(ItemsByThreshold, "lost", larger)
    assert ItemsByThreshold(tests, 1).cases.lost[-1] < named * 0.9


def test_looking_at_the_ends_alone_is_caught(monkeypatch):
    """Items that are as likely to be named, however many there are: one of fifty is worst."""
    monkeypatch.setattr(
        ItemsByThreshold, "lost", lambda _, items, weight: 1e-6 + 1e-9 * items * weight**2
    )
    own_items = ItemsByThreshold((Threshold(4.3, 24.0),), 50)
    whole = Composition((GaussianStage(1 / 4.3, on_weights=True),), own_items)
    mu = 0.98**0.5 / 4.3
    lost = 1e-6 + 1e-9 / 50
    truth = lost + (1 - lost) * float(twins.curve(1.0 - math.log1p(-lost), mu).mid())
    assert whole.delta(1.0) >= truth * (1 - 1e-12)

    def ends(cases, value_of):
        return max(value_of(cases.shared[i], cases.lost[i]) for i in (0, -1))

    monkeypatch.setattr(composition, "worst", ends)
    forget()
    assert whole.delta(1.0) < truth * 0.99


def test_adding_alone_is_caught_where_removing_is_worse():
    """A function far from convex shows that both are looked at."""
    assert _value_functions.both_directions(lambda x: 0.5 if x > 0 else 0.0, 0.1) == 0.5
    assert _value_functions.both_directions(lambda x: 0.5 if x < 0 else 0.0, 0.1) == pytest.approx(
        0.55
    )


def test_a_coin_before_the_choice_of_a_branch_covers_one_behind_it():
    """Whichever way goes on: the coin behind would be tossed for each way apart."""
    lost, epsilon = 1e-3, 0.5
    ways = [(BoundedRange(0.3, 2),), (BoundedRange(0.1, 9),)]
    branch = Composition((EitherStage(*ways),))
    readings = _value_functions.values_at_epsilon(branch.merged, epsilon, 1.0, branch.rho)
    together = readings.value(1.0, lost)
    for way in ways:
        alone = _value_functions.values_at_epsilon(way, epsilon, 1.0, branch.rho)
        assert together >= alone.value(1.0, lost) * (1 - 1e-3)
