"""Users' sets in an engine: all that a mechanism may ask of them, as group-bys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.databases.connections import reopened_if_lost
from shortlist.draws import Draws, Ints
from shortlist.engines.tables._expressions import (
    CODE,
    HOLDERS,
    PLACE,
    RANK,
    SIZE,
    SUM,
    USER,
    VALUE,
    Expression,
    Key,
    item_columns,
    listed,
    total,
    united,
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import (
    ItemsInEngine,
    NumberedItems,
    SetsRead,
)
from shortlist.errors import InputError
from shortlist.evidence import ItemsBelowThreshold, UserSets, WeighedItems, WeightedHistogram
from shortlist.evidence.buckets import MOST_USERS
from shortlist.evidence.user_sets import Steering, Unreached
from shortlist.table.part import attempt

if TYPE_CHECKING:
    import polars as pl

    from shortlist.engines.tables._dialect import TableInEngine

_VALUES_OF_HALF_A_KEY = 2**62
_WEIGHT = "w"
_OTHER = "other"


@dataclass(frozen=True, eq=False)
class SetsInTable(UserSets):
    """Sets of items, one per user, of which nothing leaves the engine but sums over all users.

    Attributes:
        values: The sets, and what their numbers stand for.
        max_items_per_user: The bound on each set, if there is one.
        whole: The sets before they were bounded, if they are.
        n_more: How many codes there are beyond those of the values.
        public: As in `UserSets`.
        unit: As in `UserSets`.
        known: The counts, where they are others than the values say.
    """

    values: SetsRead
    scratch: Scratch
    max_items_per_user: int | None = None
    whole: SetsInTable | None = None
    n_more: int = 0
    public: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    unit: float = 1.0
    known: Ints | None = None

    @property
    def n_items(self) -> int:  # type: ignore[override]  # nobody writes to it
        return self.values.numbered.n + self.n_more

    def with_public(self, codes: Ints) -> SetsInTable:
        # Without any, items need not have numbers yet.
        n_more = max(0, int(codes.max()) + 1 - self.n_items) if len(codes) else 0
        return replace(self, n_more=n_more, public=np.sort(codes))

    @property
    def pairs(self) -> Expression:
        """The sets, as `SetsRead.pairs`."""
        return self.values.pairs

    @cached_property
    def counts(self) -> Ints:  # type: ignore[override]  # nobody writes to it
        """How many users hold each item; fetched only where that is looked at."""
        if self.known is not None:
            return self.known
        if HOLDERS not in self.values.items.columns:
            return (self.whole or self).recount().counts
        held = self.scratch.fetch(self.values.items.select(CODE, HOLDERS))
        return self._by_code(held[CODE], held[HOLDERS])

    def bounded(self, max_items_per_user: int, draws: Draws) -> SetsInTable:
        """Each user keeps the items of the smallest hash, under a fresh key."""
        first, second = draws.integer(np.full(2, _VALUES_OF_HALF_A_KEY)).tolist()
        if self.largest <= max_items_per_user:
            return replace(self, max_items_per_user=max_items_per_user, whole=self)
        return self.bounded_by(max_items_per_user, (first, second))

    def bounded_by(self, max_items_per_user: int, key: Key) -> SetsInTable:
        """Bounded under a key, which must be fresh wherever rows are read."""
        ranked = self.scratch.keep(self._ranked(max_items_per_user, key))
        is_kept = ranked[RANK] < max_items_per_user
        of_many, whole = ranked.filter(is_kept).drop(RANK), self.values
        left_out = ranked.filter(~is_kept).select(whole.columns)

        def few(sets: Expression) -> Expression:
            return sets.filter(sets[SIZE] <= max_items_per_user)

        kept = replace(
            whole,
            find_sets=lambda: (*map(few, whole.parts), of_many),
            find_pairs=lambda: few(whole.pairs).union(self.scratch.keep(whole.coded(of_many))),
            find_users=None,
            left_out=(*whole.left_out, left_out),
        )
        return replace(self, values=kept, max_items_per_user=max_items_per_user, whole=self)

    def _ranked(self, bound: int, key: Key) -> Expression:
        """The sets of users with more items, who keep those of the first places.

        The hash is of the user's and the item's own values. Their numbers depend on other users.
        """
        import ibis

        parts, columns = self.values.parts, self.values.columns
        many = united([listed(part.filter(part[SIZE] > bound)) for part in parts])
        items = [many[name] for name in columns]
        told = [*columns, *({self.values.code} - {None, *columns})]
        hashed = self.scratch.dialect.hashed(key, many[VALUE], items)
        window = ibis.window(group_by=many[USER], order_by=[hashed, *items])
        size = ibis.literal(bound, type="int32")
        places = {RANK: ibis.row_number().over(window), SIZE: size}
        return many.select(USER, VALUE, *told, **places)

    def among(self, codes: Ints) -> SetsInTable:
        """What are numbers gets others; else an item is called as before."""
        whole, places = self.values, np.flatnonzero(codes >= 0)
        are_numbers = whole.numbered.are_numbers
        columns = [] if are_numbers else whole.columns
        items = whole.numbered.at(codes[places], places).rename({CODE: PLACE})
        rows = whole.sets.select(USER, VALUE, *whole.columns)
        rows = rows.join(items.select(CODE, *whole.columns), whole.columns)
        code = {CODE: rows[CODE].cast("int32")}
        dialect = self.scratch.dialect
        sets, users = dialect.counted(rows.select(USER, VALUE, *columns, **code), self.scratch)
        numbered = NumberedItems(
            *(lambda: items.drop(CODE), columns or [CODE], self.scratch, items, len(codes)),
            are_numbers=are_numbers,
        )
        chosen = SetsRead(
            numbered,
            find_sets=lambda: (sets,),
            find_pairs=lambda: listed(sets.select(USER, CODE, SIZE)),
            find_users=lambda: users,
            left_out=tuple(part.semi_join(items, whole.columns) for part in whole.left_out),
            code=CODE,
        )
        known = None if self.known is None else np.append(self.known, 0)[codes]
        bound = self.max_items_per_user
        return SetsInTable(chosen, self.scratch, bound, unit=self.unit, known=known)

    @cached_property
    def _users_of_size(self) -> Ints:
        """Every user of a size has as many rows; those beyond a bound have come down to it."""
        if self.whole is not None and self.max_items_per_user is not None:
            return _clipped(self.whole.users_of_size(), self.max_items_per_user)
        rows = self.scratch.fetch(self.values.rows_of_size)
        users = np.zeros(int(rows[SIZE].max(initial=0)) + 1, np.int64)
        users[rows[SIZE]] = rows[HOLDERS] // np.maximum(rows[SIZE], 1)
        if users.sum() > MOST_USERS:  # 64 bits could not add up what they weigh
            raise InputError("too many users: a table may hold about a billion of them")
        return users

    def users_of_size(self) -> Ints:
        return self._users_of_size

    def added_by_size(self, weights: Ints) -> Ints:
        """By what items are called: only later rounds need all sets by numbers."""
        whole = self.values
        if whole.code is not None:
            sums = self._weighed(weights, [whole.code]).rename({CODE: whole.code})
        elif whole.numbered.is_found:
            sums = self._weighed(weights, whole.columns)
            sums = sums.join(whole.items.select(CODE, *whole.columns), whole.columns)
        else:
            sums = self._numbered(weights)
        return self.fetched(sums.select(CODE, SUM))

    def _numbered(self, weights: Ints, by: str | None = None) -> Expression:
        """`CODE`, `SUM` and `HOLDERS` of every item, grouped once where none is numbered yet.

        Args:
            weights: As `added_by_size`.
            by: A column by which their ranks rise.
        """
        summed = self._weighed(weights, self.values.columns, self.values.left_out)
        ranked = self.scratch.keep(self.scratch.dialect.numbered(summed, RANK, by=by))
        return self.values.numbered.coded(ranked, RANK)

    def _weighed(
        self, weights: Ints, columns: Sequence[str], left_out: Sequence[Expression] = ()
    ) -> Expression:
        """`SUM` and `HOLDERS` of every item: by the columns that tell it, in one grouping.

        Whoever holds an item that bounding left out adds nothing to it, and is one of its holders.
        """
        import ibis

        given, look_up = self._given(weights), self.scratch.dialect.looked_up
        weighted = [listed(look_up(part, given, SIZE)) for part in self.values.parts]
        kept = [part.select(*columns, _WEIGHT) for part in weighted]
        nothing = ibis.literal(0, type=given[_WEIGHT].type())
        others = [part.select(*columns, **{_WEIGHT: nothing}) for part in left_out]
        rows = united([*kept, *others])
        return rows.group_by(columns).agg(**{SUM: total(rows[_WEIGHT]), HOLDERS: rows.count()})

    def _given(self, weights: Ints) -> Expression:
        is_short = weights.max(initial=0) < 2**31  # as engines add up faster
        return self.scratch.state_each(
            SIZE, {_WEIGHT: weights.astype(np.int32) if is_short else weights}
        )

    def weigh(self, show_from: int | None = None) -> WeightedHistogram:
        """Items below the threshold stay in the engine."""
        if show_from is None or self.max_items_per_user is None:
            return super().weigh()
        coded = self._numbered(self.unit_weights(), by=SUM)
        shown = _weighed_items(coded.filter(coded[SUM] >= show_from), self.scratch)
        below = ItemsBelowInTable.of(coded, show_from, self.scratch)
        weights, counts = (self._by_code(shown.positions, held) for held in shown[1:])
        return WeightedHistogram(weights, counts, self.max_items_per_user, below)

    def fetched(self, sums: Expression) -> Ints:
        """The sum of each item, 0 where there is none."""
        with self.scratch.summing():
            found = self.scratch.fetch(sums)
        return self._by_code(found[CODE], found[SUM])

    def _by_code(self, codes: Ints, values: Ints) -> Ints:
        """A value of each item, 0 where there is none."""
        each = np.zeros(self.n_items, np.int64)
        each[codes] = values
        return each

    def steering(self) -> Steering:
        return self.scratch.dialect.steering(self.values, self.scratch, self.n_items)

    def unreached(self, domain: Ints) -> UnreachedInTable:
        return UnreachedInTable.of(self.among(domain))


def held_together(held: SetsInTable, of: int) -> SetsInTable:
    """The combinations of their items that users hold, which rise by value."""
    scratch, (name,) = held.scratch, held.values.columns
    sets = scratch.keep(held.values.sets.select(USER, VALUE, name, SIZE))
    places = item_columns(of)
    size = number_of_combinations(sets[SIZE], of)
    rows = sets.select(USER, VALUE, **{SIZE: size, places[0]: sets[name]})
    for former, place in pairwise(places):
        others = sets.view().select(**{_OTHER: USER, place: name})
        both = [rows[USER] == others[_OTHER], rows[former] < others[place]]
        rows = rows.join(others, both).drop(_OTHER)
    users = sets.group_by(USER).agg(**{SIZE: size.max()})
    users = users.filter(users[SIZE] > 0)
    counted = rows.group_by(places).agg(**{HOLDERS: rows.count()})
    together = SetsRead(
        NumberedItems(lambda: counted, places, scratch),
        find_sets=lambda: (rows,),
        find_pairs=lambda: scratch.keep(together.coded(rows)),
        find_users=lambda: users,
    )
    return SetsInTable(together, scratch)


def number_of_combinations(size: Expression, of: int) -> Expression:
    """How many there are of so many items: each division leaves no rest."""
    sizes = size.cast("int64")
    return reduce(lambda n, place: n * (sizes - place) // (place + 1), range(of), sizes * 0 + 1)


def _clipped(users: Ints, bound: int) -> Ints:
    """How many users are of each size, where those of more than the bound keep as many as it."""
    sizes = np.arange(len(users))
    clipped = np.zeros(min(len(users), bound + 1), np.int64)
    np.add.at(clipped, np.minimum(sizes, len(clipped) - 1), users)
    return clipped


@dataclass(frozen=True)
class ItemsBelowInTable(ItemsBelowThreshold):
    """Items below the threshold, in a temporary table of all items.

    Attributes:
        table: The table of all items: `CODE`, `SUM`, `HOLDERS`, and `RANK`, by `SUM`.
        first: The place of the first of them: items before it have no weight at all.
        n: How many items there are.
        below: The threshold that all of them weigh less than.
    """

    table: Expression
    scratch: Scratch
    first: int
    n: int
    below: int

    @classmethod
    def of(cls, table: Expression, below: int, scratch: Scratch) -> ItemsBelowInTable:
        """The items of a table that weigh less than the threshold."""
        weights = table[SUM]
        found = scratch.fetch(
            table.agg(none=table.count(where=weights == 0), less=table.count(where=weights < below))
        )
        first = int(found["none"][0])
        return cls(table, scratch, first, int(found["less"][0]) - first, below)

    def fetch(self, ranks: Ints) -> WeighedItems:
        asked = self.scratch.give({RANK: ranks + self.first})
        found = _weighed_items(asked.join(self.table, RANK), self.scratch)
        self.scratch.forget(asked)
        return found


def _weighed_items(items: Expression, scratch: Scratch) -> WeighedItems:
    rows = scratch.fetch(items.select(CODE, SUM, HOLDERS))
    return WeighedItems(rows[CODE], rows[SUM], rows[HOLDERS])


@dataclass
class UnreachedInTable(Unreached):
    """By the sets among the domain, of which a pick asks only for those whom it reaches anew.

    Nothing is changed in the engine: who was reached is who holds an item picked before.

    Attributes:
        counts: How many users each item would reach anew.
    """

    counts: Ints
    _held: SetsInTable
    _is_left: NDArray[np.bool_]
    _picked: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, held: SetsInTable) -> UnreachedInTable:
        """All users, by their sets of nothing but the domain."""
        counts = held.recount().counts
        return cls(counts, held, np.ones(len(counts), np.bool_))

    def reach(self, place: int) -> None:
        pairs = self._held.pairs
        holders = pairs.filter(pairs[CODE] == place).select(USER)
        if self._picked:
            before = pairs.filter(pairs[CODE].isin(self._picked)).select(USER)
            holders = holders.anti_join(before, USER)
        reached = pairs.semi_join(holders, USER)
        anew = reached.group_by(CODE).agg(**{SUM: reached.count()})
        self.counts = self.counts - self._held.fetched(anew)
        self._picked.append(place)

    def leave_out(self, place: int) -> None:
        self._is_left[place] = False

    def groups(self) -> tuple[Ints, Ints]:
        counts, sizes = np.unique(self.counts[self._is_left], return_counts=True)
        return counts[::-1].copy(), sizes[::-1].copy()

    def in_order(self) -> tuple[Ints, Ints]:
        places = np.flatnonzero(self._is_left)
        places = places[np.argsort(-self.counts[places], kind="stable")]
        return places, self.counts[places]

    def members(self, count: int) -> Ints:
        return np.flatnonzero(self._is_left & (self.counts == count))


Read = Callable[["TableInEngine", Scratch], SetsInTable]
"""What reads users' sets from rows."""


def rehearse(
    table: TableInEngine, items: Mapping[str, pl.DataType], read: Read, *, bounds: bool
) -> None:
    """Ask what a question asks, of no rows; once more where a lost connection was opened anew.

    Args:
        table: Where the rows are.
        items: The columns of an item, and their types.
        read: What reads sets from them.
        bounds: Whether users will be bounded there.

    Raises:
        InputError: The engine lacks something, or does not answer.
    """
    try:
        _asked_of_nothing(table, items, read, bounds=bounds)
    except InputError as error:
        if not attempt(lambda: reopened_if_lost(table.held), error):
            raise
        _asked_of_nothing(table, items, read, bounds=bounds)


def _asked_of_nothing(
    table: TableInEngine, items: Mapping[str, pl.DataType], read: Read, *, bounds: bool
) -> None:
    """Temporary tables are made and filled, users bounded, and items fetched; there are none."""
    import ibis

    nothing = table.rows.filter(ibis.literal(value=False))  # which no engine reads a row for
    with table.asking() as scratch:
        held = read(table._replace(rows=nothing), scratch)
        if bounds:
            held = held.bounded_by(1, (0, 0))
        held.users_of_size()
        ItemsInEngine(held.values.numbered, items, scratch).take(np.empty(0, np.int64))
