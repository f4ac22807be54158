"""The commands: what each does with its arguments, which stand in the table of options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import shortlist
from shortlist.cli._budgets import budget
from shortlist.cli._options import Commands
from shortlist.cli._progress_line import showing_progress
from shortlist.cli._typer_commands import add_command, examples, group_of_commands
from shortlist.cli.completing import script
from shortlist.cli.failure import releasing_nothing
from shortlist.cli.request import QUESTIONS, Request
from shortlist.errors import InputError, nearest, shown
from shortlist.runtime.phases import phase

__all__ = ["app"]


app = group_of_commands(
    """shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6

Each command has its own help: shortlist top-k --help"""
)
app.add_typer(budget, name="budget")


@app.callback(invoke_without_command=True)
def _shortlist(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version and exit.")
    ] = False,
) -> None:
    """Which items? Lists about sensitive tables, with differential privacy.

    A table has one row per user and item, or one row per item with the number of
    its users. Each user is protected as a whole: --epsilon and --delta limit what
    the answer can tell of whether any one user is in the table, whatever else is
    known. For a ranking, a table has one row per comparison of two items; each
    row is protected or, with --user, each user.
    """
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"shortlist {installed('shortlist')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit(2)


def _asking(command: Commands) -> Callable[..., Request]:
    def ask(*, config: Any, no_config: bool, **given: Any) -> Request:  # noqa: ARG001 - it was heeded
        return Request.made(command, given, settings=config)

    ask.__doc__ = QUESTIONS[command].about
    return ask


for _question in QUESTIONS.values():
    _of = _question.command
    add_command(app, _of, _asking(_of), examples(_question.examples))


def _compare(**given: Any) -> int:
    """NOT private: what each mechanism would leave out of a table.

    Use it on a table that may be looked at, to choose epsilon, k, a bound and a
    mechanism before you ask about one that may not.
    """
    from shortlist.cli._comparing import compared

    return compared(**given)


add_command(
    app,
    Commands.COMPARE,
    _compare,
    examples(
        "shortlist compare top-k plays.parquet --user user --item title \\\n"
        "    -k 20 -k 100 --epsilon 0.1 --epsilon 1 --delta 1e-6 --not-private"
    ),
)


def _audit(*, mechanism: str | None, quick: bool, statistical: bool, as_json: bool) -> int:
    """Check what the mechanisms claim, on all neighbours of small inputs.

    The exit status is 1 if a claim is broken. None of your data is read.
    """
    from rich.console import Console

    with releasing_nothing(), showing_progress(), phase("Auditing"):
        found = shortlist.audit.run(
            mechanism, quick=quick, statistical=statistical, processes=os.cpu_count() or 1
        )
    if as_json:
        sys.stdout.write(found.to_json())
    else:
        Console(highlight=False).print(found)
    if found.broken:
        typer.echo("A claim is broken: do not rely on it.", err=True)
    elif not (found.holds or statistical):
        typer.echo("Not every claim could be decided.", err=True)
    return 1 if found.broken else 0


add_command(app, Commands.AUDIT, _audit, examples("shortlist audit peeling --quick"))


def _explain(*, file: str) -> int:
    """What a saved release means, in plain words.

    Who is protected, what epsilon means here, whether a missing item has no
    users, whether the scores are counts, and what it cost.
    """
    from shortlist.cli.publishing import print_unpaid

    print_unpaid(_explained(file), "the explanation")
    return 0


def _explained(file: str) -> str:
    """What a release means that is in a file; or in a pipe, whose name does not say its format."""
    from shortlist.release.loading import from_json

    if file != "-" and not Path(file).is_fifo():
        return shortlist.load(file).explain()
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return from_json(text).explain()
    except Exception as error:
        raise InputError(
            "from a pipe, a release is read in JSON, and this is none",
            "print it by {as_json}, and write {as_json} | shortlist explain -",
        ) from error


add_command(app, Commands.EXPLAIN, _explain, examples("shortlist explain top.json"))


def _completion(*, shell: str) -> int:
    """Print a script for tab completion."""
    from shortlist.cli.publishing import print_unpaid

    print_unpaid(script(shell), "the script")
    return 0


add_command(
    app,
    Commands.COMPLETION,
    _completion,
    "\n\n".join(
        [
            examples('eval "$(shortlist completion bash)"', title="In ~/.bashrc"),
            examples('eval "$(shortlist completion zsh)"', title="In ~/.zshrc, after compinit"),
            examples("shortlist completion fish | source", title="In ~/.config/fish/config.fish"),
        ]
    ),
)


def _help(context: typer.Context, *, names: Sequence[str] | None, every: bool) -> int:
    """Print the help of a command; or, with --all, of all within it, too.

    To search it: shortlist help --all | less
    """
    named = _named(context.find_root(), names or [])
    for one in _inside(named) if every else [named]:
        typer.echo(one.get_help())  # where Rich lays it out, it prints it, too
    return 0


def _named(context: Any, names: Sequence[str]) -> Any:
    """The context of a command, by its name within its group."""
    for name in names:
        commands = getattr(context.command, "commands", {})
        if name not in commands:
            raise InputError(
                "there is no command {name}",
                "{hint}",
                name=f'"{shown(" ".join(names))}"',
                hint=nearest(name, commands) or "Its help names all: shortlist --help",
            )
        context = _below(context, name)
    return context


def _inside(context: Any) -> Iterator[Any]:
    """The context of a command, and of all commands in it."""
    yield context
    for name in getattr(context.command, "commands", {}):
        yield from _inside(_below(context, name))


def _below(context: Any, name: str) -> Any:
    return type(context)(context.command.commands[name], info_name=name, parent=context)


add_command(app, Commands.HELP, _help, examples("shortlist help top-k"))
