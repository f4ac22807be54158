"""How something looks in a notebook: a card of a title, a table, lines and notes, all escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Grid", "card"]


class Grid(NamedTuple):
    """A table.

    Attributes:
        columns: The heading of each column.
        numeric: Which columns hold numbers.
        rows: The cells of all rows.
        more: How many rows are left out, in words, or "".
    """

    columns: Sequence[str]
    numeric: Sequence[bool]
    rows: Iterable[Sequence[str]]
    more: str = ""


def card(
    title: str,
    *,
    warning: str = "",
    grid: Grid | None = None,
    notes: Iterable[tuple[str, str]] = (),
    lines: Iterable[str] = (),
) -> str:
    """The card, as HTML without a style of its own.

    Args:
        title: What it is.
        warning: What must not be overlooked, or "".
        grid: A table.
        notes: Labels and texts.
        lines: A paragraph each.

    >>> card("A <b>", lines=["one & all"])
    '<div><p><b>A &lt;b&gt;</b></p><p>one &amp; all</p></div>'
    """
    alarm = f'<p style="color: #c00"><b>{escape(warning)}</b></p>' if warning else ""
    table = "" if grid is None else _table(grid)
    told = "<br>".join(f"<b>{escape(label)}</b> {escape(text)}" for label, text in notes)
    told = f"<p>{told}</p>" if told else ""
    rest = "".join(f"<p>{escape(line)}</p>" for line in lines if line)
    return f"<div><p><b>{escape(title)}</b></p>{alarm}{table}{told}{rest}</div>"


def _table(grid: Grid) -> str:
    head = _row("th", grid.columns, grid.numeric)
    body = "".join(_row("td", row, grid.numeric) for row in grid.rows)
    more = f"<p>{escape(grid.more)}</p>" if grid.more else ""
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _row(tag: str, cells: Sequence[str], numeric: Sequence[bool]) -> str:
    """One row; each cell finds its own direction, so that a score beside Arabic keeps its place."""
    aligned = zip(cells, ("right" if number else "left" for number in numeric), strict=True)
    row = "".join(
        f'<{tag} dir="auto" style="text-align: {side}">{escape(cell)}</{tag}>'
        for cell, side in aligned
    )
    return f"<tr>{row}</tr>"
