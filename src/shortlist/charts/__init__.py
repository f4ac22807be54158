"""Charts by Altair, of numbers that anybody may see: what is drawn, and the look they share."""

from shortlist.charts.curves_and_intervals import (
    WIDE,
    Interval,
    NamedCurve,
    curves,
    intervals,
    numbers_by_step,
)
from shortlist.charts.look import COLOURS, INK, MARK, MUTED, RULE, drawn, dressed, require_altair
from shortlist.charts.marked_points import MarkedPoint, marked_points
from shortlist.charts.slopes import Slope, slopes

__all__ = [
    "COLOURS",
    "INK",
    "MARK",
    "MUTED",
    "RULE",
    "WIDE",
    "Interval",
    "MarkedPoint",
    "NamedCurve",
    "Slope",
    "curves",
    "drawn",
    "dressed",
    "intervals",
    "marked_points",
    "numbers_by_step",
    "require_altair",
    "slopes",
]
