"""Values that identify users, items and groups without being text, integers or dates."""

import math
from decimal import Decimal
from uuid import UUID

import duckdb
import polars as pl
import pytest

import shortlist as sl
from helpers import engine_places
from helpers.engine_places import sets_of
from helpers.exhaustive import exhaustive
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables._dialect import Dialect
from shortlist.engines.tables._sets_from_rows import identified
from shortlist.errors import SPENT
from shortlist.mechanisms import WeightedGaussian

FIRST, SECOND = UUID(int=7**30), UUID(int=7**40)
KINDS = {  # the type, values of it, and what they are read as
    "decimal(12, 0)": (pl.Decimal(12, 0), [Decimal(7), Decimal(-3), Decimal(10**11)]),
    "decimal(30, 0)": (pl.Decimal(30, 0), [Decimal(7), Decimal(-3), Decimal(10**28 + 1)]),
    "float": (pl.Float64, [7.0, -0.0, 0.0, 2.0**53]),
    "short float": (pl.Float32, [7.0, -0.0, 0.0, 2.0**24]),
    "boolean": (pl.Boolean, [True, False]),
    "binary": (pl.Binary, [b"\xaa\x0b", b"a"]),
    "uuid": (None, [FIRST, SECOND]),
}
TEXTS = {True: "true", False: "false", b"\xaa\x0b": "aa0b", b"a": "61"}


def read_as(value):
    if isinstance(value, bool | bytes):
        return TEXTS[value]
    return str(value) if isinstance(value, UUID) else int(value)


@pytest.fixture(params=KINDS)
def kind(request, place):
    if request.param == "uuid" and engine_places.is_slow(place):
        pytest.skip("Spark has no UUIDs")
    if request.param == "binary" and type(place) is engine_places.AnyEngine:
        pytest.skip("is refused: see below")
    return request.param


def source_of(place, kind, columns, **more):
    """A source of columns, of which those that hold values of a kind are of its type."""
    dtype, values = KINDS[kind]
    typed = [name for name, held in columns.items() if type(held[0]) is type(values[0])]
    if dtype is not None:
        frame = pl.DataFrame(
            {n: pl.Series(v, dtype=dtype if n in typed else None) for n, v in columns.items()}
        )
        return place.source(frame, **more)
    if type(place) is engine_places.Memory:
        held = {
            n: pl.Series(v, dtype=pl.Object if n in typed else None) for n, v in columns.items()
        }
        return place.source(pl.DataFrame(held), **more)
    texts = {n: [v and str(v) for v in held] if n in typed else held for n, held in columns.items()}
    table = place.table(pl.DataFrame(texts))
    if isinstance(place, engine_places.Relation):
        uuids = (f'"{n}"::UUID AS "{n}"' if n in typed else f'"{n}"' for n in columns)
        table = table.project(", ".join(uuids))
    else:
        table = table.mutate(**{name: table[name].cast("uuid") for name in typed})
    found = sl.pairs(table, **({"user": "user", "item": "item"} | more))
    return place._plain(found) if isinstance(place, engine_places.AnyEngine) else found


def pairs_of(kind):
    """Each value holds itself and those before it; and a user who is not known, nor is an item."""
    _, values = KINDS[kind]
    return [(u, i) for place, u in enumerate(values) for i in values[: place + 1]]


def test_values_are_told_apart_alike_wherever_they_lie(place, kind):
    pairs = pairs_of(kind)
    users, items = (list(column) for column in zip(*pairs, (None, KINDS[kind][1][0]), strict=True))
    rows = {(read_as(user), read_as(item)) for user, item in pairs}
    sizes = [sum(user == one for one, _ in rows) for user in {user for user, _ in rows}]
    with sets_of(source_of(place, kind, {"user": users, "item": items})) as (held, named):
        codes = held.counts.nonzero()[0]
        assert dict(zip(named(codes)["item"].to_list(), held.counts[codes], strict=True)) == {
            item: sum(one == item for _, one in rows) for _, item in rows
        }
        assert [size for size, n in enumerate(held.users_of_size()) for _ in range(n)] == sorted(
            sizes
        )
        bounded = held.bounded(1, ExactDraws(SeededBits(3)))
        assert bounded.users_of_size().tolist() == [0, len(sizes)]


@pytest.mark.parametrize("grouped", [True, *exhaustive(False)])
def test_items_and_groups_are_shown_alike_wherever_they_lie(place, kind, grouped):
    _, values = KINDS[kind]
    values = [values[0], values[-1]]
    n = 200
    columns = {"user": list(range(2 * n)), "item": [v for v in values for _ in range(n)]}
    source = source_of(place, kind, {**columns, "group": columns["item"]})
    by = {"by": "group"} if grouped else {}
    asked = {"epsilon": 5.0, "delta": 1e-3, "mechanism": WeightedGaussian} | by
    release = source.domain(random=SeededBits(1), **asked)
    wanted = [read_as(value) for value in values]
    shown = [item[-1] if grouped else item for item in release.items]
    assert sorted(shown, key=str) == sorted(wanted, key=str)
    if grouped:
        assert all(group == item for group, item in release.items)
    assert type(shown[0]) is (int if isinstance(wanted[0], int) else str)


def test_public_items_are_found_wherever_they_lie(place, kind, tmp_path):
    _, values = KINDS[kind]
    values = [values[0], values[-1]]
    columns = {"user": list(range(300)), "item": [values[1]] * 300}
    source = source_of(place, kind, columns, public_items=values)
    release = source.top_k(1, epsilon=5.0, random=SeededBits(1))
    assert release.items == [read_as(values[1])]
    for suffix in (".json", ".parquet"):
        release.save(tmp_path / f"r{suffix}")
        assert sl.load(tmp_path / f"r{suffix}") == release
    assert str(read_as(values[1])) in release.to_csv()


@pytest.mark.parametrize(
    ("column", "one"),
    [("user", 1.5), ("item", -0.5), ("user", 2.0**53 + 2), ("item", 1e300), ("user", math.nan)],
)
def test_a_float_that_identifies_nothing_is_refused_once_it_is_read(place, column, one):
    columns = {"user": [1, 2], "item": [3, 4]}
    source = place.source(pl.DataFrame(columns | {column: [7.0, one]}))
    said = refusal(
        lambda: source.domain(epsilon=1.0, delta=1e-6), "identifies nothing", "not shown", SPENT
    )
    assert str(one) not in said


def test_bytes_that_an_engine_has_no_word_for_are_refused_before_a_row_is_read(any_engine):
    rows = any_engine.table(pl.DataFrame({"user": [1], "item": [b"x"]})).select("user", "item")
    said = refusal(lambda: identified(rows, Dialect(any_engine.connection)), "binary", "pull=True")
    assert '"item"' in said


def test_uuids_are_pulled_as_text():
    connection = duckdb.connect()
    relation = connection.sql(f"SELECT 'u' AS \"user\", '{FIRST}'::UUID AS item")
    with sets_of(sl.pairs(relation, user="user", item="item", pull=True)) as (held, named):
        assert named(held.counts.nonzero()[0])["item"].to_list() == [str(FIRST)]


def test_a_type_that_is_not_known_stands_in_the_way_of_no_other_column(postgres):
    table = f"odd_{id(postgres)}"
    postgres.native.execute(f"CREATE TABLE {table} (u int, a numeric(40, 0), b inet, k uuid)")
    postgres.native.execute(f"INSERT INTO {table} VALUES (1, 7, '::1', '{FIRST}')")
    with sets_of(postgres.source_of(table, user="u", item="k")) as (held, named):
        assert named(held.counts.nonzero()[0])["k"].to_list() == [str(FIRST)]
    for column in "ab":
        refusal(
            lambda c=column: postgres.source_of(table, user="u", item=c), "type that is not known"
        )
