"""The answer: read, select, print and save, in this order."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shortlist.cli._common_options import Form
from shortlist.cli._progress import showing_progress
from shortlist.cli._publishing import print_unpaid, publish
from shortlist.cli.failure import warn
from shortlist.cli.memory import prepare
from shortlist.cli.request import Request
from shortlist.errors import GuessWarning, WeakPrivacyWarning

if TYPE_CHECKING:
    from shortlist.plan import Plan

__all__ = ["answer", "warnings_of_ours", "without_panics"]


def answer(request: Request) -> None:
    """Answer on stdout, and in the file asked for."""
    form, bits = request.printed_as(), request.bits()
    request.require_sense()
    request.check_output()
    prepare()
    with showing_progress(), without_panics(), warnings_of_ours() as warned:
        source = request.source()
        plan = request.plan(source)
        if request.dry_run:
            plan.check()
    for warning in warned():
        warn(warning)
    if request.dry_run:
        if form is Form.JSON and (configured := request.configured()):
            typer.echo(f"settings: {configured}", err=True)
        print_unpaid(_in_json(plan) if form is Form.JSON else _in_words(plan, request), "the plan")
        return
    with showing_progress(), without_panics():
        kept = plan.kept() if request.reuse else None
        release = plan.run(bits) if kept is None else kept
    if kept is not None:
        typer.echo(f"This was answered before, {kept.given_before}.", err=True)
    publish(release, request)
    if (told := request.told(source)) is not None:
        typer.echo(told, err=True)


@contextlib.contextmanager
def warnings_of_ours() -> Iterator[Callable[[], list[Warning | str]]]:
    """Keep what is warned of, each once, to say it where stderr is to be seen."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in (WeakPrivacyWarning, GuessWarning):
            warnings.simplefilter("always", kind)
        yield lambda: list({str(c.message): c.message for c in caught}.values())


def _in_words(plan: Plan, request: Request) -> str:
    lines = [_wrapped(sentence) for sentence in plan.explain().split("\n")]
    if configured := request.configured():
        lines.append(_wrapped(f"Settings: {configured}."))
    given = f", {', '.join(request.option)}" if request.option else ""
    about = f"{plan.question.name} by {type(plan.mechanism).__name__}{given}."
    return "\n".join(["No row was read and nothing was spent.", "", about, *lines, ""])


def _wrapped(sentence: str) -> str:
    import textwrap

    return textwrap.fill(sentence, 80, initial_indent="- ", subsequent_indent="  ")


def _in_json(plan: Plan) -> str:
    return json.dumps(plan.to_dict(), indent=2) + "\n"


@contextlib.contextmanager
def without_panics() -> Iterator[None]:
    """Divert what is written to stderr by its number: the trace of a panic inside Polars."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
