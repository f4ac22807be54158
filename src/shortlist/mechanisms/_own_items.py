"""The best items of groups that have their own: one domain of pairs, ranked in each group.

And the private choice whether items are taken to be the groups' own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shortlist.algorithms.clipped_counts import best_first
from shortlist.algorithms.likely_least import likely_least
from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence import UserGroups
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian
from shortlist.mechanisms.mechanism import Accounting, Selection
from shortlist.mechanisms.wrappers.noisy_clipped_counts import (
    ClippedCountsDesign,
    NoisyClippedCounts,
)
from shortlist.privacy import round_down
from shortlist.privacy.calibration import subtract_down

_COUNT_SHARE = 0.03  # what is missed is mostly not found, hardly ever ranked wrongly
# With less, only guarantees would be within epsilon, which count as epsilon²/2 in zCDP.
_COUNT_SHARE_IN_ZCDP = 0.15
_SPREAD = 0.15  # of a count, as a share of what its noisy weight lets expect
_LEAST = 1e-9  # of a factor or a square that others are divided by
_MOST_MOVED = Fraction(3, 4)  # by one user, of the difference of two losses


@dataclass(frozen=True)
class OwnItems:
    """Pairs of a group and an item, found and counted like items, and the best of each group.

    Attributes:
        k: How many of each group.
        domain: What finds the pairs.
        counted: The same with counts: all that reads rows.
    """

    k: int
    domain: AdaptiveGaussian
    counted: NoisyClippedCounts

    @classmethod
    def of(
        cls,
        k: int,
        domain: Callable[..., AdaptiveGaussian],
        counts: ClippedCountsDesign,
        *,
        epsilon: float,
        delta: float,
        accounting: Accounting,
    ) -> OwnItems:
        """Within so much.

        Args:
            k: As the attribute.
            domain: Builds what finds the pairs, from an epsilon and a delta.
            counts: What is fixed of the counts.
            epsilon: Of the whole.
            delta: Of the whole.
            accounting: Of both.
        """
        share = _COUNT_SHARE_IN_ZCDP if accounting is Accounting.ZCDP else _COUNT_SHARE
        rest = (subtract_down(whole, whole * share) for whole in (epsilon, delta))
        of_the_rest = dict(zip(("epsilon", "delta"), rest, strict=True))
        found = domain(**of_the_rest, accounting=accounting)
        counted = NoisyClippedCounts(
            selection=found, epsilon=epsilon, delta=delta, count_share=share, design=counts
        )
        return cls(k, found, counted)

    def explain(self) -> list[str]:
        """The search for pairs and the counts in plain words."""
        pairs = (
            "Each pair of a group and an item is an item of its own below, whatever else is found: "
            "a user counts in any number of groups."
        )
        best = "best is" if self.k == 1 else f"{self.k} best are"
        ranked = (
            f"Of each group, the {best} named. The rank follows from the noisy counts and from the "
            "noisy weights of all rounds."
        )
        return [
            pairs,
            *(said for said in self.counted.explain() if said != self.domain.explain_scores()),
            ranked,
            "Privacy holds whether or not an item belongs to one group alone.",
        ]

    def select(self, evidence: UserGroups, draws: Draws) -> Selection:
        """At most k items of each group, best first, with noisy clipped counts."""
        pairs, domain = evidence.pairs(), self.domain
        held = pairs.sets.bounded(domain.max_items_per_user, draws)
        found = domain.search.found_early(None, held, draws)
        held = pairs.sets.among(found.items)
        told = self.counted.with_counts(Selection(found.items), held, draws)
        counts, sd = told.scores, told.noise_sd
        assert counts is not None  # noqa: S101 - there are some of every selection
        assert sd is not None  # noqa: S101 - likewise
        order = best_first(found.estimates, draws)  # in which no row has a say
        counts, positions = counts[order], pairs.positions(found.items[order])
        values = _values(counts, sd, found.estimates[order], domain.sigma)
        best = _best_of_each(values, positions // max(evidence.n_items, 1), self.k)
        return told._replace(positions=positions[best], scores=counts[best])


def _values(counts: Floats, sd: float, weights: Floats, sd_of_weight: float) -> Floats:
    """The counts, and what the weights let expect, in the mean by precision.

    A weight stands for as many users as fits all counts best.
    """
    users = max(float(counts @ weights) / max(float(weights @ weights), _LEAST), _LEAST)
    expected = users * weights
    variances = (users * sd_of_weight) ** 2 + (_SPREAD * expected) ** 2
    values: Floats = expected + variances / (variances + sd**2) * (counts - expected)
    return values


def _best_of_each(values: Floats, groups: Ints, k: int) -> Ints:
    """The places of the k largest values of each group, that of the largest value first."""
    order = np.argsort(-values, kind="stable")
    _, first, of = np.unique(groups[order], return_index=True, return_inverse=True)
    order, begins = order[np.argsort(first[of], kind="stable")], np.sort(first[of])
    rank = np.arange(len(order)) - np.searchsorted(begins, begins)
    return order[rank < k]


@dataclass(frozen=True)
class KindChoice:
    """The private choice whether items are taken to be the groups' own, by where users hold them.

    A user is divided evenly among the pairs held. The main group of an item is the one that most
    of this is in. Taking items to be the groups' own loses what is in other groups than the main
    ones. Taking them to be shared loses a fourth of each user, and more of one in many groups, up
    to a half. One user more changes the difference of both by three fourths at most.

    Attributes:
        epsilon: The range.
        max_groups_per_user: How many of a user's groups count where items are shared.
    """

    epsilon: float
    max_groups_per_user: int

    def explain(self) -> str:
        """The choice in plain words."""
        return (
            f"First, {self.epsilon:.3g} of epsilon decides privately whether each item is taken to "
            "belong to one group alone: whether users hold most of their items in the group where "
            "the item is most common."
        )

    def says_own(self, evidence: UserGroups, draws: Draws) -> bool:
        """Whether items are taken to be the groups' own."""
        losses = np.array([self._lost_as_own(evidence), self._lost_as_shared(evidence)])
        per_user = round_down(Fraction(self.epsilon) / _MOST_MOVED)
        return likely_least(losses, per_user, draws) == 0

    def _lost_as_own(self, evidence: UserGroups) -> int:
        """What of all users is in other groups than the main ones, in multiples of 2^-20."""
        pairs = evidence.pairs()
        parts = WHOLE_WEIGHT // np.maximum(np.arange(pairs.sets.largest + 1), 1)
        held = pairs.sets.added_by_size(parts)
        n_items = max(evidence.n_items, 1)
        in_main = np.zeros(n_items, np.int64)
        np.maximum.at(in_main, pairs.positions(np.arange(len(held))) % n_items, held)
        return int(held.sum() - in_main.sum())

    def _lost_as_shared(self, evidence: UserGroups) -> int:
        """A fourth of each user, and another fourth of the share of groups that does not count."""
        users = evidence.groups.users_of_size()[1:]
        groups = np.arange(1, len(users) + 1)
        left_out = np.maximum(groups - self.max_groups_per_user, 0)
        return int(users @ (WHOLE_WEIGHT * (groups + left_out) // (4 * groups)))
