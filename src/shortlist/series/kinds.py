"""What series of each kind differ by: their terms, how a run is made, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shortlist.draws import Draws
from shortlist.parameters import SeriesKind
from shortlist.questions import ListOfPeriod, ListSoFar, Question
from shortlist.series.period_run import PeriodRun, of_period, recovered_of_period
from shortlist.series.period_terms import PeriodTerms
from shortlist.series.terms import SeriesPromise, SeriesTerms
from shortlist.series.weekly_run import Estimates, RunOfSeries, State, Week, estimates, recovered


class KindOfSeries(NamedTuple):
    """A kind of series. The terms of one are what its functions take.

    Attributes:
        question: What each run answers.
        mechanism: What releases and ledgers call what answers it.
        terms: The promise, and what follows from it.
        run: From a state to the next.
        told: Of a state, the items that its last run answers, with what they are ranked by.
        recovered: The state to go on from, where the last one is lost: of an older one, the number
            of runs, the run that named each item, and draws.
    """

    question: Question
    mechanism: str
    terms: type[SeriesPromise]
    run: type[RunOfSeries]
    told: Callable[[Any, State], Estimates]
    recovered: Callable[[Any, State, int, Mapping[int, int], Draws], State]


KINDS = {
    SeriesKind.SO_FAR: KindOfSeries(
        ListSoFar(), "WeeklyGaussian", SeriesTerms, Week, estimates, recovered
    ),
    SeriesKind.PERIOD: KindOfSeries(
        ListOfPeriod(), "PeriodGaussian", PeriodTerms, PeriodRun, of_period, recovered_of_period
    ),
}
"""Each kind, by its name."""
