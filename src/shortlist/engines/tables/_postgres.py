"""How PostgreSQL says it."""

from __future__ import annotations

from collections.abc import Sequence

from shortlist.engines.tables._dialect import Arrow, Expression, Key
from shortlist.engines.tables._functions import call
from shortlist.engines.tables._plain import Plain

__all__ = ["Postgres"]


class Postgres(Plain):
    """PostgreSQL, by a connection of Ibis, which has one of psycopg."""

    hash = "md5(key, user, item)"

    def __init__(self, connection: Expression) -> None:
        """Take a connection of Ibis."""
        super().__init__(connection)
        self.name = "PostgreSQL"

    def require(self, keys: Expression) -> None:
        """As `Dialect.require`: every key is made binary."""

    def key(self, column: Expression) -> Expression:
        """As `Dialect.key`: texts as their bytes, which no collation compares.

        Whatever type of text an extension brings has bytes; those of CHAR end before the padding.
        """
        if not column.type().is_string():
            return column
        return call("convert_to", "binary", call("concat", "string", column), _text("UTF8"))

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """As `Dialect.hashed`: bytes are digits in a text, so that no key holds the bar."""
        parts = [_text("|"), _text(f"{key[0]}.{key[1]}"), user, *items]
        return call("md5", "string", call("concat_ws", "string", *parts))

    def numbered(self, rows: Expression, name: str) -> Expression:
        """As `Dialect.numbered`: in the order in which they come."""
        import ibis

        return rows.mutate(ibis.row_number().name(name))

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        """As `Dialect.keep`; the planner needs to know how many rows there are."""
        self._connection._run_pre_execute_hooks(query)  # noqa: SLF001 - tables in memory that it names
        ordered = query if by is None else query.order_by(by)
        self._run(f'CREATE TEMP TABLE "{name}" AS {self._connection.compile(ordered)}')
        self._run(f'ANALYZE "{name}"')

    def give(self, name: str, rows: Arrow) -> None:
        """As `Dialect.give`: as CSV, which PyArrow writes and PostgreSQL reads fastest."""
        import ibis
        from pyarrow import BufferOutputStream, csv

        schema = ibis.Schema.from_pyarrow(rows.schema)
        self._connection.create_table(name, schema=schema, temp=True)
        written = BufferOutputStream()
        csv.write_csv(rows, written, csv.WriteOptions(include_header=False))
        into = f'COPY "{name}" FROM STDIN (FORMAT csv)'
        with self._connection.con.cursor() as cursor, cursor.copy(into) as copy:
            copy.write(written.getvalue().to_pybytes())
        self._run(f'ANALYZE "{name}"')

    def drop(self, name: str) -> None:
        """As `Dialect.drop`."""
        self._run(f'DROP TABLE "{name}"')

    def cancel(self) -> None:
        """As `Dialect.cancel`."""
        self._connection.con.cancel_safe()

    def _run(self, statement: str) -> None:
        self._connection.raw_sql(statement).close()


def _text(value: str) -> Expression:
    import ibis

    return ibis.literal(value)
