"""A floor on numbers of users: how often items below and above it are named, and privacy."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from helpers.losses import hockey_stick
from helpers.noisy_counts import build, tail
from helpers.oracles_of_clipped_counts import with_clipped_counts
from helpers.refusals import refusal
from helpers.wrong_listed import FloorOnCounts
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.noise import Laplace, Normal
from shortlist.evidence import PublicCounts
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import Peeling, UserPeeling, WeightedGaussian
from shortlist.mechanisms.wrappers import NoisyClippedCounts, NoisyCounts, NoisyReach
from shortlist.mechanisms.wrappers._floor import Floor
from shortlist.mechanisms.wrappers.noisy_clipped_counts import ClippedCountsDesign

NOISES = [kind(size) for kind in (Laplace, Normal) for size in (0.01, 0.4, 1.0, 7.3, 250.0, 1e6)]
USERS = 1, 2, 100, 10**9


def reaches(noise, over):
    """The chance that noise is at least so much."""
    return tail(noise, over) if over > 0 else 1 - tail(noise, -over) if over else 0.5


def margins_hold(floor, noise):
    """Whether the next fewer users are lifted as rarely as stated, and enough are kept."""
    lifted = reaches(noise, floor.least - (floor.min_users - 1))
    kept = reaches(noise, floor.least + floor.step - floor.kept_from)
    return lifted <= 0.01 and kept >= 0.99


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("step", [0.0, 0.25])
def test_margins_follow_from_the_law_of_the_noise(noise, users, step):
    floor = Floor.of(noise, users, step)
    assert margins_hold(floor, noise)
    # No whole number less would do, but for what is rounded up.
    lower = floor._replace(far=floor.far * 0.95)
    if noise != lower and floor.far > 100:
        assert not margins_hold(lower, noise)


# --- around a selection whose counts are exact


def floored(kind="peeling", users=40, **given):
    return dataclasses.replace(build(kind, **given), min_users=users)


@pytest.mark.parametrize("kind", ["peeling", "permute-and-flip", "gamma, general"])
def test_it_is_the_list_of_noisy_counts_without_what_is_below(kind):
    counts = np.array([90, 60, 45, 41, 39, 30, 5, 0])
    mechanism = floored(kind, k=8, epsilon=4.0)
    free = dataclasses.replace(mechanism, min_users=None)
    least = mechanism._floor.least
    left_out = 0
    for seed in range(40):
        whole, told = (
            each.select(PublicCounts(counts, None), ExactDraws(SeededBits(seed)))
            for each in (free, mechanism)
        )
        # A value is compared before it is rounded: where it rounds up to the floor it is below.
        clear = {p: s for p, s in zip(whole.positions, whole.scores, strict=True) if s != least}
        kept = dict(zip(told.positions, told.scores, strict=True))
        assert {p: s for p, s in kept.items() if p in clear} == {
            p: s for p, s in clear.items() if s > least
        }
        order = [p for p in whole.positions if p in kept]
        assert told.positions.tolist() == order
        assert told.noise_sd == whole.noise_sd
        left_out += len(counts) - len(kept)
    assert 0 < left_out < 40 * len(counts)
    assert mechanism.cost == free.cost


@pytest.mark.parametrize("kind", ["peeling", "permute-and-flip"])
def test_items_below_are_hardly_named_and_those_above_hardly_left_out(kind):
    mechanism = floored(kind, k=400, epsilon=60.0, delta=0.0 if "flip" in kind else 1e-6)
    floor, n = mechanism._floor, 0
    counts = np.repeat([floor.min_users - 1, floor.kept_from], 200)
    named = np.zeros(2)
    for seed in range(10):
        told = mechanism.select(PublicCounts(counts, None), ExactDraws(SeededBits(seed)))
        named += np.bincount(told.positions // 200, minlength=2)
        n += 200
    below, above = named / n
    band = 4 * math.sqrt(0.01 * 0.99 / n)
    shared = mechanism.count_shared_sd is not None  # then items rise and fall together
    assert below <= 0.01 + band * (1 + 9 * shared)
    assert above >= 0.99 - band * (1 + 9 * shared)


def one_of_two(mechanism, counts):
    """The exact law of what is named."""

    def run(draws):
        told = mechanism.select(PublicCounts(np.array(counts), None), draws)
        return tuple(told.positions.tolist()), tuple(told.scores)

    return law(run, (0.5, 2.5))


def tiny(kind):
    def selection(epsilon, delta):
        return Peeling(k=2, epsilon=epsilon, delta=delta)

    return kind.of(selection, k=2, epsilon=2.0, delta=0.0, count_share=0.5, min_users=2)


def excess_of(mechanism, tables):
    """The most that a pair of tables is told apart beyond what is claimed."""
    laws = {counts: one_of_two(mechanism, counts) for counts in tables}
    pairs = [
        (one, other)
        for one, other in itertools.permutations(tables, 2)
        if {a - b for a, b in zip(one, other, strict=True)} <= {0, 1}
    ]
    both = [pair for a, b in pairs for pair in ((laws[a], laws[b]), (laws[b], laws[a]))]
    return max(hockey_stick(*pair, mechanism.epsilon) for pair in both)


def test_exact_law_on_tiny_tables():
    mechanism = tiny(NoisyCounts)
    assert excess_of(mechanism, [*itertools.product(range(3), repeat=2)]) < 1e-9
    found = one_of_two(mechanism, (1, 5))
    for item, count in enumerate((1, 5)):
        chance = sum(p for (named, _), p in found.items() if item in named)
        expected = reaches(mechanism._best.of_each, mechanism._floor.least - count)
        assert chance == pytest.approx(expected, rel=1e-9)


def test_a_floor_on_counts_without_noise_is_caught():
    assert excess_of(tiny(FloorOnCounts), [(1, 1), (2, 1)]) > 0.01


# --- around a domain


def domain(users, *, epsilon=3.0, of=NoisyClippedCounts, **given):
    def selection(epsilon, delta):
        return WeightedGaussian(epsilon=epsilon, delta=delta, max_items_per_user=100)

    return of.of(selection, epsilon=epsilon, delta=1e-6, count_share=0.3, min_users=users, **given)


def blocks(*counts):
    """Items that so many users hold, each of them nothing else."""
    items = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    users = np.arange(len(items), dtype=np.uint32)
    return Contributions.of_rows(users, items, n_users=len(users), n_items=len(counts))


def test_items_of_a_domain_below_and_above():
    # With a larger bound there is more noise than it takes, since nobody holds two of them.
    mechanism = dataclasses.replace(domain(300), design=ClippedCountsDesign(bounds=(1,)))
    above = mechanism.parameters()["least_kept_from"]
    held, named, runs = blocks(*[299] * 40, *[above] * 40), np.zeros(2), 60
    draws = ExactDraws(SeededBits(5))
    least = mechanism._floor(300, mechanism.least_count_sd).least
    for _ in range(runs):
        told = mechanism.select(held, draws)
        named += np.bincount(told.positions // 40, minlength=2)
        assert told.scores.min() >= least - 0.01 * told.noise_sd
    below, kept = named / (40 * runs)
    band = 4 * math.sqrt(0.01 * 0.99 / (40 * runs))
    assert 0 < below <= 0.01 + band
    assert 1 > kept >= 0.99 - band


def test_users_who_hold_many_items_lift_none_of_few():
    users, items = (a.ravel().astype(np.uint32) for a in np.indices((299, 30)))
    held = Contributions.of_rows(users, items, n_users=299, n_items=30)
    mechanism, draws = domain(300), ExactDraws(SeededBits(6))
    told = [mechanism.select(held, draws) for _ in range(60)]
    assert len({one.noise_sd for one in told}) > 1
    expected = 0.01 * 60 * 30
    assert sum(len(one.positions) for one in told) <= expected + 4 * math.sqrt(expected)


def test_a_domain_with_a_floor_is_a_function_of_one_without():
    free = with_clipped_counts(NoisyClippedCounts)
    mechanism = dataclasses.replace(free, min_users=1)
    users, items = np.array([(0, 0), (1, 0), (1, 1), (2, 1)], np.uint32).T.copy()
    table = Contributions.of_rows(users, items, n_users=3, n_items=2)

    def law_of(one):
        def run(draws):
            told = one.select(table, draws)
            scored = zip(told.positions.tolist(), told.scores.tolist(), strict=True)
            return frozenset(scored), told.noise_sd

        return law(run)

    expected = {}
    for (scored, sd), p in law_of(free).items():
        least = mechanism._floor(1, sd).least
        kept = frozenset((item, score) for item, score in scored if score >= least)
        expected[kept, sd] = expected.get((kept, sd), 0) + p
    found = law_of(mechanism)
    assert found == pytest.approx(expected)
    assert len({scored for scored, _ in found}) > 2


def test_nothing_is_found_of_few_users():
    told = domain(10).select(blocks(1, 1), ExactDraws(SeededBits(1)))
    assert len(told.positions) == len(told.scores) == 0


# --- what is said


def test_explained():
    mechanism = floored(users=1000)
    said = " ".join(mechanism.explain())
    assert "an item that fewer than 1,000 users hold is named in at most 1 of 100 cases." in said
    assert f"if it is counted for {mechanism._floor.kept_from:,} users or more." in said
    told = mechanism.parameters()
    assert (told["min_users"], told["kept_from"]) == (1000, mechanism._floor.kept_from)
    mechanism = domain(1000)
    said = " ".join(mechanism.explain())
    assert "an item that fewer than 1,000 users hold is named in at most 1 of 100 cases." in said
    assert f"from {mechanism.parameters()['least_kept_from']:,} with D = 1" in said
    assert "min_users" not in domain(None).parameters()


def test_of_a_hitting_set_it_is_refused():
    given = {"k": 2, "epsilon": 1.0, "delta": 0.0, "count_share": 0.3}
    selection = UserPeeling(k=2, epsilon=0.5)
    refusal(
        lambda: NoisyReach(selection=selection, min_users=3, **given),
        "min_users=3: an item of a hitting set is told with the users whom none before it reaches",
    )
