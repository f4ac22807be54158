"""Output laws of ranking mechanisms, and their privacy: exactly, on small inputs."""

import itertools
import math
from functools import cache

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers import engines
from helpers.exhaustive import exhaustive
from helpers.losses import largest_log_ratio
from helpers.oracles_one_shot import laplace_law
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import Wins
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import WinCount

EPSILON = 2.0
EXACT = 1e-12  # what the two ways of integrating agree to
LOSS = 1e-7  # of the logarithm of a probability that is small itself
EDGES = (-0.5, 0.5, 2.5)
FEW = [wins for m in (1, 2) for wins in itertools.product(range(3), repeat=m)]
SMALL = [*FEW, (0, 0, 0), (1, 0, 0), (0, 1, 1)]


# --- win count: the law of the code is the one of the definition


def cells_law(wins, k, bound=None, kind=WinCount):
    """The law of (positions, how many edges their noisy numbers have passed)."""
    mechanism = kind(k=k, epsilon=EPSILON, max_comparisons_per_user=bound)

    def run(draws):
        selection = mechanism.select(Wins(np.array(wins), bound), draws)
        return tuple(selection.positions.tolist()), tuple(selection.scores)

    return law(run, EDGES)


@pytest.mark.parametrize("bound", [None, 1, 3])
@pytest.mark.parametrize("wins", [(0,), (2, 0), (1, 1), (3, 0, 1), (0, 0, 0), (4, 1, 0, 2)])
def test_win_count_is_its_definition(wins, bound):
    for k in {1, 2, len(wins)} if len(wins) < 4 else {2}:
        seen = cells_law(wins, k, bound)
        oracle = laplace_law(wins, (bound or 1) / EPSILON, k, EDGES)
        assert abs(sum(seen.values()) - 1) < EXACT
        assert max(abs(seen.get(o, 0) - oracle.get(o, 0)) for o in seen | oracle) < EXACT


# --- and its privacy, between all neighbours


@cache
def counted(wins, bound, factor):
    return laplace_law(wins, factor * (bound or 1) / EPSILON, len(wins), EDGES)


def worst_loss(bound, factor=1.0, universes=SMALL):
    """Of all items' order and cells, when one comparison or one user is added or removed."""
    worst = 0.0
    for wins in universes:
        for more in itertools.product(range((bound or 1) + 1), repeat=len(wins)):
            if sum(more) <= (bound or 1):
                p = counted(wins, bound, factor)
                q = counted(tuple(np.add(wins, more).tolist()), bound, factor)
                worst = max(worst, largest_log_ratio(p, q), largest_log_ratio(q, p))
    return worst


@pytest.mark.parametrize("bound", [None, 2])
def test_win_count_is_private_and_uses_its_budget(bound):
    assert EPSILON - 0.01 < worst_loss(bound) <= EPSILON + LOSS


@pytest.mark.parametrize("bound", [None, 2])
def test_too_little_noise_is_seen(bound):
    assert worst_loss(bound, 1 / 1.3, FEW) > EPSILON * 1.2
    assert worst_loss(bound, 1.3, FEW) < EPSILON * 0.9


# --- from rows to what is named


def rows_law(rows, bound):
    frame = pl.DataFrame(rows, schema={"won": str, "lost": str, "who": int}, orient="row")
    users = {} if bound is None else {"user": "who", "max_comparisons_per_user": bound}
    source = sl.comparisons(frame, winner="won", loser="lost", public_items=["a", "b"], **users)
    mechanism = WinCount(k=2, epsilon=EPSILON, max_comparisons_per_user=bound)

    def run(draws):
        shown = engines.shown(source, mechanism.wants, draws)
        selection = mechanism.select(shown.evidence, draws)
        return tuple(selection.positions.tolist()), tuple(selection.scores)

    return law(run, EDGES[:2])


GAMES = [("a", "b"), ("b", "a"), ("a", "a"), ("z", "a")]
TABLES = [
    [(*game, who) for game, who in zip(games, (1, 1), strict=False)]
    for size in range(3)
    for games in itertools.combinations_with_replacement(GAMES, size)
]


def losses_of_rows(bound, most):
    """The losses when a row is added; or a user with up to `most` rows."""
    for rows in TABLES:
        p = rows_law(rows, bound)
        for size in range(1, most + 1):
            for games in itertools.combinations_with_replacement(GAMES[:3], size):
                q = rows_law([*rows, *((*game, 9) for game in games)], bound)
                yield from (largest_log_ratio(p, q), largest_log_ratio(q, p))


def test_one_row_more_or_less():
    assert EPSILON - 0.01 < max(losses_of_rows(None, 1)) <= EPSILON + LOSS
    assert max(losses_of_rows(None, 2)) > 1.5 * EPSILON  # two rows are no neighbour


@pytest.mark.parametrize("bound", [1, *exhaustive(2)])
def test_one_user_more_or_less(bound):
    assert max(losses_of_rows(bound, bound + 1)) <= EPSILON + LOSS


def test_a_user_who_is_not_bounded_is_seen(monkeypatch):
    monkeypatch.setattr(Contributions, "bounded", lambda self, *_: self)
    assert any(loss > 1.5 * EPSILON for loss in losses_of_rows(1, 2))


# --- what is drawn


@pytest.mark.parametrize("epsilon", [3.0, 6.0])
def test_the_rounding_of_small_noise_is_stated_too(epsilon):
    selection = WinCount(k=1, epsilon=epsilon).select(
        Wins(np.array([4])), ExactDraws(SeededBits(1))
    )
    # Laplace noise, rounded, is n or -n with probability exp(-epsilon n) sinh(epsilon / 2) each.
    square = sum(2 * n**2 * math.exp(-epsilon * n) * math.sinh(epsilon / 2) for n in range(1, 100))
    assert selection.noise_sd == pytest.approx(math.sqrt(square), rel=1e-6)
    assert abs(selection.noise_sd - math.sqrt(2) / epsilon) > 0.02 * selection.noise_sd


@pytest.mark.parametrize("bound", [None, 4])
def test_the_noise_is_the_one_that_is_stated(bound):
    n, truth = 4000, np.array([500, 900, 100, 700])
    mechanism = WinCount(k=4, epsilon=0.5, max_comparisons_per_user=bound)
    draws, errors = ExactDraws(SeededBits(21)), []
    for _ in range(n // 4):
        selection = mechanism.select(Wins(truth, bound), draws)
        errors += (selection.scores - truth[selection.positions]).tolist()
        assert all(float(score).is_integer() for score in selection.scores)
    # Gaps are far above the noise. A Laplace variable's square has mean sd², deviation √5 sd².
    mean, expected = float(np.square(errors).mean()), selection.noise_sd**2
    band = 4 * math.sqrt(5 / n) * expected
    assert abs(mean - expected) < band
    assert abs(mean - 1.69 * expected) > band
    assert abs(mean - 0.49 * expected) > band
