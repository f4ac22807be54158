"""A histogram with an index, in a database or in memory, of which few counts are read."""

from __future__ import annotations

from datetime import date
from typing import Unpack

from shortlist import stores
from shortlist.engines.indexed_store import IndexedStore
from shortlist.errors import InputError
from shortlist.plan import Chargeable
from shortlist.questions import TopK
from shortlist.release import About, Release
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources.source import DataFacts, Source


def store(
    url_or_store: str | stores.ScoreStore,
    *,
    table: str | None = None,
    item: str | None = None,
    count: str | None = None,
    budget: Chargeable | None = None,
    users: int | None = None,
    dataset: str | None = None,
    as_of: str | date | None = None,
) -> Store:
    """A sensitive histogram with an index, of which a question reads few counts.

    The privacy unit is a user, who must be in each count at most once. The items are public: a
    table has a row for each item that everybody knows, with a count of 0 if nobody holds it. A
    table that gets its rows from its users has not; give that to `shortlist.counts`, as private
    items.

    There is no filter, because the index orders all items. To rank some of them, give a table that
    holds only these, with an index of its own. Only `Store.prepare` writes to a database. Each
    question reads it as of one moment.

    Args:
        url_or_store: sqlite:///items.db, postgresql://user@host:5432/database or a store of
            `shortlist.stores`. No message, text or release shows more of a postgresql:// URL.
        table: With a URL, the table, with one row per item.
        item: With a URL, the column of items.
        count: With a URL, the column of counts: whole numbers from 0 to 2^62.
        budget: As in `pairs`.
        users: As in `pairs`.
        dataset: As in `pairs`.
        as_of: As in `pairs`.

    Raises:
        InputError: There is no such database, table or column, it may not be read, or its rows
            have no integer ids. Nothing private is in the message.

    >>> held = stores.MemoryStore(["Emma", "Dune", "Ulysses"], [900, 40, 0])
    >>> readers = store(held)
    >>> readers.prepare()
    >>> readers.top_k(1, epsilon=1.0).items
    ['Emma']
    """
    facts = DataFacts(budget, users, About.of_data(dataset, as_of))
    names = {"table": table, "item": item, "count": count}
    if isinstance(url_or_store, stores.ScoreStore):
        for name, value in names.items():
            if value is not None:
                raise InputError("goes with a URL, and the store has its own", given={name: value})
        return Store(url_or_store, facts)
    if not isinstance(url_or_store, str):
        raise InputError(
            "is neither a URL, such as sqlite:///items.db, nor a store of shortlist.stores",
            given={"url_or_store": url_or_store},
        )
    try:
        return Store(stores.open_store(url_or_store, **names), facts)  # type: ignore[arg-type]  # checked there
    except InputError as error:
        refused = error.with_traceback(None)
    # The frames of the other trace hold the URL, which whoever prints their variables would show.
    del url_or_store
    raise refused


class Store(Source):
    """A store and the questions that can be asked of it. Built by `store`.

    Questions may be asked from several threads; each reads for itself.
    """

    def __init__(self, held: stores.ScoreStore, facts: DataFacts) -> None:
        named = "" if held.count is None else f' of "{held.count}"'
        super().__init__(
            IndexedStore(held),
            protects=f"one user, who is in each count{named} at most once",
            assumes=(
                "each user is in each count at most once",
                "the items of the store are public",
            ),
            facts=facts,
        )
        self._held = held

    @even_unmade
    def __repr__(self) -> str:
        return f"<Store of {self._held!r}>"

    @property
    def accesses(self) -> stores.Accesses:
        """What the last question has read. It depends on private data: do not publish it."""
        return self._held.accesses

    def prepare(self) -> None:
        """Create the index that a question needs, where it is missing. Nothing else ever writes.

        Raises:
            InputError: It may not be created.
        """
        self._held.prepare()

    @takes(Terms)
    def top_k(self, k: int, **terms: Unpack[Terms]) -> Release:
        """The k items held by most users, best first, with differential privacy; no scores.

        `ThresholdTopK` answers. Of m items it reads about as many as the square root of mk, and
        what time that takes depends on private data; do not let people measure it.

        Args:
            k: How many items; at most as many as the store has.
            **terms: `epsilon` and all else of `Source.ask`. If `delta` is above 0 and k is not
                small, there is less noise; otherwise none is spent, and `release.guarantee` has 0.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed.

        Raises:
            InputError: An argument cannot be used, found before anything is read; there are not k
                items, an index is missing, a row that is read holds no count, or the database
                fails. Then nothing is released; but a failure after reading may depend on the
                counts, so count the budget as spent, and do not ask again until it works.
        """
        return self.ask(TopK(k), **terms)
