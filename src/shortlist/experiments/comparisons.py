"""Invented comparisons, in which the weights of two items decide who wins; comparisons by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Floats
from shortlist.errors import InputError, is_whole
from shortlist.evidence import Outcomes

if TYPE_CHECKING:
    import polars as pl


def bradley_terry(
    weights: Floats, *, edge_probability: float, times: int, seed: int
) -> pl.DataFrame:
    """Comparisons by the Bradley-Terry-Luce model, on an Erdős-Rényi graph.

    Each pair of items is compared with probability `edge_probability`, then `times` times; item i
    wins against item j with probability weights[i] / (weights[i] + weights[j]).

    Args:
        weights: Above 0, shape (n_items,), an array or a list; items are their positions.
        edge_probability: From 0 to 1.
        times: How often each compared pair is compared, 0 or more.
        seed: The same for the same table.

    Returns:
        One row per comparison, in random order, with the columns winner and loser.

    Raises:
        InputError: An argument is out of its range.

    >>> games = bradley_terry(np.array([3.0, 1.0]), edge_probability=1.0, times=400, seed=1)
    >>> games.height, 250 < games["winner"].eq(0).sum() < 350
    (400, True)
    """
    import polars as pl

    weights = _checked(weights, edge_probability, times)
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(len(weights), 1)
    compared = rng.random(len(first)) < edge_probability
    first, second = (np.repeat(items[compared], times) for items in (first, second))
    won = rng.random(len(first)) * (weights[first] + weights[second]) < weights[first]
    rows = {"winner": np.where(won, first, second), "loser": np.where(won, second, first)}
    return pl.DataFrame(rows)[rng.permutation(len(first))]


def _checked(weights: Floats, edge_probability: float, times: int) -> Floats:
    """The weights as an array."""
    try:
        each: Floats = np.asarray(weights, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            "must be numbers above 0, one of each item", given={"weights": ...}
        ) from error
    if each.ndim != 1 or not (np.isfinite(each) & (each > 0)).all():
        raise InputError("must be numbers above 0, one of each item", given={"weights": ...})
    is_number = isinstance(edge_probability, int | float | np.number)
    if not (is_number and 0 <= edge_probability <= 1):
        raise InputError(
            "must be a number from 0 to 1", given={"edge_probability": edge_probability}
        )
    if not is_whole(times) or times < 0:
        raise InputError("must be a whole number, 0 or more", given={"times": times})
    return each


def outcomes_of(games: pl.DataFrame, n_items: int) -> Outcomes:
    """The comparisons of a table, by pair.

    Args:
        games: One row per comparison, with the columns winner and loser, as of `bradley_terry`:
            items are their positions, from 0 to n_items - 1, never the same in a row.
        n_items: How many items there are.

    Raises:
        InputError: It is no such table.

    >>> import polars as pl
    >>> outcomes_of(pl.DataFrame({"winner": [0, 1, 0], "loser": [1, 0, 1]}), 2).wins
    array([2])
    """
    if not {"winner", "loser"} <= set(map(str, getattr(games, "columns", ()))):
        raise InputError(
            "must be a table with the columns winner and loser", given={"games": games}
        )
    winners, losers = (np.asarray(games[name]) for name in ("winner", "loser"))
    if not is_whole(n_items) or n_items < 0:
        raise InputError("must be a whole number, 0 or more", given={"n_items": n_items})
    return Outcomes.of_rows(winners, losers, n_items)


def require_outcomes(outcomes: object) -> None:
    """Refuse what is not counted by pair."""
    if not isinstance(outcomes, Outcomes):
        raise InputError(
            "must be comparisons by pair",
            "of a table with the columns winner and loser, outcomes_of makes them",
            given={"outcomes": outcomes},
        )
