"""Places where a table of users and items can lie: the same tests run against each of them."""

import contextlib
import itertools
from functools import partial

import duckdb
import ibis
import polars as pl
import pyarrow as pa

import shortlist as sl
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.rows_in_table import RowsInTable
from shortlist.engines.tables._dialect import Dialect
from shortlist.evidence import UserSets, Wants

_NUMBERS = itertools.count(1)

ENDLESS_IN_DUCKDB = (
    'SELECT row % 1000 AS "user", row % 7 AS item FROM range(20_000_000_000) AS rows(row)'
)
ENDLESS_IN_POSTGRES = (
    'SELECT row AS "user", row AS item FROM generate_series(1, 60) AS rows(row) '
    "WHERE pg_sleep(1) IS NOT NULL"
)


class Memory:
    """This process."""

    def table(self, frame):
        return frame

    def source(self, frame, **more):
        named = {"user": "user", "item": "item"} | more
        return sl.pairs(self.table(frame), **named)

    def left(self):
        """The temporary tables that are there."""
        return []


class DuckDB(Memory):
    """A connection of Ibis, whose rows stay in DuckDB."""

    def __init__(self):
        self.native = duckdb.connect()
        self.connection = ibis.duckdb.from_connection(self.native)

    def table(self, frame):
        name = f"plays_{next(_NUMBERS)}"
        self.native.register("given", arrow_of(frame))
        self.native.execute(f"CREATE TABLE {name} AS FROM given")
        self.native.unregister("given")
        return self.connection.table(name)

    def source(self, frame, **more):
        return super().source(frame, **{"pull": False} | more)

    def endless(self):
        """A source of more rows than anybody waits for, of few users and items."""
        self.native.execute(f"CREATE VIEW endless AS {ENDLESS_IN_DUCKDB}")
        return sl.pairs(self.connection.table("endless"), user="user", item="item", pull=False)

    def works(self):
        """Whether a query is still run: then nothing else could be."""
        return self.native.execute("SELECT 1").fetchall() != [(1,)]

    def left(self):
        query = "SELECT table_name FROM duckdb_tables() WHERE temporary"
        return self.native.execute(query).fetchall()


class Relation(DuckDB):
    """A relation of DuckDB."""

    def table(self, frame):
        return self.native.table(super().table(frame).get_name())

    def endless(self, *, pull=False):
        rows = self.native.sql(ENDLESS_IN_DUCKDB)
        return sl.pairs(rows, user="user", item="item", pull=pull)


class Postgres(Memory):
    """A database of its own."""

    def __init__(self, server):
        self._server, self.native = server, server.connect()
        self.connection = ibis.postgres.from_connection(self.native)

    def table(self, frame):
        name = f"plays_{next(_NUMBERS)}"
        rows = arrow_of(frame)
        schema = ibis.Schema.from_pyarrow(rows.schema)
        self.connection.create_table(name, schema=schema)
        with self.native.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
        return self.connection.table(name)

    def endless(self):
        self.native.execute(f"CREATE OR REPLACE VIEW endless AS {ENDLESS_IN_POSTGRES}")
        return self.source_of("endless", user="user", item="item")

    def source_of(self, table, **names):
        """A source of a table that is there."""
        return sl.pairs(self.connection.table(table), **names)

    def works(self):
        query = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'"
        with self._server.connect() as other:
            return other.execute(query, [self.native.info.backend_pid]).fetchone() != (0,)

    def left(self):
        query = "SELECT relname FROM pg_class WHERE relname LIKE 'shortlist%' AND relkind = 'r'"
        return self.native.execute(query).fetchall()


class AnyEngine(Postgres):
    """PostgreSQL, spoken to in the words that are the same for all engines."""

    def source(self, frame, **more):
        return self._plain(super().source(frame, **more))

    def source_of(self, table, **names):
        return self._plain(super().source_of(table, **names))

    def _plain(self, source):
        self._spoken_to(source._engine)
        return source

    def _spoken_to(self, engine):
        """The engine in these words, and what is made of it: in groups, of a list, together."""
        engine._in_engine = engine._in_engine._replace(dialect=Dialect(self.connection))
        for name in ("grouped_by", "of_items", "together"):
            if make := getattr(engine, name, None):
                setattr(engine, name, partial(self._made, make))
        return engine

    def _made(self, make, *given):
        return self._spoken_to(make(*given))


class Spark(Memory):
    """A session."""

    def __init__(self, session):
        self.session = session

    def table(self, frame):
        return self.session.createDataFrame(arrow_of(frame))

    def endless(self):
        frame = self.session.range(10**12).selectExpr("id % 1000 AS user", "id % 7 AS item")
        return sl.pairs(frame, user="user", item="item")

    def works(self):
        return bool(self.session.sparkContext.statusTracker().getActiveJobsIds())

    def left(self):
        views = self.session.sql("SHOW VIEWS LIKE 'shortlist*'").collect()
        return [view.viewName for view in views]


class SparkConnect(Spark):
    """A session of Spark Connect."""

    def works(self):
        """There is one core: a job that went on would have it."""
        return self.session.range(1).count() != 1


def arrow_of(frame):
    """An Arrow table with the usual texts, and no views of them."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(
        pa.schema([(name, _type(dtype)) for name, dtype in frame.schema.items()])
    )


def _type(dtype):
    known = {
        pl.String: pa.string(),
        pl.Date: pa.date32(),
        pl.Boolean: pa.bool_(),
        pl.Binary: pa.binary(),
        pl.Float64: pa.float64(),
        pl.Float32: pa.float32(),
        pl.Datetime: pa.timestamp("us"),
    }
    if isinstance(dtype, pl.Decimal):
        return pa.decimal128(dtype.precision, dtype.scale)
    return known.get(type(dtype), pa.int64())


@contextlib.contextmanager
def sets_of(source, seed=1):
    """Users' sets as a source shows them, and the items by their codes."""
    with source._engine.show(Wants(UserSets), ExactDraws(SeededBits(seed))) as shown:
        held = shown.evidence
        yield held, shown.items


def rows_of(held, items):
    """All (user, item) rows of sets, as they are: of those in an engine with the users' values."""
    if hasattr(held, "scratch"):
        known = held.values.sets
        numbered = held.pairs.join(held.values.items, "c")
        named = numbered.join(known.select("u", "value").distinct(), "u")
        columns = ["value", *held.values.columns]
        rows = pl.DataFrame(held.scratch.fetch_rows(named.select(columns)))
        texts = [pl.col(c).cast(pl.String) for c, t in rows.schema.items() if t == pl.Binary]
        return sorted(rows.with_columns(texts).rows())
    names = items(held.listed()).rows()
    users = [user for user, size in enumerate(held.sizes.tolist()) for _ in range(size)]
    return sorted((user, *name) for user, name in zip(users, names, strict=True))


def is_slow(place):
    """Whether tests had better ask little."""
    return isinstance(place, Spark)


def is_spoken_to_as_another(place):
    """Whether what it is asked, and how it answers, is as of Spark: only the way there differs."""
    return isinstance(place, SparkConnect)


def stays_in_engine(source):
    return isinstance(source._engine, RowsInTable)
