"""What Ibis says for every engine that it connects to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import reduce
from typing import TYPE_CHECKING

from shortlist.engines.tables._dialect import Arrow, Dialect, Expression, Key
from shortlist.engines.tables._functions import as_text, names_tables_alone
from shortlist.engines.tables.reading import Read, read_by_joins
from shortlist.errors import InputError, shown
from shortlist.table.identity import identity_of_database

if TYPE_CHECKING:
    from shortlist.engines.tables.scratch import Scratch

__all__ = ["Plain"]

_TEXTS = "a", "A", "a ", "\u00e1"  # that a collation may hold for equal


class Plain(Dialect):
    """Any engine, in the words that all of them share."""

    hash = "a hash of (key, user, item)"

    def __init__(self, connection: Expression) -> None:
        """Take a connection of Ibis."""
        self.name: str = connection.name
        self._connection = connection

    def require(self, keys: Expression) -> None:
        """As `Dialect.require`: texts that differ must not be equal in any column.

        Constants alone would tell how the connection compares them, and not how a column does.
        """
        texts = (name for name, dtype in keys.schema().items() if dtype.is_string())
        if any(
            self.fetch(_told_apart(keys[name])).column(0)[0].as_py() < len(_TEXTS) for name in texts
        ):
            raise InputError(
                "{engine} takes texts for equal that differ, in case, accents or spaces at their "
                "ends",
                "set a binary collation of the columns, name columns of integers, or give "
                "{pull=True}",
                engine=self.name,
            )

    def key(self, column: Expression) -> Expression:
        """As `Dialect.key`: as the engine compares."""
        return column

    def digits(self, column: Expression) -> Expression:
        """As `Dialect.digits`: engines have no word for it in common."""
        raise InputError(
            'the column "{column}" is binary, and how {engine} writes its digits is not known here',
            "cast it to text, or give {pull=True}",
            column=shown(column.get_name()),
            engine=self.name,
        )

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """As `Dialect.hashed`: of a text, by MD5 where the engine has it."""
        from ibis.expr import operations

        text = _written(key, user, items)
        if self._connection.has_operation(operations.HexDigest):
            return text.hexdigest("md5")
        if self._connection.has_operation(operations.Hash):
            return text.hash()
        raise InputError(
            "{engine} has no hash, by which users could be bounded",
            "give {pull=True}",
            engine=self.name,
        )

    def numbered(self, rows: Expression, name: str, by: str | None = None) -> Expression:
        """As `Dialect.numbered`: in the order of the columns, which every engine has."""
        import ibis

        order = [*([] if by is None else [by]), *rows.columns]
        return rows.mutate(ibis.row_number().over(order_by=order).name(name))

    def whole(self, keys: Expression, scratch: Scratch) -> Read:
        """As `Dialect.whole`."""
        return read_by_joins(scratch.keep(keys.distinct()), scratch, is_by_user=False)

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        """As `Dialect.keep`."""
        ordered = query if by is None else query.order_by(by)
        self._connection.create_table(name, ordered, temp=True)

    def give(self, name: str, rows: Arrow) -> None:
        """As `Dialect.give`."""
        import ibis

        self._connection.create_table(name, ibis.memtable(rows), temp=True)

    def fetch(self, query: Expression) -> Arrow:
        """As `Dialect.fetch`."""
        return self._connection.to_pyarrow(query)

    def drop(self, name: str) -> None:
        """As `Dialect.drop`: Ibis 12 writes no name behind DROP TABLE, with sqlglot 30."""
        from sqlglot import to_identifier

        quoted = to_identifier(name, quoted=True).sql(self._connection.dialect)
        self._connection.raw_sql(f"DROP TABLE IF EXISTS {quoted}")

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - the rows say it
        """As `Dialect.place`: of SQLite its one file, and what is beside it; of others nothing."""
        native = self._connection.con
        if self.name != "sqlite" or native.in_transaction or not names_tables_alone(rows):
            return self._unknown
        with closing(native.execute("PRAGMA database_list")) as listed:
            paths = [path for _, name, path in listed if name == "main" or path]
        with closing(native.execute("SELECT count(*) FROM sqlite_temp_schema")) as counted:
            ((n_temporary,),) = counted
        if n_temporary or len(paths) != 1:
            return self._unknown
        (path,) = paths
        return identity_of_database(path, "-wal", "-journal")

    def cancel(self) -> None:
        """As `Dialect.cancel`: not for all alike."""


def _told_apart(column: Expression) -> Expression:
    """How many texts stay where they are values of the column; none of its own is looked at."""
    import ibis

    rows = column.name("text").as_table().filter(ibis.literal(value=False))
    for text in _TEXTS:
        rows = rows.union(ibis.literal(text).name("text").as_table())
    return rows.agg(n=rows["text"].nunique())


def _written(key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
    """Key, user and item as one text, in which no two items of one user look the same."""
    import ibis

    texts = [item.cast("string") for item in items]
    # Where each but the last ends. Texts are joined as they are: in some engines a cast to text
    # loses letters.
    sizes = [as_text(item).length().cast("string") for item in items[:-1]]
    parts = [ibis.literal(f"{key[0]}.{key[1]}"), user.cast("string"), *sizes, *texts]
    return reduce(lambda text, part: text + "|" + part, parts)
