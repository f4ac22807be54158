"""The commands: what each does with its arguments, which stand in the table of options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import shortlist
from shortlist._version import __version__
from shortlist.cli._budgets import budget
from shortlist.cli._options import Commands
from shortlist.cli._progress_line import showing_progress
from shortlist.cli._question_commands import QUESTIONS
from shortlist.cli._series import series
from shortlist.cli._typer_commands import add_to, examples, group_of_commands, with_options
from shortlist.cli._values import Form
from shortlist.cli.completing import script
from shortlist.cli.failure import releasing_nothing, warn
from shortlist.cli.limited_memory import prepare
from shortlist.cli.request import Request
from shortlist.errors import InputError, nearest, shown
from shortlist.runtime.phases import phase

if TYPE_CHECKING:
    from shortlist.questions import Question


app = group_of_commands(
    """shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6

Each command has its own help: shortlist top-k --help"""
)
app.add_typer(budget, name="budget")
app.add_typer(series, name="series")


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
        typer.echo(f"shortlist {__version__}")
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
    add_to(app, _of, examples(_question.examples))(_asking(_of))


@add_to(
    app,
    Commands.COMPARE,
    examples(
        """shortlist compare top-k plays.parquet --user user --item title \\
    -k 20 -k 100 --epsilon 0.1 --epsilon 1 --delta 1e-6 --not-private"""
    ),
)
def _compare(  # noqa: PLR0913 - a command's options are its arguments
    *,
    question: str,
    k: list[int] | None,
    epsilon: list[float],
    delta: list[float] | None,
    max_items_per_user: list[int] | None,
    mechanism: list[str] | None,
    runs: int,
    as_csv: bool,
    not_private: bool,
    **table: Any,
) -> int:
    """NOT private: what each mechanism would leave out of a table.

    Use it on a table that may be looked at, to choose epsilon, k, a bound and a
    mechanism before you ask about one that may not.
    """
    from shortlist.cli.publishing import print_text, warnings_of_ours, without_panics
    from shortlist.mechanisms.registry import mechanism_named

    if not not_private:
        raise InputError(
            "this looks at the rows without noise", "add {not_private} if they may be looked at"
        )
    request = Request.made(Commands.called(question), table)
    request.require_sense()
    questions = _questions(question, k or [])
    prepare()
    with releasing_nothing(), showing_progress(), without_panics():
        with warnings_of_ours() as warned:
            source = request.source()
        usable = source.mechanisms_for(questions[0])
        with phase("Comparing"):
            found = shortlist.metrics.compare(
                source,
                questions,
                epsilon=epsilon,
                delta=delta or 0.0,
                max_items_per_user=max_items_per_user or None,
                mechanisms=[mechanism_named(name, usable) for name in mechanism or ()] or None,
                runs=runs,
            )
    for warning in warned():
        warn(warning)
    print_text(found.frame.write_csv() if as_csv else f"{found}\n")
    return 0


def _questions(name: str, several: list[int]) -> list[Question]:
    if name == shortlist.Domain.name:
        if several:
            raise InputError("{k}: a domain has no number of items", "omit it")
        return [shortlist.Domain()]
    if not several:
        raise InputError("{k} is needed for this question", "add {k=20}")
    kind = shortlist.TopK if name == shortlist.TopK.name else shortlist.HittingSet
    return [kind(k) for k in several]


@add_to(app, Commands.AUDIT, examples("shortlist audit peeling --quick"))
def _audit(*, mechanism: str | None, quick: bool, statistical: bool, as_json: bool) -> int:
    """Check what mechanisms and series claim, on all neighbours of small inputs.

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


@add_to(app, Commands.EXPLAIN, examples("shortlist explain top.json"))
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


@add_to(app, Commands.DIFF, examples("shortlist diff last.json this.json"))
def _diff(*, before: str, now: str, form: Form | None, as_json: bool) -> int:
    """What is new, gone or moved from one list to the next.

    And which moves are more than noise, where both have noisy counts. Only the
    two files are looked at, so that it costs nothing.
    """
    from shortlist.cli.publishing import print_unpaid
    from shortlist.cli.request import one_form

    found = shortlist.diff(shortlist.load(before), shortlist.load(now))
    written = {
        Form.TABLE: lambda: f"{found}\n",
        Form.CSV: found.to_csv,
        Form.JSON: found.to_json,
        Form.MARKDOWN: found.to_markdown,
    }
    print_unpaid(written[one_form(form, as_json=as_json)](), "the comparison")
    return 0


@add_to(
    app,
    Commands.COMPLETION,
    """[bold]In ~/.bashrc[/]

eval "$(shortlist completion bash)"

[bold]In ~/.zshrc, after compinit[/]

eval "$(shortlist completion zsh)"

[bold]In ~/.config/fish/config.fish[/]

shortlist completion fish | source""",
)
def _completion(*, shell: str) -> int:
    """Print a script for tab completion."""
    from shortlist.cli.publishing import print_unpaid

    print_unpaid(script(shell), "the script")
    return 0


@add_to(app, Commands.HELP, examples("shortlist help top-k"))
def _help(context: typer.Context, *, names: Sequence[str] | None, every: bool) -> int:
    """Print the help of a command; or, with --all, of all within it, too.

    To search it: shortlist help --all | less
    """
    named = _named(context.find_root(), names or [])
    for one in _inside(named) if every else [named]:
        typer.echo(one.get_help())  # where Rich lays it out, it prints it, too
    return 0


def _named(context: Any, names: Sequence[str]) -> Any:
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
    yield context
    for name in getattr(context.command, "commands", {}):
        yield from _inside(_below(context, name))


def _below(context: Any, name: str) -> Any:
    command = with_options(context.command.commands[name])
    return type(context)(command, info_name=name, parent=context)
