"""Values that filters compute, each as SQL and as what it means in Python, and rows of extremes."""

import datetime as dt
import math
import operator
import re
import struct
from fractions import Fraction

import polars as pl
from hypothesis import strategies as st

MOST = 2**63 - 1
WHOLES = [0, 1, -1, 7, 10, -3, 3_037_000_500, 2**53 + 1, 2**62, -(2**62), MOST, -MOST - 1, None]
NUMBERS = [
    *(0.0, -0.0, 0.1, -0.5, 3.0, 1e16, 5e-324, 1e-100, -9e-101, 1e100, 1.1e100, 1.7e308),
    *(float("inf"), float("-inf"), float("nan"), None),
]
TEXTS = ["", "NO", "no", "ü🦆", "🦆🦆🦆", "e\u0301", "ß", "İ", "ﬀ", "a\nb", " NO ", "50%_\\", None]
DAYS = [dt.date(1, 1, 1), dt.date(2024, 2, 29), dt.date(2026, 11, 1), dt.date(9999, 12, 31), None]
WRITTEN = ["2026-11-01", "2024-02-29T01:00", "2026-13-99", "9999-12-31", "1.1.2026", "", None]
DIGITS = ["7", "-07", "+7", "9" * 18, "9" * 19, "1e3", "", "-", "x", "7\n", None]
DOUBLES = ["0.1", "-0", "1e-5", "9" * 18, "1E99", "1e100", ".5", "5.", "inf", "NaN", "0x1", None]
COLUMNS = {
    "n": (pl.Int64, WHOLES),
    "m": (pl.Int64, WHOLES),
    "x": (pl.Float64, NUMBERS),
    "v": (pl.Float64, NUMBERS),
    "t": (pl.String, TEXTS),
    "u": (pl.String, TEXTS),
    "d": (pl.Date, DAYS),
    "w": (pl.String, WRITTEN),
    "c": (pl.String, DIGITS),
    "z": (pl.String, DOUBLES),
}


def extremes():
    """Two columns of a type meet in all pairs of their values."""
    rows = []
    for i in range(max(len(WHOLES), len(NUMBERS)) ** 2):
        row = {}
        for place, (name, (_, values)) in enumerate(COLUMNS.items()):
            n = len(values)
            row[name] = values[i % n if place % 2 == 0 else i // n % n]
        rows.append(row)
    return rows


EXTREMES = extremes()


def frame_of_extremes():
    held = pl.DataFrame(EXTREMES, schema={n: t for n, (t, _) in COLUMNS.items()}, orient="row")
    return held.with_columns(user=pl.arange(pl.len()), item=pl.arange(pl.len()))


def same(found, meant):
    """Equal to the last bit, except for the sign of zero, which no filter sees."""
    if isinstance(meant, float) and isinstance(found, float):
        return struct.pack("d", found + 0.0) == struct.pack("d", meant + 0.0)
    return found == meant and type(found) is type(meant)


# What each piece means, on values of Python


def null_or(meaning):
    return lambda *values: None if None in values else meaning(*values)


def known(value):
    """A value as a function takes it."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return None if isinstance(value, int) and abs(value) > MOST else value


def column(name):
    return name, lambda row: known(row[name])


def exactly(sign):
    def meant(one, other):
        found = SIGNS[sign](one, other)
        return found if abs(found) <= MOST else None

    return null_or(meant)


def fits(number, sign, *, is_divisor):
    if abs(number) > 1e100:
        return False
    if sign in "+-":
        return True
    return abs(number) >= 1e-100 or (number == 0 and not is_divisor)


def in_doubles(sign):
    def meant(one, other):
        one, other = (nearest(value) for value in (one, other))
        if not fits(one, sign, is_divisor=False) or not fits(other, sign, is_divisor=sign == "/"):
            return None
        return SIGNS[sign](one, other)

    return null_or(meant)


def nearest(value):
    return float(Fraction(value)) if isinstance(value, int) else value


SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def day_of(row, name):
    found = row[name]
    if isinstance(found, str):
        begins = re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", found)
        return tuple(map(int, begins[0].split("-"))) if begins else None
    return found and (found.year, found.month, found.day)


def cast_to_whole(text):
    return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else None


def cast_to_double(text):
    form = "-?[0-9]{1,18}([.][0-9]{1,18})?([eE][-+]?[0-9]{1,2})?"
    return float(text) if re.fullmatch(form, text) else None


# Values by kind: the text, and the meaning of a row


def made(text, meaning, *parts):
    """A text in which parts stand, and what it means of their values."""
    said = text.format(*(part[0] for part in parts))
    return said, lambda row: meaning(*(part[1](row) for part in parts))


def literal(text, value):
    return text, lambda _: value


def first(*values):
    return next((value for value in values if value is not None), None)


wholes_that_are_written = st.sampled_from([0, 1, 7, -3, 3_037_000_500, MOST])
WRITTEN_WHOLES = wholes_that_are_written.map(lambda n: literal(str(n), n))
WRITTEN_NUMBERS = st.sampled_from(["0.1", "3.0", "-2.5e-3", "1e100", "0.5"]).map(
    lambda text: literal(text, float(text))
)


def _places(draw, one):
    start, count = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    meaning = null_or(lambda text: text[start - 1 : start - 1 + count])
    return made(f"substring({{}}, {start}, {count})", meaning, one)


@st.composite
def _substrings(draw, inner):
    return _places(draw, draw(inner))


def _texts(inner):
    return st.one_of(
        _substrings(inner),
        st.builds(lambda a, b: made("coalesce({}, {}, 'ü')", lambda *v: first(*v, "ü"), a, b),
                  inner, inner),
    )  # fmt: skip


TEXTS_OF_ROWS = st.recursive(st.sampled_from("tu").map(column), _texts, max_leaves=3)

_PARTS = st.tuples(st.sampled_from(["year", "month", "day"]), st.sampled_from("dw"))


def _part(part, name):
    read = "try_cast(w as date)" if name == "w" else name
    place = ["year", "month", "day"].index(part)
    return f"{part}({read})", lambda row: null_or(lambda day: day[place])(day_of(row, name))


def _operations(one, other, signs, meaning):
    def build(sign, a, b):
        return made(f"({{}}) {sign} ({{}})", meaning(sign), a, b)

    return st.builds(build, st.sampled_from(signs), one, other)


def _wholes(inner):
    return st.one_of(
        _operations(inner, st.one_of(inner, WRITTEN_WHOLES), "+-*", exactly),
        _operations(WRITTEN_WHOLES, inner, "+-*", exactly),
        inner.map(lambda one: made("abs({})", null_or(abs), one)),
        st.builds(lambda a, b: made("coalesce({}, {})", first, a, b), inner, inner),
    )


WHOLES_OF_ROWS = st.recursive(
    st.one_of(
        st.sampled_from("nm").map(column),
        TEXTS_OF_ROWS.map(lambda one: made("length({})", null_or(len), one)),
        _PARTS.map(lambda parts: _part(*parts)),
        st.just(made("try_cast({} as bigint)", null_or(cast_to_whole), column("c"))),
    ),
    _wholes,
    max_leaves=3,
)


def _numbers(inner):
    either = st.one_of(inner, WHOLES_OF_ROWS)
    return st.one_of(
        _operations(inner, st.one_of(either, WRITTEN_NUMBERS), "+-*/", in_doubles),
        _operations(st.one_of(WHOLES_OF_ROWS, WRITTEN_NUMBERS), inner, "+-*/", in_doubles),
        _operations(WHOLES_OF_ROWS, st.one_of(WHOLES_OF_ROWS, st.just(literal("3", 3))), "/",
                    in_doubles),
        inner.map(lambda one: made("abs({})", null_or(abs), one)),
        st.builds(lambda a, b: made("coalesce({}, {}, 0.5)", lambda *v: first(*v, 0.5), a, b),
                  inner, inner),
    )  # fmt: skip


NUMBERS_OF_ROWS = st.recursive(
    st.one_of(
        st.sampled_from("xv").map(column),
        st.just(made("try_cast({} as double)", null_or(cast_to_double), column("z"))),
    ),
    _numbers,
    max_leaves=3,
)

VALUES_OF_ROWS = st.one_of(WHOLES_OF_ROWS, NUMBERS_OF_ROWS, TEXTS_OF_ROWS)
"""Values of every kind; some are too deep for the language."""
