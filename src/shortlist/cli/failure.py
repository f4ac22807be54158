"""What the command says when it cannot answer: one line, in the words of a shell."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from shortlist.cli._shell import SHELL
from shortlist.cli.limited_memory import is_limited
from shortlist.errors import (
    SPENT,
    InputError,
    Structured,
    is_short,
    lacks_memory,
    says_spent,
)

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]  # the parser's; it has no public name
INTERRUPTED = 130  # the exit status of a process that Ctrl-C ended
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO)


class Interrupted(BaseException):
    """Ctrl-C at a command that releases nothing anyway."""


@contextlib.contextmanager
def releasing_nothing() -> Iterator[None]:
    """Commands that release nothing: an interruption need not say that nothing was released."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted from None


def diagnosis(error: BaseException) -> tuple[str, int]:
    """What to say of an error, and the exit status."""
    if isinstance(error, InputError):
        return error.rendered(SHELL), 2
    if isinstance(error, USAGE_ERROR):
        return _usage(error), 2
    spent = f" {SPENT}" if says_spent(error) else ""
    if isinstance(error, Interrupted):
        return "interrupted.", INTERRUPTED
    if isinstance(error, KeyboardInterrupt):
        return str(error) or f"interrupted; nothing was released.{spent}", INTERRUPTED
    discard_output()
    return _of_failure(error, spent)


def _of_failure(error: BaseException, spent: str) -> tuple[str, int]:
    """What to say of a failure that no argument caused, and the exit status."""
    if isinstance(error, BrokenPipeError):  # of a text that was not paid for: enough was seen
        return "" if error.errno else str(error), 1
    if isinstance(error, OSError) and error.errno in _FULL and not spent:
        return f"the output cannot be written: {error.strerror}.", 2
    if lacks_memory(error):
        return f"there is not enough memory for this table.{spent}", 1
    remedy = "memory is short, since it is limited (ulimit -v); allow more, or " * is_limited()
    inside = f"something went wrong inside ({type(error).__name__}); {remedy}please report it."
    return f"{inside}{spent}", 1


def discard_output() -> None:
    """Discard what is still to be printed, so that it cannot fail at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """Say what went wrong in one line, whatever characters a name in it may hold."""
    from shortlist.release.readable import harmless

    with contextlib.suppress(OSError):  # nobody can be told
        message = harmless(_without_addresses(message))
        print(f"shortlist: {message}", file=sys.stderr)  # noqa: T201 - the command's voice


def warn(warning: Warning | str) -> None:
    """Say in one line what the library warns of."""
    words = warning.rendered(SHELL) if isinstance(warning, Structured) else str(warning)
    complain(f"warning: {words}")


@contextlib.contextmanager
def noting() -> Iterator[None]:
    """Print what the library logs as lines on standard error, also while that is diverted."""
    from shortlist.release.readable import harmless

    try:
        screen = os.fdopen(os.dup(sys.stderr.fileno()), "w", errors="backslashreplace")
    except (OSError, ValueError):  # a stream in memory has no number, and is never diverted
        yield
        return
    start = "\r\x1b[K" if screen.isatty() else ""  # the line of progress may be there
    note = logging.StreamHandler(screen)
    note.format = lambda record: f"{start}shortlist: {harmless(record.getMessage())}."  # type: ignore[method-assign]
    log = logging.getLogger("shortlist")
    log.addHandler(note)
    try:
        yield
    finally:
        log.removeHandler(note)
        screen.close()


def _without_addresses(message: str) -> str:
    """The message without the URLs among the arguments, wherever they were written by mistake.

    Of the parser's own messages, too. Of a file of SQLite its own message shows what is harmless.
    Nor does the message hold an argument that may be a table, given where its path belongs.
    """
    from shortlist.release.readable import harmless

    for argument in sys.argv[1:]:
        value = re.sub(r"^(?:--[\w-]+=|-\w)", "", argument)
        if not is_short(value):
            for text in (argument, value):
                as_parser = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
                for form in (text, harmless(text), as_parser):
                    message = message.replace(form, "…")
        if "://" in value and not value.lower().startswith("sqlite:///"):
            for form in (value, repr(value)[1:-1], str(Path(value))):
                message = message.replace(form, "…://…")
    return message


def _usage(error: Any) -> str:
    if missing := _missing(error):
        return missing
    if instead := _instead(error):
        return f"{error.message}{'' if error.message.endswith('.') else '.'} {instead}"
    likely = getattr(error, "possibilities", None)
    message = error.message if likely else error.format_message()
    meant = likely[0] if likely else _with_one_dash(error)
    hint = f" Did you mean {meant}?" if meant else ""
    stop = "" if message.endswith(("?", ".")) else "."
    command = error.ctx.command_path if error.ctx else "shortlist"
    return f"{message}{stop}{hint} See {command} --help."


def _missing(error: Any) -> str:
    """What to give to a command whose argument may come from a pipe."""
    if type(error).__name__ != "MissingParameter" or error.ctx.command.name != "explain":
        return ""
    return "Name a saved release, or write - to read one from the pipe."


_SOME_ROWS = (
    "To keep some rows of users and items: --where CONDITION, as in --where \"country = 'NO'\". "
    "Choose it without looking at the data."
)
_ALL_ROWS = (
    "Rows are not filtered here. Write those that count to a file first, as in duckdb -c "
    "\"COPY (SELECT * FROM 'plays.parquet' WHERE year = 2026) TO 'part.parquet'\", and choose them "
    "without looking at the data."
)
_WISHES = {  # what other commands have, and how it is had here
    "where": _ALL_ROWS,  # of a command that has no such option
    **dict.fromkeys(("filter", "query", "sql", "select"), _SOME_ROWS),
    **dict.fromkeys(("limit", "top", "head", "n", "count-limit"), "How many items: -k N."),
    **dict.fromkeys(("group-by", "groupby", "partition-by", "per"), "By groups: --by COLUMN."),
    **dict.fromkeys(("order-by", "sort", "sort-by"), "The best come first; a file can be sorted."),
    **dict.fromkeys(
        ("column", "columns", "key", "value"), "The columns: --user and --item COLUMN."
    ),
    "count": "Only top-k takes counts of items, which do not say who holds which: give --user.",
    **dict.fromkeys(("save", "out", "export", "to"), "To save the answer: --output FILE."),
}


def _instead(error: Any) -> str:
    """How what was wished for is had here, where an option of such a name is not known."""
    if not getattr(error, "option_name", None) or getattr(error, "message", None) is None:
        return ""
    name = error.option_name.lstrip("-").casefold().replace("_", "-")
    return _WISHES.get(name, "") if "No such option" in error.message else ""


def _with_one_dash(error: Any) -> str | None:
    """The option of one letter that was written with two dashes."""
    option = getattr(error, "option_name", None) or ""
    known = [name for parameter in error.ctx.command.params for name in parameter.opts]
    return option[1:] if option.startswith("--") and option[1:] in known else None
