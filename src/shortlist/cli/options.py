"""The options of the commands, with their help."""

from pathlib import Path
from typing import Annotated, Any

import typer


def _whole(text: str) -> int:
    """A whole number; what is none is quoted, which the parser's own message does not do."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a whole number.') from None


def _number(text: str) -> float:
    """A number, as `_whole`."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number.') from None


PRIVACY, ANSWER, TESTS = "Privacy", "Answer", "Tests"

_DELTA = "Far below one over the number of users, such as 1e-6."


def _budget(text: str) -> Any:  # noqa: ANN401 - the library's types moved
    """A number on which privacy depends."""
    return typer.Option(
        parser=_number, metavar="NUMBER", help=text, rich_help_panel=PRIVACY, show_default=False
    )


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Parquet, CSV or NDJSON, or a quoted glob, with one row per user and item.",
        show_default=False,
    ),
]
User = Annotated[
    str,
    typer.Option(metavar="COLUMN", help="The users: who is protected.", show_default=False),
]
Item = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN",
        help="The items. Repeat it where several columns make an item.",
        show_default=False,
    ),
]
K = Annotated[
    int,
    typer.Option("-k", parser=_whole, metavar="N", help="How many items.", show_default=False),
]
Epsilon = Annotated[float, _budget("Privacy budget: 1 is usual, less is more private.")]
DomainDelta = Annotated[float, _budget(_DELTA)]
Delta = Annotated[float, _budget(f"{_DELTA} It may be left out with public items.")]
Bound = Annotated[
    int,
    typer.Option(
        parser=_whole,
        metavar="N",
        help="Of a user with more, so many random ones count for naming items. Choose it without "
        "looking at the data.",
        rich_help_panel=PRIVACY,
    ),
]
PublicItems = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="What everybody knows: a file with the item column.",
        rich_help_panel=PRIVACY,
    ),
]
NoPublicItems = Annotated[str | None, typer.Option(metavar="FILE", hidden=True)]
TopKMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="discover-then-rank (the default), weighted-gaussian-peeling, or, for public items, "
        "peeling.",
        rich_help_panel=PRIVACY,
    ),
]
DomainMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="weighted-gaussian, the default.",
        rich_help_panel=PRIVACY,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save it too, as .json or .parquet (with the guarantee) or .csv (items only).",
        rich_help_panel=ANSWER,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print JSON.", rich_help_panel=ANSWER)
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        metavar="",
        help="Say what it would cost, the noise, and what an item needs to be named; nothing is "
        "read or spent.",
        rich_help_panel=ANSWER,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        parser=_whole,
        metavar="N",
        help="Draw the noise from a seed: the same answer each time, and no privacy.",
        rich_help_panel=TESTS,
    ),
]
NotPrivate = Annotated[
    bool,
    typer.Option("--not-private", metavar="", help="Required with --seed.", rich_help_panel=TESTS),
]
