"""Kinds of data that a source takes, and all the ways in which something may get out again."""

import io
import re
from enum import Enum

import polars as pl
import pyarrow as pa
from rich.console import Console


def as_file(write, name):
    def make(frame, folder):
        getattr(frame, write)(folder / name)
        return folder / name

    return make


def as_glob(write, suffix):
    def make(frame, folder):
        half = frame.height // 2
        getattr(frame[:half], write)(folder / f"part-1{suffix}")
        getattr(frame[half:], write)(folder / f"part-2{suffix}")
        return str(folder / f"part-*{suffix}")

    return make


FORMS = {
    "parquet": as_file("write_parquet", "t.parquet"),
    "csv": as_file("write_csv", "t.csv"),
    "ndjson": as_file("write_ndjson", "t.ndjson"),
    "parquet glob": as_glob("write_parquet", ".parquet"),
    "csv glob": as_glob("write_csv", ".csv"),
    "ndjson glob": as_glob("write_ndjson", ".jsonl"),
    "polars": lambda frame, _: frame,
    "polars lazy": lambda frame, _: frame.lazy(),
    "polars categories": lambda frame, _: frame.cast({pl.String: pl.Categorical}),
    "pandas": lambda frame, _: frame.to_pandas(),
    "pyarrow": lambda frame, _: pa.table(frame),
}


def counting(frame):
    """A lazy frame, and a list that grows by one each time it is read."""
    reads = []

    def read(rows):
        reads.append(1)
        return rows

    return frame.lazy().map_batches(read, schema=frame.schema), reads


def everything_shown(release):
    """A release in all its texts."""
    file = io.StringIO()
    Console(file=file, width=200, force_jupyter=False).print(release)
    return [str(release), repr(release), release._repr_html_(), release.to_json(), file.getvalue()]


def said(error):
    """The texts of an error and of all behind it."""
    while error is not None:
        yield from (str(error), repr(error), *getattr(error, "__notes__", ()))
        error = error.__cause__ or error.__context__


def holds_nothing_of(release, marker, private):
    """That neither the marker nor one of the private numbers is in a release or a text of it."""
    for text in everything_shown(release):
        assert marker not in text
        found = {number.replace(",", "") for number in re.findall(r"\d[\d,_]*(?:\.\d+)?", text)}
        assert not {f"{n}" for n in private} & found
    assert not numbers(vars(release)) & private


def numbers(value):
    """Every whole number in an object and what it is made of, frames left out."""
    if isinstance(value, bool | str | Enum | pl.DataFrame | None):
        return set()
    if isinstance(value, int | float):
        return {value}
    parts = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list | tuple):
        parts = getattr(value, "__dict__", {}).values()
    return set().union(*map(numbers, parts))
