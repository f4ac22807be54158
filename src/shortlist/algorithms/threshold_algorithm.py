"""Fagin's threshold algorithm: the best k items of several sorted lists, reading little of them.

Source: Fagin, Lotem & Naor (2003); Wu, Ohrimenko & Wirth (2023), Algorithm 1.

What it returns is exact and not private, and so is how much it reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.errors import InputError

Values = NDArray[Any]
"""Numbers of any one kind."""
Lengths = Iterable[Sequence[int]]


class ScoreList(Protocol):
    """One attribute of every item, with sorted and random access to it."""

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Values]:
        """Ids and values number `start` to `start + n - 1` by falling value; fewer at the end."""

    def random_access(self, ids: Ints) -> Values:
        """The value of each id."""


class Seen(NamedTuple):
    """What was read.

    Attributes:
        ids: Items, in no order that means anything, shape (n,).
        values: For each source, the values of these items, shape (n,) each.
    """

    ids: Ints
    values: list[Values]


def read(
    sources: Sequence[ScoreList],
    k: int,
    ahead: Callable[[Sequence[Values], Sequence[Values]], NDArray[np.bool_]],
    lengths: Lengths,
) -> Seen:
    """Read until k items are at least as good as whatever was not read.

    Every item is in every source. Each round reads on in each source's order, then looks up what is
    still unknown of the new items, by one random access of many ids for each source.

    Args:
        sources: One for each attribute, at least one.
        k: How many items are wanted.
        ahead: Given the values of the items seen, and the last value read in each source's order
            (shape (1,) each): which items are at least as good as any not seen, shape (n,).
        lengths: How much of each source to have read in sorted order after each round, from 1 on
            and without end.

    Raises:
        InputError: The lengths end before that.
    """
    ids, values = np.empty(0, np.int64), [np.empty(0, np.int64) for _ in sources]
    done, known, last = [0] * len(sources), set[int](), [np.empty(0, np.int64) for _ in sources]
    for wanted in lengths:
        missing = [length - start for length, start in zip(wanted, done, strict=True)]
        pages = [
            source.sorted_access(start, n) if n else (ids[:0], column[:0])
            for source, column, start, n in zip(sources, values, done, missing, strict=True)
        ]
        new, columns = _looked_up(sources, pages, known)
        known.update(new.tolist())
        is_first_round = not len(ids)  # before, the kind of numbers is not known
        ids = np.concatenate([ids, new])
        joined = map(np.concatenate, zip(values, columns, strict=True))
        values = columns if is_first_round else list(joined)
        last = [
            page[-1:] if len(page) else before
            for (_, page), before in zip(pages, last, strict=True)
        ]
        ended = any(len(page[0]) < n for page, n in zip(pages, missing, strict=True))
        if ended or (len(ids) >= k and np.count_nonzero(ahead(values, last)) >= k):
            break
        done = list(wanted)
    else:
        raise InputError(
            "ended before the best were known", "they must have no end", given={"lengths": ...}
        )
    return Seen(ids, values)


def _looked_up(
    sources: Sequence[ScoreList], pages: Sequence[tuple[Ints, Values]], known: set[int]
) -> tuple[Ints, list[Values]]:
    """The ids of the pages that were not known, rising, and their values in every source."""
    fresh = [np.array([i not in known for i in ids.tolist()], np.bool_) for ids, _ in pages]
    new = np.unique(np.concatenate([ids[f] for (ids, _), f in zip(pages, fresh, strict=True)]))
    columns = []
    for source, (ids, page), f in zip(sources, pages, fresh, strict=True):
        column = np.empty(len(new), page.dtype)
        unknown = np.ones(len(new), np.bool_)
        read_here = np.searchsorted(new, ids[f])
        column[read_here], unknown[read_here] = page[f], False
        if unknown.any():
            found = source.random_access(new[unknown])
            column = column.astype(np.result_type(column, found), copy=False)
            column[unknown] = found
        columns.append(column)
    return new, columns


def balanced(size: int, k: int, costs: tuple[float, float]) -> Iterator[tuple[int, int]]:
    """Lengths that double, for a list with accesses of these costs and one of random ids.

    Items that are among the first a of one and the first b of the other stop the algorithm as soon
    as there are k; so many are expected at a · b = size · k. Every item of the first list costs a
    sorted access, every one of the second a random access, so that what is spent is least where
    as much is spent on both. One of the lengths is the expected one of the algorithm that reads
    item by item, at most sqrt(size · k) + sqrt(size / 2) with equal costs, and the first is at most
    k: less is never enough, and never is more read than twice what is.

    Args:
        size: How many ids there are.
        k: How many items are wanted.
        costs: Of one sorted access, and of one random access.

    >>> import itertools
    >>> list(itertools.islice(balanced(10_000, 10, (1.0, 1.0)), 8))
    [(7, 7), (13, 13), (25, 25), (49, 49), (97, 97), (194, 194), (387, 387), (774, 774)]
    >>> list(itertools.islice(balanced(10_000, 10, (1.0, 4.0)), 7))[-1]
    (774, 194)
    """
    k = min(k, max(size, 1))
    bound = math.sqrt(size * k) + math.sqrt(size / 2)
    tilt = math.sqrt(costs[1] / costs[0])
    length = bound / 2 ** max(0, math.ceil(math.log2(max(bound, 1) / k)))
    most = size + 1  # a list that is asked for one more than there are tells that it has ended
    while True:
        yield (
            max(1, math.ceil(min(length * tilt, most))),
            max(1, math.ceil(min(length / tilt, most))),
        )
        length *= 2
