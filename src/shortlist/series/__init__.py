"""A list in every run, such as every week, under one promise for all of them."""

from shortlist.series.terms import SeriesTerms
from shortlist.series.weekly_run import Estimates, State, Week, estimates, recovered

__all__ = ["Estimates", "SeriesTerms", "State", "Week", "estimates", "recovered"]
