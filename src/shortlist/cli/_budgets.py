"""The commands about budgets: to create one, and to see what was charged to it."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli._builders import ANSWER, PRIVACY, number, valued
from shortlist.cli._parsing import Command, Group
from shortlist.cli._settings import budget_of_file
from shortlist.cli.completing import one_of
from shortlist.errors import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.budget import Budget

__all__ = ["budget", "create"]


class _Form(StrEnum):
    """How the charges are written."""

    CSV = "csv"
    JSON = "json"


def _form(text: str) -> _Form:
    """The form of that name; what is none is quoted."""
    if text in list(_Form):
        return _Form(text)
    raise typer.BadParameter(f'"{shown(text)}" is not known. It must be csv or json.')


_Place = Annotated[
    str,
    typer.Argument(
        metavar="BUDGET",
        help="A file, or postgresql://user@host/database for many machines.",
        show_default=False,
    ),
]
_Known = Annotated[
    str | None,
    typer.Argument(
        metavar="BUDGET",
        help="A file, or postgresql://user@host/database. By default that of shortlist.toml.",
        show_default=False,
    ),
]
_Which = Annotated[
    str | None, valued("NAME", "The data set, where a database has several budgets.")
]

budget = typer.Typer(
    cls=Group,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="""
[bold]Example[/]\n
shortlist budget create plays.budget --epsilon 3 --delta 3e-6 \\
    --protects user --dataset plays-2026\n
shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 0.5 --delta 3e-7 --budget plays.budget\n
shortlist budget show plays.budget""",
)


@budget.callback(invoke_without_command=True)
def _budget(context: typer.Context) -> None:
    """A total of privacy for one data set, which no question may overspend.

    Questions are charged to it by --budget, before anything is read.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit(2)


@budget.command(
    "create",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist budget create plays.budget --epsilon 3 --delta 3e-6 \\
    --protects user --dataset plays-2026""",
)
def create(  # noqa: PLR0913 - a command's options are its arguments
    place: _Place,
    *,
    epsilon: Annotated[float, valued("NUMBER", "Of the total.", PRIVACY, parser=number)],
    delta: Annotated[
        float,
        valued(
            "NUMBER",
            "Of the total, far below one over the number of users. By default 0: then only "
            "questions that need none can be charged.",
            PRIVACY,
            parser=number,
        ),
    ] = 0.0,
    protects: Annotated[
        str,
        valued(
            "COLUMN",
            'Who is protected: the column of users; or "comparison", for rankings without one.',
            PRIVACY,
        ),
    ],
    dataset: Annotated[str, valued("NAME", "What you call the data set.", PRIVACY)],
    accounting: Annotated[
        str | None,
        valued(
            "NAME",
            "zcdp (the default with a delta), by which many questions cost far less; basic, which "
            "adds up epsilons and deltas; or pure (the default without a delta).",
            PRIVACY,
        ),
    ] = None,
    adjacency: Annotated[
        str | None,
        valued(
            "TEXT", 'Which tables are neighbours. By default "add or remove one user".', PRIVACY
        ),
    ] = None,
    lost_share: Annotated[
        float | None,
        valued(
            "NUMBER",
            "For experts: in zcdp, the share of delta that pays for thresholds. The rest gives "
            "rho. By default 0.75.",
            PRIVACY,
            parser=number,
        ),
    ] = None,
    who: Annotated[
        str | None, valued("NAME", "Who creates it. By default, you as the system knows you.")
    ] = None,
) -> int:
    """Create a budget. What it is created with never changes."""
    import shortlist

    made = shortlist.Budget.create(
        place,
        epsilon=epsilon,
        delta=delta,
        protects=protects,
        dataset=dataset,
        accounting=accounting,
        adjacency=adjacency,
        lost_share=lost_share,
        who=who,
    )
    return _print(made.show())


@budget.command("show", cls=Command)
def show(place: _Known = None, *, dataset: _Which = None) -> int:
    """What is left, what one may still ask, and every charge."""
    return _print(_opened(place, dataset).show())


@budget.command("export", cls=Command)
def export(
    place: _Known = None,
    *,
    dataset: _Which = None,
    form: Annotated[
        _Form,
        valued(
            "NAME",
            "csv (the default), one line a charge; or json, with all that is hashed.",
            ANSWER,
            "--format",
            parser=_form,
            autocompletion=one_of(*_Form),
        ),
    ] = _Form.CSV,
) -> int:
    """Print the charges for a program."""
    from shortlist.cli._publishing import print_text

    asked = _opened(place, dataset)
    print_text(asked.to_json() if form is _Form.JSON else asked.to_csv(), faithful=True)
    return 0


@budget.command("verify", cls=Command)
def verify(
    place: _Known = None,
    *,
    dataset: _Which = None,
    known: Annotated[
        str | None,
        valued("HASH", "The hash that this command printed before: it must still be there."),
    ] = None,
) -> int:
    """Find out whether an entry was changed, removed or inserted.

    The exit status is 1 if one was.
    """
    asked = _opened(place, dataset)
    if found := asked.verify(known):
        typer.echo("\n".join(found))
        return 1
    typer.echo(f"All entries are as they were written. The hash of the last one is\n{asked.head}")
    return 0


def _opened(place: str | None, dataset: str | None) -> "Budget":
    """The budget that is named, or that of the settings; then it is said so."""
    import shortlist

    if place is None:
        place, default, file = budget_of_file()
        dataset = default if dataset is None else dataset
        typer.echo(f"The budget is that of {file}.", err=True)
    return shortlist.Budget(place, dataset=dataset)


def _print(shown: "RenderableType") -> int:
    """Print it, without spaces at the ends of lines."""
    from rich.console import Console

    from shortlist.cli._publishing import print_text

    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(shown)
    print_text("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))
    return 0
