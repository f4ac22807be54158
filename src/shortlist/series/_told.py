"""A series for readers: its promise, and what each run has named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from shortlist.mechanisms.mechanism import counted
from shortlist.release.readable import harmless, intact
from shortlist.release.sheet import Sheet, notes
from shortlist.series.series_plan import needed

if TYPE_CHECKING:
    from shortlist.budget.series_account import SeriesCharge
    from shortlist.release import Release
    from shortlist.series._facts import SeriesFacts


def sheet_of_series(
    facts: SeriesFacts, charged: SeriesCharge, releases: Sequence[Release]
) -> Sheet:
    """What is public of it.

    Args:
        facts: What it is fixed to.
        charged: What has paid for it.
        releases: All lists that left.
    """
    periods, made = facts.terms.runs, len(releases)
    left = "closed" if charged.closed else f"{periods - made} left"
    named = [set(release) for release in releases]
    earlier: list[set[object]] = list(accumulate(named, or_, initial=set()))
    return Sheet(
        f"A series of {counted(periods, 'run')}: {made} made, {left}",
        columns=("run", "as of", "items named", "new"),
        numeric=(True, False, True, True),
        rows=tuple(
            (str(run), intact(release.about.as_of or ""), f"{len(now):,}", f"{len(now - before):,}")
            for run, (release, now, before) in enumerate(
                zip(releases, named, earlier, strict=False), start=1
            )
        ),
        notes=(
            *notes(facts.guarantee, facts.mechanism()),
            ("budget", harmless(charged.described)),
        ),
        lines=(charged.closed,) if charged.closed else (_next(facts, made), _APART),
    )


_APART = (
    "Its file is as private as the table. Back it up separately from the budget, which notices "
    "when an older file takes its place."
)


def _next(facts: SeriesFacts, made: int) -> str:
    if made >= facts.terms.runs:
        return "All runs were made; their lists can be printed again."
    return f"The next run costs nothing more. {needed(facts, made + 1)}"
