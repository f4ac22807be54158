"""The order of noisy values for many samples at once, a row for each.

All rows are the values of one `NoisyValues`, which draws their noise, says which reach a bound and
rounds them. Rows whose intervals are disjoint are put in order together. The others are put in
order one by one, as they always are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import UNIT, ExactDraws, Floats, Ints, Noise
from shortlist.draws.noisy_values import NoisyValues
from shortlist.draws.shared import Shared

__all__ = ["NOBODY", "Drawn", "order_of_rows"]

NOBODY = -1  # in the place of an item, where other rows have more items


class Drawn(NamedTuple):
    """What some samples drew.

    Attributes:
        rows: A row of each sample, shape (n_rows, width): whole numbers, or coins.
        columns: The noisy values of each: a column, shape (height, n_rows).
    """

    rows: NDArray[Any]
    columns: Floats


def order_of_rows(  # noqa: PLR0913 - what `Draws.order` is asked, of so many rows
    draws: ExactDraws,
    n_rows: int,
    scores: Ints,
    noises: Sequence[Noise],
    *,
    digits: int | None,
    unit: float = UNIT,
    shared: Noise | None = None,
    at_least: Ints | None = None,
    k: int | None = None,
) -> Drawn:
    """What so many calls of `Draws.order` return: positions as rows, and values as columns."""
    n = len(scores)
    values = _Rows(
        np.tile(scores, n_rows),
        [_repeated(noise, n_rows) for noise in noises],
        [draws.bits.words(n * n_rows) for _ in noises],
        draws.bits,
        unit=unit,
        shared=None if shared is None else Shared(shared, draws.bits, n * n_rows, n_rows),
        margin=draws.margin,
    )
    reached = np.ones(n * n_rows, np.bool_)
    if at_least is not None:
        reached = values.reach(np.tile(at_least, n_rows))
    rows = values.sorted_rows(reached.reshape(n_rows, n))[:, :k]
    if digits is None:
        return Drawn(rows, np.empty((0, n_rows)))
    columns = np.full(rows.shape, np.nan)
    named = rows != NOBODY
    columns[named] = values.rounded((rows + n * np.arange(n_rows)[:, None])[named], digits)
    return Drawn(rows, columns.T)


def _repeated(noise: Noise, times: int) -> Noise:
    """The noise of as many rows of the same items."""
    known: Any = noise
    arrays = {
        field.name: np.tile(value, times)
        for field in dataclasses.fields(known)
        if isinstance(value := getattr(known, field.name), np.ndarray)
    }
    repeated: Noise = dataclasses.replace(known, **arrays)
    return repeated


class _Rows(NoisyValues):
    """The values of rows of as many items each, one row after another."""

    def sorted_rows(self, reached: NDArray[np.bool_]) -> Ints:
        """The items that are `reached`, best first, then `NOBODY`; both of shape (n_rows, n)."""
        rows, settled = self._where_disjoint(reached)
        n = reached.shape[1]
        for row in np.flatnonzero(~settled).tolist():
            found = self.sorted(row * n + np.flatnonzero(reached[row])) - row * n
            rows[row, : len(found)] = found
        return rows

    def _where_disjoint(self, reached: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
        """The same by the intervals, and for which rows these are disjoint."""
        ends = self._interval(self._scores - self._scores.max(initial=-(2**62)), slice(None))
        low, high = (np.where(reached, end.reshape(reached.shape), -np.inf) for end in ends)
        rows = np.lexsort((-low, ~reached))
        low, high = (np.take_along_axis(end, rows, axis=1) for end in (low, high))
        ahead = np.maximum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
        places, n_reached = np.arange(reached.shape[1]), reached.sum(axis=1)[:, None]
        apart = (ahead[:, 1:] < low[:, :-1]) | (places[1:] >= n_reached)
        return np.where(places < n_reached, rows, NOBODY), apart.all(axis=1)
