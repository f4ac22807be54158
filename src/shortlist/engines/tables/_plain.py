"""What Ibis says for every engine that it connects to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from shortlist.engines.tables._dialect import Arrow, Dialect, Expression, Key
from shortlist.engines.tables.reading import Read, read_by_joins
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.engines.tables.scratch import Scratch

__all__ = ["Plain"]


class Plain(Dialect):
    """Any engine, in the words that all of them share."""

    hash = "a hash of (key, user, item)"

    def __init__(self, connection: Expression) -> None:
        """Take a connection of Ibis."""
        self.name: str = connection.name
        self._connection = connection

    def require(self, keys: Expression) -> None:
        """As `Dialect.require`: texts that differ must not be equal to an engine as it is set."""
        import ibis

        if not any(dtype.is_string() for dtype in keys.schema().values()):
            return
        small, large, padded = (ibis.literal(text) for text in ("a", "A", "a "))
        alike = ((small == large) | (small == padded)).name("alike")
        if self.fetch(alike.as_table()).column(0)[0].as_py():
            raise InputError(
                "{engine} takes texts for equal that differ, in case or in spaces at their ends",
                "set a binary collation, name columns of integers, or give {pull=True}",
                engine=self.name,
            )

    def key(self, column: Expression) -> Expression:
        """As `Dialect.key`: as the engine compares."""
        return column

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

    def numbered(self, rows: Expression, name: str) -> Expression:
        """As `Dialect.numbered`: in the order of the columns, which every engine has."""
        import ibis

        return rows.mutate(ibis.row_number().over(order_by=rows.columns).name(name))

    def whole(self, keys: Expression, scratch: Scratch) -> Read:
        """As `Dialect.whole`."""
        return read_by_joins(keys, scratch)

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
        self._connection.raw_sql(f"DROP TABLE {quoted}")

    def cancel(self) -> None:
        """As `Dialect.cancel`: not for all alike."""


def _written(key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
    """Key, user and item as one text, in which no two items of one user look the same."""
    import ibis

    texts = [item.cast("string") for item in items]
    sizes = [text.length().cast("string") for text in texts[:-1]]  # where each but the last ends
    parts = [ibis.literal(f"{key[0]}.{key[1]}"), user.cast("string"), *sizes, *texts]
    return reduce(lambda text, part: text + "|" + part, parts)
