"""How a release looks in a terminal, as plain text and in a notebook: the layout of a sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from shortlist.release.notebook import Grid, card
from shortlist.release.sheet import SHORT

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from shortlist.release.sheet import Sheet

__all__ = ["html", "printed", "rich", "text"]

_WIDTH = 80  # columns of the plain text


def rich(sheet: Sheet) -> RenderableType:
    """The sheet for a terminal. Texts are plain: markup in them is not interpreted."""
    from rich.console import Group

    return Group(*_above(sheet), _rich_table(sheet), *_below(sheet))


def _above(sheet: Sheet) -> list[RenderableType]:
    from rich.text import Text

    return [Text(sheet.title, style="bold"), *_warning(sheet), Text()]


def _below(sheet: Sheet) -> list[RenderableType]:
    from rich.text import Text

    more = [Text(sheet.more, style="dim")] if sheet.more else []
    between = [*more, Text(), *_warning(sheet)]  # again: the title of a long table scrolls away
    last = [Text(line) for line in (sheet.closing, sheet.advice) if line]
    return [*between, _rich_notes(sheet), *([Text(), *last] if last else [])]


def _warning(sheet: Sheet) -> list[RenderableType]:
    from rich.text import Text

    return [Text(sheet.warning, style="bold red")] if sheet.warning else []


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
    options: Any = {"color_system": None, "force_jupyter": False}
    return printed(sheet, Console(file=file, width=_WIDTH, **options)).strip("\n")


def printed(sheet: Sheet, console: Console) -> str:
    """What the console would print, without spaces at the ends of lines."""
    with console.capture() as capture:
        if len(sheet.rows) <= SHORT:
            console.print(rich(sheet))
        else:  # Rich takes half a millisecond a row
            console.print(*_above(sheet), sep="\n")
            console.out("\n".join(_lines(sheet)), highlight=False)
            console.print(*_below(sheet), sep="\n")
    lines = capture.get().strip("\n").split("\n")
    return "\n".join([*(line.rstrip() for line in lines), ""])


def _lines(sheet: Sheet) -> Iterator[str]:
    """The table as lines, however long an item makes one."""
    from rich.cells import cell_len

    columns = [[name, *column] for name, *column in zip(sheet.columns, *sheet.rows, strict=True)]
    widths = [max(map(cell_len, column)) for column in columns]
    head, *rows = zip(*columns, strict=True)
    yield _line(head, widths, sheet.numeric)
    yield "─" * (sum(widths) + 3 * (len(widths) - 1))
    for row in rows:
        yield _line(row, widths, sheet.numeric)


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    from rich.cells import cell_len

    padded = []
    for cell, width, number in zip(cells, widths, numeric, strict=True):
        space = " " * (width - cell_len(cell))
        padded.append(space + cell if number else cell + space)
    return "   ".join(padded)


def html(sheet: Sheet) -> str:
    """The sheet for a notebook, everything escaped."""
    return card(
        sheet.title,
        warning=sheet.warning,
        grid=Grid(sheet.columns, sheet.numeric, sheet.rows, sheet.more),
        notes=sheet.notes,
        lines=[sheet.closing, sheet.advice],
    )
