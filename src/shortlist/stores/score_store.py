"""What all stores share: a snapshot that counts its accesses, and checks what it is given."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from shortlist.databases.faults import guarded
from shortlist.draws import Ints
from shortlist.errors import InputError, Words, spending
from shortlist.runtime.processes import StaysHere

if TYPE_CHECKING:
    import polars as pl

PRIVATE = "The row is private and not shown"

_LARGEST = 2**62  # differences and sums of two scores fit 64 bits
_T = TypeVar("_T")


@dataclass
class Accesses:
    """How many scores a question has read. These numbers depend on private data.

    They are for whoever runs the store, and in no release: do not publish them.

    Attributes:
        sorted: Scores read by sorted access.
        random: Ids whose score was asked for, whether they exist or not.
    """

    sorted: int = 0
    random: int = 0


class StoredRows(ABC):
    """What one kind of store reads, at one moment of its table.

    Attributes:
        size: How many ids there are, gaps included: they are 0 to size - 1.
        origin: The table and its column of counts, for messages.
    """

    size: int
    origin: Words

    @abstractmethod
    def following(self, n: int) -> tuple[Ints, ArrayLike]:
        """The next n ids by falling count, fewer at the end, and their counts as they are."""

    @abstractmethod
    def find(self, ids: Ints) -> tuple[Ints, ArrayLike]:
        """Which of these ids exist, in any order, and their counts as they are."""

    @abstractmethod
    def items(self, ids: Ints) -> pl.DataFrame:
        """The items of these ids, which exist, one row each and in the same order."""

    @abstractmethod
    def complaint(self, error: Exception) -> InputError:
        """What to raise in place of an error of the library underneath."""

    def close(self) -> None:  # noqa: B027 - where nothing was opened, there is nothing to do
        """Give back what was opened; this never fails."""


class Snapshot:
    """A `View` that counts its accesses, refuses what is no count, and names items at the end.

    What it refuses depends on the counts that were read, and says to count the budget as spent.

    Attributes:
        size: As of `View`.
        costs: As of `View`.
    """

    def __init__(self, rows: StoredRows, costs: tuple[float, float], accesses: Accesses) -> None:
        self.size = rows.size
        self.costs = costs
        self._rows = rows
        self._accesses = accesses
        self._n_read = 0
        self._last: int | None = None

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Ints]:
        """The next ids by falling score, at most n, and their scores.

        Raises:
            InputError: What was read is no count, the counts do not fall, or the database fails.
        """
        if start != self._n_read:
            raise ValueError("start: sorted access goes on where it ended.")
        with spending():
            ids, scores = self._ask(lambda: self._scored(*self._rows.following(n)))
            self._n_read += len(ids)
            self._accesses.sorted += len(ids)
            self._require_falling(scores)
        return ids, scores

    def random_access(self, ids: Ints) -> Ints:
        """The score of each id, -1 where there is no such row.

        Raises:
            InputError: What was read is no count, or the database fails.
        """
        with spending():
            found, scores = self._ask(lambda: self._scored(*self._rows.find(ids)))
        self._accesses.random += len(ids)
        return _aligned(ids, found, scores)

    def items(self, ids: Ints) -> pl.DataFrame:
        """The items of selected ids, one row each and in the same order; no access to a score.

        Raises:
            InputError: An item is null or stands in two of these rows, or the database fails.
        """
        with spending():
            items = self._ask(lambda: self._rows.items(ids))
            self._require_names(items, len(ids))
        return items

    def _require_names(self, items: pl.DataFrame, n: int) -> None:
        origin = self._rows.origin
        if items.height != n or sum(items.null_count().row(0)):
            raise InputError(
                "{origin} counts a row without an item",
                "name the item, or delete the row",
                origin=origin,
            )
        if items.is_duplicated().any():
            raise InputError(
                "{origin} counts an item that is in more than one row",
                "give every item one row, with the number of its users",
                origin=origin,
            )

    def _scored(self, ids: Ints, values: ArrayLike) -> tuple[Ints, Ints]:
        return ids, _whole_scores(values, self._rows.origin)

    def _ask(self, action: Callable[[], _T]) -> _T:
        return guarded(action, self._rows.complaint)

    def _require_falling(self, scores: Ints) -> None:
        """A list that does not fall would end the search too early, and break the promise."""
        if len(scores) == 0:
            return
        rises = (scores[1:] > scores[:-1]).any()
        if rises or (self._last is not None and scores[0] > self._last):
            raise InputError(
                "{origin} does not come in falling order: the index is damaged",
                "rebuild it",
                origin=self._rows.origin,
            )
        self._last = int(scores[-1])


class ScoreStore(StaysHere, ABC):
    """A histogram that is asked for few of its counts. To add a kind, give `rows` and `prepare`.

    Attributes:
        costs: What one sorted and one random access cost, in a common unit: public constants.
        item: What the column of items is called in a release.
        count: The column of counts, or None where it has no name.
        accesses: What the last question has read, in one object per question. Private.
    """

    costs: ClassVar[tuple[float, float]] = (1.0, 1.0)
    item: str = "item"
    count: str | None = None
    accesses: Accesses

    def __init__(self) -> None:
        self.accesses = Accesses()

    def identity(self) -> object:
        """What tells it from other stores, as JSON values, which may be private.

        A budget keeps a keyed hash. By default it is like no other.
        """
        return self._unknown

    @property
    def shows_changes(self) -> bool:
        """Whether `identity` tells it from what it was before it was changed."""
        return True

    @cached_property
    def _unknown(self) -> str:
        return secrets.token_hex(16)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The store as it is now, for one question. It is only read, and changes do not show.

        Raises:
            InputError: The table has changed, an index is missing, or the database fails.
        """
        self.accesses = accesses = Accesses()
        rows = self.rows()
        try:
            yield Snapshot(rows, self.costs, accesses)
        finally:
            rows.close()

    def check(self) -> None:
        """Refuse, without reading a row, what `rows` would: an index that is missing, and the like.

        Raises:
            InputError: They cannot be read, or not cheaply.
        """

    @abstractmethod
    def rows(self) -> StoredRows:
        """The rows as they are now.

        Raises:
            InputError: They cannot be read, or not cheaply.
        """

    @abstractmethod
    def prepare(self) -> None:
        """Create what makes both accesses cheap, where it is missing; nothing else ever writes.

        Raises:
            InputError: It cannot be created.
        """


def _whole_scores(values: ArrayLike, origin: Words) -> Ints:
    """Counts, as they were read, as integers; refused unless all are whole, from 0 to 2^62.

    >>> _whole_scores([7, 0], Words("counts"))
    array([7, 0])
    """
    numbers = np.asarray(values)
    if numbers.size == 0:
        return np.empty(0, np.int64)
    if numbers.dtype.kind not in "iu":
        raise InputError(
            "{origin} holds something that is not a whole number from 0 to 2^62, such as a null, a "
            "text or a fraction",
            "fix it. {private}",
            origin=origin,
            private=PRIVATE,
        )
    if not (numbers.min() >= 0 and numbers.max() <= _LARGEST):
        raise InputError(
            "{origin} holds a number that is not a count: below 0 or above 2^62",
            "fix it. {private}",
            origin=origin,
            private=PRIVATE,
        )
    return numbers.astype(np.int64)


def _aligned(wanted: Ints, found: Ints, scores: Ints) -> Ints:
    """The score of each wanted id, -1 where it is not among those that were found.

    >>> _aligned(np.array([5, 2, 9]), np.array([9, 5]), np.array([90, 50]))
    array([50, -1, 90])
    """
    if len(found) == 0:
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(found)
    places = np.minimum(np.searchsorted(found[order], wanted), len(found) - 1)
    rows = order[places]
    return np.where(found[rows] == wanted, scores[rows], -1)
