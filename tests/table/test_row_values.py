"""Arithmetic and functions of filters: what they mean, and that they fail at no row."""

import polars as pl
import pytest
from hypothesis import assume, given, settings

from helpers.filter_values import COLUMNS, EXTREMES, VALUES_OF_ROWS, frame_of_extremes, same
from helpers.reading import refusal
from shortlist.errors import InputError
from shortlist.table import open_table
from shortlist.table._filters_in_memory import _InPolars, _kind
from shortlist.table._filters_in_sql import parsed
from shortlist.table.row_values import expression

FRAME = frame_of_extremes()
KINDS = {name: _kind(dtype()) for name, (dtype, _) in COLUMNS.items()}


def value_of(text):
    """A value as the language reads it; the example is left out where it is too deep for it."""
    try:
        return parsed(f"({text}) is null").of(KINDS).condition.value
    except InputError as refused:
        assume("deep" not in str(refused))
        raise


def in_memory(text, frame=FRAME):
    found = frame.select(expression(value_of(text), _InPolars(frame.schema)).alias("found"))
    return found["found"].to_list()


@settings(max_examples=60)
@given(VALUES_OF_ROWS)
def test_a_value_is_what_it_means_at_every_row(value):
    text, meaning = value
    for found, row in zip(in_memory(text), EXTREMES, strict=True):
        assert same(found, meaning(row)), (text, row)


@settings(max_examples=20)
@given(VALUES_OF_ROWS)
def test_a_value_of_a_row_does_not_depend_on_other_rows(value):
    text, meaning = value
    for place in range(0, len(EXTREMES), 37):
        found = in_memory(text, FRAME.slice(place, 1))[0]
        assert same(found, meaning(EXTREMES[place])), text


@settings(max_examples=40)
@given(VALUES_OF_ROWS)
def test_its_text_is_read_as_the_same(value):
    read = value_of(value[0])
    assert value_of(str(read)) == read


def kept(data, where):
    _, items = open_table(data, user="user", items=["item"], where=where).pairs()
    return sorted(items.take(items.codes)["item"].cast(pl.Int64).to_list())


def of_values(name, values, dtype=None):
    n = len(values)
    held = {"user": range(n), "item": range(n), name: pl.Series(values, dtype=dtype)}
    return pl.DataFrame(held)


def test_whole_numbers_beyond_64_bits_are_null_where_they_are_computed_with():
    held = of_values("w", [2**64 - 1, 2**63, 2**63 - 1], pl.UInt64)
    assert kept(held, "w + 0 is null") == [0, 1]
    assert kept(held, "w > 9223372036854775806") == [0, 1, 2]
    assert kept(of_values("w", [2**100, -(2**63), 5], pl.Int128), "w * 2 = 10") == [2]


def test_a_quotient_is_of_floating_point_numbers_also_of_whole_ones():
    held = of_values("n", [7, 6, 0])
    assert kept(held, "n / 2 = 3.5") == [0]
    assert kept(held, "12 / n = 2") == [1]
    assert kept(held, "12 / n is null") == [2]


def test_times_that_no_calendar_has_are_null():
    far = of_values("s", [2**62, -(2**62), 0], pl.Int64)
    for unit in ("ms", "us", "ns"):
        held = far.with_columns(pl.col("s").cast(pl.Datetime(unit)))
        known = "year(s) > 0 and month(s) > 0 and day(s) > 0"
        assert kept(held, known)[-1] == 2
        assert kept(held, "year(s) > 9999 or year(s) < 1") == []
        kept(held, "try_cast(s as date) < date '2026-01-01'")
    dates = far.with_columns(pl.col("s").clip(-(2**31), 2**31 - 1).cast(pl.Int32).cast(pl.Date))
    assert kept(dates, "year(s) is null") == [0, 1]


def test_months_and_days_of_texts_are_as_they_are_written():
    held = of_values("w", ["2026-11-01", "2026-99-77 and more", "11/2026"])
    assert kept(held, "year(try_cast(w as date)) = 2026") == [0, 1]
    assert kept(held, "month(try_cast(w as date)) = 99") == [1]


def test_a_text_begins_with_what_a_pattern_could_not_say():
    held = of_values("t", ["50%_off", "50 off", "🦆50%", None])
    assert kept(held, "starts_with(t, '50%_')") == [0]
    assert kept(held, "starts_with(t, '')") == [0, 1, 2]
    assert str(parsed("starts_with(t, '🦆5')")) == "SUBSTRING(t, 1, 2) = '🦆5'"


@pytest.mark.parametrize(
    ("where", "piece", "said"),
    [
        ("lower(t) = 'no'", "LOWER(t)", "in another way on each engine"),
        ("t ilike 'no'", "t ILIKE 'no'", "Write each spelling out"),
        ("upper(t) = 'NO'", "UPPER(t)", "the query that makes the table"),
        ("cast(t as bigint) = 1", "CAST(t AS BIGINT)", "Write TRY_CAST(column AS BIGINT)"),
        ("n % 2 = 0", "n % 2", "another sign below 0"),
        ("d < current_date", "CURRENT_DATE", "is another day on each run"),
        ("60 * 24 < n", "60 * 24", "looks at no column. Write out what it comes to"),
        ("n + (1 - 1) > 2", "1 - 1", "looks at no column"),
        ("n + n + n + n + n + n + n > 0", "n + n + n + n + n + n + n", "more than 4 deep"),
        ("n" + " + n" * 400 + " > 0", "", "cannot be read as a condition"),
        ("substring(t, 2) = 'a'", "SUBSTRING(t, 2)", "Write SUBSTRING(text, 1, 3)"),
        ("substring(t, 0, 2) = 'a'", "SUBSTRING(t, 0, 2)", "counted from 1"),
        ("substring(t, 1, -1) = 'a'", "SUBSTRING(t, 1, -1)", "counted from 1"),
        ("substring(t, n, 1) = 'a'", "SUBSTRING(t, n, 1)", "counted from 1"),
        ("substring(n, 1, 1) = 'a'", "SUBSTRING(n, 1, 1)", "n is a whole number"),
        ("starts_with(t, u)", "u", "stands where a literal must"),
        ("n / 0 = 1", "n / 0", "a quotient by 0 is null"),
        ("t + 1 = 2", "t + 1", "TRY_CAST(column AS BIGINT), or AS DOUBLE"),
        ("d + 1 > d", "d + 1", "d is a date"),
        ("n + true > 1", "n + TRUE", "TRUE is true or false"),
        ("abs(t) = 1", "ABS(t)", "t is text"),
        ("length(n) = 1", "LENGTH(n)", "n is a whole number"),
        ("year(t) = 2026", "YEAR(t)", "TRY_CAST(column AS DATE)"),
        ("year(coalesce(d, d)) = 2026", "YEAR(COALESCE(d, d))", "a column of dates"),
        ("coalesce(n, 'a') = 1", "COALESCE(n, 'a')", "values of one kind"),
        ("coalesce(try_cast(w as date), d) = d", "COALESCE", "of which a day in a text is none"),
        ("n + 1 = x", "x", "a whole number"),
        ("n + 1 = 0.5", "n + 1 = 0.5", "a whole number of 64 bits"),
        ("try_cast(n as double) = 1", "n", "what stands there must be text"),
        ("hour(s) = 1", "HOUR(s)", "is no part of"),
        ("extract(year from d) = 1", "EXTRACT(YEAR FROM d)", "is no part of"),
        ("nullif(n, 0) = 1", "NULLIF(n, 0)", "is no part of"),
        ("round(x) = 1", "ROUND(x)", "is no part of"),
        ("t || u = 'a'", "t || u", "is no part of"),
        ("length(t)", "LENGTH(t)", "true or false"),
    ],
)
def test_what_has_no_one_meaning_is_refused_by_name(where, piece, said):
    held = FRAME.with_columns(s=pl.lit("2026-11-01").str.to_datetime())
    assert "where=" in refusal(lambda: kept(held, where), piece, said)
