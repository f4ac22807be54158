"""What each kind of engine says in its own way, and what all of them are told alike by Ibis."""

from __future__ import annotations

import hashlib
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

from shortlist.databases.connections import interruptible, lock_of, remember_reopening
from shortlist.databases.faults import Fault
from shortlist.engines.tables._expressions import (
    SIZE,
    USER,
    VALUE,
    Arrow,
    Expression,
    Key,
    as_text,
    numbered,
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import (
    SetsRead,
    identified,
    read_by_joins,
    require_identified,
)
from shortlist.engines.tables._steering import SteeringInTable
from shortlist.errors import InputError, Words, shown
from shortlist.evidence.user_sets import Steering
from shortlist.runtime.free_memory import available_memory

_EQUAL_TO_SOME_COLLATIONS = "a", "A", "a ", "\u00e1"
# Rows that are fetched, coded and grouped take at most so many times their bytes.
_MEMORY_OF_FETCHED = 4
_T = TypeVar("_T")


class Dialect:
    """How one kind of engine is spoken to; by itself, any that Ibis connects to.

    Attributes:
        backend: The engine, as Ibis calls it.
        schemes: The kinds of URLs that `open_url` takes.
        native: Tables of the engine's own library, by the modules that have their types.
        unopened: What is wrong where a URL cannot be opened, and the error does not say.
        name: The engine, as a guarantee names it; by default as Ibis does.
        hash: The hash by which users are bounded, as a guarantee names it.
        is_in_process: Whether it works in the memory of this process, which rows then never leave.
        summing: The sum of whole numbers, which never fails: it may be null where it is too large.
        computes_as_memory: Whether filters and amounts are known to come out there as in memory.
        shares_by_windows: Whether what a user's rows add up to is found faster by a window over
            them than by a group and a join.
        shows_changes: Whether `place` tells rows from those that were there before, if it knows it.
    """

    backend: ClassVar[str] = ""
    schemes: ClassVar[tuple[str, ...]] = ()
    native: ClassVar[Mapping[str, str]] = MappingProxyType({})
    unopened: ClassVar[Fault] = Fault(
        "cannot be connected to",
        "check that the database is there, and its path, or its host, port, name, user and "
        "password",
    )
    name: str = ""
    hash: str = "a hash of (key, user, item)"
    is_in_process: ClassVar[bool] = False
    summing: ClassVar[str] = "sum"
    computes_as_memory: ClassVar[bool] = False
    shares_by_windows: ClassVar[bool] = False
    shows_changes: ClassVar[bool] = True

    def __init__(self, connection: Expression) -> None:
        self.name = self.name or connection.name
        self._connection = connection

    @classmethod
    def of_connection(cls, connection: Expression) -> Dialect:
        """How the engine is spoken to by a connection of Ibis."""
        return cls(connection)

    @classmethod
    def open_url(cls, url: str, origin: Words) -> Expression:  # noqa: ARG003 - for messages of some
        """A connection of Ibis to what a URL names, which messages call by its origin.

        Raises:
            InputError: It is not there.
            ImportError: A package is missing.
        """
        import ibis

        connection = ibis.connect(url)
        # Whether such a connection was lost, nobody can tell: it is opened anew where it fails.
        remember_reopening(connection, lambda: True, connection.reconnect)
        return connection

    @classmethod
    def open_native(cls, data: Any, columns: Collection[str]) -> TableInEngine:
        """A table of the engine's own library, of which these columns are read."""
        raise NotImplementedError

    def require(self, keys: Expression) -> None:
        """Refuse keys that the engine holds for equal though they differ. No row is read.

        Raises:
            InputError: Some of these columns are of such a type.
        """
        # Constants alone would tell how the connection compares them, and not how a column does.
        texts = (name for name, dtype in keys.schema().items() if dtype.is_string())
        if any(
            self.fetch(_told_apart(keys[name])).column(0)[0].as_py()
            < len(_EQUAL_TO_SOME_COLLATIONS)
            for name in texts
        ):
            raise InputError(
                "{engine} takes texts for equal that differ, in case, accents or spaces at their "
                "ends",
                "set a binary collation of the columns, name columns of integers, or give "
                "{pull=True}",
                engine=self.name,
            )

    def key(self, column: Expression) -> Expression:
        """The column such that values are equal only where every byte is."""
        return column

    def plain_text(self, column: Expression) -> Expression:
        """A text without its collation, so that patterns find what is written there."""
        return column

    def moment(self, time: datetime) -> Expression:
        """A time without a zone, to the microsecond."""
        import ibis

        return ibis.literal(str(time)).cast("timestamp(6)")

    def digits(self, column: Expression) -> Expression:
        """Binary values as text: hexadecimal digits, letters in lower case.

        Raises:
            InputError: The engine has no word for it; there is none in common.
        """
        raise InputError(
            'the column "{column}" is binary, and how {engine} writes its digits is not known here',
            "cast it to text, or give {pull=True}",
            column=shown(column.get_name()),
            engine=self.name,
        )

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """A function of the key, the user and the item alone, which looks random to any two."""
        from ibis.expr import operations

        text = written(key, user, items)
        if self._connection.has_operation(operations.HexDigest):
            return text.hexdigest("md5")
        if self._connection.has_operation(operations.Hash):
            return text.hash()
        raise InputError(
            "{engine} has no hash, by which users could be bounded",
            "give {pull=True}",
            engine=self.name,
        )

    def beside_memory(self) -> Dialect:
        """The same, which bounds users as memory does: by what nobody tells from random bits.

        For tables of which the rows decide whether they are bounded here or in memory.
        """
        raise NotImplementedError

    def numbered(self, rows: Expression, name: str, by: str | None = None) -> Expression:
        """The rows with a column of numbers from 0 on, in any order, or rising with a column."""
        import ibis

        order = [*([] if by is None else [by]), *rows.columns]  # every engine has an order
        return rows.mutate(ibis.row_number().over(order_by=order).name(name))

    def whole(self, keys: Expression, scratch: Scratch) -> SetsRead:
        """Each user's distinct items, from one pass over the keys, which have no nulls."""
        return read_by_joins(scratch.keep(keys.distinct()), scratch, is_by_user=False)

    def counted(self, rows: Expression, scratch: Scratch) -> tuple[Expression, Expression]:
        """Distinct rows, worked out once, each with how many its user has; and users with that.

        The rows may be arrays by user, to be `listed`.

        Args:
            rows: `USER`, and other columns.
            scratch: Where a temporary table is made.
        """
        size = rows.count().over(group_by=rows[USER]).cast("int32")
        kept = scratch.keep(rows.mutate(**{SIZE: size}))
        return kept, kept.select(USER, SIZE).distinct()

    def some_of(
        self,
        rows: Expression,
        whole: SetsRead | None,  # noqa: ARG002 - for those who hold arrays
        names: Sequence[str],
        scratch: Scratch,
    ) -> tuple[Expression, Expression]:
        """Each user's distinct values of some columns, as `counted`.

        Args:
            rows: `USER`, `VALUE`, and other columns.
            whole: The sets that the rows are, where they are whole ones.
            names: Some of the columns.
            scratch: Where a temporary table is made.
        """
        return self.counted(rows.select(USER, VALUE, *names).distinct(), scratch)

    def steering(self, held: SetsRead, scratch: Scratch, n_items: int) -> Steering:
        """Users who weight their items anew from round to round.

        Args:
            held: Their sets.
            scratch: Where temporary tables are made.
            n_items: How many codes there are.
        """
        return SteeringInTable(held, scratch, n_items)

    def looked_up(self, rows: Expression, each: Expression, key: str) -> Expression:
        """The rows with what a table, of `Scratch`, has for the number in a column."""
        return rows.join(each, key)

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        """Work out a query once, as a temporary table: whoever reads that sees the same rows.

        Args:
            name: The name of the table.
            query: The query.
            by: A column whose equal values had better lie together.
        """
        ordered = query if by is None else query.order_by(by)
        self._connection.create_table(name, ordered, temp=True)

    def fix(self, name: str, query: Expression) -> None:
        """Keep a query's rows as they are now: none of them is worked out again."""
        self.keep(name, query)

    def give(self, name: str, rows: Arrow) -> None:
        """Take rows over as a temporary table, which nobody else sees."""
        import ibis

        self._connection.create_table(name, ibis.memtable(rows), temp=True)

    def state(self, name: str, rows: Arrow) -> None:
        """As `give`, of public rows that are `looked_up` and asked for by nothing else.

        They may stand in the statements that look them up, and so in the engine's logs.
        """
        self.give(name, rows)

    def fetch(self, query: Expression) -> Arrow:
        """All rows of a query."""
        return self._connection.to_pyarrow(query)

    def fetch_within(self, query: Expression, room: int) -> Arrow | None:
        """All rows of a query; None where they take more bytes than there is room for."""
        raise NotImplementedError

    def drop(self, name: str) -> None:
        """Drop a temporary table, if there is one of that name."""
        from sqlglot import to_identifier

        # Ibis 12 writes no name behind DROP TABLE, with sqlglot 30.
        quoted = to_identifier(name, quoted=True).sql(self._connection.dialect)
        self._connection.raw_sql(f"DROP TABLE IF EXISTS {quoted}")

    def fault(self, error: Exception) -> Fault | None:  # noqa: ARG002 - for those who can tell
        """What is wrong, by the code of an error, of which nothing is quoted; None if unknown."""
        return None

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - for engines that know
        """Where the rows of a query lie, such that no others lie there, as JSON values."""
        return self._unknown

    @cached_property
    def _unknown(self) -> str:
        """A place that is like no other: what lies there is not known again."""
        return secrets.token_hex(16)

    def quiet(self) -> AbstractContextManager[None]:
        """While the engine is asked: nothing that it shows of its progress is printed."""
        return nullcontext()

    def share_done(self) -> float | None:
        """How much of what the engine works at is done; None where it does not tell."""
        return None

    def wait(self, action: Callable[[], _T]) -> _T:
        """What the action returns, something that the engine does, which Ctrl-C must stop."""
        return interruptible(action, None)

    def cancel(self) -> None:
        """Stop what the engine is doing for us, where it still is and we know how."""


class SqlDialect(Dialect, ABC):
    """An engine that is told in SQL, where every key is compared as bytes."""

    def require(self, keys: Expression) -> None:
        pass

    def numbered(self, rows: Expression, name: str, by: str | None = None) -> Expression:
        return numbered(rows, name, by)

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        self._create(name, query if by is None else query.order_by(by))

    def drop(self, name: str) -> None:
        self._run(f'DROP TABLE IF EXISTS "{name}"')

    def _create(self, name: str, query: Expression, statement: str = "{rows}") -> None:
        """A temporary table of a query's rows, or of a statement about them."""
        self._prepare(query)
        of_rows = statement.format(rows=self.sql(query))
        self._run(f'CREATE TEMP TABLE "{name}" AS {of_rows}')

    def _prepare(self, query: Expression) -> None:
        """Let the engine know tables in memory that a query names."""
        self._connection._run_pre_execute_hooks(query)  # noqa: SLF001 - as Ibis does

    @abstractmethod
    def sql(self, query: Expression) -> str:
        """A query in the engine's words."""

    @abstractmethod
    def _run(self, statement: str) -> None: ...


class TableInEngine(NamedTuple):
    """Rows that lie in an engine.

    Attributes:
        rows: A table of Ibis.
        dialect: How the engine is spoken to.
        held: What the caller gave.
        query: What the rows are, where they stand under a name of ours; None where they do not.
    """

    rows: Expression
    dialect: Dialect
    held: object
    query: str | None = None

    @contextmanager
    def asking(self) -> Iterator[Scratch]:
        """Temporary tables for one question, while no other is asked on the same connection."""
        with lock_of(self.held), Scratch(self.dialect) as scratch:
            yield scratch

    @property
    def bounding(self) -> str:
        """How users are bounded, as a guarantee says it."""
        dialect = self.dialect
        return f"users are bounded in {dialect.name}, by {dialect.hash} of a fresh key"

    def fetched(
        self, columns: Sequence[str], numbers: Sequence[str] = (), more: int = 0
    ) -> Arrow | None:
        """These columns as keys, and numbers as floats, in memory; None where that holds them not.

        How many rows there are is private, and so is which of both it is.

        Args:
            columns: Of keys.
            numbers: Columns of numbers.
            more: How many times its bytes a row takes further on, beyond what is usual.
        """
        keys = self.rows.select(*columns)
        with self.asking() as scratch:
            require_identified(keys, scratch)
            room = available_memory() // (_MEMORY_OF_FETCHED + more)
            keys = identified(self.rows.select(*columns, *numbers), self.dialect, numbers)
            return scratch.asked(lambda: self.dialect.fetch_within(keys, room))

    def digest(self) -> str:
        """What tells one query from another, and not what it says: values may be in it."""
        import ibis

        query = self.query or str(ibis.to_sql(self.rows))
        return hashlib.sha256(query.encode()).hexdigest()

    def identity(self) -> list[object]:
        """What tells the rows from all others, and the connection where they lie from others."""
        import ibis

        query = self.query or str(ibis.to_sql(self.rows))
        with lock_of(self.held):
            return [query, self.dialect.wait(lambda: self.dialect.place(self.rows, query))]


def _told_apart(column: Expression) -> Expression:
    """How many texts stay where they are values of the column; none of its own is looked at."""
    import ibis

    rows = column.name("text").as_table().filter(ibis.literal(value=False))
    for text in _EQUAL_TO_SOME_COLLATIONS:
        rows = rows.union(ibis.literal(text, type=column.type()).name("text").as_table())
    return rows.agg(n=rows["text"].nunique())


def written(key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
    """Key, user and item as one text, which is another for any other user or item."""
    import ibis

    values = [user, *items]
    # Where each but the last ends. Texts are joined as they are: in some engines a cast to text
    # loses letters.
    sizes = [as_text(value).length().cast("string") for value in values[:-1]]
    texts = [value.cast("string") for value in values]
    parts = [ibis.literal(f"{key[0]}.{key[1]}"), *sizes, *texts]
    return reduce(lambda text, part: text + "|" + part, parts)
