"""Invented comparisons: who wins is drawn by the weights of the two items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Floats
from shortlist.errors import InputError, is_whole

if TYPE_CHECKING:
    import polars as pl

__all__ = ["bradley_terry"]


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
