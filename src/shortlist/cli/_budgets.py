"""The commands about budgets: to create one, to plan with it, and to see what was charged to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

import shortlist
from shortlist.cli._options import Commands
from shortlist.cli._settings_file import budget_of_file
from shortlist.cli._typer_commands import add_to, examples, group_of_commands
from shortlist.cli._values import BudgetForm

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.budget import Budget

_CREATE = """shortlist budget create plays.budget --epsilon 3 --delta 3e-6 \\
    --protects user --dataset plays-2026"""

budget = group_of_commands(
    f"""{_CREATE}

shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 0.5 --delta 3e-7 --budget plays.budget

shortlist budget plan plays.budget --questions 52

shortlist budget show plays.budget"""
)


@budget.callback(invoke_without_command=True)
def _budget(context: typer.Context) -> None:
    """A total of privacy for one data set, which no question may overspend.

    Questions are charged to it by --budget, before anything is read.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit(2)


@add_to(budget, Commands.CREATE, examples(_CREATE))
def _create(*, place: str, **given: Any) -> int:
    """Create a budget. Its total and its other terms never change."""
    return print_shown(shortlist.Budget.create(place, **given).show())


@add_to(budget, Commands.SHOW)
def _show(*, place: str | None, dataset: str | None) -> int:
    """What is left, what one may still ask, and every charge."""
    return print_shown(_opened(place, dataset).show())


@add_to(budget, Commands.PLAN, examples("shortlist budget plan plays.budget --questions 52"))
def _plan(*, place: str | None, dataset: str | None, questions: int) -> int:
    """The epsilon and delta with which N more questions fit into what is left.

    Nothing is read and nothing is spent.
    """
    return print_shown(_opened(place, dataset).plan(questions))


@add_to(budget, Commands.EXPORT)
def _export(*, place: str | None, dataset: str | None, form: BudgetForm) -> int:
    """Print the charges for a program."""
    from shortlist.cli.publishing import print_text

    asked = _opened(place, dataset)
    print_text(asked.to_json() if form is BudgetForm.JSON else asked.to_csv(), faithful=True)
    return 0


@add_to(budget, Commands.VERIFY)
def _verify(*, place: str | None, dataset: str | None, known: str | None) -> int:
    """Find out whether an entry was changed, removed or inserted.

    The exit status is 1 if one was.
    """
    asked = _opened(place, dataset)
    if found := asked.verify(known):
        typer.echo("\n".join(found))
        return 1
    typer.echo(f"All entries are as they were written. The hash of the last one is\n{asked.head}")
    return 0


def _opened(place: str | None, dataset: str | None) -> Budget:
    """The budget that is named, or that of the settings; then it is said so."""
    if place is None:
        place, default, file = budget_of_file()
        dataset = default if dataset is None else dataset
        typer.echo(f"The budget is that of {file}.", err=True)
    return shortlist.Budget(place, dataset=dataset)


def print_shown(shown: RenderableType) -> int:
    from rich.console import Console

    from shortlist.cli.publishing import print_text
    from shortlist.release.rendering import captured

    print_text(f"{captured(Console(highlight=False), shown)}\n")
    return 0
