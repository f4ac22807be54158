"""The answer: read, select, print and save, in this order."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shortlist.cli.failure import discard_output, warn
from shortlist.cli.memory import prepare
from shortlist.cli.options import Form
from shortlist.cli.publishing import print_text, publish, tell_of_long_answers
from shortlist.cli.request import Request
from shortlist.errors import InputError, WeakPrivacyWarning

if TYPE_CHECKING:
    from shortlist.mechanisms import Mechanism

__all__ = ["answer"]


def answer(request: Request) -> None:
    """Answer on stdout, and in the file asked for."""
    form = request.printed_as()
    mechanism, bits = _planned(request), request.bits()  # refused before anything is opened
    request.check_output()
    if request.dry_run:
        _print_plan((_plan_as_json if form is Form.JSON else _plan_in_words)(mechanism))
        return
    tell_of_long_answers(request)
    prepare()
    with _spinner(), _without_panics(), warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakPrivacyWarning)  # it was told
        source = request.source()
        release = request.release(source, bits)
    publish(release, request)
    if (told := request.told(source)) is not None:
        typer.echo(told, err=True)


def _planned(request: Request) -> Mechanism:
    """The mechanism, and a line of warning where its guarantee is weak."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WeakPrivacyWarning)
        mechanism = request.plan()
    for warning in caught:
        warn(str(warning.message))
    return mechanism


def _print_plan(plan: str) -> None:
    try:
        print_text(plan)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise InputError(f"the plan could not be printed: {error.strerror}.") from None


def _plan_in_words(mechanism: Mechanism) -> str:
    cost, budget = mechanism.cost, f"epsilon={mechanism.epsilon:g}, delta={mechanism.delta:g}"
    numbers = ", ".join(f"{name}={value:.4g}" for name, value in cost.parameters().items())
    return "\n".join(
        [
            "Nothing was read and nothing was spent.",
            "",
            f"{type(mechanism).__name__} would spend {budget},",
            f"which composes as {type(cost).__name__}({numbers}).",
            "",
            *(_wrapped(sentence) for sentence in mechanism.explain()),
            "",
        ]
    )


def _wrapped(sentence: str) -> str:
    import textwrap

    return textwrap.fill(sentence, 80, initial_indent="- ", subsequent_indent="  ")


def _plan_as_json(mechanism: Mechanism) -> str:
    from shortlist.release.described import plain

    cost = mechanism.cost
    named = {
        "mechanism": {"name": type(mechanism).__name__, "parameters": mechanism.parameters()},
        "cost": {"name": type(cost).__name__, "parameters": cost.parameters()},
        "explanation": mechanism.explain(),
    }
    return json.dumps(plain(named), indent=2) + "\n"


@contextlib.contextmanager
def _spinner() -> Iterator[None]:
    """Something that moves on stderr after one second, if a person is watching."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    # A number of its own, which nothing diverts.
    with os.fdopen(os.dup(2), "w", encoding=sys.stderr.encoding, errors="replace") as screen:
        status = Console(file=screen).status("Reading and selecting …")
        timer = threading.Timer(1.0, status.start)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            status.stop()


@contextlib.contextmanager
def _without_panics() -> Iterator[None]:
    """Divert what is written to stderr by its number: the trace of a panic inside Polars."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
