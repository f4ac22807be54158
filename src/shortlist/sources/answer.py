"""From what a source shows to a mechanism to the release that leaves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from shortlist.bits import Bits
from shortlist.contributions import Contributions
from shortlist.errors import SPENT, spending
from shortlist.exact import Draws
from shortlist.histogram import Counts, Outcomes, PrivateCounts, WeightedHistogram, Wins
from shortlist.mechanisms.base import Mechanism, Selection
from shortlist.processes import require_threads
from shortlist.reals import Ints
from shortlist.release import Guarantee, Release, Scores
from shortlist.stores.contract import View

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LIST_IS_PUBLIC", "Once", "Promise", "Shown", "answer", "release"]

LIST_IS_PUBLIC = "the list of public items does not depend on this table"

_T = TypeVar("_T")


class Once(Generic[_T]):
    """A value that is found at the first call; further ones, meanwhile, wait for it.

    >>> numbers = iter([7, 8])
    >>> first = Once(lambda: next(numbers))
    >>> first(), first()
    (7, 7)
    """

    def __init__(self, find: Callable[[], _T]) -> None:
        self._find = find
        self._found: list[_T] = []
        self._finding = Lock()

    def __call__(self) -> _T:
        """The value; where finding it fails, it is tried anew at the next call."""
        with self._finding:
            if not self._found:
                self._found.append(self._find())
            return self._found[0]


class Shown(NamedTuple):
    """What a mechanism may look at, and which items its positions are."""

    evidence: Counts | PrivateCounts | WeightedHistogram | Contributions | Wins | Outcomes | View
    items: Callable[[Ints], pl.DataFrame]


class Promise(NamedTuple):
    """What a source can say of its guarantees before anything is asked."""

    protects: str
    assumes: tuple[str, ...]


def answer(
    mechanism: Mechanism,
    bits: Bits,
    show: Callable[[Draws], Shown],
    promise: Promise,
) -> Release:
    """The release: here, and nowhere else, rows are read and a selection is made of them.

    Raises:
        InputError: What only shows where rows are read; the message says to count it as spent.
        MemoryError: Likewise. The library's own message would tell the size of the data.
        RuntimeError: Nothing can be read in this process.
    """
    require_threads()
    with suppress(MemoryError), spending():  # said once too often, where no row was read, is safe
        draws = Draws(bits)
        shown = show(draws)
        selection = mechanism.select(shown.evidence, draws)
        items = shown.items(selection.positions)
        guarantee = _guarantee(mechanism, promise, private=bits.private)
        return release(mechanism, selection, items, guarantee)
    raise MemoryError(f"there is not enough memory for this table. {SPENT}")


def _guarantee(mechanism: Mechanism, promise: Promise, *, private: bool) -> Guarantee:
    return Guarantee(
        epsilon=mechanism.epsilon,
        delta=mechanism.spent_delta,
        cost=mechanism.cost,
        adjacency=mechanism.adjacency,
        protects=promise.protects,
        assumes=(
            "the names and types of the columns are public",
            *promise.assumes,
            *mechanism.assumes,
        ),
        private=private,
    )


def release(
    mechanism: Mechanism,
    selection: Selection,
    items: pl.DataFrame,
    guarantee: Guarantee,
) -> Release:
    """The release of `items`, one row per selected position and in the same order."""
    items = _fresh(items)
    scores = selection.scores
    if not selection.ordered:
        order = _public_order(items, selection)
        items = items[order]
        scores = None if scores is None else scores[order]
    labelled = None
    if scores is not None and mechanism.score_unit and selection.noise_sd:
        labelled = Scores(scores.tolist(), unit=mechanism.score_unit, noise_sd=selection.noise_sd)
    return Release(
        question=mechanism.question.value,
        items=items,
        scores=labelled,
        guarantee=guarantee,
        mechanism=mechanism,
    )


def _fresh(items: pl.DataFrame) -> pl.DataFrame:
    """The same strings in memory of their own.

    A column of strings that was gathered from another shares its buffers, with all their strings,
    and hands them on where it is exported.
    """
    import polars as pl

    texts = [column for column in items.get_columns() if column.dtype == pl.String]
    return items.with_columns(pl.Series(text.name, text.to_list(), pl.String) for text in texts)


def _public_order(items: pl.DataFrame, selection: Selection) -> Ints:
    """An order that says no more than the release: by score, if any, and then by item."""
    import polars as pl

    keys = items.rename({name: f"item {i}" for i, name in enumerate(items.columns)})
    if selection.scores is not None:
        keys = keys.insert_column(0, pl.Series("falling score", -selection.scores))
    by = list(keys.columns)
    return keys.with_row_index("row").sort(by)["row"].to_numpy()
