"""The order of noisy values for many samples at once, a row for each.

All rows are the values of one `NoisyValues`, which draws their noise, says which reach a bound and
rounds them. Rows whose intervals are disjoint are put in order together. The others are put in
order one by one, as they always are.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import ExactDraws, Floats, Ints, Noise, Order
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


def order_of_rows(draws: ExactDraws, n_rows: int, asked: Order) -> Drawn:
    """What so many calls of `Draws.order` return: positions as rows, and values as columns.

    Of what is asked without a factor that all noise of a row shares.
    """
    n = len(asked.scores)
    values = _values_of(draws, n_rows, asked)
    reached = np.ones(n * n_rows, np.bool_)
    if asked.at_least is not None:
        reached = values.reach(np.tile(asked.at_least, n_rows))
    rows = values.sorted_rows(reached.reshape(n_rows, n))[:, : asked.k]
    if asked.digits is None:
        return Drawn(rows, np.empty((0, n_rows)))
    columns = np.full(rows.shape, np.nan)
    named = rows != NOBODY
    columns[named] = values.rounded((rows + n * np.arange(n_rows)[:, None])[named], asked.digits)
    return Drawn(rows, columns.T)


def _values_of(draws: ExactDraws, n_rows: int, asked: Order) -> _Rows:
    """The noisy values of all rows."""
    n = len(asked.scores) * n_rows
    return _Rows(
        np.tile(asked.scores, n_rows),
        [_repeated(noise, n_rows) for noise in asked.noises],
        [draws.bits.words(n) for _ in asked.noises],
        draws.bits,
        unit=asked.unit,
        shared=None if asked.shared is None else Shared(asked.shared, draws.bits, n, n_rows),
        margin=draws.margin,
    )


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
