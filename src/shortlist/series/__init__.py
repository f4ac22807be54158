"""A list in every run, such as every week, under one promise for all of them."""

from shortlist.series.period_run import PeriodRun, of_period
from shortlist.series.period_terms import PeriodTerms
from shortlist.series.terms import SeriesTerms
from shortlist.series.weekly_run import Estimates, State, Week, estimates, recovered

__all__ = [
    "Estimates",
    "PeriodRun",
    "PeriodTerms",
    "SeriesTerms",
    "State",
    "Week",
    "estimates",
    "of_period",
    "recovered",
]
