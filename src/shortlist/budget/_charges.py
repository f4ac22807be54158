"""The charges of a ledger as rows: for a table, for CSV and for JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from shortlist.budget._chain import Entry

__all__ = ["as_csv", "as_json", "rows_of"]

KEPT, UNKNOWN = "released", "unknown"
"""The outcome of a charge: its release is kept; or nobody knows, as after a crash."""

_FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # in full width, too
_COLUMNS = (
    *("number", "time", "who", "library", "question", "k", "mechanism", "epsilon", "delta"),
    *("first", "taken_delta", "outcome", "hash"),
)


def rows_of(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """One row a charge, in the order in which they were made."""
    entries = list(entries)
    kept = {entry.said["charge"] for entry in entries if entry.kind == "release"}
    return [
        {
            "number": entry.charges,
            **{name: entry.said[name] for name in ("time", "who", "library")},
            "question": entry.said["question"]["name"],
            "k": entry.said["question"].get("k"),
            "mechanism": entry.said["mechanism"]["name"],
            **entry.said["asked"],
            "first": entry.said["amount"][0],
            "taken_delta": entry.said["amount"][1],
            "outcome": KEPT if entry.charges in kept else UNKNOWN,
            "hash": entry.hash,
        }
        for entry in entries
        if entry.kind == "charge"
    ]


def as_csv(entries: Iterable[Entry], first: str) -> str:
    """The charges as CSV for a spreadsheet, in which nothing is a formula.

    The first number that each took is headed by its name.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([f"taken_{first}" if name == "first" else name for name in _COLUMNS])
    for row in rows_of(entries):
        writer.writerow([_cell(row[name]) for name in _COLUMNS])
    return file.getvalue()


def _cell(value: object) -> object:
    """The value, with an apostrophe before what a spreadsheet would take for a formula."""
    is_formula = isinstance(value, str) and value.lstrip().startswith(_FORMULAS)
    return f"'{value}" if is_formula else value


def as_json(entries: Iterable[Entry]) -> str:
    """All entries as they are hashed, one a line, each beside its hash."""
    lines = (json.dumps({"hash": entry.hash, "body": entry.body}) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"
