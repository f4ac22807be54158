"""What a source has for the mechanism that answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from shortlist.contributions import Contributions
from shortlist.histogram import Counts, Outcomes, PrivateCounts, WeightedHistogram, Wins
from shortlist.mechanisms.parameters import require_count
from shortlist.stores.contract import View

__all__ = ["MAX_ITEMS_PER_USER", "Offer"]

MAX_ITEMS_PER_USER = 100
"""The most items of one user that count for discovery, if nothing else is asked for."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a source has for the mechanism that answers, known before any data is read.

    Attributes:
        evidence: The types of evidence it can show; the first decides the default mechanism.
        bounds: Fields of a mechanism that the source fills: what one user is in.
    """

    evidence: tuple[type, ...]
    bounds: dict[str, int | None] = field(default_factory=dict)

    @classmethod
    def of_pairs(cls, *, public: bool, max_items_per_user: int) -> Offer:
        """Rows of users and items; each user's are bounded, where not everybody knows the items."""
        require_count("max_items_per_user", max_items_per_user)
        if public:
            return cls(evidence=(Counts, Contributions))
        evidence = (WeightedHistogram, PrivateCounts, Contributions)
        return cls(evidence=evidence, bounds={"max_items_per_user": int(max_items_per_user)})

    @classmethod
    def of_counts(cls, *, public: bool, max_items_per_user: int | None) -> Offer:
        """A histogram, of which the caller may promise that each user is in few counts only."""
        promised = max_items_per_user
        if promised is not None:
            require_count("max_items_per_user", promised)
            promised = int(promised)
        evidence = (Counts,) if public else (PrivateCounts,)
        return cls(evidence=evidence, bounds={"max_items_per_user": promised})

    @classmethod
    def of_comparisons(cls, *, max_comparisons_per_user: int | None) -> Offer:
        """Comparisons of public items; each user's are bounded, if users are known."""
        bound = max_comparisons_per_user
        if bound is not None:
            require_count("max_comparisons_per_user", bound)
            bound = int(bound)
        return cls(evidence=(Wins, Outcomes), bounds={"max_comparisons_per_user": bound})

    @classmethod
    def of_store(cls) -> Offer:
        """A store, whose items everybody knows."""
        return cls(evidence=(View,))

    @property
    def is_public(self) -> bool:
        """Whether everybody knows the items."""
        return not {Counts, Wins, View}.isdisjoint(self.evidence)
