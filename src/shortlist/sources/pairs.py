"""(user, item) rows: who holds what."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard, Unpack

from shortlist.engines import Engine
from shortlist.engines.amounts_in_memory import AmountsInMemory
from shortlist.engines.known_in_groups import KnownInGroups
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.engines.tables.which_engine import is_in_engine, require_ibis
from shortlist.errors import InputError, Words, in_quotes
from shortlist.parameters import GroupItems, ShareOfUsers, require_count, require_option
from shortlist.plan import Chargeable
from shortlist.planning import Bounds, Usual
from shortlist.questions import Domain, HittingSet, Question, TopK, UserCounts
from shortlist.release import About, Release
from shortlist.release.loading import load
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources._held_together import HeldTogether
from shortlist.sources._of_amounts import of_known, require_groups, require_ranking
from shortlist.sources.pairs_in_groups import Groups
from shortlist.sources.source import (
    DataFacts,
    Source,
    known_before,
    opened,
    require_engine_for_pull,
    require_no_items_in_table,
)
from shortlist.table import SensitiveTable, Writing, open_table
from shortlist.table.amounts import amounts_of
from shortlist.table.public_items import open_public_items

if TYPE_CHECKING:
    import polars as pl

    from shortlist.engines.rows_in_table import RowsInTable, SumsInTable

    _Rows = RowsInMemory | RowsInTable | AmountsInMemory | SumsInTable

MAX_ITEMS_PER_USER = 100
"""The most items of one user that count for discovery, if nobody says and none is chosen."""


_ANOTHER = {
    "public_items": Words("give a list that holds what everybody knows, or omit {public_items}"),
    "known_items": Words("give a list that holds what everybody knows, or omit {known_items}"),
    "items": Words("give a list that holds what everybody knows"),
}
"""What to do where a list is read from the table itself."""
_IS_KNOWN = ("the list of items was public before",)


def pairs(  # noqa: PLR0913 - the arguments are the interface
    data: object,
    *,
    user: str,
    item: str | Sequence[str],
    where: str | Sequence[str] | None = None,
    amount: str | None = None,
    cap: float | Sequence[float] | None = None,
    max_items_per_user: int | None = None,
    public_items: object = None,
    known_items: object = None,
    separator: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    pull: bool | None = None,
    budget: Chargeable | None = None,
    users: int | None = None,
    dataset: str | None = None,
    as_of: str | date | None = None,
) -> Pairs:
    """A sensitive table with one row per (user, item); its methods are the questions.

    The privacy unit is a user: all rows of any one value of the user column are protected
    together. Rows with a null user or item are ignored; repeated rows count once. Only the named
    columns are read, once, at the first question.

    A table in an engine of its own stays there: the engine adds up, for each question anew, and
    nothing leaves its process but sums over all users and the items that are named.

    Args:
        data: A path, glob or directory of Parquet, CSV or NDJSON files, or a list of paths; a
            Polars, pandas or PyArrow table, reader or dataset, a dict of columns (lists are read as
            text, arrays keep their types), or a lazy frame.
            CSV files end in .csv, .tsv or .txt, NDJSON files in .ndjson or .jsonl; they may be
            compressed, as .csv.gz or .csv.zst. In a directory that is divided by values, as
            plays/country=FR/1.parquet, country is a column of text. A reader is read once, and what
            was read is kept for further questions.
            Or a table that stays where it is: of Ibis, a relation of DuckDB, a data frame of
            PySpark, or the URL of a database, such as duckdb:///plays.db or
            postgresql://user@host/database, and whatever else Ibis connects to. No message, text
            or release shows more of a URL than its kind.
        user: The column of users. Users and items are strings, integers or dates. UUIDs, booleans
            (true, false) and binary values (hexadecimal digits) are read as text. Decimals without
            digits behind the point and whole floats up to 2^53 are read as integers. In CSV and
            NDJSON all are text, and so are Python objects, dates as 2024-02-29.
        item: The column of items, or several: then an item is a tuple.
        where: Which rows count: a condition in SQL over the columns of one row, such as
            "country = 'NO' and day >= date '2026-11-01'". Rows for which it is true are kept,
            before users are bounded; a comparison with a missing value is not true, and NaN counts
            as missing. It is public, and stands in every release: choose it without looking at the
            data. It is made of columns and literals, =, <>, <, <=, >, >=, and, or, not, in (…),
            between, like, is null, + - * /, a few functions, and try_cast(column as bigint), as
            double or as date; a column with an odd name stands in double quotes. Or several
            conditions, which all must be true. `shortlist.days` writes one for a span of days.
            None, the default, for all rows.
        amount: A column of numbers, such as minutes or prices, to rank items by what users spent on
            them: by the sum over all users, of whom each counts from 0 up to `cap` for an item. Of
            rows of the same user and item the amounts are added up first, and sums below 0 count
            as 0. Rows without a finite amount are left out; in text, whatever is no number. For
            `top_k` alone, also by group, where a user has a sum, and a cap, in each. DuckDB,
            PostgreSQL and Spark add up where the rows lie, to the same sums as memory. None, the
            default, to count users.
        cap: With `amount`: the most that one user counts for one item, in the same unit. Noise
            grows with it, and the sums of those who spent more are cut off at it. An amount enters
            rounded down to a whole number of steps, of which the cap has 2^20. Choose it without
            looking at the data. Or several, such as (60, 120, 300, 600), if you do not know which
            is best: one is chosen privately, for a part of epsilon, and `release.cap` says which.
            Not with groups.
        max_items_per_user: The most items of one user that count for discovery; of a user with
            more, a uniformly random subset counts. More noise for a larger bound, more of the
            largest users' items lost for a smaller one. Known elsewhere as l0 sensitivity or
            max_partitions_contributed. Choose it without looking at the data. None, the default:
            for `domain` it is chosen privately, from 3 to 1,000, as by `ChosenBound`; for all else,
            and for other mechanisms of a domain, it is 100.
        public_items: None if the items are private; or what everybody knows: a list, or a table
            or file with the item column(s) alone, no item twice. Then all items of a user count.
            A CSV file begins with the name of the column. The list is never the sensitive table.
        known_items: Of private items, those that everybody knows: an earlier release, or the .json
            file that it was saved to; or any list, as `public_items`. They need not be discovered,
            so that they are named with fewer users; others may be discovered beside them. The list
            may follow from this table by what was released of it, and in no other way.
        separator: What stands between the fields of .csv and .txt files; in .tsv it is a tab. By
            default the first line tells: a comma, or a semicolon, a tab or a bar, if it holds more
            of these outside quotes. A warning says which, if it is no comma.
        encoding: Of text files that are not in UTF-8, such as "latin1", "cp1252" or "utf-16": any
            that Python knows. They are converted in memory.
        table: With a URL, the table or view, or schema.table.
        pull: Where the rows of a table in an engine are added up. None, the default: in the
            engine; but an engine that works in this process, as DuckDB does, hands them over where
            memory holds them, for each question anew, which is faster. True: in memory; they are
            fetched at the first question and kept, which is faster for more than one, slower
            behind a network, and fails where they do not fit. False: in the engine. The law of the
            answers is the same. How many rows there are is private, and no answer, message or
            phase tells where DuckDB's were added up.
        budget: What each question is charged to before a row is read: a `shortlist.Budget`, or
            anything with a method `charge(plan)`, which refuses by raising an error. None to
            charge nothing.
        users: About how many users there are, if everybody may know that: then a delta above one
            over this number is warned of, and counts of a list can be told as shares of it. Do not
            count them in the table for it.
        dataset: What the data set is called: a public text of one line, which every release shows.
            By default what its budget calls it; another name is refused.
        as_of: As of when its rows are: a date, or a public text of one line, likewise.

    Raises:
        InputError: The data cannot be opened, a column is missing or of no usable type, or the
            public items are no such list or the table itself; or `where` is no such condition, or
            compares a column with what it does not hold. Nothing private is in the message.

    >>> rows = {"user": [1, 1, 2], "title": ["Emma", "Ulysses", "Emma"]}
    >>> import polars as pl
    >>> plays = pairs(pl.DataFrame(rows), user="user", item="title", public_items=["Emma", "Dune"])
    >>> len(plays.top_k(1, epsilon=1.0))
    1
    """
    about = About.of_data(dataset, as_of)
    if max_items_per_user is not None:
        require_count("max_items_per_user", max_items_per_user)
        max_items_per_user = int(max_items_per_user)
    require_no_items_in_table(public_items, Words("give a list of items, or omit {public_items}"))
    amounts = amounts_of(amount, cap)
    data = opened(data, table)
    if isinstance(data, InputError):
        raise data from None
    writing = Writing(separator, encoding)
    checked = open_table(data, user=user, items=item, writing=writing, where=where, amounts=amounts)
    in_engine = _stays(checked, pull=pull)
    about = replace(about, where=None if checked.where is None else str(checked.where))
    known = None if known_items is None else _opened("known_items", known_items, checked)
    if known is not None and public_items is not None:
        raise InputError(
            "with {public_items} everybody knows all items that can be named",
            "omit one of the two",
            given={"known_items": ...},
        )
    public = None
    if public_items is not None:
        public = open_public_items(
            public_items, checked.items, table=checked.parts, otherwise=_ANOTHER["public_items"]
        )
    if amounts is not None:
        if known is not None:
            raise of_known()
        about = replace(about, amount=str(amounts))
    engine = _engine_of(checked, public, known, in_engine=in_engine, may_fetch=pull is None)
    facts = DataFacts(budget, users, about)
    return Pairs(engine, list(checked.items), user, max_items_per_user, facts)


def _counts_users(rows: _Rows) -> TypeGuard[RowsInMemory | RowsInTable]:
    """Whether users are counted, and no amounts summed up."""
    return rows.amounts is None


def _stays(table: SensitiveTable, *, pull: object) -> bool:
    """Whether the rows of a table stay where they are, in an engine that adds them up."""
    if pull is not None and not isinstance(pull, bool):
        raise InputError("must be True, False or None", given={"pull": pull})
    lies = is_in_engine(table.parts[0].held)
    require_engine_for_pull(pull, in_engine=lies)
    if lies and not pull:
        require_ibis(table.parts[0].origin)
    return lies and not pull


def _engine_of(
    table: SensitiveTable,
    public: pl.DataFrame | None,
    known: pl.DataFrame | None,
    *,
    in_engine: bool,
    may_fetch: bool,
) -> _Rows:
    """What reads the rows, in memory or where they lie."""
    if not in_engine:
        in_memory = RowsInMemory(table, public, known)
        return in_memory if table.amounts is None else AmountsInMemory(table, public)
    from shortlist.engines.rows_in_table import RowsInTable, SumsInTable

    if table.amounts is not None:
        return SumsInTable(table, public, may_fetch=may_fetch)
    return RowsInTable(table, public, known=known, may_fetch=may_fetch)


def _opened(name: str, items: object, table: SensitiveTable) -> pl.DataFrame | None:
    """What everybody knows, one row an item; None where that is nothing, as in an empty release."""
    if isinstance(items, str | os.PathLike) and str(items).endswith(".json"):
        items = load(items) if Path(items).exists() else items
    if isinstance(items, Release):
        missing = [column for column in table.items if column not in items.item_columns]
        if missing:
            raise InputError(
                "this release names no items of the column {column}",
                "give one of the same items",
                given={name: ...},
                column=in_quotes(missing[0]),
            )
        if not len(items):
            return None
        items = items.to_polars().select(list(table.items)).unique(maintain_order=True)
    try:
        return open_public_items(
            items, dict(table.items), table=table.parts, otherwise=_ANOTHER[name]
        )
    except InputError as error:
        raise error.renamed("public_items", name) from None


class RowsOfRun(NamedTuple):
    """The rows of one run of a series, and what was said of them.

    Attributes:
        engine: What has the rows.
        about: The data set, and as of when it is.
        budget: What other questions are charged to; None for nothing.
        bounds: What bounds a user; nothing where the items are public.
    """

    engine: Engine
    about: About
    budget: Chargeable | None
    bounds: Bounds


class Pairs(Source):
    """(user, item) rows and the questions that can be asked of them. Built by `pairs`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        engine: _Rows,
        items: Sequence[str],
        user: str,
        max_items_per_user: int | None,
        facts: DataFacts,
        assumes: tuple[str, ...] | None = None,
    ) -> None:
        public = engine.items_are_public
        bound = Usual(MAX_ITEMS_PER_USER) if max_items_per_user is None else max_items_per_user
        super().__init__(
            engine,
            protects=f'all rows of any one "{user}"',
            assumes=known_before(engine) if assumes is None else assumes,
            bounds={} if public else {"max_items_per_user": bound},
            facts=facts,
        )
        self._rows = engine
        self._of = partial(Pairs, items=items, user=user, facts=facts)
        named = ", ".join(f'"{name}"' for name in items)
        self._described = f'user="{user}", item={named}, max_items_per_user={max_items_per_user}'
        if engine.amounts is not None:
            caps = engine.amounts.caps or (engine.amounts.cap,)
            cap = f"{caps[0]:g}" if len(caps) == 1 else f"({', '.join(f'{one:g}' for one in caps)})"
            self._described += f', amount="{engine.amounts.column}", cap={cap}'

    @even_unmade
    def __repr__(self) -> str:
        return f"<Pairs: {self._described}>"

    def _engine_for(self, question: Question) -> Engine:
        if self._rows.amounts is not None:
            require_ranking(question)
        return self._rows

    def with_max_items_per_user(self, max_items_per_user: int) -> Source:
        """The same rows, read once for both, with another bound on the items of a user.

        Raises:
            InputError: The items are public, so that no user is bounded; or it is out of range.
        """
        if not self.bounds:
            return super().with_max_items_per_user(max_items_per_user)
        require_count("max_items_per_user", max_items_per_user)
        return self._of(self._rows, max_items_per_user=int(max_items_per_user))

    def for_series(self) -> RowsOfRun:
        """What a series looks at: for whoever has paid for it, as a `shortlist.Series` has."""
        if self._rows.amounts is not None:
            raise InputError(
                "a series lists items by who holds them", "omit it", given={"amount": ...}
            )
        return RowsOfRun(self._rows, self._facts.about, self._facts.budget, self._bounds)

    def of_items(self, items: object) -> Pairs:
        """The same rows, of which only items count that everybody knows: those of a list.

        Args:
            items: An earlier release, or the .json file that it was saved to; or any list, as
                `public_items` of `pairs`. It may follow from this table by what was released of it,
                and in no other way.

        Raises:
            InputError: It is no such list, or a release that names nothing.
        """
        public = _opened("items", items, self._rows.table)
        if public is None:
            raise InputError("this release names no item", "give another", given={"items": ...})
        return self._of(self._rows.of_items(public), max_items_per_user=None, assumes=_IS_KNOWN)

    def grouped(
        self,
        by: str | Sequence[str],
        *,
        max_groups_per_user: int = 1,
        group_items: GroupItems = GroupItems.SHARED,
        public_groups: object = None,
    ) -> Groups:
        """The same rows, of which a further column says in which group a user holds an item.

        The rows are read anew for other columns, and once for all questions about the same ones;
        in an engine, for each question.

        Args:
            by: The column of groups, or several: then a group is a tuple.
            max_groups_per_user: The most groups of one user that count for a top-k and for counts
                of a list; of a user in more, a uniformly random subset counts. Choose it without
                looking at the data.
            group_items: `GroupItems.OWN` where everybody knows that each item belongs to one group
                alone, such as the restaurants of cities. Then a top-k of each group misses less,
                and a user counts in any number of groups, with at most `max_items_per_user` pairs
                of a group and an item. Privacy holds also where it is not true.
                `GroupItems.UNKNOWN` where nobody knows: then a fiftieth of epsilon, or less,
                chooses privately which way a top-k goes.
            public_groups: None if the groups are private: then a group appears if enough users are
                in it. Or what everybody knows, as `public_items` in `pairs`; other groups are
                dropped. If the items are public, the groups must be, too.

        Raises:
            InputError: An argument cannot be used, or the items are public and the groups are not.
        """
        rows = self._rows
        if rows.amounts is not None:
            require_groups(group_items)
        require_count("max_groups_per_user", max_groups_per_user)
        require_option(GroupItems, "group_items", group_items)
        if group_items is not GroupItems.SHARED and rows.listed is not None:
            raise InputError(
                "a public item belongs to no group alone: each counts in every group",
                "omit it",
                given={"group_items": ...},
            )
        if group_items is GroupItems.OWN and max_groups_per_user != 1:
            raise InputError(
                "where items are the groups' own, a user counts in any number of groups",
                "omit it, or omit {group_items}",
                given={"max_groups_per_user": max_groups_per_user},
            )
        if group_items is not GroupItems.SHARED and rows.known is not None:
            raise InputError(
                "where items may be the groups' own, pairs of a group and an item are found, and a "
                "list of items names none",
                "omit {known_items}, or omit {group_items}",
                given={"group_items": ...},
            )
        of_groups: Bounds = {"group_items": group_items}
        if group_items is not GroupItems.OWN:
            of_groups = {"max_groups_per_user": int(max_groups_per_user), **of_groups}
        return Groups(
            rows.grouped_by(by),
            public_groups,
            of_items=KnownInGroups(listed=rows.listed, known=rows.known),
            protects=self._protects,
            assumes=self._assumes,
            bounds={**self._bounds, **of_groups},
            facts=self._facts,
        )

    def together(self, of: int) -> HeldTogether:
        """The same rows, where an item is a pair, or a triple, of items that one user holds.

        All pairs of a user's items count, which are 2,016 of 64 items. If a user holds more than
        64, those of a uniformly random 64 count, drawn anew for each question; for triples it is 24
        items, which hold 2,024; or `max_items_per_user` items, if it was given. So each count is a
        clipped one. In memory a pair takes 10 to 140 bytes; where that may not hold them, DuckDB
        adds up pairs of its rows by itself.

        Args:
            of: 2 for pairs, 3 for triples.

        Raises:
            InputError: It is neither; or public or known items were given, or an item is made of
                several columns.
        """
        if not _counts_users(self._rows):
            raise InputError(
                "{amount} ranks items that stand alone, and not what is held together",
                "omit it, or omit {amount}",
                given={"of": of},
            )
        self._require_single_private_items()
        return HeldTogether(
            self._rows,
            of,
            self._bounds,
            protects=self._protects,
            facts=self._facts,
        )

    def _require_single_private_items(self) -> None:
        """Refuse what is public of single items, and items that are several columns already."""
        public = None if self.bounds else "public_items"
        if name := "known_items" if self._rows.known is not None else public:
            raise InputError(
                "pairs are discovered, and a list of items names no pairs",
                "omit it, or omit {of}",
                given={name: ...},
            )
        if len(self._rows.table.items) > 1:
            raise InputError(
                "pairs are of items of one column",
                "name one, or omit {of}",
                given={"item": ...},
            )

    def _asked(
        self,
        by: str | Sequence[str] | None,
        max_groups_per_user: int,
        group_items: GroupItems,
        public_groups: object,
        of: int = 1,
    ) -> Source:
        """The rows as they are, in groups, or with items together."""
        if by is not None and of != 1:
            raise InputError(
                "pairs of items cannot be asked for by group",
                "omit it, or omit {by}. For the pairs of one group, give {where}",
                given={"of": of},
            )
        if by is not None:
            return self.grouped(
                by,
                max_groups_per_user=max_groups_per_user,
                group_items=group_items,
                public_groups=public_groups,
            )
        asked: dict[str, object] = {
            "max_groups_per_user": None if max_groups_per_user == 1 else max_groups_per_user,
            "group_items": None if group_items is GroupItems.SHARED else ...,
            "public_groups": None if public_groups is None else ...,
        }
        for name, value in asked.items():
            if value is not None:
                raise InputError(
                    "it goes with {by}",
                    "name the columns of groups, or omit it",
                    given={name: value},
                )
        return self if of == 1 else self.together(of)

    @takes(Terms)
    def top_k(  # noqa: PLR0913 - a question and how its answer is grouped
        self,
        k: int,
        *,
        count_share: float | None = None,
        noisy_counts: bool = False,
        min_users: int | None = None,
        others: bool = False,
        ordered: bool = True,
        of: int = 1,
        by: str | Sequence[str] | None = None,
        max_groups_per_user: int = 1,
        group_items: GroupItems = GroupItems.SHARED,
        public_groups: object = None,
        **terms: Unpack[Terms],
    ) -> Release:
        """The k items held by most users, best first, with differential privacy.

        With `by`, these are the k items of each group, as by `grouped`, and `PerGroup` answers.
        Where each item belongs to one group alone, say so by `group_items=sl.GroupItems.OWN`: that
        misses less. With public items and `public_groups` each group is answered by itself.

        With private items fewer than k may come out; by default `GreedyOrAdaptive` answers. With
        public items `JointOrPeel` does, and nothing is bounded, unless the partial of a mechanism
        that has the option gives `max_items_per_user`: then of a user with more a uniformly random
        subset counts, and counts are clipped ones. With `noisy_counts=True` each item comes with a
        noisy number of its users, and an interval; part of the budget pays for them, so that the
        list is less accurate. In groups there are clipped counts anyway, for nothing and without an
        interval: `noisy_counts=True` changes nothing there. With `min_users=100` such counts leave
        out items of fewer users: one that fewer than 100 hold is named in at most 1 of 100 cases.

        Args:
            k: How many items; at most the number of public items, if these are given.
            count_share: As in `shortlist.TopK`, for those who know which share to take; not with
                `by`, where there are counts anyway.
            noisy_counts: As in `shortlist.TopK`.
            min_users: As in `shortlist.TopK`; not with `by`, where `domain` has it.
            others: As in `shortlist.TopK`: `release.others` has the numbers. With neither `by` nor
                public items.
            ordered: As in `shortlist.TopK`. With `ordered=False`, which takes public items,
                `SetOrPeel` answers by default.
            of: 2 for the k pairs of items that most users hold, 3 for triples, as in `together`.
            by: As in `grouped`; None for one list of all items.
            max_groups_per_user: As in `grouped`.
            group_items: As in `grouped`.
            public_groups: As in `grouped`.
            **terms: `epsilon` and all else of `Source.ask`.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed, unless
            the mechanism was asked for another adjacency; `release.guarantee` says which.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        question = TopK(k, count_share, noisy_counts, min_users, others, ordered)
        asked = self._asked(by, max_groups_per_user, group_items, public_groups, of)
        return asked.ask(question, **terms)

    @takes(Terms)
    def domain(
        self,
        *,
        count_share: float | None = None,
        noisy_counts: bool = False,
        min_users: int | None = None,
        others: bool = False,
        by: str | Sequence[str] | None = None,
        **terms: Unpack[Terms],
    ) -> Release:
        """All items held by enough users to be named, with differential privacy.

        Also called set union, partition selection or key set. By default `GreedyOrRounds` answers:
        it chooses privately between two ways. `PolicyGreedy` counts each user for one item only,
        chosen among all that the user holds. In rounds, users move their weight to the items that
        it may still help: as by `AdaptiveGaussian` at the `max_items_per_user` that is given, or as
        by `ChosenBound`, which chooses privately how many items of a user count. Items are listed
        by their noisy weights, so that roughly those of more users come first; a weight is no
        number of users, and only JSON, Parquet and frames have it. With `max_items_per_user=1`,
        `PolicyGreedy` answers, since nothing is better there. Where a budget adds up in zCDP, of
        which one unit would take many times as much, where counts or others are asked for, and
        where rows stay in an engine, items are always found in rounds.

        With `noisy_counts=True`, each item comes with a noisy clipped count instead of a weight,
        and with the least number of its users. A user may hold any number of the named items, and
        one who holds many adds less than 1 to each clipped count. With `min_users=100` an item that
        fewer than 100 users hold is named in at most 1 of 100 cases; `explain()` of the plan says
        how large its count has to be so that it is left out as rarely as that.

        With `by`, an item is named for each group in which enough users hold it. Of each user at
        most `max_items_per_user` pairs of a group and an item count then, in any number of groups.

        Args: as `top_k`; `delta` is above 0, and `count_share`, `noisy_counts`, `min_users` and
        `others` are as in `shortlist.Domain`.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed.

        Raises:
            InputError: An argument cannot be used, or the items are public and so is the domain;
                found before data is read.
        """
        question = Domain(count_share, noisy_counts, min_users, others)
        asked = self._asked(by, 1, GroupItems.SHARED, None)
        return asked.ask(question, **terms)

    @takes(Terms)
    def hitting_set(
        self,
        k: int,
        *,
        count_share: float | None = None,
        noisy_counts: bool = False,
        by: str | Sequence[str] | None = None,
        max_groups_per_user: int = 1,
        public_groups: object = None,
        **terms: Unpack[Terms],
    ) -> Release:
        """At most k items that together reach as many users as possible, in the order picked.

        A user is reached by any item held, so that each further item is picked for the users whom
        none before it reached. With private items fewer than k may come out; by default
        `AdaptiveHittingSet` answers. With public items `UserPeeling` does.

        With `noisy_counts=True` each item comes with a noisy number of the users who hold it and
        none above it, and `release.reached` says how many all items reach together. One user
        changes one of these numbers by 1, so that they cost little.

        With `by` these are the items of each group that reach the most of its users. Each group is
        answered by itself, and a user counts in at most `max_groups_per_user` of them: with 2, each
        group gets about half of the budget. With public items, the groups must be public, too.

        Args: as `top_k`; `count_share` and `noisy_counts` are as in `shortlist.HittingSet`.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        question = HittingSet(k, count_share, noisy_counts)
        asked = self._asked(by, max_groups_per_user, GroupItems.SHARED, public_groups)
        return asked.ask(question, **terms)

    @takes(Terms)
    def user_counts(
        self,
        items: object = None,
        *,
        share_of_users: ShareOfUsers | None = None,
        by: str | Sequence[str] | None = None,
        max_groups_per_user: int = 1,
        public_groups: object = None,
        **terms: Unpack[Terms],
    ) -> Release:
        """How many users hold each item of a list that everybody knows, in the order of the list.

        Each item comes with a noisy count, also one that nobody holds, and with the ends of an
        interval that holds the number of its users in 95 of 100 cases. By default `CountEach`
        answers. The more items are on the list, the more noise there is. With a delta, the noise
        grows only with the square root of their number.

        With `by` these are counts in each of `public_groups`, each answered by itself. A user is
        counted in at most `max_groups_per_user` of them. Where users are in more, the true number
        of users may lie above its interval.

        With `share_of_users=sl.ShareOfUsers.COUNTED` each count also comes as a share of all users,
        or of those in its group, with an interval. The number of users is counted as one more item
        would be, so that a long list has hardly more noise. With `STATED` it is a share of the
        `users` of the source, and costs nothing.

        Args:
            items: As `of_items`; None where the source has `public_items`.
            share_of_users: As in `shortlist.UserCounts`.
            by: As in `grouped`; None for one count of each item.
            max_groups_per_user: As in `grouped`; a larger one adds noise.
            public_groups: As in `grouped`; they go with `by`.
            **terms: `epsilon` and all else of `Source.ask`. `delta` may be 0; of more than a few
                items one makes the noise less. With `by`, `mechanism` is one that looks at counts.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed.

        Raises:
            InputError: An argument cannot be used; found before data is read.

        >>> import polars as pl
        >>> rows = pl.DataFrame({"user": range(900), "title": ["Emma", "Emma", "Ulysses"] * 300})
        >>> plays = pairs(rows, user="user", item="title")
        >>> found = plays.user_counts(["Ulysses", "Dune"], epsilon=1.0)
        >>> found.items, found.to_polars().columns
        (['Ulysses', 'Dune'], ['title', 'count', 'count_low', 'count_high'])
        """
        listed = self if items is None else self.of_items(items)
        asked = listed._asked(  # noqa: SLF001 - of this class
            by, max_groups_per_user, GroupItems.SHARED, public_groups
        )
        return asked.ask(UserCounts(share_of_users), **terms)
