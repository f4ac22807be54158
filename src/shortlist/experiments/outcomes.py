"""Comparisons by pair, of a table of winners and losers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.errors import InputError, is_whole
from shortlist.evidence import Outcomes

if TYPE_CHECKING:
    import polars as pl

__all__ = ["outcomes_of", "require_outcomes"]


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
