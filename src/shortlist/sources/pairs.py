"""(user, item) rows: who holds what."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from shortlist.bits import Bits
from shortlist.contributions import Buckets, Contributions
from shortlist.errors import InputError
from shortlist.exact import Draws
from shortlist.histogram import Counts
from shortlist.mechanisms.base import Mechanism, require_count
from shortlist.release import Guarantee, Release
from shortlist.sources.answer import release
from shortlist.sources.question import bits_of, build_mechanism
from shortlist.table import Table, open_table
from shortlist.table.keys import Coding
from shortlist.table.public_items import open_public_items

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Pairs", "pairs"]


def pairs(
    data: object,
    *,
    user: str,
    item: str | Sequence[str],
    max_items_per_user: int = 100,
    public_items: object = None,
) -> Pairs:
    """A sensitive table with one row per (user, item); its methods are the questions.

    The privacy unit is a user: everything that one value of the user column holds is protected
    together. Rows with a null user or item are ignored, repeated rows count once. Only the named
    columns are read, once, at the first question.

    Args:
        data: A path or glob of Parquet, CSV or NDJSON files, or a Polars, pandas or PyArrow table,
            or a lazy frame.
        user: The column of users. In CSV and NDJSON, users and items are text.
        item: The column of items, or several: then an item is a tuple. Strings, integers or dates.
        max_items_per_user: The most items of one user that count for discovery; of a user with
            more, a uniformly random subset counts. More noise for a larger bound, more of the
            largest users' items lost for a smaller one. Known elsewhere as l0 sensitivity or
            max_partitions_contributed. Choose it without looking at the data.
        public_items: None if the items are private; or what everybody knows: a list, or a table
            or file with the item column(s) alone, no item twice.

    Raises:
        InputError: The data cannot be opened, a column is missing or of no usable type, or the
            public items are no such list. Nothing private is in the message.

    >>> rows = {"user": [1, 1, 2], "title": ["Emma", "Ulysses", "Emma"]}
    >>> import polars as pl
    >>> plays = pairs(pl.DataFrame(rows), user="user", item="title", public_items=["Emma", "Dune"])
    >>> len(plays.top_k(1, epsilon=1.0))
    1
    """
    require_count("max_items_per_user", max_items_per_user)
    table = open_table(data, user=user, items=item)
    public = None
    if public_items is not None:
        types = {name: dtype for name, dtype in table.columns.items() if name != user}
        public = open_public_items(public_items, types)
    return Pairs(table, user, int(max_items_per_user), public)


class Pairs:
    """(user, item) rows and the questions that can be asked of them. Built by `pairs`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self, table: Table, user: str, max_items_per_user: int, public: pl.DataFrame | None
    ) -> None:
        self._table = table
        self._user = user
        self._max_items_per_user = max_items_per_user
        self._public = public
        self._reading = Lock()

    def __repr__(self) -> str:
        items = ", ".join(f'"{name}"' for name in self._table.columns if name != self._user)
        bound = self._max_items_per_user
        return f'<Pairs: user="{self._user}", item={items}, max_items_per_user={bound}>'

    def top_k(
        self,
        k: int,
        *,
        epsilon: float,
        delta: float = 0.0,
        mechanism: object = None,
        random: Bits | None = None,
    ) -> Release:
        """The k items held by most users, best first, with differential privacy.

        With private items fewer than k may come out; by default `DiscoverThenRank` answers, with
        a noisy weight for each item. With public items `Peeling` answers, without scores.

        Args:
            k: How many items; at most the number of public items, if these are given.
            epsilon: The privacy budget, above 0.
            delta: In (0, 1) with private items; may be 0 with public ones.
            mechanism: A class of `shortlist.mechanisms`, or a `functools.partial` of one with
                its own options.
            random: Where random bits come from: the operating system, unless this is a
                `shortlist.bits.SeededBits`, with which nothing is private.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        require_count("k", k)  # None would ask for the domain
        chosen = self._mechanism(mechanism, k=k, epsilon=epsilon, delta=delta)
        return self._answer("top-k", chosen, bits_of(random))

    def domain(
        self,
        *,
        epsilon: float,
        delta: float,
        mechanism: object = None,
        random: Bits | None = None,
    ) -> Release:
        """All items held by enough users to be named, with differential privacy.

        Also called set union, partition selection or key set. By default `WeightedGaussian`
        answers, with a noisy weight for each item.

        Args: as `top_k`; `delta` is in (0, 1).

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed.

        Raises:
            InputError: An argument cannot be used, or the items are public and so is the domain;
                found before data is read.
        """
        chosen = self._mechanism(mechanism, epsilon=epsilon, delta=delta)
        return self._answer("domain", chosen, bits_of(random))

    def _mechanism(
        self, mechanism: object, *, epsilon: float, delta: float, k: int | None = None
    ) -> Mechanism:
        public = self._public
        chosen = build_mechanism(
            mechanism,
            items_are_public=public is not None,
            max_items_per_user=self._max_items_per_user,
            epsilon=epsilon,
            delta=delta,
            k=k,
        )
        if public is not None and k is not None and k > len(public):
            raise InputError(
                f"k={k}: there are only {len(public)} public items; ask for at most so many."
            )
        return chosen

    def _answer(self, question: str, mechanism: Mechanism, bits: Bits) -> Release:
        """The release. Where memory ends, the library's message would tell the size of the data."""
        with contextlib.suppress(MemoryError):
            return self._release(question, mechanism, bits)
        raise MemoryError("there is not enough memory for this table.")

    def _release(self, question: str, mechanism: Mechanism, bits: Bits) -> Release:
        draws = Draws(bits)
        held, items = self._read()
        if self._public is not None:
            # Code -1, of public items that nobody holds, is the count appended at the end.
            counts = np.append(held.counts, 0)[items.find(self._public)]
            selection = mechanism.select(Counts(counts), draws)
            selected = self._public[selection.positions]
        else:
            bounded = held.bounded(self._max_items_per_user, draws)
            selection = mechanism.select(bounded.weigh(), draws)
            selected = items.take(selection.positions)
        guarantee = self._guarantee(mechanism, private=bits.private)
        return release(question, mechanism, selection, selected, guarantee)

    def _read(self) -> tuple[Contributions, Coding]:
        """Who holds what, read at the first question; a second one meanwhile waits."""
        with self._reading:
            return self._held

    @cached_property
    def _held(self) -> tuple[Contributions, Coding]:
        users, items = self._table.pairs()
        buckets = Buckets.of_rows(users.codes, items.codes, users.size)
        n_items, coding = items.size, items.coding
        del users, items  # frees the codes, 8 bytes a row, before memory for the groups is taken
        return Contributions.of_buckets(buckets, n_items), coding

    def _guarantee(self, mechanism: Mechanism, *, private: bool) -> Guarantee:
        assumes = ["the names and types of the columns are public"]
        if self._public is not None:
            assumes.append("the list of public items does not depend on this table")
        return Guarantee(
            epsilon=mechanism.epsilon,
            delta=mechanism.delta,
            cost=mechanism.cost,
            adjacency="add or remove one user",
            protects=f'everything that one value of "{self._user}" holds',
            assumes=tuple(assumes),
            private=private,
        )
