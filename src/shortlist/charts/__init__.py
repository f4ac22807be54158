"""Charts by Altair, of numbers that anybody may see: what is drawn, and the look they share."""

from shortlist.charts.curves import Curve, curves
from shortlist.charts.drawing import drawn
from shortlist.charts.intervals import WIDE, Interval, intervals
from shortlist.charts.look import COLOURS, INK, MARK, MUTED, RULE, dressed, require_altair

__all__ = [
    "COLOURS",
    "INK",
    "MARK",
    "MUTED",
    "RULE",
    "WIDE",
    "Curve",
    "Interval",
    "curves",
    "drawn",
    "dressed",
    "intervals",
    "require_altair",
]
