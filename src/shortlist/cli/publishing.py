"""The answer: read, select, print and save, in this order.

Once it is paid for, no failure may lose it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shortlist.cli._progress_line import showing_progress
from shortlist.cli._shell import SHELL
from shortlist.cli._values import Form
from shortlist.cli.failure import discard_output, warn
from shortlist.cli.limited_memory import prepare
from shortlist.errors import (
    ChargedAgainWarning,
    GuessWarning,
    InputError,
    WeakPrivacyWarning,
    has_failed,
)

if TYPE_CHECKING:
    from shortlist.cli.request import Request
    from shortlist.plan import Plan
    from shortlist.release import Release


def answer(request: Request) -> None:
    """Read, select, print and save what was asked; or print the plan, for a dry run."""
    form, bits = request.printed_as(), request.bits()
    request.require_sense()
    request.require_price()
    request.check_output()
    prepare()
    with showing_progress(), without_panics(), warnings_of_ours() as warned:
        source = request.source()
        plan = request.plan(source)
        since = request.since(plan)
        if request.given.dry_run:
            plan.check()
        kept = plan.kept(request.reuse())
    for warning in warned():
        warn(warning)
    if kept is not None:
        typer.echo(f"This was answered before, {kept.given_before}.", err=True)
    if request.given.dry_run:
        _print_plan(plan, request, form)
        return
    with showing_progress(), without_panics():
        release = plan.run(bits) if kept is None else kept
    publish(release, request, since)
    if (accesses := request.accesses(source)) is not None:
        typer.echo(accesses, err=True)


@contextlib.contextmanager
def warnings_of_ours() -> Iterator[Callable[[], list[Warning | str]]]:
    """Keep what is warned of, each once, to say it where stderr is to be seen."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in (WeakPrivacyWarning, GuessWarning, ChargedAgainWarning):
            warnings.simplefilter("always", kind)
        yield lambda: list({str(c.message): c.message for c in caught}.values())


def _print_plan(plan: Plan, request: Request, form: Form) -> None:
    if form is not Form.JSON:
        print_unpaid(_in_words(plan, request), "the plan")
        return
    if configured := request.configured():
        typer.echo(f"settings: {configured}", err=True)
    print_unpaid(json.dumps(plan.to_dict(SHELL), indent=2) + "\n", "the plan")


def _in_words(plan: Plan, request: Request) -> str:
    lines = plan.explain(SHELL).split("\n")
    if configured := request.configured():
        lines.append(f"Settings: {configured}.")
    given = f", {', '.join(request.given.option)}" if request.given.option else ""
    return _unspent(f"{plan.question.name} by {type(plan.mechanism).__name__}{given}.", lines)


def _unspent(about: str, sentences: Sequence[str]) -> str:
    lines = map(_wrapped, sentences)
    return "\n".join(["No row was read and nothing was spent.", "", about, *lines, ""])


def print_explained(about: str, explained: str, form: Form = Form.TABLE) -> None:
    """Print what a dry run says of a series, a sentence a line."""
    sentences = explained.split("\n")
    told = json.dumps({"explanation": sentences}, indent=2) + "\n"
    print_unpaid(told if form is Form.JSON else _unspent(about, sentences), "the plan")


def _wrapped(sentence: str) -> str:
    import textwrap

    return textwrap.fill(sentence, 80, initial_indent="- ", subsequent_indent="  ")


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


def publish(release: Release, request: Request, since: Release | None) -> None:
    """Save and print, and then make the report: drawing may fail as nothing before it can.

    The budget is spent, so that where one of them fails another has the whole.

    Raises:
        InputError: One of them failed; the message says where the answer is.
        BrokenPipeError: Printing failed since nobody reads; the answer is in a file.
    """
    output, form = request.saved_as(), request.printed_as()
    report = partial(release.report, since=since)
    unsaved = dict(_unsaved(output, release.save, request))
    whole = output is None or unsaved or not sys.stdout.isatty()
    try:
        text = _rendered(release, form, whole=bool(whole), configured=request.configured())
        print_text(text, faithful=form is not Form.TABLE)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the answer is paid for
        discard_output()
        kept = output if output is not None and output not in unsaved else _keep(release)
        if has_failed(error):
            list(_unsaved(request.report(), report, request))
        raise _unprinted(error, kept, request.if_lost) from None
    _tell(release, form, request.configured())
    _tell_of_length(release, request)
    unsaved |= _unsaved(request.report(), report, request)
    for path, why in unsaved.items():
        raise InputError(
            'the answer could not be saved as "{path}" ({unsaved})',
            "keep {kept}, and {advice}",
            kept="what was printed, which is all of it" if whole else f'"{output}", which has it',
            path=path,
            unsaved=why,
            advice=request.if_lost,
        )


def _unsaved(
    path: Path | None, save: Callable[..., None], request: Request
) -> Iterator[tuple[Path, str]]:
    if path is None:
        return
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            save(path, overwrite=request.given.overwrite)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the answer is paid for
        yield path, getattr(error, "strerror", None) or str(error) or type(error).__name__
    else:
        _say(f"Saved as {path}.")
        for warning in caught:
            warn(warning.message)


def _rendered(release: Release, form: Form, *, whole: bool, configured: str) -> str:
    if form is Form.JSON:
        return release.to_json()
    if form is Form.MARKDOWN:
        return release.to_markdown()
    if form is Form.CSV:
        return _without_controls(release.to_csv()) if sys.stdout.isatty() else release.to_csv()
    from rich.console import Console

    from shortlist.release.readable import harmless
    from shortlist.release.rendering import printed
    from shortlist.release.sheet import sheet

    shown = sheet(release, whole=whole, face=SHELL)
    if configured:
        shown = replace(shown, notes=(*shown.notes, ("settings", harmless(configured))))
    return printed(shown, Console(highlight=False))


def _without_controls(text: str) -> str:
    """The text with all escaped that would move the cursor of a terminal, or hide something."""
    from shortlist.release.readable import harmless

    return "\n".join(map(harmless, text.split("\n")))


def print_text(text: str, *, faithful: bool = False) -> None:
    """Print it; if `faithful`, as UTF-8 wherever a program may read it."""
    if faithful and isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
    else:
        sys.stdout.write(text)
    sys.stdout.flush()


def print_unpaid(text: str, what: str) -> None:
    """Print what can be had again for nothing.

    Raises:
        InputError: It cannot be printed; nobody needs to know where it is instead.
    """
    try:
        print_text(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise InputError(
            "{what} could not be printed: {why}", what=what, why=error.strerror
        ) from None


def _tell(release: Release, form: Form, configured: str) -> None:
    """Say on standard error what a table says itself, and other forms do not."""
    from shortlist.release.readable import harmless
    from shortlist.release.sheet import NOT_PRIVATE, advice

    if form is not Form.TABLE and configured:
        _say(harmless(f"settings: {configured}"))

    if form is Form.CSV:
        _say("CSV leaves the guarantee out; json and markdown have it.")
        if not release.guarantee.private:
            _say(NOT_PRIVATE)
    if form in (Form.CSV, Form.JSON) and (said := advice(release)):
        _say(said)


def _tell_of_length(release: Release, request: Request) -> None:
    """Say how to keep an answer that is too long for a terminal."""
    from shortlist.release.sheet import SHORT

    unsaved = request.given.output is request.given.report is None
    if unsaved and len(release) > SHORT and sys.stdout.isatty():
        _say("To keep a long list, add --output FILE the next time.")


def _keep(release: Release) -> Path | None:
    """Save the whole answer in a new file; where none can be written, print it on stderr."""
    import tempfile

    name = f"shortlist-answer-{os.urandom(4).hex()}"
    for folder in (Path(), Path(tempfile.gettempdir())):
        for suffix in (".json", ".parquet"):  # which writes values as they lie in memory
            path = folder / f"{name}{suffix}"
            with contextlib.suppress(BaseException):  # where it fails, the next is tried
                release.save(path)
                return path
    _say(release.to_json())
    return None


def _unprinted(error: BaseException, kept: Path | None, advice: str) -> BaseException:
    """What to raise where an answer was not printed to its end."""
    where = "above" if kept is None else f'in "{kept}"'
    if isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt(f"interrupted in printing; the answer is {where}, and {advice}")
    why = getattr(error, "strerror", None) or type(error).__name__
    message = f"the answer could not be printed: {why}. It is {where}, and {advice}"
    if isinstance(error, BrokenPipeError):
        return BrokenPipeError(message)
    return InputError("{message}", message=message)


def _say(text: str) -> None:
    """Print a line on standard error, if that is open."""
    with contextlib.suppress(OSError):
        typer.echo(text, err=True)
