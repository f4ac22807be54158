"""Evidence: what a mechanism may look at, and how much of it one user can change."""

from shortlist.evidence.contributions import Contributions
from shortlist.evidence.counts import PrivateCounts, PublicCounts, WeightedHistogram
from shortlist.evidence.grouped import GroupedSets
from shortlist.evidence.outcomes import Outcomes, Wins
from shortlist.evidence.view import View
from shortlist.evidence.wants import Wants

__all__ = [
    "Contributions",
    "GroupedSets",
    "Outcomes",
    "PrivateCounts",
    "PublicCounts",
    "View",
    "Wants",
    "WeightedHistogram",
    "Wins",
]
