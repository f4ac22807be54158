"""Evidence: what a mechanism may look at, and how much of it one user can change."""

from shortlist.evidence.combinations import PairsOfItems
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.counts_and_weights import (
    GroupedCounts,
    ItemsBelowThreshold,
    PrivateCounts,
    PublicCounts,
    WeighedItems,
    WeightedHistogram,
)
from shortlist.evidence.grouped_amounts import GroupedAmounts
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.evidence.keyed_pairs import KeyedPairs
from shortlist.evidence.labelled_counts import LabelledCounts
from shortlist.evidence.outcomes import Outcomes, Wins
from shortlist.evidence.public_scores import PublicScores
from shortlist.evidence.user_amounts import AmountsAtCaps, UserAmounts
from shortlist.evidence.user_sets import UserGroups, UserSets
from shortlist.evidence.view import View
from shortlist.evidence.wants import Wants

__all__ = [
    "AmountsAtCaps",
    "Contributions",
    "GroupedAmounts",
    "GroupedCounts",
    "GroupedSets",
    "ItemsBelowThreshold",
    "KeyedPairs",
    "LabelledCounts",
    "Outcomes",
    "PairsOfItems",
    "PrivateCounts",
    "PublicCounts",
    "PublicScores",
    "UserAmounts",
    "UserGroups",
    "UserSets",
    "View",
    "Wants",
    "WeighedItems",
    "WeightedHistogram",
    "Wins",
]
