"""The commands that only tell: what a release means, how a shell completes, all the help."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.completing import SHELLS, commands, one_of, script
from shortlist.errors import InputError, nearest, shown

__all__ = ["completion", "explain", "help_of"]


def _shell(text: str) -> str:
    """A shell by its name; what is none is quoted."""
    if text in SHELLS:
        return text
    raise typer.BadParameter(f'"{shown(text)}" is not known. It must be {_SHELLS}.')


_SHELLS = f"{', '.join(SHELLS[:-1])} or {SHELLS[-1]}"

Saved = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A release that was saved as .json or .parquet; or - for one from a pipe, in JSON.",
        show_default=False,
    ),
]
Shell = Annotated[
    str,
    typer.Argument(
        metavar="SHELL",
        help=f"The shell: {_SHELLS}.",
        parser=_shell,
        autocompletion=one_of(*SHELLS),
        show_default=False,
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="COMMAND",
        help="A command, such as top-k.",
        autocompletion=commands,
        show_default=False,
    ),
]
All = Annotated[
    bool,
    typer.Option("--all", metavar="", help="Print that of all commands."),
]


def explain(file: Saved) -> int:
    """What a saved release means, in plain words.

    Who is protected, what epsilon means here, whether a missing item has no
    users, whether the scores are counts, and what it cost.
    """
    from shortlist.cli._publishing import print_unpaid

    print_unpaid(_explained(file), "the explanation")
    return 0


def _explained(file: str) -> str:
    """What a release means that is in a file; or in a pipe, whose name does not say its format."""
    import shortlist
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


def completion(shell: Shell) -> int:
    """Print a script for tab completion."""
    from shortlist.cli._publishing import print_unpaid

    print_unpaid(script(shell), "the script")
    return 0


def help_of(context: typer.Context, names: Names = None, *, every: All = False) -> int:
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
