"""Spectral ranking as a question of a source: what it states, its noise, its refusals."""

import itertools
import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers import engines, walks
from helpers.refusals import refusal
from helpers.spectral import EPSILON, NEAR, Watched, build, exact_scores
from shortlist.algorithms.random_walk import Walk
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import Outcomes, Wants
from shortlist.experiments import bradley_terry
from shortlist.mechanisms import SpectralRanking


def games(n=6, times=400, seed=1):
    weights = np.exp(np.linspace(1.5, 0, n))
    return bradley_terry(weights, edge_probability=1.0, times=times, seed=seed)


def source(frame, **more):
    return sl.comparisons(frame, winner="winner", loser="loser", public_items=sl.IN_TABLE, **more)


NAMES = "the names and types of the columns are public"
KNOWN = "the items that the table compares are public"


def test_it_answers_with_its_promise():
    ask = partial(source(games()).rank, 3, epsilon=5.0)
    release = ask(mechanism=SpectralRanking)
    assert release.items == [0, 1, 2]
    assert release.scores.unit == "noisy share of a walk's time"
    assert release.scores[0] == pytest.approx(0.33, abs=0.05)
    guarantee = release.guarantee
    assert guarantee.protects == "who won, in one comparison"
    assert guarantee.adjacency == "change the outcome of one comparison"
    public = "which pairs were compared and how often is public"
    assert guarantee.assumes == (NAMES, KNOWN, public)
    promised = ask(mechanism=partial(SpectralRanking, contraction=0.9, degree=7))
    assert promised.mechanism == SpectralRanking(k=3, epsilon=5.0, contraction=0.9, degree=7)
    assert promised.guarantee.assumes[:3] == (NAMES, KNOWN, public)
    assert promised.guarantee.assumes[3] == (
        "private between two tables whose walks both have an ergodicity coefficient of at most "
        "0.9; other outcomes are not protected"
    )
    assert "other outcomes are not protected" in " ".join(str(promised).split())
    assert "other outcomes are not protected" in " ".join(promised.mechanism.explain())
    assert "protected" not in " ".join(release.mechanism.explain())
    assert json.loads(promised.to_json())["mechanism"]["parameters"]["contraction"] == 0.9


def test_it_answers_of_users():
    frame = games().with_columns(who=pl.int_range(pl.len()) // 2)
    users = source(frame, user="who", max_comparisons_per_user=2)
    release = users.rank(2, epsilon=20.0, mechanism=SpectralRanking)
    assert release.items == [0, 1]
    guarantee = release.guarantee
    assert guarantee.protects == "who won, in the comparisons of one user, at most 2"
    assert guarantee.adjacency == "change the outcomes of one user's comparisons"
    assert guarantee.assumes[2] == "which pairs were compared and how often, and by whom, is public"
    one = source(frame).rank(2, epsilon=20.0, mechanism=SpectralRanking)
    assert release.scores.noise_sd == pytest.approx(2 * one.scores.noise_sd, rel=1e-3)
    held = source(frame, user="who", max_comparisons_per_user=1)
    seen = engines.shown(held, Wants(Outcomes, 1))
    assert isinstance(seen.evidence, Outcomes)
    assert seen.evidence.times.sum() == frame["who"].n_unique()
    assert seen.evidence.max_comparisons_per_user == 1


def test_only_the_times_of_a_pair_count_for_its_noise():
    one = source(games(seed=1)).rank(2, epsilon=1.0, mechanism=SpectralRanking)
    other = source(games(seed=2)).rank(2, epsilon=1.0, mechanism=SpectralRanking)
    assert one.scores.noise_sd == other.scores.noise_sd
    # k makes no difference, either.
    more = source(games(seed=2)).rank(6, epsilon=1.0, mechanism=SpectralRanking)
    assert one.scores.noise_sd == more.scores.noise_sd


def test_graphs_that_rank_nothing_are_refused_with_the_way_out():
    ask = lambda frame, **options: source(frame).rank(
        1, epsilon=1.0, mechanism=partial(SpectralRanking, **options)
    )
    frame = games()
    said = refusal(lambda: ask(frame, degree=3), "degree=3: an item was compared with 5 others")
    assert "give 5 or more, or omit it" in said
    path = frame.filter((pl.col("winner") - pl.col("loser")).abs() == 1)
    said = refusal(lambda: ask(path), "not every pair of items was compared")
    assert "contraction" in said
    assert "omit mechanism" in said
    assert len(ask(path, contraction=0.9)) == 1
    apart = frame.filter(pl.col("winner") // 2 == pl.col("loser") // 2)
    said = refusal(
        lambda: ask(apart, contraction=0.9), "no chain of comparisons links", "each part"
    )
    assert "each user" not in said
    more = sl.comparisons(frame, winner="winner", loser="loser", public_items=range(9))
    said = refusal(
        lambda: more.rank(1, epsilon=1.0, mechanism=SpectralRanking),
        "3 of 9 public items were compared with no other; leave such items out of public_items",
    )
    assert "omit mechanism" in said
    alone = sl.comparisons(frame, winner="winner", loser="loser", public_items=[4])
    assert alone.rank(1, epsilon=1.0, mechanism=SpectralRanking).items == [4]


@pytest.mark.parametrize("n", [3, 6])
def test_every_single_pair_is_needed(n):
    pairs = list(itertools.combinations(range(n), 2))
    for missing in pairs:
        seen = walks.outcomes(n, [(*pair, 4, 2) for pair in pairs if pair != missing])
        refusal(
            lambda x=seen: build().select(x, ExactDraws(SeededBits(1))),
            "not every pair of items was compared",
            "contraction",
        )
        assert len(build(contraction=0.9).select(seen, ExactDraws(SeededBits(1))).positions) == 1
    whole = walks.outcomes(n, [(*pair, 4, 2) for pair in pairs])
    assert len(build(n).select(whole, ExactDraws(SeededBits(1))).positions) == n


def test_what_the_bound_of_a_user_left_out_is_said():
    frame = games().with_columns(who=pl.lit(1))
    users = source(frame, user="who", max_comparisons_per_user=1)
    said = refusal(
        lambda: users.rank(1, epsilon=1.0, mechanism=SpectralRanking),
        "4 of 6 public items were compared with no other",
        "of at most 1 comparison of each user, drawn at random",
    )
    assert "a larger max_comparisons_per_user may fix" in said
    # By hand: two parts, and a pair that is missing.
    kept = build(max_comparisons_per_user=3, contraction=0.9)
    two = walks.outcomes(4, [(0, 1, 1, 1), (2, 3, 1, 1)], 3)
    alone = walks.outcomes(3, [(0, 1, 1, 1)], 3)
    path = walks.outcomes(3, [(0, 1, 1, 1), (1, 2, 1, 1)], 3)
    drawn = "of at most 3 comparisons of each user"
    refusal(lambda: kept.select(two, ExactDraws()), "no chain of comparisons links", drawn)
    refusal(lambda: kept.select(alone, ExactDraws()), "1 of 3 public items was compared", drawn)
    every = build(max_comparisons_per_user=3)
    refusal(lambda: every.select(path, ExactDraws()), "not every pair of items was", drawn)
    assert kept.assumes[1].endswith(
        "at most 0.9, whichever comparisons of each user are drawn to count; other outcomes are "
        "not protected"
    )


def noise_of(seen, **options):
    return build(**options).select(seen, ExactDraws(SeededBits(1))).noise_sd


def test_where_all_pairs_were_compared_the_larger_gap_counts():
    seen = walks.complete(3, 2, [1, 0, 2])
    of_all = noise_of(seen)
    for degree in (None, 2, 7, 10):  # d (1 - rho) is at most 1: it would take more noise
        assert noise_of(seen, contraction=0.9, degree=degree) == of_all
    # Rounded up, 9/10 leaves a little less than 1/10, and ten times that is less than 1, too.
    assert noise_of(seen, contraction=Fraction(9, 10), degree=10) == of_all
    assert noise_of(seen, contraction=0.9, degree=30) == pytest.approx(of_all / 3, rel=NEAR)
    assert noise_of(seen, contraction=0.25) == pytest.approx(of_all * 0.5 / 0.75, rel=NEAR)
    path = walks.outcomes(3, [(0, 1, 2, 1), (1, 2, 2, 1)])
    assert noise_of(path, contraction=0.9) == pytest.approx(of_all * 5, rel=NEAR)


@pytest.mark.parametrize("degree", [5, 10**4, 10**6, 10**9])
def test_without_a_contraction_the_degree_makes_no_difference(degree):
    seen = walks.complete(6, 50, [20] * 15)
    assert noise_of(seen, degree=degree) == noise_of(seen)


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("times", [1, 2**32, 2**50])
def test_where_one_outcome_changes_next_to_nothing_the_precision_is_paid_for(n, times):
    degree, draws = n - 1, Watched(SeededBits(1))
    wins = np.random.default_rng(1).integers(0, times + 1, n * degree // 2)
    seen = walks.complete(n, times, wins)
    build().select(seen, draws)
    paid = draws.scale * Fraction(EPSILON) / degree - Fraction(2, degree * min(times, 2**32))
    assert paid >= 2 * Fraction(Walk.of(seen, degree).residual(draws.shares))


def test_what_moves_is_rounded_up():
    for part in range(3, 40):
        moved, draws = Fraction(1, part), Watched(SeededBits(1))
        build(epsilon=1.0)._ranked(np.array([2**59, 2**59]), moved, draws)
        assert moved <= draws.scale < moved * (1 + Fraction(1, 2**50))


def test_a_contraction_near_one_is_shown_as_it_is():
    path = games().filter((pl.col("winner") - pl.col("loser")).abs() == 1)
    release = source(path).rank(
        1, epsilon=1.0, mechanism=partial(SpectralRanking, contraction=0.999999)
    )
    assert "contraction=0.999999" in str(release.explain())
    assert "at most 0.999999;" in " ".join(str(release).split())


def test_a_delta_is_not_used():
    ask = partial(source(games()).rank, 1, epsilon=0.1, mechanism=SpectralRanking)
    refusal(lambda: ask(delta=1e-6), "delta=1e-06: SpectralRanking is pure and uses none of it")


def test_evidence_bounded_more_loosely_is_refused():
    seen = walks.complete(2, 1, [1])
    built = build(1, max_comparisons_per_user=2)
    refusal(lambda: built.select(seen, ExactDraws()), "max_comparisons_per_user=2: ", "not bounded")


def test_the_contraction_is_rounded_up():
    third = build(1, contraction=Fraction(1, 3)).contraction
    assert Fraction(third) >= Fraction(1, 3)
    assert third == pytest.approx(1 / 3)
    for wrong in (1, 1.0, -0.1, "0.5", True, math.nan):
        refusal(lambda w=wrong: build(1, contraction=w), f"contraction={wrong!r}: must be a number")


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_the_noise_is_the_one_that_is_stated(epsilon):
    n, seen = 3000, walks.complete(3, 4, [2, 1, 3])
    scores, draws, errors = np.array(exact_scores(seen, 2)), ExactDraws(SeededBits(5)), []
    mechanism = SpectralRanking(k=3, epsilon=epsilon)
    for _ in range(n // 3):
        selection = mechanism.select(seen, draws)
        errors += (selection.scores - scores[selection.positions]).tolist()
        assert selection.scores.tolist() == sorted(selection.scores, reverse=True)
    # All three are told, so that ranking says nothing of the noise.
    mean, expected = float(np.square(errors).mean()), selection.noise_sd**2
    band = 4 * math.sqrt(5 / n) * expected
    assert abs(mean - expected) < band
    assert abs(mean - 1.69 * expected) > band
    assert abs(mean - 0.49 * expected) > band


def test_the_sum_over_all_scores_takes_less_noise_than_was_published():
    # Theorem 3.5 at its own epsilon and delta, and 2 k s of Theorem 2.1 with the published s.
    degree, least, rho, k, m, epsilon, delta = 50, 10, 0.8, 10, 200, 0.2, 0.05
    s = 2 / (degree * least * (1 - rho))
    published = 8 * s * math.sqrt(k * math.log(m / delta)) / epsilon
    rows = bradley_terry(np.ones(m), edge_probability=0.15, times=least, seed=1)
    won, lost = rows["winner"].to_numpy(), rows["loser"].to_numpy()
    seen = Outcomes.of_rows(won, lost, m)
    selection = SpectralRanking(k=k, epsilon=epsilon, contraction=rho, degree=degree).select(
        seen, ExactDraws(SeededBits(1))
    )
    scale = selection.noise_sd / math.sqrt(2)
    assert published / scale == pytest.approx(8 * math.sqrt(k * math.log(m / delta)), rel=0.01)
    assert 2 * k * s / epsilon / scale == pytest.approx(2 * k, rel=0.01)
