"""Filters of rows: the same rows as SQL's three-valued logic keeps, and what is refused."""

import datetime as dt
import math
import operator
import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from helpers.filter_rows import DAYS, ROWS, TIMES, VALUES, frame
from helpers.reading import refusal
from helpers.refusals import MARKER
from helpers.tables import FORMS
from shortlist.table import open_table
from shortlist.table._filters_in_sql import parsed


def kept(data, where):
    _, items = open_table(data, user="user", items=["item"], where=where).pairs()
    return sorted(items.take(items.codes)["item"].cast(pl.Int64).to_list())


# Conditions, each as SQL and as what it means in Python: True, False or None

SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def sql_name(name):
    return f'"{name}"' if " " in name else name


def value_of(row, name):
    value = row[name]
    if isinstance(value, float):
        value = None if math.isnan(value) else float(np.float32(value)) if name == "f" else value
    return value


def cast_of(row, name):
    text = row[name]
    plain = text is not None and text.removeprefix("-").isascii() and len(text) <= 19
    digits = text.removeprefix("-") if plain else ""
    return int(text) if plain and digits.isdigit() and len(digits) <= 18 else None


def day_of(row, name):
    value = row[name]
    if isinstance(value, str):
        begins = re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", value)
        return tuple(map(int, begins[0].split("-"))) if begins else None
    return value and value.timetuple()[:3]


def literal(value):
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return f"timestamp '{value}'"
    if isinstance(value, dt.date):
        return f"date '{value}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def ordinary(values):
    """Those that can be written as literals."""
    return [
        v for v in values
        if not (isinstance(v, float) and not math.isfinite(v))
        and not (isinstance(v, int) and not -(2**63) < v < 2**63)
        and not (isinstance(v, str) and not v.isprintable())
    ]  # fmt: skip


def like(text, pattern):
    """By trying all ways, one character after the other."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[i:], pattern[1:]) for i in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])


def null_or(meaning, *values):
    return None if None in values else meaning(*values)


@st.composite
def comparisons(draw):
    name = draw(st.sampled_from(list(VALUES)))
    cast = name == "c" and draw(st.booleans())
    as_day = name in ("d", "s", "y") and draw(st.booleans())
    left, of = (f"try_cast({name} as bigint)", cast_of) if cast else (sql_name(name), value_of)
    if as_day:
        left, of = f"try_cast({name} as date)", day_of
    sign = draw(st.sampled_from(["=", "<>"] if name == "b" else list(SIGNS)))
    of_kind = [0, 7, -7] if cast else DAYS if as_day else ordinary(VALUES[name][1])
    if name == "s" and not as_day:
        of_kind = [*of_kind, *DAYS]
    value = draw(st.sampled_from(of_kind))
    is_midnight = name == "s" and not as_day and value in DAYS
    meant = dt.datetime.combine(value, dt.time()) if is_midnight else value
    meant = value.timetuple()[:3] if as_day else meant
    if draw(st.booleans()):
        text = f"{left} {sign} {literal(value)}"
    else:
        mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
        text = f"{literal(value)} {mirrored} {left}"
    return text, lambda row: null_or(lambda v: SIGNS[sign](v, meant), of(row, name))


@st.composite
def others(draw):
    name = draw(st.sampled_from([n for n in VALUES if n != "b"]))
    column = sql_name(name)
    values = draw(st.lists(st.sampled_from(ordinary(VALUES[name][1])), min_size=1, max_size=3))
    listed = ", ".join(map(literal, values))
    low, high = values[0], values[-1]
    pattern = draw(
        st.sampled_from(["%", "_", "N%", "%O", "%_%", "a__", "50%", "_🦆", "", "[x]", "%.%"])
    )
    ways = {
        f"{column} in ({listed})": lambda row: null_or(lambda v: v in values, value_of(row, name)),
        f"{column} not in ({listed})": lambda row: null_or(
            lambda v: v not in values, value_of(row, name)
        ),
        f"{column} is null": lambda row: value_of(row, name) is None,
        f"{column} is not null": lambda row: value_of(row, name) is not None,
        f"{column} between {literal(low)} and {literal(high)}": lambda row: null_or(
            lambda v: low <= v <= high, value_of(row, name)
        ),
        f"t like {literal(pattern)}": lambda row: null_or(lambda v: like(v, pattern), row["t"]),
        f"t not like {literal(pattern)}": lambda row: null_or(
            lambda v: not like(v, pattern), row["t"]
        ),
        "t < u": lambda row: null_or(operator.lt, row["t"], row["u"]),
        "b": lambda row: row["b"],
    }
    return draw(st.sampled_from(list(ways.items())))


def conjunction(one, other):
    return False if False in (one, other) else None if None in (one, other) else True


def negation(one):
    return None if one is None else not one


def disjunction(one, other):
    return negation(conjunction(negation(one), negation(other)))


def both(one, other):
    return f"({one[0]}) and ({other[0]})", lambda row: conjunction(one[1](row), other[1](row))


def either(one, other):
    return f"({one[0]}) or ({other[0]})", lambda row: disjunction(one[1](row), other[1](row))


def joined(inner):
    return st.one_of(
        st.builds(both, inner, inner),
        st.builds(either, inner, inner),
        inner.map(lambda one: (f"not ({one[0]})", lambda row: negation(one[1](row)))),
    )


CONDITIONS = st.recursive(st.one_of(comparisons(), others()), joined, max_leaves=5)


@given(CONDITIONS)
def test_the_rows_that_are_kept_are_those_for_which_it_is_true(condition):
    where, meaning = condition
    expected = [i for i, row in enumerate(ROWS) if meaning(row) is True]
    assert kept(frame(), where) == expected
    assert kept(frame(), str(parsed(where))) == expected


@settings(max_examples=20)
@given(CONDITIONS)
def test_what_is_kept_of_a_row_does_not_depend_on_other_rows(condition):
    where, _ = condition
    alone = [i for i, row in enumerate(ROWS) if kept(frame([row]), where)]
    assert alone == kept(frame(), where)


@pytest.mark.parametrize("name", FORMS)
def test_texts_are_filtered_in_every_form(name, tmp_path):
    held = pl.DataFrame(
        {"user": ["1", "2", "3"], "item": ["1", "2", "3"], "land": ["NO", None, "SE"]}
    )
    data = FORMS[name](held, tmp_path)
    assert kept(data, "land = 'NO'") == [1]
    assert kept(data, "land is null or land > 'NO'") == [2, 3]
    assert kept(data, "try_cast(user as bigint) >= 2 and not item = '3'") == [2]


def test_lists_and_objects_are_filtered_as_text_and_what_is_none_is_missing():
    held = {"user": [1, 2, 3], "item": [1, 2, 3], "what": ["x", 0.5, object()]}
    for data in (held, pd.DataFrame(held), pd.DataFrame(held | {"what": ["x", None, 1.5]})):
        assert kept(data, "what = 'x'") == [1]
        assert kept(data, "what is null") == [2, 3]


def test_missing_numbers_of_pandas_are_missing():
    held = pd.DataFrame({"user": [1, 2], "item": [1, 2], "x": [0.5, float("nan")]})
    assert kept(held, "x is null") == [2]
    assert kept(held, "not x = 1") == [1]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_of_all_units_are_compared_exactly(unit):
    times = pl.Series([0, 1, None], dtype=pl.Int64).cast(pl.Datetime(unit))
    held = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 3], "at": times})
    assert kept(held, "at > timestamp '1970-01-01 00:00:00'") == [2]
    after = kept(held, "at >= timestamp '1970-01-01 00:00:00.000001'")
    assert after == ([] if unit == "ns" else [2])
    assert kept(held, "at < date '9999-12-31'") == [1, 2]


def test_a_long_chain_is_no_deep_one():
    where = " or ".join(f"n={i}" for i in range(200))
    assert kept(frame(), where) == kept(frame(), "n between 0 and 199")


def test_columns_are_named_to_the_letter():
    held = pl.DataFrame({"user": [1], "item": [1], 'a "b" c': ["x"], "A": ["y"], "a": ["z"]})
    assert kept(held, """ "a ""b"" c" = 'x' and A = 'y' and a = 'z' """) == [1]


@pytest.mark.parametrize(
    ("where", "piece", "rule"),
    [
        ("n in (select 1)", "n IN (SELECT 1)", "looks beyond its row"),
        ("exists (select 1)", "EXISTS(SELECT 1)", "looks beyond its row"),
        ("sum(n) > 1", "SUM(n)", "looks beyond its row"),
        ("count(*) over () > 1", "COUNT(*) OVER ()", "looks beyond its row"),
        ("random() < 0.5", "RAND()", "is no part of"),
        ("now() > s", "NOW()", "is no part of"),
        ("t like 'a' escape '!'", "t LIKE 'a' ESCAPE '!'", "is no part of"),
        ("t like u", "u", "stands where a literal must"),
        ("t like 'a\\b'", "'a\\b'", "is no pattern"),
        ("p.t = 'a'", "p.t", "is not the name of a column alone"),
        ("t = :secret", ":secret", "is no part of"),
        ("n = null", "NULL", "ask for it by IS NULL"),
        ("n in (1, null)", "NULL", "ask for it by IS NULL"),
        ("1 = 1", "1", "stands where a column must"),
        ("true", "TRUE", "stands where a column must"),
        ("d = date '2026-02-30'", "CAST('2026-02-30' AS DATE)", "is no value"),
        ("s = timestamp '2026-11-01 00:00:00+01'", "+01", "is no value"),
("t = 'a' collate nocase", "nocase", "is no part of"),
        ("case when b then true end", "CASE WHEN b THEN TRUE END", "is no part of"),
        ("(n, w) = (1, 2)", "(n, w)", "is no part of"),
        ("b is not true", "b IS TRUE", "is no part of"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_language_is_refused_and_quoted(where, piece, rule):
    message = refusal(lambda: kept(frame(), where), piece, rule, "A filter has columns, literals")
    assert message.startswith("where=")


@pytest.mark.parametrize(
    "where",
    ["", "t =", "t = 'a'; drop table t", "t = 'a", "select 1", "(" * 300 + "b" + ")" * 300,
     "t = 'a\tb'", 't = "a\u200bb"', "not " * 450 + "b"],
)  # fmt: skip
def test_what_is_no_condition_is_refused(where):
    refusal(lambda: kept(frame(), where), "cannot be read as a condition in SQL")


def test_what_some_versions_of_the_parser_do_not_know_is_refused_by_all():
    refusal(lambda: kept(frame(), "n between symmetric 1 and 2"), "where=", "A filter has columns")


@pytest.mark.parametrize("where", [7, b"b", [], ["b", 7], "b or " * 500 + "b"])
def test_what_is_no_text_or_too_long_is_refused(where):
    refusal(lambda: kept(frame(), where), "a condition in SQL, of at most 2,000 characters")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("t = 1", "t is text"),
        ("t", "t is text; what stands there must be true or false"),
        ("n = 'a'", "n is a whole number"),
        ("n > 0.5", "a whole number of 64 bits"),
        ("n = 9223372036854775808", "a whole number of 64 bits"),
        ("x = date '2026-11-01'", "x is a floating-point number"),
        ("x = 1e999", "x is a floating-point number"),
        ("d = '2026-11-01'", "such as DATE '2026-11-01'"),
        ("d = timestamp '2026-11-01'", "d is a date"),
        ("s = 1", "s is a timestamp"),
        ("b = 'true'", "by = or <>"),
        ("b < true", "by = or <>"),
        ("n = x", "x is a floating-point number"),
        ("n like '1%'", "n is a whole number"),
        ("try_cast(n as bigint) = 1", "n is a whole number; what stands there must be text"),
        ("try_cast(t as bigint) = 'a'", "TRY_CAST(t AS BIGINT) is a whole number"),
    ],
)
def test_what_cannot_be_compared_is_refused(where, said):
    refusal(lambda: kept(frame(), where), "where=", said)


def test_columns_are_looked_up_before_rows_are_read(write):
    refusal(lambda: kept(frame(), "nn = 1"), '"nn" in where is not a column')
    refusal(lambda: kept(frame(), "t = NO"), '"NO" in where', "A text stands in single quotes.")
    refusal(lambda: kept(frame(), "my_col = 'a'"), 'Did you mean "my col"?')
    path = write("rows.csv", f"{MARKER},item\n1,2\n".encode())
    refusal(lambda: open_table(path, user="item", items=[MARKER[:0] or "item2"], where="n = 1"))


def test_types_that_a_filter_knows_nothing_of_are_refused():
    zoned = pl.Series([TIMES[0]], dtype=pl.Datetime("us", "UTC"))
    held = pl.DataFrame({"user": [1], "item": [1], "at": zoned, "l": [[1]], "m": [b"a"]})
    for where in ("at > date '2026-11-01'", "l is null", "m is null"):
        refusal(lambda where=where: kept(held, where), "of which a filter knows nothing")


def test_files_must_agree_about_what_is_filtered(tmp_path):
    rows = pl.DataFrame({"user": [1], "item": [1], "n": [7]})
    rows.write_parquet(tmp_path / "1.parquet")
    rows.with_columns(n=pl.lit(7, pl.Int8), other=1).write_parquet(tmp_path / "2.parquet")
    assert kept(tmp_path, "n = 7") == [1, 1]
    rows.cast({"n": pl.String}).write_parquet(tmp_path / "3.parquet")
    refusal(lambda: kept(tmp_path, "n = 7"), "where a whole number is elsewhere")


def test_a_column_that_is_of_another_kind_than_was_said_is_refused():
    held = pl.LazyFrame({"user": [1], "item": [1], "n": [1]})
    lying = held.map_batches(lambda f: f.cast({"n": pl.String}), validate_output_schema=False)
    refusal(lambda: kept(lying, "n = 1"), "of another kind than the type of the column says")


# --- days


TEXTS = ["2026-10-31", "2026-11-01", "2026-11-30T23:59", "2026-12-01", "30.11.2026", "", "2026-11"]


def of_texts(texts):
    return pl.DataFrame({"user": range(len(texts)), "item": range(len(texts)), "day": texts})


def test_texts_that_begin_with_a_day_lie_in_a_span():
    held = of_texts(TEXTS)
    assert kept(held, sl.days("day", "2026-11-01", "2026-11-30")) == [1, 2]
    assert kept(held, sl.days("day", first_day=dt.date(2026, 11, 1))) == [1, 2, 3]
    assert kept(held, sl.days("day", last_day="2026-11-30")) == [0, 1, 2]
    assert kept(held, "not try_cast(day as date) = date '2026-12-01'") == [0, 1, 2]


def test_a_span_is_of_days_and_a_timestamp_counts_until_midnight():
    times = [dt.datetime.fromisoformat(s) for s in ("2026-11-30T23:59:59.999999", "2026-12-01")]
    assert kept(of_texts(times), sl.days("day", "2026-11-30", "2026-11-30")) == [0]
    dates = of_texts([time.date() for time in times])
    assert kept(dates, sl.days("day", last_day="2026-11-30")) == [0]


def test_several_conditions_hold_together():
    held = of_texts(TEXTS)
    where = [sl.days("day", "2026-11-01"), "item <> 2 or item = 0"]
    assert kept(held, where) == [1, 3]
    written = str(open_table(held, user="user", items=["item"], where=where).where)
    assert written == "TRY_CAST(\"day\" AS DATE) >= DATE '2026-11-01' AND (item <> 2 OR item = 0)"
    assert kept(held, written) == [1, 3]


def test_a_span_that_is_none_is_refused():
    of = partial(sl.days, "day")
    refusal(of, "first_day and last_day: there is no day", "give one of the two")
    refusal(lambda: of("2026-11-31"), 'first_day="2026-11-31"', 'write it as "2026-11-01"')
    refusal(lambda: of(last_day=dt.datetime.fromisoformat("2026-11-01")), "must be a day")
    refusal(lambda: of("2026-11-02", "2026-11-01"), 'last_day="2026-11-01"', "is after", "exchange")
    refusal(lambda: kept(of_texts([1, 2]), of("2026-11-01")), "a whole number", "text")
    refusal(lambda: kept(of_texts(TEXTS), "try_cast(day as date) = day"), "a date, such as")
