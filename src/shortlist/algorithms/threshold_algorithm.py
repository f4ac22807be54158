"""Fagin's threshold algorithm: the best k items of several sorted lists, reading little of them.

Source: Fagin, Lotem & Naor (2003); Wu, Ohrimenko & Wirth (2023), Algorithm 1.

What it returns is exact and not private, and so is how much it reads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.errors import InputError, Words, is_whole

__all__ = ["Best", "ScoreList", "Seen", "balanced", "one_by_one", "read", "threshold_algorithm"]

Values = NDArray[Any]  # numbers of any one kind
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


class Best(NamedTuple):
    """What `threshold_algorithm` returns.

    Attributes:
        ids: The best items, best first, shape (k,).
        values: Their aggregated values, shape (k,).
    """

    ids: Ints
    values: Values


def threshold_algorithm(
    sources: Sequence[ScoreList],
    aggregate: Callable[[Sequence[Values]], Values],
    k: int,
    lengths: Lengths | None = None,
) -> Best:
    """The k items of the largest aggregated value, by sorted and random access to each attribute.

    Every item is in every source. Of items that tie at rank k any may be returned.

    Args:
        sources: One for each attribute.
        aggregate: From arrays of values, one for each source, to an array of aggregated values;
            where no value of an item is less than those of another, nor is its aggregated one.
        k: How many items, at least 1; all, if there are fewer.
        lengths: How much of each source to have read in sorted order after each round, from 1 on
            and without end; None for one item more of each source in each round, as published.

    Raises:
        InputError: There is no source, `k` is not a whole number of at least 1, or the lengths end
            before the answer is known.

    >>> class Listed:
    ...     def __init__(self, *values):
    ...         self.values = np.array(values)
    ...         self.order = np.argsort(-self.values)
    ...     def sorted_access(self, start, n):
    ...         ids = self.order[start : start + n]
    ...         return ids, self.values[ids]
    ...     def random_access(self, ids):
    ...         return self.values[ids]
    >>> sources = [Listed(9, 7, 1, 0), Listed(1, 5, 8, 2)]
    >>> threshold_algorithm(sources, lambda values: np.sum(values, axis=0), k=2)
    Best(ids=array([1, 0]), values=array([12, 10]))
    """
    if not sources:
        raise InputError("there must be at least one", given={"sources": Words("[]")})
    if not (is_whole(k) and k >= 1):
        raise InputError("must be a whole number, 1 or more", given={"k": k})

    def ahead(values: Sequence[Values], last: Sequence[Values]) -> NDArray[np.bool_]:
        reached: NDArray[np.bool_] = aggregate(values) >= aggregate(last)
        return reached

    seen = read(sources, k, ahead, one_by_one(len(sources)) if lengths is None else lengths)
    totals = aggregate(seen.values)
    best = np.argsort(totals, kind="stable")[::-1][:k]
    return Best(seen.ids[best], totals[best])


def read(
    sources: Sequence[ScoreList],
    k: int,
    ahead: Callable[[Sequence[Values], Sequence[Values]], NDArray[np.bool_]],
    lengths: Lengths,
) -> Seen:
    """Read until k items are at least as good as whatever was not read.

    Each round reads on in each source's order, then looks up what is still unknown of the new
    items, by one random access of many ids for each source.

    Args:
        sources: One for each attribute, at least one.
        k: How many items are wanted.
        ahead: Given the values of the items seen, and the last value read in each source's order
            (shape (1,) each): which items are at least as good as any not seen, shape (n,).
        lengths: As for `threshold_algorithm`.

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
        first = not len(ids)  # the kind of numbers is known from the first values on
        ids = np.concatenate([ids, new])
        values = columns if first else list(map(np.concatenate, zip(values, columns, strict=True)))
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
        told = np.searchsorted(new, ids[f])
        column[told], unknown[told] = page[f], False
        if unknown.any():
            found = source.random_access(new[unknown])
            column = column.astype(np.result_type(column, found), copy=False)
            column[unknown] = found
        columns.append(column)
    return new, columns


def one_by_one(n_sources: int) -> Iterator[list[int]]:
    """One item more of each source in each round."""
    return ([length] * n_sources for length in itertools.count(1))


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
