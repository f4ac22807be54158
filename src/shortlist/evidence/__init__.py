"""Evidence: what a mechanism may look at, and how much of it one user can change."""

from shortlist.evidence.contributions import Contributions
from shortlist.evidence.counts import PrivateCounts, PublicCounts, WeightedHistogram
from shortlist.evidence.grouped import GroupedSets
from shortlist.evidence.grouped_counts import GroupedCounts
from shortlist.evidence.light import LightItems, WeighedItems
from shortlist.evidence.outcomes import Outcomes, Wins
from shortlist.evidence.user_groups import UserGroups
from shortlist.evidence.user_sets import UserSets
from shortlist.evidence.view import View
from shortlist.evidence.wants import Wants

__all__ = [
    "Contributions",
    "GroupedCounts",
    "GroupedSets",
    "LightItems",
    "Outcomes",
    "PrivateCounts",
    "PublicCounts",
    "UserGroups",
    "UserSets",
    "View",
    "Wants",
    "WeighedItems",
    "WeightedHistogram",
    "Wins",
]
