"""The charges of a ledger as rows: for a table, for CSV and for JSON."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable
from typing import Any

from shortlist.budget._chain import Entry

__all__ = ["as_csv", "as_json", "rows_of"]

KEPT, UNKNOWN = "released", "unknown"
"""The outcome of a charge: its release is kept; or nobody knows, as after a crash."""

_FORMULAS = ("=", "+", "-", "@")
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
    return f"'{value}" if isinstance(value, str) and _is_formula(value) else value


def _is_formula(text: str) -> bool:
    """Whether it begins as one, in any width, behind spaces and what cannot be seen."""
    plain = unicodedata.normalize("NFKC", text)
    seen = (c for c in plain if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf"))
    return next(seen, "") in _FORMULAS


def as_json(entries: Iterable[Entry]) -> str:
    """All entries as they are hashed, one a line, each beside its hash."""
    lines = (json.dumps({"hash": entry.hash, "body": entry.body}) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"
