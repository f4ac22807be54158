"""What is public of a table, and what tells it from others, which may be private."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from shortlist.engines.tables import is_lying, lying
from shortlist.table.identity import identity_of_part
from shortlist.table.part import TablePart

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Origin", "described"]


class _Table(Protocol):
    columns: dict[str, pl.DataType]
    parts: list[TablePart]


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


class Origin:
    """Where the rows of a table come from: called, what tells that from others, as it is now.

    What cannot be known again, such as a table in the memory of an engine, is like no other.
    """

    def __init__(self, table: _Table) -> None:
        """Look at nothing yet."""
        self._parts = table.parts
        held = table.parts[0].held
        self._is_lying = is_lying(held)
        if self._is_lying and find_spec("ibis") is not None:
            self._lying = lying(held, table.columns)
        self._unknown = secrets.token_hex(16)

    def __call__(self) -> list[object]:
        """As JSON values."""
        try:
            if self._is_lying:
                return self._lying.identity()
            return [identity_of_part(part) for part in self._parts]
        except Exception:  # noqa: BLE001 - of many libraries; reading will say what is wrong
            return [self._unknown]


def _named(columns: Mapping[str, pl.DataType]) -> list[list[str]]:
    return [[name, str(dtype)] for name, dtype in columns.items()]


def _known(public: object) -> str:
    import polars as pl

    if not isinstance(public, pl.DataFrame):
        return str(public)
    return hashlib.sha256(public.write_csv().encode()).hexdigest()
