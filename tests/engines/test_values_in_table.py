"""What a filter computes is the same to the last bit wherever the rows lie, and fails at none."""

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import shortlist as sl
from helpers import engine_places
from helpers.filter_values import COLUMNS, EXTREMES, VALUES_OF_ROWS, frame_of_extremes, same
from shortlist.engines.tables._filters_in_table import _InIbis
from shortlist.engines.tables.which_engine import table_in_engine
from shortlist.errors import InputError
from shortlist.table import row_values
from shortlist.table._filters_in_memory import _kind
from shortlist.table._filters_in_sql import parsed
from shortlist.table.row_values import expression

KINDS = {name: _kind(dtype()) for name, (dtype, _) in COLUMNS.items()}


def value_of(text):
    return parsed(f"({text}) is null").of(KINDS).condition.value


def is_in_the_language(value):
    try:
        return bool(value_of(value[0]))
    except InputError:
        return False


MANY = st.lists(VALUES_OF_ROWS.filter(is_in_the_language), min_size=10, max_size=25)
UNHURRIED = settings(
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def computed_there(table, texts):
    """The values of all rows, by one query."""
    terms = _InIbis(table)
    values = {f"v{i}": expression(value_of(text), terms) for i, text in enumerate(texts)}
    found = table.dialect.fetch(table.rows.select(item=table.rows["item"], **values))
    return pl.DataFrame(pl.from_arrow(found)).sort("item").drop("item")


@pytest.fixture
def held_there(engine):
    held = frame_of_extremes()
    return table_in_engine(engine.table(held), held.columns)


@settings(UNHURRIED, max_examples=4)
@given(MANY)
def test_a_value_is_what_it_means_at_every_row(held_there, values):
    found = computed_there(held_there, [text for text, _ in values])
    for (text, meaning), column in zip(values, found.iter_columns(), strict=True):
        for value, row in zip(column.to_list(), EXTREMES, strict=True):
            assert same(value, meaning(row)), (text, row, value)


# Values that memory has not: nothing may fail at them, for that would tell of a row

ODD_TIMES = ["infinity", "-infinity", "4713-01-01 BC", "9999-12-31 23:59:59.999999"]
ABOUT_DAYS = [
    "year(d) > 0 and month(d) > 0 and day(d) > 0",
    "year(s) = 9999",
    "month(s) * day(s) + year(s) * 1.0 / day(d) is null",
    "try_cast(s as date) < date '2026-11-01'",
    "coalesce(d, date '2026-11-01') < date '2026-11-01' or year(d) is null",
]


def items_kept(source):
    table = source._engine._in_engine
    return sorted(table.dialect.fetch(table.rows.select("item"))["item"].to_pylist())


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_days_that_no_calendar_has_are_null_and_fail_nowhere(kind, request):
    place = engine_places.DuckDB() if kind == "duckdb" else request.getfixturevalue("postgres")
    bc = (lambda text: text) if kind == "postgres" else (lambda text: text.replace(" BC", " (BC)"))
    years = ["5874897-12-31"] if kind == "postgres" else ["5881580-07-10"]
    rows = [
        f"({i}, {i}, DATE '{bc(d)}', TIMESTAMP '{bc(s)}')"
        for i, (d, s) in enumerate(zip([*ODD_TIMES[:3], *years], ODD_TIMES, strict=True))
    ]
    place.native.execute(
        "CREATE TABLE odd AS SELECT * FROM (VALUES "
        + ", ".join(rows)
        + ') AS held("user", item, d, s)'
    )
    for where, expected in zip(ABOUT_DAYS, ([], [3], [0, 1, 2, 3], [], [0, 1, 2, 3]), strict=True):
        more = {"pull": False} if kind == "duckdb" else {}
        table = place.connection.table("odd")
        source = sl.pairs(table, user="user", item="item", where=where, **more)
        assert items_kept(source) == expected, where


@pytest.mark.parametrize(
    ("planted", "text"),
    [
        ("_is_term", "x + v"),
        ("_is_divisor", "x / v"),
        ("_is_factor", "x * v"),
    ],
)
def test_what_is_not_bounded_first_fails_at_some_row(planted, text, postgres, monkeypatch):
    held = frame_of_extremes()
    table = table_in_engine(postgres.table(held), held.columns)
    assert computed_there(table, [text]).height == len(EXTREMES)
    loose = getattr(row_values, planted)
    free = {
        function: tuple((lambda found: found.notnull()) if fit is loose else fit for fit in fits)
        for function, fits in row_values._FITS.items()
    }
    monkeypatch.setattr(row_values, "_FITS", free)
    with pytest.raises(Exception, match=r"out of range|division by zero"):
        computed_there(table, [text])


def test_whole_numbers_that_are_not_widened_fail_at_some_row(monkeypatch):
    engine, held = engine_places.DuckDB(), frame_of_extremes()
    table = table_in_engine(engine.table(held), held.columns)
    monkeypatch.setattr(_InIbis, "wide", lambda _, whole: whole)
    for text in ("n + m", "n - m", "n * m"):
        with pytest.raises(Exception, match=r"[Oo]verflow"):
            computed_there(table, [text])
