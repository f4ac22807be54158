"""A histogram: how many users hold each item, and no word of who."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shortlist.bits import Bits
from shortlist.engines.histogram_in_memory import HistogramInMemory
from shortlist.errors import InputError
from shortlist.parameters import require_count
from shortlist.plan import Budget
from shortlist.questions import TopK
from shortlist.release import Release
from shortlist.sources._opening import in_database
from shortlist.sources.base import LIST_IS_PUBLIC, Source
from shortlist.table import Table, open_table
from shortlist.table.public_items import IN_TABLE, KNOWN_IN_TABLE, InTable, open_public_items

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Counts", "counts"]


def counts(
    data: object,
    *,
    item: str | Sequence[str],
    count: str,
    max_items_per_user: int | None = None,
    public_items: object = None,
    separator: str | None = None,
    table: str | None = None,
    budget: Budget | None = None,
) -> Counts:
    """A sensitive histogram with one row per item: how many users hold it.

    The privacy unit is a user, who must be in each count at most once: how many users played a
    title, not how often it was played. Rows with a null item are ignored. Only the named columns
    are read, once, at the first question.

    Args:
        data: As in `pairs`; of a table in an engine too, items and counts are fetched.
        item: The column of items, or several: then an item is a tuple. Strings, integers or dates;
            in CSV and NDJSON, text. No item has two rows.
        count: The column of counts: whole numbers from 0 to 2^62.
        max_items_per_user: Your promise that no user is in more counts than this, if there is
            such a bound; None if not. Nothing here can check it, and the guarantee rests on it.
        public_items: None if the items are private: which of them are in the histogram says
            something about users. `shortlist.IN_TABLE` if everybody knows the item column
            as it is; items that nobody holds belong in it, with a count of 0. Or a list,
            table or file of what everybody knows: its items that the histogram lacks
            count 0, and others are dropped.
        separator: What stands between the fields of .csv and .txt files. By default a comma; in
            .txt a tab, if the first line holds one. In .tsv it is a tab.
        table: With a URL, the table or view, or schema.table.
        budget: What each question is charged to before a row is read: a `shortlist.Budget`, or
            anything with a method `charge(plan)`, which refuses by raising an error. None to
            charge nothing.

    Raises:
        InputError: The data cannot be opened, a column is missing or of no usable type, or the
            public items are no such list or the table itself. Nothing private is in the message.

    >>> import polars as pl
    >>> books = pl.DataFrame({"title": ["Emma", "Dune", "Ulysses"], "readers": [900, 40, 0]})
    >>> from shortlist import IN_TABLE
    >>> readers = counts(books, item="title", count="readers", public_items=IN_TABLE)
    >>> readers.top_k(1, epsilon=1.0).items
    ['Emma']
    """
    if max_items_per_user is not None:
        require_count("max_items_per_user", max_items_per_user)
        max_items_per_user = int(max_items_per_user)
    try:
        data = in_database(data, table)
    except InputError as error:
        refused = error.with_traceback(None)
        del data  # a URL, which whoever prints the variables of an error's trace would show
        raise refused from None
    checked = open_table(data, count=count, items=item, separator=separator)
    public: pl.DataFrame | InTable | None = None
    if public_items is IN_TABLE:
        public = IN_TABLE
    elif public_items is not None:
        public = open_public_items(
            public_items,
            checked.items,
            table=checked.parts,
            otherwise=KNOWN_IN_TABLE,
            separator=separator,
        )
    return Counts(checked, count, max_items_per_user, public, budget)


class Counts(Source):
    """A histogram and the questions that can be asked of it. Built by `counts`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        table: Table,
        count: str,
        max_items_per_user: int | None,
        public: pl.DataFrame | InTable | None,
        budget: Budget | None,
    ) -> None:
        super().__init__(
            HistogramInMemory(table, public, max_items_per_user),
            protects=f'one user, who is in each count of "{count}" at most once',
            assumes=(
                "each user is in each count at most once",
                *_known(table, public),
                *_bounded(max_items_per_user),
            ),
            bounds={"max_items_per_user": max_items_per_user},
            budget=budget,
        )
        items = ", ".join(f'"{name}"' for name in table.items)
        self._told = f'item={items}, count="{count}", max_items_per_user={max_items_per_user}'

    def __repr__(self) -> str:
        return f"<Counts: {self._told}>"

    def top_k(
        self,
        k: int,
        *,
        epsilon: float,
        delta: float = 0.0,
        mechanism: object = None,
        count_share: float | None = None,
        random: Bits | None = None,
        reuse: bool = False,
    ) -> Release:
        """The k items held by most users, best first, with differential privacy.

        With private items `LimitedDomain` answers by default, and fewer than k may come out. With
        public items `JointOrPeel` does. There are no scores without a `count_share`.

        Args:
            k: How many items; at most the number of public items, if these are given.
            epsilon: As in `plan`.
            delta: As in `plan`: above 0 with private items.
            mechanism: As in `plan`.
            count_share: As in `shortlist.TopK`.
            random: As in `Plan.run`.
            reuse: As in `Plan.run`.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed, unless
            the mechanism was asked for another adjacency; `release.guarantee` says which.

        Raises:
            InputError: An argument cannot be used; found before data is read, unless `k` is more
                than the items that are `IN_TABLE`.
        """
        question = TopK(k, count_share)
        plan = self.plan(question, epsilon=epsilon, delta=delta, mechanism=mechanism)
        return plan.run(random, reuse=reuse)


def _known(table: Table, public: pl.DataFrame | InTable | None) -> list[str]:
    if public is None:
        return []
    if public is not IN_TABLE:
        return [LIST_IS_PUBLIC]
    names = [f'"{name}"' for name in table.items]
    if len(names) == 1:
        return [f"the item column {names[0]} is public"]
    return [f"the item columns {', '.join(names)} are public"]


def _bounded(bound: int | None) -> list[str]:
    if bound is None:
        return []
    return [f"each user is in at most {bound} count{'s' * (bound != 1)}"]
