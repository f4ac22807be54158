"""Small universes of data, a class for each kind of evidence.

A new kind of evidence is one more class, and one more line here.
"""

from __future__ import annotations

from shortlist.audit.universes.of_counts import (
    OfCounts,
    OfGroupedCounts,
    OfPrivateCounts,
    OfStatedScores,
    OfViews,
    OfWeights,
    OfWins,
)
from shortlist.audit.universes.of_outcomes import OfOutcomes
from shortlist.audit.universes.of_user_sets import (
    OfContributions,
    OfGroupedSets,
    OfKnownGroupedItems,
    OfKnownItems,
)
from shortlist.audit.universes.small_universe import Data, Universe
from shortlist.errors import InputError
from shortlist.evidence import (
    Contributions,
    GroupedCounts,
    Outcomes,
    PrivateCounts,
    PublicCounts,
    PublicScores,
    UserGroups,
    UserSets,
    View,
    WeightedHistogram,
    Wins,
)
from shortlist.mechanisms.mechanism import Mechanism

__all__ = ["Data", "Universe", "universe_of"]

_UNIVERSES: dict[type, type[Universe]] = {
    PublicCounts: OfCounts,
    PrivateCounts: OfPrivateCounts,
    PublicScores: OfStatedScores,
    View: OfViews,
    WeightedHistogram: OfWeights,
    UserSets: OfContributions,
    Contributions: OfContributions,
    GroupedCounts: OfGroupedCounts,
    UserGroups: OfGroupedSets,
    Wins: OfWins,
    Outcomes: OfOutcomes,
}
"""By what a mechanism looks at."""

_KNOWING: dict[type, type[Universe]] = {
    UserSets: OfKnownItems,
    Contributions: OfKnownItems,
    UserGroups: OfKnownGroupedItems,
}
"""Likewise, where one of the items is known."""


def universe_of(mechanism: Mechanism, *, quick: bool = False, knowing: bool = False) -> Universe:
    """The small universes of the evidence that a mechanism looks at.

    Args:
        mechanism: Whose evidence it is.
        quick: With fewer and smaller data sets.
        knowing: With an item that everybody knows, for a mechanism that takes known items.
    """
    kind = (_KNOWING if knowing else _UNIVERSES).get(mechanism.evidence)
    if kind is not None:
        return kind(mechanism, quick=quick)
    raise InputError(
        "{mechanism}: the audit knows no universe of {evidence}",
        mechanism=type(mechanism),
        evidence=mechanism.evidence,
    )
