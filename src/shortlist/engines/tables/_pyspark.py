"""How Spark says it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from shortlist.engines.tables._dialect import Arrow, Expression, Key
from shortlist.engines.tables._functions import aggregate, call
from shortlist.engines.tables._names import HOLDERS, SIZE, USER, VALUE
from shortlist.engines.tables._numbered import Numbered
from shortlist.engines.tables._plain import Plain
from shortlist.engines.tables.reading import Read
from shortlist.errors import InputError, shown
from shortlist.table.interrupting import interruptible

if TYPE_CHECKING:
    from shortlist.engines.tables.scratch import Scratch

__all__ = ["Spark"]

_MOST_AT_ONCE = 2**20  # rows of one user for an array; where one has more, rows are sorted
_SAMPLED = 2.0**-10  # the share of rows by which it is found out
_ALL = "all"
_MOST_SENT = 2**21  # rows of a table that every worker gets whole
_BINARY = "UTF8_BINARY"

_T = TypeVar("_T")


class Spark(Plain):
    """Spark, by a session: a classic one, or one of Spark Connect.

    The rows that are read are a checkpoint: a part of them that is lost is not read anew from a
    table that may have changed meanwhile, but the question fails.
    """

    hash = "xxhash64(key, user, item)"

    def __init__(self, session: Any, frame: Any = None, called: str = "") -> None:
        """Take a session, and perhaps a data frame with the name by which queries call it."""
        self.name = "Spark"
        self._session, self._frame, self._called = session, frame, called
        self._tag, self._jobs = f"shortlist-{secrets.token_hex(8)}", _jobs_of(session)
        self._kept: dict[str, Any] = {}

    def require(self, keys: Expression) -> None:
        """As `Dialect.require`."""
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

    def digits(self, column: Expression) -> Expression:
        """As `Dialect.digits`."""
        return call("lower", "string", call("hex", "string", column))

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """As `Dialect.hashed`: the hash of each value is seeded by that of those before it."""
        import ibis

        parts = [ibis.literal(part, type="int64") for part in key]
        return call("xxhash64", "int64", *parts, user, *items)

    def whole(self, keys: Expression, scratch: Scratch) -> Read:
        """As `Dialect.whole`: rows are sent to where their user is, and then once more by item.

        What comes after the first is a function of the rows as they were then, and a part of it
        that is lost may be worked out anew. A user is known by the value itself, so that nothing
        has to be joined.
        """
        of_arrays = self._most_rows(keys, scratch) <= _MOST_AT_ONCE
        query = _arrays(keys) if of_arrays else _sorted_sets(keys)
        kept = scratch.made(query.schema(), lambda name: self._fix(name, query))
        sets = _listed(kept, keys.columns[1:]) if of_arrays else kept
        users = (lambda: kept.select(VALUE, SIZE)) if of_arrays else None
        held = sets.group_by(keys.columns[1:]).agg(**{HOLDERS: sets.count()})
        known = sets.mutate(**{USER: sets[VALUE]})
        numbered = Numbered(held, keys.columns[1:], scratch)
        whole = Read(numbered, lambda: (known,), lambda: whole.coded(known), users)
        return whole

    def _most_rows(self, keys: Expression, scratch: Scratch) -> float:
        """About how many rows the user has who has most; nothing but the plan depends on it."""
        some = keys.select(VALUE).sample(_SAMPLED)
        per_user = some.group_by(VALUE).agg(n=some.count())
        return float(
            scratch.fetch(per_user.agg(n=per_user["n"].max().fill_null(0)))["n"][0] / _SAMPLED
        )

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        """As `Dialect.keep`."""
        with self._asking():
            frame = self._query(query)
            self._show(name, (frame if by is None else frame.repartition(by)).persist())

    def _fix(self, name: str, query: Expression) -> None:
        """Keep a query's rows as they are now: none of them is worked out again."""
        with self._asking():
            self._show(name, _fixed(self._query(query)))

    def give(self, name: str, rows: Arrow) -> None:
        """As `Dialect.give`: every worker gets the rows whole, unless they are many."""
        import ibis
        from ibis.backends.pyspark.datatypes import PySparkSchema

        schema = PySparkSchema.from_ibis(ibis.Schema.from_pyarrow(rows.schema))
        with self._asking():  # with its schema, which Spark Connect finds in no table without rows
            frame = self._session.createDataFrame(rows, schema)
            self._show(name, frame if rows.num_rows > _MOST_SENT else frame.hint("broadcast"))

    def fetch(self, query: Expression) -> Arrow:
        """As `Dialect.fetch`."""
        with self._asking():
            return self._query(query).toArrow()

    def drop(self, name: str) -> None:
        """As `Dialect.drop`."""
        if name in self._kept:
            self._session.catalog.dropTempView(name)
            self._kept.pop(name).unpersist()

    def wait(self, action: Callable[[], _T]) -> _T:
        """As `Dialect.wait`: in a thread that has what the caller has set for this one."""
        from pyspark import InheritableThread

        thread = partial(InheritableThread, session=self._session)
        return interruptible(action, self.cancel, thread)

    def cancel(self) -> None:
        """As `Dialect.cancel`."""
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
        if self._frame is not None:
            self._frame.createOrReplaceTempView(self._called)
        try:
            yield
        finally:
            if self._frame is not None:
                self._session.catalog.dropTempView(self._called)
            self._jobs.unmark(self._tag)


class _Jobs(NamedTuple):
    """What marks the jobs that this thread begins, stops doing so, and cancels those so marked."""

    mark: Callable[[str], object]
    unmark: Callable[[str], object]
    cancel: Callable[[str], object]


def _jobs_of(session: Any) -> _Jobs:
    """Of a session; `interruptTag` of a classic one finds no job that was begun from Python."""
    context = getattr(session, "sparkContext", None)  # Spark Connect has none
    if context is None:
        return _Jobs(session.addTag, session.removeTag, session.interruptTag)
    return _Jobs(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


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
    """The same, one row an item."""
    each = arrays.select(VALUE, SIZE, item=arrays[_ALL].unnest())
    columns = {name: each["item"] if len(names) == 1 else each["item"][name] for name in names}
    return each.select(VALUE, **columns, **{SIZE: each[SIZE]})


def _sorted_sets(rows: Expression) -> Expression:
    """The same without arrays, which a user with very many items would have a giant one of."""
    distinct = rows.distinct()
    size = distinct.count().over(group_by=distinct[VALUE])
    return distinct.mutate(**{SIZE: size.cast("int32")})
