"""What a shell may complete: names of mechanisms, columns of the table on the line, and forms."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import typer

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_SHORTLIST_COMPLETE"  # by which a shell asks

_PLAIN = re.compile(r"[\w][\w.+-]*")  # what no shell takes for anything but a word


def script(shell: str) -> str:
    """The script by which a shell completes the command."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # as below

    text: str = get_completion_script(prog_name="shortlist", complete_var=VARIABLE, shell=shell)
    return f"{text.strip()}\n"


def prepare() -> None:
    """Let Typer answer where a shell asks for completions."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]  # not listed

        completion_init()


def one_of(*words: str) -> Callable[[], list[str]]:
    """Offer these words."""
    return lambda: list(words)


def columns(context: typer.Context) -> list[str]:
    """The columns of the file on the line; none if it cannot be read.

    A name that a shell could take for more than a word is left out.
    """
    from shortlist.errors import InputError

    file = context.params.get("file")
    if not isinstance(file, str) or file == "-" or "://" in file:
        return []
    from shortlist.table import Writing
    from shortlist.table.reading import open_parts

    written = (context.params.get(name) for name in ("separator", "encoding"))
    try:
        with warnings.catch_warnings(action="ignore"):
            first, *_ = open_parts(file, "data", Writing(*written))
    except InputError:
        return []
    return _plain(first.schema)


def commands(context: typer.Context) -> list[str]:
    """The commands, or those within the command that the line names."""
    group: Any = context.find_root().command
    for name in context.params.get("names") or ():
        group = getattr(group, "commands", {}).get(name)
    return list(getattr(group, "commands", {}))


def mechanisms(context: typer.Context) -> list[str]:
    """The mechanisms that answer the question of the line; all, for a command of several."""
    from shortlist.mechanisms.registry import every_mechanism, kebab

    question = context.params.get("question", context.info_name)
    every = list(every_mechanism())
    fitting = [kind for kind in every if kind.question.name == question]
    return _plain(kebab(kind) for kind in fitting or every)


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if _PLAIN.fullmatch(name)]
