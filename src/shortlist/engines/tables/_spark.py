"""Spark, a classic session or one of Spark Connect: how it is spoken to."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from shortlist.databases.connections import interruptible
from shortlist.engines.tables._dialect import Dialect, TableInEngine
from shortlist.engines.tables._expressions import (
    HOLDERS,
    SIZE,
    USER,
    VALUE,
    Arrow,
    Expression,
    Key,
    aggregate,
    call,
)
from shortlist.engines.tables._sets_from_rows import NumberedItems, SetsRead
from shortlist.errors import InputError, shown

if TYPE_CHECKING:
    from shortlist.engines.tables._scratch import Scratch

# Where a user has more rows than this, rows are sorted: an array would be a giant one.
_MOST_AT_ONCE = 2**20
_SAMPLED_SHARE = 2.0**-10
_ALL = "all"
_MOST_ROWS_SENT_WHOLE = 2**21
_MOST_IN_A_STATEMENT = 2**10  # rows that are looked up; more are sent to the workers by a job
_BINARY = "UTF8_BINARY"

_T = TypeVar("_T")


class Spark(Dialect):
    """Spark, by a session: a classic one, or one of Spark Connect.

    The rows that are read are a checkpoint: a part of them that is lost is not read anew from a
    table that may have changed meanwhile, but the question fails.
    """

    backend = "pyspark"
    native = MappingProxyType(
        {
            "pyspark.sql.classic.dataframe": "DataFrame",
            "pyspark.sql.connect.dataframe": "DataFrame",
        }
    )
    name, hash = "Spark", "xxhash64(key, user, item)"
    summing = "try_sum"
    computes_as_memory = True
    shares_by_windows = True

    def __init__(self, session: Any, frame: Any = None, called: str = "") -> None:
        """Take a session, and perhaps a data frame with the name by which queries call it."""
        self._session, self._frame, self._called = session, frame, called
        self._tag, self._jobs = f"shortlist-{secrets.token_hex(8)}", _jobs_of(session)
        self._kept: dict[str, Any] = {}
        self._listed: dict[str, Arrow] = {}

    @classmethod
    def of_connection(cls, connection: Expression) -> Dialect:
        return cls(connection._session)  # noqa: SLF001 - it has no other name

    @classmethod
    def open_native(cls, data: Any, columns: Collection[str]) -> TableInEngine:
        """A data frame, which queries call by a name of ours."""
        import ibis
        from ibis.backends.pyspark.datatypes import PySparkType

        name = f"shortlist_{secrets.token_hex(8)}"
        fields = [field for field in data.schema.fields if field.name in columns]
        schema = {field.name: PySparkType.to_ibis(field.dataType) for field in fields}
        return TableInEngine(
            ibis.table(schema, name=name), cls(data.sparkSession, data, name), data
        )

    def require(self, keys: Expression) -> None:
        with self._asking():
            fields = self._query(keys).schema.fields
        for field in fields:
            if getattr(field.dataType, "collation", _BINARY) != _BINARY:
                raise InputError(
                    "Spark compares a column by the collation {collation}, by which texts that "
                    "differ are equal",
                    "cast it to STRING COLLATE UTF8_BINARY",
                    collation=shown(field.dataType.collation),
                )

    def moment(self, time: datetime) -> Expression:
        # As TIMESTAMP it would be one of the time zone of the session.
        import ibis

        return call("to_timestamp_ntz", "timestamp(6)", ibis.literal(str(time)))

    def digits(self, column: Expression) -> Expression:
        return call("lower", "string", call("hex", "string", column))

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        # The hash of each value is seeded by that of those before it.
        import ibis

        parts = [ibis.literal(part, type="int64") for part in key]
        return call("xxhash64", "int64", *parts, user, *items)

    def whole(self, keys: Expression, scratch: Scratch) -> SetsRead:
        """Rows are sent to where their user is, and then once more by item.

        What comes after the first is a function of the rows as they were then, and a part of it
        that is lost may be worked out anew. A user is known by the value itself, so that nothing
        has to be joined.
        """
        of_arrays = self._most_rows(keys, scratch) <= _MOST_AT_ONCE
        query = _arrays(keys) if of_arrays else _sorted_sets(keys)
        kept = scratch.made(query.schema(), lambda name: self.fix(name, query))
        sets = _listed(kept, keys.columns[1:]) if of_arrays else kept
        users = (lambda: kept.select(VALUE, SIZE)) if of_arrays else None
        held = sets.group_by(keys.columns[1:]).agg(**{HOLDERS: sets.count()})
        known = sets.mutate(**{USER: sets[VALUE]})
        numbered = NumberedItems(lambda: held, keys.columns[1:], scratch)
        whole = SetsRead(numbered, lambda: (known,), lambda: whole.coded(known), users)
        return whole

    def _most_rows(self, keys: Expression, scratch: Scratch) -> float:
        """About how many rows the user has who has most; nothing but the plan depends on it."""
        import ibis

        some = keys.select(VALUE).sample(_SAMPLED_SHARE)
        per_user = some.group_by(VALUE).agg(n=some.count()).select("n")
        first = per_user.order_by(ibis.desc("n")).limit(1)  # a maximum would be one job more
        return float(scratch.fetch(first)["n"].sum() / _SAMPLED_SHARE)

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        with self._asking():
            frame = self._query(query)
            if by is not None:  # sorted once, and not by each question of them
                frame = frame.repartition(by).sortWithinPartitions(by)
            self._show(name, frame.persist())

    def fix(self, name: str, query: Expression) -> None:
        with self._asking():
            self._show(name, _fixed(self._query(query)))

    def give(self, name: str, rows: Arrow) -> None:
        # Every worker gets the rows whole, unless they are many.
        import ibis
        from ibis.backends.pyspark.datatypes import PySparkSchema

        schema = PySparkSchema.from_ibis(ibis.Schema.from_pyarrow(rows.schema))
        with self._asking():  # with its schema, which Spark Connect finds in no table without rows
            frame = self._session.createDataFrame(rows, schema)
            self._show(
                name, frame if rows.num_rows > _MOST_ROWS_SENT_WHOLE else frame.hint("broadcast")
            )

    def state(self, name: str, rows: Arrow) -> None:
        if rows.num_rows > _MOST_IN_A_STATEMENT:
            self.give(name, rows)
        else:
            self._listed[name] = rows

    def looked_up(self, rows: Expression, each: Expression, key: str) -> Expression:
        # What is short stands in the statement itself: no job has to send it to the workers.
        listed = self._listed.get(each.get_name())
        if listed is None:
            return super().looked_up(rows, each, key)
        return rows.mutate(
            **{
                name: call("get", str(each[name].type()), _array(listed, each, name), rows[key])
                for name in each.columns
                if name != key
            }
        )

    def fetch(self, query: Expression) -> Arrow:
        with self._asking():
            return self._query(query).toArrow()

    def drop(self, name: str) -> None:
        self._listed.pop(name, None)
        if name in self._kept:
            self._session.catalog.dropTempView(name)
            self._kept.pop(name).unpersist()

    def wait(self, action: Callable[[], _T]) -> _T:
        # In a thread that has what the caller has set for this one.
        from pyspark import InheritableThread

        thread = partial(InheritableThread, session=self._session)
        return interruptible(action, self.cancel, thread)

    def cancel(self) -> None:
        self._jobs.cancel(self._tag)

    def _show(self, name: str, frame: Any) -> None:
        """Let queries call a data frame by a name."""
        self._kept[name] = frame
        frame.createOrReplaceTempView(name)

    def _query(self, query: Expression) -> Any:
        """A data frame of a query."""
        import ibis

        ibis.pyspark  # noqa: B018 - it sets options up, without which nothing is written for Spark
        return self._session.sql(str(ibis.to_sql(query, dialect="pyspark")))

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """While Spark works for us: by a tag that can be cancelled, the caller's frame at hand."""
        self._jobs.mark(self._tag)
        try:
            if self._frame is not None:
                self._frame.createOrReplaceTempView(self._called)
            yield
        finally:
            self._jobs.unmark(self._tag)  # first: to drop the frame must not be cancelled, too
            if self._frame is not None:
                self._session.catalog.dropTempView(self._called)


class _Jobs(NamedTuple):
    """What marks the jobs that this thread begins, stops doing so, and cancels those so marked."""

    mark: Callable[[str], object]
    unmark: Callable[[str], object]
    cancel: Callable[[str], object]


def _jobs_of(session: Any) -> _Jobs:
    """The marks of a session; a classic one's `interruptTag` finds no job begun from Python."""
    context = getattr(session, "sparkContext", None)  # Spark Connect has none
    if context is None:
        return _Jobs(session.addTag, session.removeTag, session.interruptTag)
    return _Jobs(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


def _array(rows: Arrow, each: Expression, name: str) -> Expression:
    """A column of rows as an array that stands in the statement."""
    import ibis

    return ibis.literal(rows.column(name).to_pylist(), type=f"array<{each[name].type()}>")


def _fixed(frame: Any) -> Any:
    """The rows as they are now, on the workers' disks; none is read from elsewhere again."""
    from pyspark import StorageLevel

    return frame.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)


def _arrays(rows: Expression) -> Expression:
    """Each user's distinct items as an array: `VALUE`, `_ALL`, `SIZE`."""
    import ibis

    value, *names = rows.columns
    item = rows[names[0]] if len(names) == 1 else ibis.struct({name: rows[name] for name in names})
    all_of_them = aggregate("collect_set", f"array<{item.type()}>", item)
    held = rows.group_by(value).agg(**{_ALL: all_of_them})
    return held.mutate(**{SIZE: held[_ALL].length().cast("int32")})


def _listed(arrays: Expression, names: Sequence[str]) -> Expression:
    """Users' sets out of arrays, one row an item."""
    each = arrays.select(VALUE, SIZE, item=arrays[_ALL].unnest())
    columns = {name: each["item"] if len(names) == 1 else each["item"][name] for name in names}
    return each.select(VALUE, **columns, **{SIZE: each[SIZE]})


def _sorted_sets(rows: Expression) -> Expression:
    """Users' sets by sorting: a user with very many items would have a giant array."""
    distinct = rows.distinct()
    size = distinct.count().over(group_by=distinct[VALUE])
    return distinct.mutate(**{SIZE: size.cast("int32")})
