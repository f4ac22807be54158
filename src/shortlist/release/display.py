"""How a release looks in a terminal, as plain text and in a notebook: the layout of a sheet."""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.release.sheet import Sheet

__all__ = ["html", "rich", "text"]

_WIDTH = 80  # columns of the plain text


def rich(sheet: Sheet) -> RenderableType:
    """The sheet for a terminal. Texts are plain: markup in them is not interpreted."""
    from rich.console import Group
    from rich.text import Text

    warning = [Text(sheet.warning, style="bold red")] if sheet.warning else []
    more = [Text(sheet.more, style="dim")] if sheet.more else []
    above = [Text(sheet.title, style="bold"), *warning, Text()]
    between = [*more, Text(), *warning]  # again: the title of a long table scrolls away
    below = [Text(), Text(sheet.closing)]
    return Group(*above, _rich_table(sheet), *between, _rich_notes(sheet), *below)


def _rich_table(sheet: Sheet) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column, numeric in zip(sheet.columns, sheet.numeric, strict=True):
        table.add_column(
            Text(column),
            justify="right" if numeric else "left",
            no_wrap=numeric,
            overflow="fold",
        )
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    return table


def _rich_notes(sheet: Sheet) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, line in sheet.notes:
        grid.add_row(Text(label), Text(line))
    return grid


def text(sheet: Sheet) -> str:
    """The sheet as plain text of 80 columns, without colours."""
    from rich.console import Console

    file = StringIO()
    console = Console(file=file, width=_WIDTH, color_system=None, force_jupyter=False)
    console.print(rich(sheet))
    return "\n".join(line.rstrip() for line in file.getvalue().strip("\n").split("\n"))


def html(sheet: Sheet) -> str:
    """The sheet for a notebook, everything escaped."""
    warning = f'<p style="color: #c00"><b>{escape(sheet.warning)}</b></p>' if sheet.warning else ""
    more = f"<p>{escape(sheet.more)}</p>" if sheet.more else ""
    lines = "<br>".join(f"<b>{escape(label)}</b> {escape(line)}" for label, line in sheet.notes)
    head = _html_row("th", sheet.columns, sheet.numeric)
    body = "".join(_html_row("td", row, sheet.numeric) for row in sheet.rows)
    return (
        f"<div><p><b>{escape(sheet.title)}</b></p>{warning}"
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"
        f"<p>{lines}</p><p>{escape(sheet.closing)}</p></div>"
    )


def _html_row(tag: str, cells: tuple[str, ...], numeric: tuple[bool, ...]) -> str:
    """One row; each cell finds its own direction, so that a score beside Arabic keeps its place."""
    aligned = zip(cells, ("right" if number else "left" for number in numeric), strict=True)
    row = "".join(
        f'<{tag} dir="auto" style="text-align: {side}">{escape(cell)}</{tag}>'
        for cell, side in aligned
    )
    return f"<tr>{row}</tr>"
