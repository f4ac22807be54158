"""Forty rows with values of every kind that a filter knows, odd and missing ones among them."""

import datetime as dt

import polars as pl

DAYS = [dt.date(1, 1, 1), dt.date(2026, 10, 31), dt.date(2026, 11, 1), dt.date(9999, 12, 31)]
TIMES = [
    dt.datetime.fromisoformat(s) for s in ("2026-11-01", "2026-11-01T06:30:00.000001", "0001-01-01")
]
TEXTS = [
    "NO",
    "no",
    "",
    "N",
    "NO ",
    "it's",
    "50%",
    "a_b",
    "ü🦆",
    "🦆",
    "a\nb",
    "\\",
    "Z",
    "é",
    "[x]",
]
DIGITS = ["7", "-7", "007", "+7", " 7", "7.0", "x", "", "--7", "7\n", "9" * 18, "9" * 19, "٧", "-"]
WRITTEN_DAYS = [
    *("2026-11-01", "2026-10-31T23:59", "9999-12-31", "2026-11-01x", "2026-99-99", ""),
    *("2026-11-0", "01.11.2026", "2026/11/01", " 2026-11-01", "-2026-11-01", "٢٠٢٦-11-01"),
]
DOUBLES = [
    *("0.1", "-0", "1e18", "1E-9", "123456789.123456789", ".5", "5.", "+1", " 1", "1\n", "1e999"),
    *("inf", "NaN", "0x1p3", "1_000", "1,5", "", "-", "1e", "9" * 18, "9" * 19, "1d", "٧.٥", "0.5"),
]
VALUES = {
    "t": (pl.String, TEXTS),
    "u": (pl.String, TEXTS),
    "c": (pl.String, DIGITS),
    "n": (pl.Int64, [0, 1, -1, 7, 2**63 - 1, -(2**63), 2**53 + 1]),
    "w": (pl.UInt64, [0, 7, 2**53 + 1, 2**64 - 1]),
    "x": (pl.Float64, [0.0, -0.0, 0.5, float("inf"), float("-inf"), float("nan"), 1e300]),
    "f": (pl.Float32, [0.0, 0.5, float("nan"), 0.1]),
    "d": (pl.Date, DAYS),
    "s": (pl.Datetime("us"), TIMES),
    "b": (pl.Boolean, [True, False]),
    "my col": (pl.String, TEXTS),
    "y": (pl.String, WRITTEN_DAYS),
    "z": (pl.String, DOUBLES),
}


PACES = [17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67]
"""Primes, so that each column goes through all its values, at its own pace."""


def row(i):
    return {
        name: [*values, None][i * pace % (len(values) + 1)]
        for pace, (name, (_, values)) in zip(PACES, VALUES.items(), strict=True)
    }


ROWS = [row(i) for i in range(40)]


def frame(rows=ROWS):
    schema = {name: dtype for name, (dtype, _) in VALUES.items()}
    held = pl.DataFrame(rows, schema=schema, orient="row")
    return held.with_columns(user=pl.arange(pl.len()), item=pl.arange(pl.len()))
