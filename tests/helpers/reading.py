"""Tables as they are opened, and refusals that quote no cell."""

from functools import partial

import polars as pl

from helpers.refusals import MARKER, refused
from shortlist.table import open_table
from shortlist.table.keys import values_of

open_pairs = partial(open_table, user="user", items=["item"])


def frame_of(table):
    """The rows that a table's keys stand for: those of users who are not coded are numbers."""
    users, items = table.pairs()
    if users.size is None:
        name, dtype = next(iter(table.columns.items()))
        held = values_of(pl.Series(name, dtype=dtype), users.codes).to_frame()
    else:
        held = users.take(users.codes)
    return held.hstack(items.take(items.codes))


def rows_of(table):
    return frame_of(table).rows()


def refusal(action, *contains):
    """The refusal's message; nothing behind it may carry a cell either."""
    error = refused(action)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert MARKER not in str(error)
    for part in contains:
        assert part in str(error)
    return str(error)
