"""Tables of figures: printed, and written as Markdown under `bench/results/`."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

__all__ = ["environment", "into", "markdown", "path_of", "show", "write"]

KEPT = Path(__file__).parents[1] / "results"
_folder = KEPT
_LIBRARIES = ("shortlist", "numpy", "numba", "polars", "scipy")
_LONG = 40  # rows, from which on a table is folded


def into(folder: Path) -> None:
    """Let everything be written there from now on, and the kept results alone."""
    global _folder  # noqa: PLW0603 - one process measures into one folder
    _folder = folder


def path_of(name: str) -> Path:
    """Where the file of that name is written; the folder is created."""
    _folder.mkdir(parents=True, exist_ok=True)
    return _folder / name


def environment() -> str:
    """What the figures depend on beside the code: cores, and versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    cores = f"{os.cpu_count()} cores ({platform.machine()})"
    return f"{cores}, {platform.system()}, Python {platform.python_version()}, {versions}."


def show(title: str, frame: pl.DataFrame) -> None:
    """Print a table."""
    table = Table(title=title, title_justify="left", min_width=len(title))
    for name, dtype in frame.schema.items():
        table.add_column(name, justify="right" if dtype.is_numeric() else "left")
    for row in frame.iter_rows():
        table.add_row(*map(_cell, row))
    width = None if os.isatty(1) else 160
    Console(width=width).print(table, markup=False)


def write(
    stem: str,
    title: str,
    tables: Mapping[str, pl.DataFrame],
    notes: Sequence[str],
    pictures: Mapping[str, str] | None = None,
) -> None:
    """Print tables, by heading, and write them as one Markdown file.

    Args:
        stem: The name of the file, without suffix.
        title: The first heading.
        tables: By heading; the long ones are folded.
        notes: Lines below the title, one paragraph each.
        pictures: What each picture shows, by the name of its file.
    """
    parts = [f"# {title}", *notes]
    parts += [f"![{shown}]({name})" for name, shown in (pictures or {}).items()]
    parts.append(environment())
    for heading, frame in tables.items():
        show(heading, frame)
        parts += [f"## {heading}", _folded(frame)]
    path = path_of(f"{stem}.md")
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    Console(width=160).print(f"\nWritten: {path}", markup=False)


def markdown(frame: pl.DataFrame) -> str:
    """The table in Markdown, numbers to four digits."""
    ruler = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    rows = [frame.columns, ruler, *(map(_cell, row) for row in frame.iter_rows())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _folded(frame: pl.DataFrame) -> str:
    """The table, behind a line to click on where it is long."""
    table = markdown(frame)
    if len(frame) < _LONG:
        return table
    return f"<details>\n<summary>{len(frame)} rows</summary>\n\n{table}\n\n</details>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
