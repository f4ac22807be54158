"""The options that every question has, and those of the audit, with their help."""

from enum import StrEnum
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli._builders import ANSWER, PRIVACY, TESTS, flag, valued, whole
from shortlist.cli.completing import mechanisms, one_of
from shortlist.errors import InputError


def _separator(text: str) -> str:
    """A separator; a tab can be written as it is in other languages, or by its name."""
    return "\t" if text in (r"\t", "tab") else text


FORMATS = ("csv", "tsv", "ndjson", "parquet")
"""Of standard input, whose name tells none."""


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


Separator = Annotated[
    str | None,
    valued(
        "CHARACTER",
        r"The character between fields of CSV and text files, such as ';', or \t for a tab. By "
        "default the first line tells.",
        parser=_separator,
    ),
]
Encoding = Annotated[
    str | None,
    valued("NAME", "The encoding of text files that are not in UTF-8, such as latin1 or utf-16."),
]
InputFormat = Annotated[
    str | None,
    valued(
        "FORMAT",
        "The format of standard input: csv (the default), tsv, ndjson or parquet.",
        autocompletion=one_of(*FORMATS),
    ),
]
Option = Annotated[
    list[str] | None,
    valued(
        "NAME=VALUE",
        "With --mechanism: an option of that mechanism's own, as in accounting=zcdp. Repeat it "
        "for several.",
        PRIVACY,
    ),
]
Output = Annotated[
    Path | None,
    valued(
        "FILE",
        "Save the answer too, as .json or .parquet (all of it), .md (with the guarantee) or .csv "
        "(without it). With -, save nothing, and print the whole answer.",
        ANSWER,
    ),
]
Report = Annotated[
    Path | None,
    valued(
        "FILE",
        "Write a page for people too, as .html: the list with its noise, whom it protects, what "
        "the numbers mean, and how to check it. One file, which loads nothing.",
        ANSWER,
    ),
]
Overwrite = Annotated[bool, flag("--overwrite", "Let --output and --report replace a file.")]
Format = Annotated[
    Form | None,
    valued(
        "NAME",
        "Print it as table (the default), csv (without the guarantee), json or markdown.",
        ANSWER,
        "--format",
        parser=_form,
        autocompletion=one_of(*Form),
    ),
]
Json = Annotated[bool, flag("--json", "The same as --format json.")]
DryRun = Annotated[
    bool,
    flag(
        "--dry-run",
        "Only say what the answer would cost, how large the noise is, and what an item needs to be "
        "named, and whether it could be asked now. No row is read and nothing is spent.",
    ),
]
Seed = Annotated[
    int | None,
    valued(
        "N",
        "Draw the noise from a seed: the same answer each time, and no privacy at all.",
        TESTS,
        parser=whole,
    ),
]
NotPrivate = Annotated[bool, flag("--not-private", "Required with --seed.", TESTS)]

Budget = Annotated[
    str | None,
    valued(
        "BUDGET",
        "Charge the answer to this budget before anything is read, and refuse what would overspend "
        "it: a file made by shortlist budget create, or postgresql://…",
        PRIVACY,
    ),
]
Reuse = Annotated[
    bool,
    flag(
        "--reuse",
        "With --budget: if the same was answered before, print that answer again, for nothing.",
        PRIVACY,
    ),
]
Who = Annotated[
    str | None,
    valued("NAME", "With --budget: who asks. By default, you as the system knows you.", PRIVACY),
]
Dataset = Annotated[
    str | None,
    valued("NAME", "With --budget: the data set as the budget names it.", PRIVACY),
]


def _configured(context: typer.Context, given: str | None) -> Any:
    """The settings of this command, which it takes where nothing was typed."""
    from shortlist.cli._settings import settings_of

    if context.params.get("no_config"):
        if given is not None:
            raise InputError("{config} and {no_config}: give one of the two")
        return None
    return settings_of(context, given)


Config = Annotated[
    str | None,
    valued(
        "FILE",
        "Take what is not typed from this file. By default from shortlist.toml, of this folder or "
        "the nearest one above it.",
        is_eager=True,  # before what it sets
        callback=_configured,
    ),
]
NoConfig = Annotated[
    bool,
    typer.Option("--no-config", metavar="", help="Take nothing from any file.", is_eager=True),
]

EVERY = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
    for name, kind, default in (
        ("config", Config, None),
        ("no_config", NoConfig, False),
        ("separator", Separator, None),
        ("encoding", Encoding, None),
        ("input_format", InputFormat, None),
        ("option", Option, None),
        ("budget", Budget, None),
        ("reuse", Reuse, False),
        ("who", Who, None),
        ("dataset", Dataset, None),
        ("output", Output, None),
        ("report", Report, None),
        ("overwrite", Overwrite, False),
        ("form", Format, None),
        ("as_json", Json, False),
        ("dry_run", DryRun, False),
        ("seed", Seed, None),
        ("not_private", NotPrivate, False),
    )
]
"""The arguments that all questions have in common."""

# The audit

AuditMechanism = Annotated[
    str | None,
    typer.Argument(
        metavar="MECHANISM",
        help="A mechanism, such as peeling. By default all.",
        autocompletion=mechanisms,
    ),
]
AuditJson = Annotated[bool, flag("--json", "Print JSON.")]
Quick = Annotated[
    bool, flag("--quick", "Few parameters and small inputs: about a minute for all mechanisms.")
]
Statistical = Annotated[
    bool,
    flag(
        "--statistical",
        "Check samples of the code's output rather than its exact output laws.",
    ),
]
