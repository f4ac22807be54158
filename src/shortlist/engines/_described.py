"""What is public of a table: which files or frame, which columns, and which items are known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from shortlist.table.part import Part

if TYPE_CHECKING:
    import polars as pl

__all__ = ["described"]


class _Table(Protocol):
    columns: dict[str, pl.DataType]
    parts: list[Part]


def described(table: _Table, public: object) -> dict[str, object]:
    """As JSON values; of a list of public items its hash, and of a frame no more than its columns.

    Args:
        table: Opened as far as its schema.
        public: A frame of what everybody knows, or that this is in the table; None for nothing.
    """
    return {
        "data": sorted({str(part.argument) for part in table.parts}),
        "files": sorted({file for part in table.parts for file in part.files}),
        "columns": _named(table.columns),
        "public_items": None if public is None else _known(public),
    }


def _named(columns: Mapping[str, pl.DataType]) -> list[list[str]]:
    return [[name, str(dtype)] for name, dtype in columns.items()]


def _known(public: object) -> str:
    import polars as pl

    if not isinstance(public, pl.DataFrame):
        return str(public)
    return hashlib.sha256(public.write_csv().encode()).hexdigest()
