"""Charts by Altair, of numbers that anybody may see: what is drawn, and the look they share."""

from shortlist.charts.intervals import WIDE, Interval, intervals
from shortlist.charts.look import INK, MARK, MUTED, RULE, dressed, require_altair

__all__ = [
    "INK",
    "MARK",
    "MUTED",
    "RULE",
    "WIDE",
    "Interval",
    "dressed",
    "intervals",
    "require_altair",
]
