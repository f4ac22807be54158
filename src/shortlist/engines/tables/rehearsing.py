"""A question asked of no rows: what fails then fails whatever the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from shortlist.engines.tables.items import Items
from shortlist.engines.tables.opening import Lying
from shortlist.engines.tables.reading import read
from shortlist.engines.tables.sets import SetsInTable
from shortlist.errors import InputError
from shortlist.table.connections import opened_anew
from shortlist.table.part import attempt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["rehearse"]


def rehearse(lying: Lying, columns: Mapping[str, pl.DataType], *, bounds: bool) -> None:
    """Ask what a question asks, of no rows; once more where a lost connection was opened anew.

    Args:
        lying: Where the rows are.
        columns: The types of the columns: the user's, and those of an item.
        bounds: Whether users will be bounded there.

    Raises:
        InputError: The engine lacks something, or does not answer.
    """
    try:
        _asked_of_nothing(lying, columns, bounds=bounds)
    except InputError as error:
        if not attempt(lambda: opened_anew(lying.held), error):
            raise
        _asked_of_nothing(lying, columns, bounds=bounds)


def _asked_of_nothing(lying: Lying, columns: Mapping[str, pl.DataType], *, bounds: bool) -> None:
    """Temporary tables are made and filled, users bounded, and items fetched; there are none."""
    import ibis

    user, *names = columns
    nothing = lying.rows.filter(ibis.literal(value=False))  # which no engine reads a row for
    with lying.asking() as scratch:
        values = read(nothing, user, names, scratch)
        held = SetsInTable(values, scratch)
        if bounds:
            held = held.bounded_by(1, (0, 0))
        held.users_of_size()
        types = {name: columns[name] for name in names}
        Items(values.numbered, types, scratch).take(np.empty(0, np.int64))
