"""Small universes of data, a class for each kind of evidence.

A new kind of evidence is one more class, and one more line here.
"""

from __future__ import annotations

from enum import Enum

from shortlist.audit.universes.of_counts import (
    OfAmounts,
    OfCounts,
    OfCountsAndUsers,
    OfGroupedAmounts,
    OfGroupedCounts,
    OfPrivateAmounts,
    OfPrivateCounts,
    OfStatedScores,
    OfViews,
    OfWeights,
    OfWins,
)
from shortlist.audit.universes.of_histories import (
    Histories,
    OfHistories,
    PeriodGaussian,
    SeriesClass,
    WeeklyGaussian,
    WholeSeries,
)
from shortlist.audit.universes.of_labels import OfLabels
from shortlist.audit.universes.of_outcomes import OfOutcomes
from shortlist.audit.universes.of_user_sets import (
    OfAmountsAtCaps,
    OfContributions,
    OfGroupedAmountsAtCaps,
    OfGroupedSets,
    OfGroupedSetsOfAmounts,
    OfKnownGroupedItems,
    OfKnownItems,
    OfPairs,
    OfSetsOfAmounts,
)
from shortlist.audit.universes.small_universe import Audited, Data, Universe
from shortlist.errors import InputError
from shortlist.evidence import (
    AmountsAtCaps,
    Contributions,
    GroupedCounts,
    LabelledCounts,
    Outcomes,
    PairsOfItems,
    PrivateCounts,
    PublicCounts,
    PublicScores,
    UserGroups,
    UserSets,
    View,
    WeightedHistogram,
    Wins,
)

__all__ = [
    "Audited",
    "Data",
    "Look",
    "PeriodGaussian",
    "SeriesClass",
    "Universe",
    "WeeklyGaussian",
    "WholeSeries",
    "universe_of",
]


class Look(Enum):
    """At which data a mechanism is looked at: what is said beside each claim."""

    USUAL = ""
    """As most are."""

    KNOWN_ITEMS = " with known items"
    """Where one of the items is known, for a mechanism that takes these."""

    AMOUNTS = " with amounts"
    """Where one user raises a count by 2 at most, for a mechanism that takes amounts."""


_USUAL: dict[type, type[Universe]] = {
    PublicCounts: OfCounts,
    PrivateCounts: OfPrivateCounts,
    PublicScores: OfStatedScores,
    View: OfViews,
    WeightedHistogram: OfWeights,
    UserSets: OfContributions,
    Contributions: OfContributions,
    PairsOfItems: OfPairs,
    GroupedCounts: OfGroupedCounts,
    UserGroups: OfGroupedSets,
    LabelledCounts: OfLabels,
    AmountsAtCaps: OfAmountsAtCaps,
    Wins: OfWins,
    Outcomes: OfOutcomes,
    Histories: OfHistories,
}
"""By what a mechanism looks at."""

_UNIVERSES: dict[Look, dict[type, type[Universe]]] = {
    Look.USUAL: _USUAL,
    Look.KNOWN_ITEMS: {
        UserSets: OfKnownItems,
        Contributions: OfKnownItems,
        UserGroups: OfKnownGroupedItems,
    },
    Look.AMOUNTS: {
        PublicCounts: OfAmounts,
        PrivateCounts: OfPrivateAmounts,
        UserSets: OfSetsOfAmounts,
        GroupedCounts: OfGroupedAmounts,
        UserGroups: OfGroupedSetsOfAmounts,
    },
}


def universe_of(mechanism: Audited, *, quick: bool = False, at: Look = Look.USUAL) -> Universe:
    """The small universes of the evidence that a mechanism looks at.

    Args:
        mechanism: Whose evidence it is.
        quick: With fewer and smaller data sets.
        at: With which data.
    """
    kind = _UNIVERSES[at].get(mechanism.evidence)
    if kind is OfCounts and mechanism.wants.users:
        kind = OfCountsAndUsers
    if kind is OfAmountsAtCaps and mechanism.wants.groups is not None:
        kind = OfGroupedAmountsAtCaps
    if kind is not None:
        return kind(mechanism, quick=quick)
    raise InputError(
        "{mechanism}: the audit knows no universe of {evidence}",
        mechanism=type(mechanism),
        evidence=mechanism.evidence,
    )
