"""Tables of figures: printed, and written as Markdown and CSV under `bench/results/`."""

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

KEPT = Path(__file__).parent / "results"
_folder = KEPT
_LIBRARIES = ("shortlist", "numpy", "numba", "polars", "scipy")


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
    *,
    data: pl.DataFrame | None = None,
) -> None:
    """Write tables, by heading, as one Markdown file, and each as a CSV file of all digits.

    Args:
        stem: The name of the files, without suffix.
        title: The first heading.
        tables: The first one becomes `stem.csv`, the others `stem-heading.csv`.
        notes: Lines below the title, one paragraph each.
        data: All figures, too many to read: `stem.csv` has them instead.
    """
    parts = [f"# {title}", *notes, environment()]
    files = {stem: data} if data is not None else {}
    for heading, frame in tables.items():
        parts += [f"## {heading}", markdown(frame)]
        files[f"{stem}-{heading.lower().replace(' ', '-')}" if files else stem] = frame
    for name, frame in files.items():
        frame.write_csv(path_of(f"{name}.csv"))
    path = path_of(f"{stem}.md")
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    Console(width=160).print(f"\nWritten: {path}", markup=False)


def markdown(frame: pl.DataFrame) -> str:
    """The table in Markdown, numbers to four digits."""
    ruler = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    rows = [frame.columns, ruler, *(map(_cell, row) for row in frame.iter_rows())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
