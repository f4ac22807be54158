"""Small universes of data, a class for each kind of evidence.

A new kind of evidence is one more class here, found by the mechanism's `evidence`.
"""

from __future__ import annotations

from shortlist.audit.universes.base import Data, Universe
from shortlist.audit.universes.comparisons import OfOutcomes, OfWins
from shortlist.audit.universes.groups import OfGroupedSets
from shortlist.audit.universes.histograms import OfCounts, OfPrivateCounts, OfViews, OfWeights
from shortlist.audit.universes.users import OfContributions
from shortlist.errors import InputError
from shortlist.mechanisms.base import Mechanism

__all__ = ["Data", "Universe", "universe_of"]

_UNIVERSES: tuple[type[Universe], ...] = (
    OfCounts,
    OfPrivateCounts,
    OfViews,
    OfWeights,
    OfContributions,
    OfGroupedSets,
    OfWins,
    OfOutcomes,
)


def universe_of(mechanism: Mechanism, *, quick: bool = False) -> Universe:
    """The small universes of the evidence that a mechanism looks at."""
    for kind in _UNIVERSES:
        if kind.evidence is mechanism.evidence:
            return kind(mechanism, quick=quick)
    raise InputError(
        "{mechanism}: the audit knows no universe of {evidence}",
        mechanism=type(mechanism),
        evidence=mechanism.evidence,
    )
