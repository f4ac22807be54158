"""Mechanisms around another, for questions that ask for more than a selection."""

from shortlist.mechanisms.wrappers.answering import AskedFor, answering, answering_in_groups
from shortlist.mechanisms.wrappers.chosen_cap import ChosenCap
from shortlist.mechanisms.wrappers.each_group import EachGroup
from shortlist.mechanisms.wrappers.noisy_clipped_counts import NoisyClippedCounts
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.mechanisms.wrappers.noisy_others import NoisyOthers
from shortlist.mechanisms.wrappers.noisy_reach import NoisyReach
from shortlist.mechanisms.wrappers.of_scores import NoisyScores, OfScores

__all__ = [
    "AskedFor",
    "ChosenCap",
    "EachGroup",
    "NoisyClippedCounts",
    "NoisyCounts",
    "NoisyOthers",
    "NoisyReach",
    "NoisyScores",
    "OfScores",
    "answering",
    "answering_in_groups",
]
