"""What engines of tables share: what they say of the table, and that they read it once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.engines.known_in_groups import KnownInGroups
from shortlist.engines.tables.which_engine import is_in_engine, table_in_engine
from shortlist.errors import InputError
from shortlist.evidence import (
    AmountsAtCaps,
    GroupedAmounts,
    GroupedCounts,
    GroupedSets,
    PublicCounts,
    UserGroups,
    UserSets,
    Wants,
)
from shortlist.table.identity import identity_of_part, is_frame
from shortlist.table.keys import Coding, Extended
from shortlist.table.part import TablePart, origin_of

if TYPE_CHECKING:
    import polars as pl

    from shortlist.engines.tables._dialect import TableInEngine
    from shortlist.engines.tables._groups_in_table import GroupsInTable
    from shortlist.table.amounts import Amounts
    from shortlist.table.row_filters import RowFilter

_T = TypeVar("_T")
_Sets = TypeVar("_Sets", bound="_OfItems")


class _OfItems(Protocol):
    @property
    def n_items(self) -> int: ...

    def with_public(self, codes: Ints) -> Self: ...


class _SomeTable(Protocol):
    columns: dict[str, pl.DataType]
    parts: list[TablePart]
    where: RowFilter | None
    amounts: Amounts | None

    def check(self) -> None: ...


def public_description(
    table: _SomeTable, public: object, known: pl.DataFrame | None = None
) -> dict[str, object]:
    """As JSON values; of a list of public items its hash, and of a frame no more than its columns.

    Args:
        table: Opened as far as its schema.
        public: A frame of what everybody knows, or that this is in the table; None for nothing.
        known: A frame of those of the private items that everybody knows; None for nothing.
    """
    return {
        "data": sorted({str(part.argument) for part in table.parts}),
        "files": sorted({file for part in table.parts for file in part.files}),
        "columns": _named(table.columns),
        "public_items": None if public is None else _known(public),
        **({} if known is None else {"known_items": _known(known)}),
        **({} if table.where is None else {"where": str(table.where)}),
        **({} if table.amounts is None else {"amount": table.amounts.json_values()}),
    }


class Origin:
    """Where the rows of a table come from: called, what tells that from others, as it is now.

    What cannot be known again, such as a table in the memory of an engine, is like no other.
    """

    def __init__(self, table: _SomeTable) -> None:
        self._parts = table.parts
        held = table.parts[0].held
        self._in_engine: TableInEngine | None = None
        self._is_in_engine = is_in_engine(held)
        if self._is_in_engine and find_spec("ibis") is not None:
            with suppress(InputError):  # of a column that can be fetched, but not added up there
                self._in_engine = table_in_engine(held, table.columns)
        self._unknown = secrets.token_hex(16)

    @property
    def shows_changes(self) -> bool:
        """Whether it is another after a change: of frames, and in some engines, it is not."""
        if self._is_in_engine:
            return self._in_engine is None or self._in_engine.dialect.shows_changes
        return not any(map(is_frame, self._parts))

    def __call__(self) -> list[object]:
        """As JSON values."""
        try:
            if self._in_engine is not None:
                return self._in_engine.identity()
            if self._is_in_engine:
                return [self._unknown]
            return [identity_of_part(part) for part in self._parts]
        except Exception:  # noqa: BLE001 - of many libraries; reading will say what is wrong
            return [self._unknown]


def _named(columns: Mapping[str, pl.DataType]) -> list[list[str]]:
    return [[name, str(dtype)] for name, dtype in columns.items()]


def _known(public: object) -> str:
    import polars as pl

    if not isinstance(public, pl.DataFrame):
        return str(public)
    return hashlib.sha256(public.write_csv().encode()).hexdigest()


class Once(Generic[_T]):
    """A value that is found at the first call; further ones, meanwhile, wait for it.

    >>> numbers = iter([7, 8])
    >>> first = Once(lambda: next(numbers))
    >>> first(), first()
    (7, 7)
    """

    def __init__(self, find: Callable[[], _T], origin: Callable[[], object] = str) -> None:
        """Find nothing yet.

        Args:
            find: What finds it.
            origin: What tells, at any time, what it would be found in.
        """
        self._find, self._origin = find, origin
        self._found: list[_T] = []
        self._found_in: object = None
        self._finding = Lock()

    @property
    def is_found(self) -> bool:
        """Whether there is a value by now."""
        return bool(self._found)

    def __call__(self) -> _T:
        """The value; where finding it fails, it is tried anew at the next call."""
        with self._finding:
            if not self._found:
                before = self._origin()
                found = self._find()
                changed = self._origin() != before
                self._found_in = secrets.token_hex(16) if changed else before  # or nobody knows
                self._found.append(found)
            return self._found[0]

    @property
    def identity(self) -> object:
        """What it was found in, as that was then; or would be found in now."""
        return self._found_in if self._found else self._origin()


class TableInMemory(Engine):
    """A table whose rows are read once, and then kept. To add a kind, give `_read`."""

    def __init__(
        self,
        table: Any,
        public: Any,
        held: Once[Any] | None = None,
        known: pl.DataFrame | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            table: The table, opened as far as its schema.
            public: What everybody knows of its items: a list, or that it is what is in the table;
                None where that is nothing.
            held: What was read, where several engines share it.
            known: Those of the private items that everybody knows, one row an item.
        """
        self._table, self._public = table, public
        self.known, self.n_known = known, 0 if known is None else known.height
        self.columns, self.origin = table.columns, origin_of(table.parts)
        self.items = table.items
        self.items_are_public = public is not None
        self._held: Once[Any] = held or Once(self._read, Origin(table))

    def about(self) -> dict[str, object]:
        by = {"by": list(self.by)} if self.by else {}
        return {**public_description(self._table, self._public, self.known), **by}

    def identity(self) -> object:
        return self._held.identity

    @property
    def shows_changes(self) -> bool:
        return Origin(self._table).shows_changes

    def check(self, wants: Wants) -> None:  # noqa: ARG002 - whatever is wanted
        if not self._held.is_found:
            self._table.check()

    def _read(self) -> Any:
        raise NotImplementedError


class UsersInMemory(TableInMemory):
    """A table whose first column says the user."""

    @property
    def unit(self) -> str:
        return next(iter(self.columns))


def with_known(held: _Sets, items: Coding, known: pl.DataFrame) -> tuple[_Sets, Coding]:
    """The same with items that everybody knows, whether anybody holds them or not."""
    codes = items.find(known)
    is_new = codes < 0
    codes[is_new] = held.n_items + np.arange(np.count_nonzero(is_new))
    return held.with_public(codes), Extended(items, codes, known)


def shown_of(
    held: UserSets, items: Coding, wants: Wants, public: pl.DataFrame | None
) -> ShownEvidence:
    """Users' sets as what is wanted.

    Args:
        held: The sets, bounded as is wanted.
        items: What their codes stand for.
        wants: The evidence that a mechanism wants.
        public: What everybody knows, one row an item; None where items are private.
    """
    if public is None:
        return ShownEvidence(held.shown_as(wants), items.take)
    known = items.find(public)
    evidence: PublicCounts | UserSets
    if issubclass(wants.kind, UserSets):
        evidence = held.among(known)
    else:
        counts = held.counts if wants.bound is None else held.recount().counts
        # Code -1, of public items that nobody holds, is the count appended at the end.
        users = int(held.users_of_size()[1:].sum()) if wants.users else None
        evidence = PublicCounts(np.append(counts, 0)[known], wants.bound, users)
    return ShownEvidence(evidence, public.__getitem__, public.height)


def listed_description(lists: KnownInGroups) -> dict[str, object]:
    """The list of items that count in groups, as JSON values, beside what is said of the table."""
    return {} if lists.listed is None else {"listed_items": _known(lists.listed)}


def require_whole_groups(wants: Wants) -> None:
    """Refuse counts of some of a user's items: in groups all count, of those groups that do."""
    if wants.kind is GroupedCounts and wants.bound is not None:
        raise InputError(
            "in groups all items of a user are counted",
            "omit {max_items_per_user} of {mechanism}",
            given={"mechanism": ...},
        )


def shown_in_groups(
    sets: GroupedSets | GroupedAmounts | GroupsInTable,
    groups: Coding,
    items: Coding,
    lists: KnownInGroups,
    wants: Wants,
    draws: Draws,
) -> ShownEvidence:
    """Counts of a list of items; or whole sets, which the mechanism bounds. Of public groups alone.

    A mechanism that looks at users' sets bounds their groups by itself.

    Args:
        sets: Users' sets in groups.
        groups: What the codes of groups stand for.
        items: Those of items, in whichever group.
        lists: What everybody knows of both.
        wants: The evidence that a mechanism wants.
        draws: What each user's random groups are drawn from, where counts are bounded.
    """
    public = lists.groups
    if public is not None:
        sets = sets.within(groups.find(public))
    if lists.listed is not None and public is not None:
        codes, named_there = items.find(lists.listed), _named_in_groups(public, lists.listed)
        if wants.kind is GroupedCounts and wants.groups is not None:
            held, n = sets.bounded(wants.groups, draws), public.height * lists.listed.height
            count = partial(_counted_in_groups, codes=codes, n_groups=public.height, wants=wants)
            return ShownEvidence(_at_caps(held, count, wants, draws), named_there, n)
        listed = partial(replace, listed=codes)
        return ShownEvidence(_at_caps(sets, listed, wants, draws), named_there)
    if lists.known is not None:
        sets, items = with_known(sets, items, lists.known)

    def named(positions: Ints) -> pl.DataFrame:
        of_groups, of_items = np.divmod(positions, max(sets.n_items, 1))
        found = groups.take(of_groups) if public is None else public[of_groups]
        return found.hstack(items.take(of_items))

    return ShownEvidence(_at_caps(sets, lambda held: held, wants, draws), named)


def _at_caps(
    sets: GroupedSets | GroupedAmounts | GroupsInTable,
    show: Callable[[Any], UserGroups | GroupedCounts],
    wants: Wants,
    draws: Draws,
) -> UserGroups | GroupedCounts | AmountsAtCaps:
    """What is shown of users' sets; at each cap, where one is to be chosen.

    The choice looks at the groups alone in which a user counts, so that these are drawn before.
    """
    if not wants.caps:
        return show(sets)
    assert not isinstance(sets, GroupedSets)  # noqa: S101 - caps are of amounts
    assert wants.groups is not None  # noqa: S101 - a selection in groups says how many count
    held = sets.bounded(wants.groups, draws)
    return AmountsAtCaps(
        partial(held.above, wants.caps), lambda place: show(held.capped(wants.caps[place]))
    )


def _counted_in_groups(
    sets: UserGroups, *, codes: Ints, n_groups: int, wants: Wants
) -> GroupedCounts:
    """How many users hold each item of a list in each group of another.

    Args:
        sets: Users' sets in these groups, in no more than are wanted.
        codes: Of the items, -1 for one that nobody holds.
        n_groups: How many groups there are.
        wants: What is wanted.
    """
    assert wants.groups is not None  # noqa: S101 - the bound that was enforced
    held = sets.among(np.arange(n_groups), codes)
    return GroupedCounts(
        held.counts,
        np.arange(1, n_groups + 1) * len(codes),
        PublicCounts,
        max_items_per_user=None,
        max_groups_per_user=wants.groups,
        users=sets.groups.recount().counts if wants.users else None,
        unit=held.unit,
    )


def _named_in_groups(groups: pl.DataFrame, listed: pl.DataFrame) -> Callable[[Ints], pl.DataFrame]:
    """From the place of a group times the number of items, and that of an item, to both."""

    def named(positions: Ints) -> pl.DataFrame:
        of_groups, of_items = np.divmod(positions, listed.height)
        return groups[of_groups].hstack(listed[of_items])

    return named
