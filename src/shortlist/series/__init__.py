"""A list every week under one promise: so far the mechanism alone; nothing stores a state yet."""

from shortlist.series.terms import SeriesTerms
from shortlist.series.weekly_run import Estimates, State, Week, estimates, recovered

__all__ = ["Estimates", "SeriesTerms", "State", "Week", "estimates", "recovered"]
