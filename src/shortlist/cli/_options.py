"""The options of the commands, with their help."""

import contextlib
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.errors import InputError, shown

_DIGITS = re.compile(r"[+-]?[0-9]+")
_DECIMALS = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(inf|nan)", re.IGNORECASE | re.ASCII
)


def _whole(text: str | int) -> int:
    """A whole number, or a default; what is none is quoted, which the parser itself does not do.

    Python would take 1_0 and the digits of any script.
    """
    with contextlib.suppress(ValueError):  # of so many digits that none is meant
        if _DIGITS.fullmatch(str(text)):
            return int(text)
    raise typer.BadParameter(
        f'"{shown(str(text))}" is not a whole number. Write it in digits, such as 20.'
    )


def _number(text: str | float) -> float:
    """A number, as `_whole`; what has no finite value is refused where the rule is known."""
    if _DECIMALS.fullmatch(str(text)):
        return float(text)
    raise typer.BadParameter(
        f'"{shown(str(text))}" is not a number. Write it in digits, as 0.5 or 1e-6.'
    )


PRIVACY, STORE, ANSWER, TESTS = "Privacy", "Database", "Answer", "Tests"

_DELTA = "Far below one over the number of users, such as 1e-6."


def _budget(text: str) -> Any:  # noqa: ANN401 - the library's types moved
    """A number on which privacy depends."""
    return typer.Option(
        parser=_number, metavar="NUMBER", help=text, rich_help_panel=PRIVACY, show_default=False
    )


def _file(rows: str) -> Any:  # noqa: ANN401 - the library's types moved
    """The table."""
    return typer.Argument(
        metavar="FILE",
        help=f"A Parquet, CSV or NDJSON file, a quoted glob, a directory, or - for standard input, "
        f"with {rows}",
        show_default=False,
    )


def _separator(text: str) -> str:
    """A separator; a tab can be written as it is in other languages, or by its name."""
    return "\t" if text in (r"\t", "tab") else text


def _column(text: str) -> Any:  # noqa: ANN401 - the library's types moved
    """A column by its name."""
    return typer.Option(metavar="COLUMN", help=text, show_default=False)


def _bound(text: str, *, show_default: bool) -> Any:  # noqa: ANN401 - the library's types moved
    """How many items of each user count."""
    return typer.Option(
        parser=_whole,
        metavar="N",
        help="At most N items of each user count when items are discovered; of a user with more, "
        f"N are picked at random.{text}",
        rich_help_panel=PRIVACY,
        show_default=show_default,
    )


def _in_store(metavar: str, text: str) -> Any:  # noqa: ANN401 - the library's types moved
    """Where the table is, if it is in no file."""
    return typer.Option(metavar=metavar, help=text, rich_help_panel=STORE, show_default=False)


def _no_counts(count: str | None) -> None:
    """Say at once why there is no such option: that --user is missing would not help."""
    if count is not None:
        raise InputError(
            "{count=}: a domain is found by who holds what, which counts do not tell",
            "give a table of users and items, with {user}",
            given={"count": ...},
        )


File = Annotated[str, _file("one row per user and item.")]
TopKFile = Annotated[
    str | None, _file("one row per user and item; or, with --count, one per item. Or use --store.")
]
RankFile = Annotated[str, _file("one row per comparison.")]
Separator = Annotated[
    str | None,
    typer.Option(
        parser=_separator,
        metavar="CHARACTER",
        help=r"The character between fields of CSV and text files, such as ';', or \t for a tab.",
        show_default=False,
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="The format of standard input: csv (the default), tsv, ndjson or parquet.",
        show_default=False,
    ),
]
Winner = Annotated[str, _column("The items that won.")]
Loser = Annotated[str, _column("The items that lost, of the same type.")]
RankUser = Annotated[
    str | None,
    _column("The users who compared: protects all rows of each user, rather than each row."),
]
User = Annotated[str, _column("The users, who are protected.")]
TopKUser = Annotated[
    str | None, _column("The users, who are protected. This or --count is required.")
]
Count = Annotated[
    str | None,
    _column("The number of users who hold the item, each counted once. Instead of --user."),
]
NoCount = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", hidden=True, is_eager=True, callback=_no_counts),
]
Item = Annotated[list[str], _column("The items. Repeat it if several columns make up an item.")]
K = Annotated[
    int,
    typer.Option("-k", parser=_whole, metavar="N", help="How many items.", show_default=False),
]
Epsilon = Annotated[float, _budget("Privacy budget: 1 is usual, less is more private.")]
DomainDelta = Annotated[float, _budget(_DELTA)]
Delta = Annotated[float, _budget(f"{_DELTA} It may be omitted with public items.")]
Bound = Annotated[int, _bound(" Choose N without looking at the data.", show_default=True)]
TopKBound = Annotated[
    int | None,
    _bound(
        " By default 100. Choose N without looking at the data. With --count: your promise that "
        "no user is in more than N counts. With --public-items: for one-shot-laplace only.",
        show_default=False,
    ),
]
ComparisonBound = Annotated[
    int | None,
    typer.Option(
        parser=_whole,
        metavar="N",
        help="At most N comparisons of each user count; of a user with more, N are picked at "
        "random. Required with --user. Choose N without looking at the data.",
        rich_help_panel=PRIVACY,
        show_default=False,
    ),
]
StoreUrl = Annotated[
    str | None,
    _in_store(
        "URL",
        "Instead of FILE, a database, of which only a few counts are read, by an index: "
        "sqlite:///items.db or postgresql://user@host/database. The items are public. Put a "
        "password in PGPASSWORD or a password file.",
    ),
]
StoreTable = Annotated[
    str | None, _in_store("TABLE", "With --store: the table, with one row per item.")
]
ShowAccesses = Annotated[
    bool,
    typer.Option(
        "--show-accesses",
        metavar="",
        help="With --store: say on standard error how many counts were read. Keep it to yourself: "
        "it depends on private data.",
        rich_help_panel=STORE,
    ),
]
PublicItems = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A file with the items that everybody knows, in a column named as in the table.",
        rich_help_panel=PRIVACY,
    ),
]
PublicItemsInTable = Annotated[
    bool,
    typer.Option(
        "--public-items-in-table",
        metavar="",
        help="With --count: everybody knows which items the table has.",
        rich_help_panel=PRIVACY,
    ),
]
RankPublicItems = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A file with the items that everybody knows. This or --public-items-in-table is "
        "required.",
        rich_help_panel=PRIVACY,
    ),
]
RankPublicItemsInTable = Annotated[
    bool,
    typer.Option(
        "--public-items-in-table",
        metavar="",
        help="Everybody knows which items the table compares.",
        rich_help_panel=PRIVACY,
    ),
]
NoPublicItems = Annotated[str | None, typer.Option(metavar="FILE", hidden=True)]
TopKMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="discover-then-rank (the default), weighted-gaussian-peeling, limited-domain (the "
        "default with --count); for public items joint-or-peel (the default), joint, "
        "joint-permute-and-flip, permute-and-flip, peeling, one-shot-laplace, gamma; with --store "
        "threshold-top-k.",
        rich_help_panel=PRIVACY,
    ),
]
HittingSetBound = Annotated[
    int | None,
    _bound(
        " By default 100. Choose N without looking at the data. Not with --public-items.",
        show_default=False,
    ),
]
HittingSetMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="discover-then-hit (the default) or user-peeling; for public items user-peeling.",
        rich_help_panel=PRIVACY,
    ),
]
CountShare = Annotated[
    float | None,
    _budget(
        "The share of the budget for a noisy count of each item, such as 0.2; none by default."
    ),
]
DomainMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="weighted-gaussian (the default), policy-gaussian, policy-greedy.",
        rich_help_panel=PRIVACY,
    ),
]
RankDelta = Annotated[float, _budget("Omit it: no mechanism for rankings uses one.")]
RankMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="win-count (the default), or spectral-ranking, which protects who won, but not "
        "which pairs were compared.",
        rich_help_panel=PRIVACY,
    ),
]
Contraction = Annotated[
    float | None,
    _budget(
        "For spectral-ranking: only tables whose walks have at most this ergodicity coefficient "
        "are protected from each other; other outcomes are not protected. Not needed where all "
        "pairs were compared."
    ),
]
Degree = Annotated[
    int | None,
    typer.Option(
        parser=_whole,
        metavar="N",
        help="For spectral-ranking: the most other items that any one item was compared with.",
        rich_help_panel=PRIVACY,
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save the answer too, as .json or .parquet (all of it), .md (with the guarantee) or "
        ".csv (without it). With -, save nothing, and print the whole answer.",
        rich_help_panel=ANSWER,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        metavar="",
        help="Let --output replace a file.",
        rich_help_panel=ANSWER,
    ),
]


class Form(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


def _form(text: str) -> Form:
    """The form of that name; what is none is quoted."""
    if text in list(Form):
        return Form(text)
    known = f"{', '.join(list(Form)[:-1])} or {list(Form)[-1]}"
    raise typer.BadParameter(f'"{text}" is not known. It must be {known}.')


Format = Annotated[
    Form | None,
    typer.Option(
        "--format",
        parser=_form,
        metavar="NAME",
        help="Print it as table (the default), csv (without the guarantee), json or markdown.",
        rich_help_panel=ANSWER,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", metavar="", help="The same as --format json.", rich_help_panel=ANSWER),
]
AuditJson = Annotated[
    bool, typer.Option("--json", metavar="", help="Print JSON.", rich_help_panel=ANSWER)
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        metavar="",
        help="Only say what the answer would cost, how large the noise is, and what an item needs "
        "to be named. No row is read and nothing is spent.",
        rich_help_panel=ANSWER,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        parser=_whole,
        metavar="N",
        help="Draw the noise from a seed: the same answer each time, and no privacy at all.",
        rich_help_panel=TESTS,
    ),
]
NotPrivate = Annotated[
    bool,
    typer.Option("--not-private", metavar="", help="Required with --seed.", rich_help_panel=TESTS),
]
AuditMechanism = Annotated[
    str | None,
    typer.Argument(metavar="MECHANISM", help="A mechanism, such as peeling. By default all."),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        metavar="",
        help="Few parameters and small inputs: seconds, not minutes.",
        rich_help_panel=ANSWER,
    ),
]
Statistical = Annotated[
    bool,
    typer.Option(
        "--statistical",
        metavar="",
        help="Check samples of the code's output rather than its exact output laws.",
        rich_help_panel=ANSWER,
    ),
]
