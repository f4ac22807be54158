"""The answer: read, select, print and save, in this order."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shortlist.cli.failure import discard_output
from shortlist.cli.request import Request
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.mechanisms import Mechanism
    from shortlist.release import Release

__all__ = ["answer"]


def answer(request: Request) -> None:
    """Answer on stdout, and in the file asked for."""
    mechanism, bits = request.plan(), request.bits()  # refused before anything is opened
    if request.output is not None:
        from shortlist.release.saving import check_output, check_replaces_none

        check_output(request.output)
        check_replaces_none(request.output, request.files())
    if request.dry_run:
        _print(lambda: (_plan_as_json if request.as_json else _plan_in_words)(mechanism))
        return
    with _spinner(), _without_panics():
        source = request.source()
        release = request.release(source, bits)
    try:
        _publish(release, request)
        if (told := request.told(source)) is not None:
            typer.echo(told, err=True)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted in printing or saving: the budget is spent.") from None


def _publish(release: Release, request: Request) -> None:
    """Print and save; the budget is spent, so that where one fails the other is still tried."""
    try:
        _print(lambda: release.to_json() if request.as_json else _in_terminal(release, request.k))
    finally:
        if request.output is not None:
            _save(release, request.output)


def _print(render: Callable[[], str]) -> None:
    try:
        sys.stdout.write(render())
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise InputError(f"the answer could not be printed: {error.strerror}.") from None


def _save(release: Release, output: Path) -> None:
    try:
        release.save(output)
    except (InputError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f'the answer could not be saved as "{output}" ({why}); keep what was printed, since '
            "running it again spends again."
        ) from None
    typer.echo(f"Saved as {output}.", err=True)


def _in_terminal(release: Release, k: int | None) -> str:
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(release)
    lines = [line.rstrip() for line in capture.get().rstrip("\n").split("\n")]
    if k is not None and len(release) < k:
        lines.append(f"Fewer than {k} came out: no other item could be named with this privacy.")
    return "\n".join([*lines, ""])


def _plan_in_words(mechanism: Mechanism) -> str:
    cost, budget = mechanism.cost, f"epsilon={mechanism.epsilon:g}, delta={mechanism.spent_delta:g}"
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
    from shortlist.release.formats import plain

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
