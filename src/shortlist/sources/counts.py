"""A histogram: how many users hold each item, and no word of who."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, Unpack

from shortlist.engines.histogram_in_memory import HistogramInGroups, HistogramInMemory
from shortlist.errors import InputError, in_quotes, shown
from shortlist.mechanisms.mechanism import counted
from shortlist.parameters import require_count
from shortlist.plan import Chargeable
from shortlist.questions import TopK
from shortlist.release import About, Release
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources.source import GROUPS_ARE_PUBLIC, LIST_IS_PUBLIC, DataFacts, Source, opened
from shortlist.table import SensitiveTable, Writing, open_table
from shortlist.table.public_items import (
    IN_TABLE,
    KNOWN_IN_TABLE,
    InTable,
    open_public_groups,
    open_public_items,
)

if TYPE_CHECKING:
    import polars as pl


def counts(  # noqa: PLR0913 - a histogram, and how it is grouped
    data: object,
    *,
    item: str | Sequence[str],
    count: str,
    where: str | Sequence[str] | None = None,
    max_items_per_user: int | None = None,
    public_items: object = None,
    by: str | Sequence[str] | None = None,
    max_groups_per_user: int | None = None,
    public_groups: object = None,
    separator: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    budget: Chargeable | None = None,
    users: int | None = None,
    dataset: str | None = None,
    as_of: str | date | None = None,
) -> Counts:
    """A sensitive histogram with one row per item: how many users hold it.

    With `by`, there is one row per group and item, and every answer is one of each group.

    The privacy unit is a user, who must be in each count at most once: how many users played a
    title, not how often it was played. Rows with a null item are ignored. Only the named columns
    are read, once, at the first question.

    Args:
        data: As in `pairs`; of a table in an engine too, items and counts are fetched.
        item: The column of items, or several: then an item is a tuple. Of the types in `pairs`; no
            item has two rows.
        count: The column of counts: whole numbers from 0 to 2^62.
        where: Which rows count, as in `pairs`: a condition over the columns of `item` and `by`
            alone. Which items are kept then depends on their names, and not on who holds them.
        max_items_per_user: Your promise that no user is in more counts than this, if there is
            such a bound; None if not. Nothing here can check it, and the guarantee rests on it.
        public_items: None if the items are private: which of them are in the histogram says
            something about users. `shortlist.IN_TABLE` if everybody knows the item column
            as it is; items that nobody holds belong in it, with a count of 0. Or a list,
            table or file of what everybody knows: its items that the histogram lacks
            count 0, and others are dropped. With `by`, a list goes with `public_groups`.
        by: The column of groups, or several: then a group is a tuple.
        max_groups_per_user: With `by`, your promise that no user is in counts of more groups than
            this. It is required, unless `max_items_per_user` promises as much: with two groups of
            a user, each answer is worth about half of the budget.
        public_groups: With a list of public items: the groups that everybody knows, likewise.
            Each of them has all public items.
        separator: As in `pairs`.
        encoding: As in `pairs`.
        table: As in `pairs`.
        budget: As in `pairs`.
        users: As in `pairs`.
        dataset: As in `pairs`.
        as_of: As in `pairs`.

    Raises:
        InputError: The data cannot be opened, a column is missing or of no usable type, or the
            public items are no such list or the table itself, or `where` looks at other columns.
            Nothing private is in the message.

    >>> import polars as pl
    >>> books = pl.DataFrame({"title": ["Emma", "Dune", "Ulysses"], "readers": [900, 40, 0]})
    >>> from shortlist import IN_TABLE
    >>> readers = counts(books, item="title", count="readers", public_items=IN_TABLE)
    >>> readers.top_k(1, epsilon=1.0).items
    ['Emma']
    """
    about = About.of_data(dataset, as_of)
    if max_items_per_user is not None:
        require_count("max_items_per_user", max_items_per_user)
        max_items_per_user = int(max_items_per_user)
    data = opened(data, table)
    if isinstance(data, InputError):
        raise data from None
    writing = Writing(separator, encoding)
    checked = open_table(data, count=count, items=item, writing=writing, where=where)
    about = replace(about, where=None if checked.where is None else str(checked.where))
    facts = DataFacts(budget, users, about)
    grouped = None if by is None else checked.by(by)
    _require_of_items(grouped or checked)
    if grouped is not None:
        return _in_groups(
            checked,
            grouped,
            max_items_per_user,
            _promised_groups(max_groups_per_user, max_items_per_user),
            public=(public_items, public_groups),
            facts=facts,
        )
    _require_no_groups(max_groups_per_user, public_groups)
    public: pl.DataFrame | InTable | None = None
    if public_items is IN_TABLE:
        public = IN_TABLE
    elif public_items is not None:
        public = open_public_items(
            public_items, checked.items, table=checked.parts, otherwise=KNOWN_IN_TABLE
        )
    engine = HistogramInMemory(checked, public, max_items_per_user)
    bounds = {"max_items_per_user": max_items_per_user}
    return Counts(engine, checked, public, bounds, facts)


def _require_of_items(table: SensitiveTable) -> None:
    """Refuse a filter by what users may have made.

    Raises:
        InputError: It looks at another column than those that say which item, and group, it is.
    """
    asked = [] if table.where is None else table.where.columns
    count, *items = table.columns
    for name in asked:
        if name not in items:
            why = "holds what is protected" if name == count else "may say something of users"
            raise InputError(
                '"{name}" {why}: which items are kept would reveal it',
                "filter by columns of {item} and {by} alone. For items of many users, give "
                "{min_users} to the question",
                given={"where": in_quotes(str(table.where))},
                name=shown(name),
                why=why,
            )


def _in_groups(
    whole: SensitiveTable,
    table: SensitiveTable,
    max_items_per_user: int | None,
    max_groups_per_user: int,
    *,
    public: tuple[object, object],
    facts: DataFacts,
) -> Counts:
    """A histogram in groups, told by those first columns that `whole` does not have."""
    n_by = len(table.items) - len(whole.items)
    known = _known_groups(table, n_by, *public)
    pairs = known.pairs if known else IN_TABLE if public[0] is IN_TABLE else None
    n_items = known.n_items if known else None
    engine = HistogramInGroups(table, n_by, pairs, max_items_per_user, max_groups_per_user, n_items)
    bounds = {"max_items_per_user": max_items_per_user, "max_groups_per_user": max_groups_per_user}
    return Counts(engine, table, pairs, bounds, facts)


class _Known(NamedTuple):
    """What everybody knows.

    Attributes:
        pairs: Every item of every group.
        n_items: How many items each group has.
    """

    pairs: pl.DataFrame
    n_items: int


def _promised_groups(max_groups_per_user: int | None, max_items_per_user: int | None) -> int:
    """In how many groups one user is at most: as was promised, of groups or of counts.

    Raises:
        InputError: Nothing was promised, or it is out of range.
    """
    if max_groups_per_user is None:
        if max_items_per_user is not None:
            return max_items_per_user  # in no more groups than counts
        raise InputError(
            "with {by} the price depends on how many groups one user is in, which counts do not "
            "tell",
            "give {max_groups_per_user}, if there is such a bound: nothing here can check it",
        )
    groups = require_count("max_groups_per_user", max_groups_per_user)
    return int(groups) if max_items_per_user is None else min(int(groups), max_items_per_user)


def _require_no_groups(max_groups_per_user: object, public_groups: object) -> None:
    given = {"max_groups_per_user": max_groups_per_user, "public_groups": public_groups}
    if any(value is not None for value in given.values()):
        raise InputError(
            "{max_groups_per_user} and {public_groups} go with {by}",
            "name the columns of groups, or omit them",
        )


def _known_groups(
    table: SensitiveTable, n_by: int, public_items: object, public_groups: object
) -> _Known | None:
    """Every public item of every public group; None where there is no list of them.

    Raises:
        InputError: There is one list without the other, or one is no such list.
    """
    lists = public_items is not None and public_items is not IN_TABLE
    if lists and public_groups is None:
        raise InputError(
            "a group that only the table knows could not be told from its public items",
            "give {public_groups}, too; or, if everybody knows which rows there are, {sl.IN_TABLE}",
            given={"public_items": ...},
        )
    if public_groups is not None and not lists:
        raise InputError(
            "it goes with a list of {public_items}", "omit it", given={"public_groups": ...}
        )
    if not lists:
        return None
    columns = list(table.items.items())
    items = open_public_items(
        public_items, dict(columns[n_by:]), table=table.parts, otherwise=KNOWN_IN_TABLE
    )
    groups = open_public_groups(
        public_groups, dict(columns[:n_by]), table=table.parts, otherwise=KNOWN_IN_TABLE
    )
    return _Known(groups.join(items, how="cross"), items.height)


class Counts(Source):
    """A histogram and the questions that can be asked of it. Built by `counts`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        engine: HistogramInMemory,
        table: SensitiveTable,
        public: pl.DataFrame | InTable | None,
        bounds: Mapping[str, int | None],
        facts: DataFacts,
    ) -> None:
        count, *items = table.columns
        super().__init__(
            engine,
            protects=f'one user, who is in each count of "{count}" at most once',
            assumes=(
                "each user is in each count at most once",
                *_known(table, public, grouped=bool(engine.by)),
                *_bounded(bounds),
            ),
            bounds=bounds,
            facts=facts,
        )
        n_by, bounded = len(engine.by), ", ".join(f"{name}={most}" for name, most in bounds.items())
        by, item = (", ".join(f'"{name}"' for name in x) for x in (items[:n_by], items[n_by:]))
        self._described = f'{f"by={by}, " if by else ""}item={item}, count="{count}", {bounded}'

    @even_unmade
    def __repr__(self) -> str:
        return f"<Counts: {self._described}>"

    @takes(Terms)
    def top_k(
        self,
        k: int,
        *,
        count_share: float | None = None,
        noisy_counts: bool = False,
        min_users: int | None = None,
        ordered: bool = True,
        **terms: Unpack[Terms],
    ) -> Release:
        """The k items held by most users, best first, with differential privacy.

        With private items `LimitedDomain` answers by default, and fewer than k may come out. With
        public items `JointOrPeel` does. With `noisy_counts=True` each item comes with a noisy
        number of its users, and an interval. Of a histogram in groups these are the k items of each
        group, each answered by itself.

        Args:
            k: How many items; at most the number of public items, if these are given.
            count_share: As in `shortlist.TopK`.
            noisy_counts: As in `shortlist.TopK`.
            min_users: As in `shortlist.TopK`, of each group by itself.
            ordered: As in `shortlist.TopK`. With `ordered=False`, which takes public items,
                `SetOrPeel` answers by default.
            **terms: `epsilon` and all else of `Source.ask`.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed, unless
            the mechanism was asked for another adjacency; `release.guarantee` says which.

        Raises:
            InputError: An argument cannot be used; found before data is read, unless `k` is more
                than the items that are `IN_TABLE`.
        """
        question = TopK(k, count_share, noisy_counts, min_users, ordered=ordered)
        return self.ask(question, **terms)


def _known(
    table: SensitiveTable, public: pl.DataFrame | InTable | None, *, grouped: bool
) -> list[str]:
    if public is None:
        return []
    if public is not IN_TABLE:
        return [LIST_IS_PUBLIC, GROUPS_ARE_PUBLIC] if grouped else [LIST_IS_PUBLIC]
    names = [f'"{name}"' for name in table.items]
    if len(names) == 1:
        return [f"the item column {names[0]} is public"]
    return [f"the item columns {', '.join(names)} are public"]


def _bounded(bounds: Mapping[str, int | None]) -> Iterator[str]:
    for name, of in (("max_items_per_user", "count"), ("max_groups_per_user", "group")):
        if (bound := bounds.get(name)) is not None:
            yield f"each user is in at most {counted(bound, of)}"
