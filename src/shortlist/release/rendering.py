"""How a sheet is laid out: for a terminal, as plain text, for a notebook and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from shortlist.release.sheet import SHORT

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from shortlist.release.sheet import Sheet

_COLUMNS_OF_PLAIN_TEXT = 80
_MARKUP = re.compile(
    r"""[\\`*_{}\[\]<>&|~$@^]   # code, emphasis, links, HTML, cells, templates, formulas, names
      | (?<=www) \. | : (?=//)  # what would become a link by itself
      | : (?=[\w+-]+:)          # and what would become an emoji""",
    re.VERBOSE | re.IGNORECASE,
)


def rich(sheet: Sheet) -> RenderableType:
    """The sheet for a terminal. Texts are plain: markup in them is not interpreted."""
    from rich.console import Group

    return Group(*_above(sheet), _rich_table(sheet), *_below(sheet))


def _above(sheet: Sheet) -> list[RenderableType]:
    from rich.text import Text

    return [Text(sheet.title, style="bold"), *map(Text, sheet.about), *_warning(sheet), Text()]


def _below(sheet: Sheet) -> list[RenderableType]:
    from rich.text import Text

    more = [Text(sheet.more, style="dim")] if sheet.more else []
    between = [*more, Text(), *_warning(sheet)]  # again: the title of a long table scrolls away
    last = map(Text, sheet.lines)
    noted = [_rich_notes(sheet), *([Text()] if sheet.lines else [])] if sheet.notes else []
    return [*between, *noted, *last]


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
    return printed(sheet, _plain_console()).strip("\n")


def plain_text(renderable: RenderableType) -> str:
    """Anything as such plain text."""
    return captured(_plain_console(), renderable)


def _plain_console() -> Console:
    from rich.console import Console

    options: Any = {"color_system": None, "force_jupyter": False}
    return Console(file=StringIO(), width=_COLUMNS_OF_PLAIN_TEXT, **options)


def printed(sheet: Sheet, console: Console) -> str:
    """The sheet as the console would print it, without spaces at the ends of lines."""
    if len(sheet.rows) <= SHORT:
        return f"{captured(console, rich(sheet))}\n"
    with console.capture() as capture:  # Rich takes half a millisecond a row
        console.print(*_above(sheet), sep="\n")
        console.out("\n".join(_lines(sheet)), highlight=False)
        console.print(*_below(sheet), sep="\n")
    return f"{_trimmed(capture.get())}\n"


def captured(console: Console, renderable: RenderableType) -> str:
    """What the console would print, without spaces at the ends of lines."""
    with console.capture() as capture:
        console.print(renderable)
    return _trimmed(capture.get())


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


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
    """The sheet for a notebook: everything escaped, and without a style of its own.

    >>> from shortlist.release.sheet import Sheet
    >>> html(Sheet("A <b>", lines=("one & all",)))
    '<div><p><b>A &lt;b&gt;</b></p><p>one &amp; all</p></div>'
    """
    warning = escape(sheet.warning)
    alarm = f'<p style="color: #c00"><b>{warning}</b></p>' if warning else ""
    table = _html_table(sheet) if sheet.columns else ""
    labelled = (f"<b>{escape(label)}</b> {escape(text)}" for label, text in sheet.notes)
    notes = f"<p>{'<br>'.join(labelled)}</p>" if sheet.notes else ""
    rest = "".join(f"<p>{escape(line)}</p>" for line in sheet.lines if line)
    about = "".join(f"<br>{escape(line)}" for line in sheet.about)
    return f"<div><p><b>{escape(sheet.title)}</b>{about}</p>{alarm}{table}{notes}{rest}</div>"


def _html_table(sheet: Sheet) -> str:
    head = _html_row("th", sheet.columns, sheet.numeric)
    body = "".join(_html_row("td", row, sheet.numeric) for row in sheet.rows)
    more = f"<p>{escape(sheet.more)}</p>" if sheet.more else ""
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _html_row(tag: str, cells: Sequence[str], numeric: Sequence[bool]) -> str:
    # Each cell finds its own direction, so that a score beside Arabic keeps its place.
    aligned = zip(cells, ("right" if number else "left" for number in numeric), strict=True)
    row = "".join(
        f'<{tag} dir="auto" style="text-align: {side}">{escape(cell)}</{tag}>'
        for cell, side in aligned
    )
    return f"<tr>{row}</tr>"


def markdown(sheet: Sheet) -> str:
    """The sheet as GitHub and CommonMark read it: a table, and the guarantee as a list."""
    warning = [f"**{_unmarked(sheet.warning)}**", ""] if sheet.warning else []
    rule = ("---:" if number else ":---" for number in sheet.numeric)
    lines = [
        *(f"**{_unmarked(sheet.title)}**", ""),
        *(line for about in sheet.about for line in (_unmarked(about), "")),
        *warning,
        _markdown_row(map(_unmarked, sheet.columns)),
        _markdown_row(rule),
        *(_markdown_row(map(_unmarked, row)) for row in sheet.rows),
        "",
        *(f"- {label}: {_unmarked(line)}" for label, line in sheet.notes),
    ]
    last = ["", *map(_unmarked, sheet.lines)] if sheet.lines else []
    return "\n".join([*lines, *last, ""])


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _unmarked(text: str) -> str:
    r"""The text with a backslash before whatever Markdown would interpret.

    >>> print(_unmarked("a|b *c* <b>www.example.org</b> 12:30"))
    a\|b \*c\* \<b\>www\.example.org\</b\> 12:30
    """
    return _MARKUP.sub(r"\\\g<0>", text)
