"""What Ibis says for every engine that it connects to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from shortlist.engines.tables._dialect import Arrow, Dialect, Expression, Key

__all__ = ["Plain"]


class Plain(Dialect):
    """Any engine, in the words that all of them share."""

    hash = "md5(key, user, item)"

    def __init__(self, connection: Expression) -> None:
        """Take a connection of Ibis."""
        self.name: str = connection.name
        self._connection = connection

    def require(self, keys: Expression) -> None:
        """As `Dialect.require`: nothing is known of any engine."""

    def key(self, column: Expression) -> Expression:
        """As `Dialect.key`: as the engine compares."""
        return column

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """As `Dialect.hashed`: of a text, as hexadecimal digits."""
        return written(key, user, items).hexdigest("md5")

    def numbered(self, rows: Expression, name: str) -> Expression:
        """As `Dialect.numbered`: in the order of the columns, which every engine has."""
        import ibis

        return rows.mutate(ibis.row_number().over(order_by=rows.columns).name(name))

    def keep(self, name: str, query: Expression) -> None:
        """As `Dialect.keep`."""
        self._connection.create_table(name, query, temp=True)

    def give(self, name: str, rows: Arrow) -> None:
        """As `Dialect.give`."""
        self._connection.create_table(name, rows, temp=True)

    def fetch(self, query: Expression) -> Arrow:
        """As `Dialect.fetch`."""
        return self._connection.to_pyarrow(query)

    def drop(self, name: str) -> None:
        """As `Dialect.drop`."""
        self._connection.drop_table(name, force=True)

    def cancel(self) -> None:
        """As `Dialect.cancel`: what cannot be said for all."""


def written(key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
    """Key, user and item as one text, in which no two items of one user look the same."""
    import ibis

    texts = [item.cast("string") for item in items]
    sizes = [text.length().cast("string") for text in texts[:-1]]  # where each but the last ends
    parts = [ibis.literal(f"{key[0]}.{key[1]}"), user.cast("string"), *sizes, *texts]
    return reduce(lambda text, part: text + "|" + part, parts)
