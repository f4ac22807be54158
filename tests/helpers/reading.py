"""Tables as they are opened, and refusals that quote no cell."""

from functools import partial

from helpers.refusals import MARKER, refused
from shortlist.table import open_table

open_pairs = partial(open_table, user="user", items=["item"])


def rows_of(table):
    users, items = table.pairs()
    return users.take(users.codes).hstack(items.take(items.codes)).rows()


def refusal(action, *contains):
    """The refusal's message; nothing behind it may carry a cell either."""
    error = refused(action)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert MARKER not in str(error)
    for part in contains:
        assert part in str(error)
    return str(error)
