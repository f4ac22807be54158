"""A store of arrays, in memory or mapped from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.draws import Ints
from shortlist.errors import InputError, Words
from shortlist.parameters import MOST_ITEMS
from shortlist.runtime.processes import require_threads
from shortlist.stores.score_store import ScoreStore, StoredRows
from shortlist.table.identity import identities_of_files

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 2**20  # counts looked at together, so that a file is never in memory as a whole


class MemoryStore(ScoreStore):
    """A store of arrays: of items, and of their counts. The id of an item is its position.

    The arrays are not copied, so that they may be mapped from files, and must not change while a
    question is answered:

        counts = np.load("counts.npy", mmap_mode="r")

    Args:
        items: Strings, integers or dates, each once, shape (n_items,): an array, a list or a
            Polars series. Lists, series and arrays of objects are looked through at once; other
            arrays, which may be mapped from files, where they are selected.
        counts: Whole numbers from 0 to 2^62, shape (n_items,). A count is checked when it is read.
        order: All positions by falling count, shape (n_items,), as `prepare` finds them, which is
            checked; None to let it do so. Keep `store.order` in a file beside the counts, and it
            need not.

    Raises:
        InputError: The arrays are of no usable type or of different lengths, or the order holds
            anything but every position once.

    >>> store = MemoryStore(["Emma", "Dune", "Ulysses"], [40, 900, 0])
    >>> store.prepare()
    >>> store.order
    array([1, 0, 2])
    >>> with store.snapshot() as view:
    ...     view.sorted_access(0, 2), view.random_access(np.array([2]))
    ((array([1, 0]), array([900,  40])), array([0]))
    >>> store.accesses
    Accesses(sorted=2, random=1)
    """

    def __init__(self, items: object, counts: ArrayLike, *, order: ArrayLike | None = None) -> None:
        super().__init__()
        require_threads()
        self._counts = _whole(counts, "counts")
        self._items = _series_or_array(items)
        if len(self._items) != len(self._counts):
            raise InputError(
                "{items} and {counts} are of different lengths", "give one count for each item"
            )
        if len(self._counts) > MOST_ITEMS:
            raise InputError("are more than 2^32, which no store can hold", given={"counts": ...})
        self.order: Ints | None = None
        if order is not None:
            self.order = _whole(order, "order")
            _require_permutation(self.order, len(self._counts))
            _require_falling(self._counts, self.order)

    def __repr__(self) -> str:
        return "<MemoryStore>"

    def identity(self) -> object:
        """The type and number of the items, and the files of mapped arrays."""
        files = [getattr(held, "filename", None) for held in (self._items, self._counts)]
        mapped = identities_of_files(file for file in files if file is not None)
        return [str(self._items.dtype), len(self._items), mapped]

    @property
    def shows_changes(self) -> bool:
        """Only of counts in a mapped file."""
        return getattr(self._counts, "filename", None) is not None

    def prepare(self) -> None:
        """Find the order by falling count, unless it was given; 8 bytes an item."""
        if self.order is None:
            self.order = np.argsort(self._counts, kind="stable")[::-1]

    def check(self) -> None:
        """Refuse counts of which no order is known."""
        self._ordered()

    def rows(self) -> StoredRows:
        """The arrays, which are not copied."""
        return _Arrays(self._items, self._counts, self._ordered())

    def _ordered(self) -> Ints:
        if self.order is None:
            raise InputError(
                "the counts are in no order yet", "call prepare() first", given={"order": ...}
            )
        return self.order


class _Arrays(StoredRows):
    origin = Words("{counts}")

    def __init__(self, items: pl.Series | NDArray[Any], counts: Ints, order: Ints) -> None:
        self.size = len(counts)
        self._items = items
        self._counts = counts
        self._order = order
        self._n_read = 0

    def following(self, n: int) -> tuple[Ints, ArrayLike]:
        ids = np.asarray(self._order[self._n_read : self._n_read + n], np.int64)
        self._n_read += len(ids)
        return ids, self._counts[ids]

    def find(self, ids: Ints) -> tuple[Ints, ArrayLike]:
        return ids, self._counts[ids]

    def items(self, ids: Ints) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame({"item": self._items[ids]})

    def complaint(self, _: Exception) -> InputError:
        return InputError(
            "cannot be read as strings, integers or dates", "cast them", given={"items": ...}
        )


def _whole(values: ArrayLike, name: str) -> Ints:
    from shortlist.table.part import attempt

    refusal = InputError(
        "must be one array of whole numbers", "cast it to integers", given={name: ...}
    )
    numbers = attempt(lambda: np.asanyarray(values), refusal)
    _require_unmasked(numbers, name)
    if numbers.size == 0 and numbers.ndim == 1:
        return np.empty(0, np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise refusal
    return numbers


def _series_or_array(items: Any) -> pl.Series | NDArray[Any]:
    """The items, of a type that can be one; an array of such a type stays where it is."""
    import polars as pl

    from shortlist.table.key_types import kind_of
    from shortlist.table.part import attempt

    refusal = InputError(
        "must be one array or list of strings, integers or dates",
        "cast them",
        given={"items": ...},
    )
    _require_unmasked(items, "items")
    if isinstance(items, np.ndarray) and items.dtype.kind != "O":  # then all are of one type
        kind = attempt(lambda: kind_of(pl.Series(items[:1]).dtype), refusal)
    else:
        held = items.tolist() if isinstance(items, np.ndarray) else items
        items = attempt(lambda: pl.Series(held, strict=True), refusal)
        kind = kind_of(items.dtype)
        if kind is not None:
            _require_names(items)
    if kind is None and len(items):
        raise refusal
    return items  # type: ignore[no-any-return]


def _require_names(items: pl.Series) -> None:
    """Refuse what no selection could name: found later, it would have cost the budget."""
    if items.null_count():
        raise InputError(
            "some are null", "name them, or leave them and their counts out", given={"items": ...}
        )
    from shortlist.table.key_types import is_datable

    if not is_datable(items):
        raise InputError(
            "some lie outside of the years 1 to 9999", "cast them to text", given={"items": ...}
        )
    if items.n_unique() < len(items):
        raise InputError(
            "some are there more than once",
            "give every item once, with the number of its users",
            given={"items": ...},
        )


def _require_unmasked(values: object, name: str) -> None:
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            "is a masked array, and may lack some", "fill or drop these", given={name: ...}
        )


def _require_permutation(order: Ints, size: int) -> None:
    """An item that is listed twice or never would break the promise."""
    seen = np.zeros(size, np.bool_)
    if len(order) == size and (size == 0 or (order.min() >= 0 and order.max() < size)):
        seen[order] = True
    if len(order) != size or not seen.all():
        raise InputError(
            "must hold every position of counts once, by falling count",
            "omit it, and call prepare()",
            given={"order": ...},
        )


def _require_falling(counts: Ints, order: Ints) -> None:
    """An order of other counts would end a search before the best was seen."""
    for start in range(0, len(order) - 1, _BLOCK):
        block = counts[order[start : start + _BLOCK + 1]]
        if (block[1:] > block[:-1]).any():
            raise InputError(
                "is not that of falling counts", "omit it, and call prepare()", given={"order": ...}
            )
