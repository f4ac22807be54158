"""Hitting set of private items: discover a little, then pick; or discover more, if too few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.contributions import Contributions
from shortlist.exact import Draws
from shortlist.mechanisms.base import Question, Selection
from shortlist.mechanisms.discover_then_rank import DiscoverThenRank
from shortlist.mechanisms.user_peeling import peel_users
from shortlist.reals import Ints

__all__ = ["DiscoverThenHit"]


@dataclass(frozen=True, kw_only=True)
class DiscoverThenHit(DiscoverThenRank):
    """Hitting set of private items, the default: `DiscoverThenRank` that picks by whom it reaches.

    First the weighted Gaussian mechanism names items with `discovery_share` of the budget. If it
    names at least k, the rest of the budget picks k of them as `UserPeeling` does. If not, no pick
    would leave an item out, so that the rest is better spent on naming more: by a second Gaussian,
    of which the mean with the first names and ranks at most k.

    Guarantee: that of `DiscoverThenRank`, since a pick costs the same: (epsilon, delta)-DP when one
        user is added or removed.

    Source: Dick et al. (2026), Algorithms 1 and 4, composed and topped up as `DiscoverThenRank`.
    Proof note: `docs/proofs/discover-then-hit.md`.

    Args: as `DiscoverThenRank`; the default of `discovery_share` is chosen on other data.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = DiscoverThenHit(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    discovery_share: float = 0.2

    question: ClassVar[Question] = Question.HITTING_SET
    evidence: ClassVar[type] = Contributions
    picked_by: ClassVar[str] = "one after another, by how many people they reach anew"

    def select(self, evidence: Contributions, draws: Draws) -> Selection:  # type: ignore[override]
        """At most k items from whole sets, each with its noisy weight; in the order picked."""

        def pick(found: Ints) -> Ints:
            return found[peel_users(evidence, found, self.k, self.local_epsilon, draws)]

        weights = evidence.bounded(self.max_items_per_user, draws).weigh().weights
        return self.answer(weights, pick, draws)
