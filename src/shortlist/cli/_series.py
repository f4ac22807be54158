"""The commands about series: to create one, to make its next list, and what may happen to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

import shortlist
from shortlist.cli._budgets import print_shown
from shortlist.cli._options import Commands
from shortlist.cli._progress_line import showing_progress
from shortlist.cli._settings_file import Settings
from shortlist.cli._shell import SHELL
from shortlist.cli._typer_commands import add_to, examples, group_of_commands
from shortlist.cli._values import ListsOf
from shortlist.cli.failure import warn
from shortlist.cli.limited_memory import prepare
from shortlist.cli.request import request_for_series
from shortlist.errors import InputError

_CREATE = """shortlist series create plays.series --periods 52 --share 1/2 \\
    --user user --item title --budget plays.budget"""
_NEXT = """shortlist series next plays.series plays.parquet \\
    --as-of 2026-W47 -k 50 --report top-2026-W47.html"""

series = group_of_commands(f"{_CREATE}\n\n{_NEXT}\n\nshortlist series show plays.series")


@series.callback(invoke_without_command=True)
def _series(context: typer.Context) -> None:
    """A list for every week, or other period, under one promise for all lists.

    A budget pays once. Each list has items that enough users hold by now, and all
    that earlier lists named; with --kind period, only items of its own period.
    What is remembered about users is in a separate file.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit(2)


def _with_settings(run: Callable[..., int]) -> Callable[..., int]:
    """A command that takes what was not typed from shortlist.toml, and says so."""

    @wraps(run)
    def configured(*, config: Settings | None, no_config: bool, **given: Any) -> int:  # noqa: ARG001 - it was heeded
        from shortlist.release.readable import harmless

        if config is not None:
            given, used = config.beside(given)
            if said := used.described():
                typer.echo(f"settings: {harmless(said)}", err=True)
        return run(**given)

    return configured


@add_to(series, Commands.SERIES_CREATE, examples(_CREATE))
@_with_settings
def _create(
    *, series: str, item: list[str], kind: ListsOf, dry_run: bool, who: str | None, **given: Any
) -> int:
    """Create a series, which the budget pays for at once.

    Its terms are fixed; only more lists can be added, by prolong. The file is as
    private as the table: only you can read it. Back it up separately from the
    budget, which notices when an older file takes its place.
    """
    from shortlist.cli.publishing import print_explained, warnings_of_ours

    given["delta"] = given["delta"] or 0.0
    terms = {"item": item, "kind": shortlist.SeriesKind(kind.value), **given}
    with warnings_of_ours() as warned:
        if dry_run:
            explained = shortlist.Series.plan(**terms).explain(SHELL)
        else:
            made = shortlist.Series.create(series, who=who, **terms)
    for warning in warned():
        warn(warning)
    if not dry_run:
        return print_shown(made.show())
    from shortlist.mechanisms.mechanism import counted

    print_explained(f"A series of {counted(given['periods'], 'run')}.", explained)
    return 0


@add_to(series, Commands.SERIES_NEXT, examples(_NEXT))
@_with_settings
def _next(*, series: str, budget: str | None, who: str | None, **given: Any) -> int:
    """Make the next list, best first: all items named so far, or those of the period.

    It costs nothing more. If it is interrupted, ask again for the same --as-of.
    With --report, the page says what is new or moved since the list before.
    """
    from shortlist.cli.publishing import (
        print_explained,
        publish,
        warnings_of_ours,
        without_panics,
    )

    opened = shortlist.Series(series, budget=budget, who=who)
    request = request_for_series(opened.columns, given | {"series": series})
    form = request.printed_as()
    request.require_sense()
    request.check_output()
    prepare()
    if given["dry_run"]:
        explained = opened.explain(request.source(), as_of=given["as_of"])  # type: ignore[arg-type]
        print_explained(f"The list as of {given['as_of']}.", explained, form)
        return 0
    asked = {name: given[name] for name in ("as_of", "k", "title", "note")}
    with showing_progress(), without_panics(), warnings_of_ours() as warned:
        release = opened.next(request.source(), **asked)  # type: ignore[arg-type]  # rows
    for warning in warned():
        warn(warning)
    if release.given_before is not None:
        typer.echo(f"This was answered before, {release.given_before}.", err=True)
    lists = opened.lists(given["k"])
    dates = [one.about.as_of for one in lists]
    place = dates.index(release.about.as_of)
    publish(release, request, lists[place - 1] if place else None)
    return 0


@add_to(series, Commands.SERIES_SHOW, examples("shortlist series show plays.series"))
@_with_settings
def _show(*, series: str, budget: str | None, as_of: str | None, earlier: str | None) -> int:
    """How many lists were made and are left, what each has named, and the promise.

    With --as-of, the list of that date. With --since as well, what changed
    between the two lists.
    """
    from shortlist.cli.publishing import print_text

    opened = shortlist.Series(series, budget=budget)
    if as_of is None and earlier is not None:
        raise InputError("to compare two lists, give the dates of both", "add {as_of}")
    if as_of is None:
        return print_shown(opened.show())
    now = opened.release(as_of)
    found = now if earlier is None else shortlist.diff(opened.release(earlier), now)
    print_text(f"{found}\n")
    return 0


@add_to(
    series,
    Commands.SERIES_RECOVER,
    examples("shortlist series recover backup/plays.series --budget plays.budget"),
)
def _recover(*, series: str, budget: str, **given: Any) -> int:
    """Go on when the newest file of a series is lost. It costs nothing more.

    The budget knows all lists, but not who holds what. So everybody counts as
    having used up what had accrued, and items that were not yet named start from
    nothing. Use it after a loss alone, and not because of what a list shows.
    """
    return print_shown(shortlist.Series.recover(series, budget=budget, **given).show())


@add_to(
    series,
    Commands.SERIES_FORGET,
    examples("shortlist series forget plays.series ann@example.org"),
)
def _forget(*, series: str, ids: list[str], budget: str | None) -> int:
    """Erase users from the file of a series.

    For each, a keyed hash of the id and two numbers are kept, so that an id that
    returns goes on with what was left of its account. Remove the rows from the
    table, too. After restoring a backup of the file, forget the same users again.
    """
    shortlist.Series(series, budget=budget).forget(*ids)
    typer.echo("Of these users, if they were there, only a keyed hash and two numbers are left.")
    return 0


@add_to(series, Commands.SERIES_CLOSE, examples("shortlist series close plays.series"))
def _close(*, series: str, **given: Any) -> int:
    """End a series for good, and give back to the budget what was not used.

    If the budget counts in zCDP, that is 1 - t/T of the rho after t of T lists
    (with --kind period, 7/10 of that), and none of the delta. Before the first
    list, it is everything.
    """
    made = shortlist.Series(series, **given)
    made.close()
    return print_shown(made.show())


@add_to(
    series, Commands.SERIES_PROLONG, examples("shortlist series prolong plays.series --periods 12")
)
def _prolong(*, series: str, periods: int, **given: Any) -> int:
    """Allow more lists, which the budget pays for now. It must count in zCDP.

    If T lists were planned at first, each added list takes 1/T of their rho, and
    some delta. To be named in an added list, an item needs enough weight in the
    added lists alone. A series with --kind period cannot be prolonged.
    """
    from shortlist.cli.publishing import warnings_of_ours

    made = shortlist.Series(series, **given)
    with warnings_of_ours() as warned:
        made.prolong(periods)
    for warning in warned():
        warn(warning)
    return print_shown(made.show())
