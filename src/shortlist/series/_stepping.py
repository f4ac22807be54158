"""From a state and the values of a table's rows to the state after a run, or after a loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.series._facts import SeriesFacts
from shortlist.series._stored_state import Held
from shortlist.series.weekly_run import State
from shortlist.table.coding import code

if TYPE_CHECKING:
    import polars as pl

    from shortlist.release import Release


def before_any_run(rows: pl.DataFrame) -> Held:
    """Nobody and nothing, of the types of these rows: of users in the first column, and items."""
    nobody = rows[:0]
    return Held(nobody[:, :1], nobody[:, 1:], State())


def after_run(facts: SeriesFacts, before: Held, rows: pl.DataFrame, draws: Draws) -> Held:
    """Make a run.

    Args:
        facts: What is fixed of the series.
        before: The state before it.
        rows: Pairs of a user and an item, some perhaps twice: users in the first column.
        draws: The only source of randomness.
    """
    known = before.users if before.users.width else rows[:0, :1]  # nobody, after a loss
    users, of_users = _coded(known, rows[:, :1])
    items, of_items = _coded(before.items, rows[:, 1:])
    pairs = np.sort(of_users << 32 | of_items)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # `np.unique` takes far longer
    start, forgotten = before.forgotten.returned(before.state, users[known.height :])
    run = facts.of_kind.run(facts.terms, start, pairs >> 32, pairs & (2**32 - 1), draws)
    return Held(users, items, run.made(), forgotten).in_order()


def after_loss(
    facts: SeriesFacts, older: Held | None, answers: Sequence[Release], draws: Draws
) -> Held:
    """The state to go on from, where that after the last answer is lost.

    Args:
        facts: What is fixed of the series.
        older: A state after an earlier run of the same series, if there is one.
        answers: Of all runs, in order.
        draws: The only source of randomness.
    """
    import polars as pl

    lists = [answer.to_polars().select(answer.item_columns) for answer in answers]
    held = Held(pl.DataFrame(), lists[-1][:0], State()) if older is None else older
    items, codes = _coded(held.items, pl.concat(lists))
    runs = np.repeat(np.arange(1, len(lists) + 1), [one.height for one in lists])
    named, firsts = np.unique(codes, return_index=True)
    named_in = dict(zip(named.tolist(), runs[firsts].tolist(), strict=True))
    state = facts.of_kind.recovered(facts.terms, held.state, len(lists), named_in, draws)
    return Held(held.users[:0], items, state).in_order()


def _coded(known: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """The known rows and behind them the new ones, each once; and where each of the rows stands.

    New ones rise, so that nothing depends on the order of the rows.
    """
    import polars as pl

    keys = code(rows.get_columns())
    codes = np.flatnonzero(np.bincount(keys.codes, minlength=keys.size))
    values = keys.take(codes)  # each once: what is joined is short
    names = {name: f"column {place}" for place, name in enumerate(rows.columns)}
    asked, there = values.rename(names), known.rename(names)
    on = list(names.values())
    every = pl.concat([there, asked.join(there, on=on, how="anti").sort(on)])
    found = asked.join(every.with_row_index("place"), on=on, how="left", maintain_order="left")
    places = np.zeros(keys.size, np.int64)
    places[codes] = found["place"].to_numpy()
    back = dict(zip(names.values(), names, strict=True))
    return every.rename(back), places[keys.codes]
