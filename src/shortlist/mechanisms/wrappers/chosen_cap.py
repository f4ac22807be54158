"""A selection by amounts, each user's up to a cap that is chosen privately from a public list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from shortlist.algorithms.likely_least import likely_least
from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.draws import Draws, Ints
from shortlist.evidence import AmountsAtCaps, Wants
from shortlist.mechanisms.chosen_bound import listed
from shortlist.mechanisms.mechanism import FIXED, AuditHints, Mechanism, Selection
from shortlist.mechanisms.wrappers._wrapper import Counted
from shortlist.mechanisms.wrappers.each_group import EachGroup
from shortlist.parameters import Delta, Epsilon, Share, Whole
from shortlist.privacy import Composed, Cost, Either, Gaussian, Pure
from shortlist.privacy.accountant import BoundedRange
from shortlist.privacy.accountant.fitting import largest_before
from shortlist.privacy.composed import composition_of

GUESSED_GROUPS = 16
"""How many lists the noise is taken to be of, where nobody may know how many groups there are."""

_SUMS = 30  # of one user above a cap, that count as a whole user
_NOISE_WEIGHT = 12.0


def share_of_choice(k: int) -> float:
    """Of epsilon and delta, what is withheld for the choice; more where few items are selected.

    Then noise is small, and so are the numbers of users that decide.

    >>> share_of_choice(1), share_of_choice(20)
    (0.1, 0.024)
    """
    return 0.02 + 0.08 / k


@dataclass(frozen=True, kw_only=True)
class ChosenCap(Counted):
    """Another mechanism's selection by amounts, at a cap on each user's sums that is chosen first.

    A larger cap loses less of large sums, and all noise grows with it. So the choice looks at how
    many users have sums above each cap: one with 30 such sums, or more, counts as 1, and others in
    proportion. These should be few, and fewer where little noise is needed. In groups there is one
    cap for all: a user's sums in all groups count, and so does the noise of all lists.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by composition of the choice,
    an exponential mechanism, with the selection, which costs the same at each cap.

    Source: of this project. Proof note: `docs/proofs/chosen-cap.md`.

    Attributes:
        selection: The mechanism that selects.
        k: How many items it selects at most.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection, for the
            choice.
        caps: To choose from, rising, in the unit of the amounts.
        lists: How many lists there are, as far as everybody knows: one for each group.
        whole: How many sums of a user above a cap count in whole.
        noise_weight: How many whole users above a cap weigh as much as noise that is e times as
            large, of k / epsilon.
    """

    selection: Mechanism
    k: Whole
    epsilon: Epsilon
    delta: Delta
    count_share: Share
    caps: tuple[float, ...]
    lists: Whole = 1
    whole: int = field(default=_SUMS, repr=False, metadata=FIXED)
    noise_weight: float = field(default=_NOISE_WEIGHT, repr=False, metadata=FIXED)

    derived: ClassVar[tuple[str, ...]] = ("choice_epsilon",)
    evidence: ClassVar[type] = AmountsAtCaps

    @property
    def choice_epsilon(self) -> float:
        """The range of the choice: the largest that the selection leaves."""
        return self._best[0]

    @property
    def cost(self) -> Cost:
        """The choice, and the selection, which costs the same at each cap."""
        return self._best[1]

    @cached_property
    def _best(self) -> tuple[float, Cost]:
        """The loudest choice, and what all costs; by public parameters."""
        return max(self._ways(), key=lambda way: way[0])

    def _ways(self) -> Iterator[tuple[float, Cost]]:
        before, stages = self.selection.cost, composition_of(self.selection.cost)
        added = self._largest(lambda choice: before + Pure.bounded_range(choice))
        yield added, before + Pure.bounded_range(added)
        left, _ = self._left
        yield left, self._beside_guarantee(left, 0.0, Pure.bounded_range(left))
        known = isinstance(before, Composed | Pure | Either | Gaussian)
        if self.delta == 0 or stages is None or not (known and self._has_stages):
            return
        one = partial(BoundedRange, times=1)
        # Run first: what is selected may depend on the cap, and so may what a user changes in it.
        choice = largest_before(stages, one, epsilon=self.epsilon, delta=self.delta)
        if choice > 0:
            all_stages = replace(stages, stages=(one(choice), *stages.stages))
            by_rho = before.ways[0] + Pure.bounded_range(choice)
            yield choice, Composed(all_stages, by_rho, epsilon=self.epsilon)

    # --- what is told of it

    @property
    def scores_are_counts(self) -> bool:
        return self.selection.scores_are_counts

    @property
    def noise_varies(self) -> bool:
        return True

    @property
    def wants(self) -> Wants:
        parts = tuple(cap / self.caps[-1] for cap in self.caps)
        return replace(self.selection.wants, caps=parts)

    def parameters(self) -> dict[str, object]:
        # Not by the name that the share of counts has: by that it is known what scores are.
        own = super().parameters()
        lists = {"lists": self.lists} if isinstance(self.selection, EachGroup) else {}
        return {"choice_share": own.pop("count_share"), "caps": list(self.caps), **lists, **own}

    def audit_hints(self) -> AuditHints:
        inner = self.selection.audit_hints()
        coarse = None if inner.coarse is None else replace(self, selection=inner.coarse)
        return replace(inner, inner=self.selection, coarse=coarse)

    def explain(self) -> list[str]:
        return [*self._explained_counts(), *self._explained_selection(), *self.unused]

    def _explained_counts(self) -> list[str]:
        for_all = " It is one for all groups." if isinstance(self.selection, EachGroup) else ""
        chosen = (
            f"The cap is chosen privately, from {listed(self.caps)}, and is published.{for_all}"
        )
        looks = (
            f"The choice looks at how many sums are above each cap, at most {self.whole} of one "
            f"user: where there are fewer than about {self.whole * self._noise:,.6g}, a larger cap "
            "would add more noise than it saves."
        )
        return [chosen, looks]

    # --- the selection

    def select(self, evidence: AmountsAtCaps, draws: Draws) -> Selection:
        """What is selected at a cap, and which cap was chosen."""
        place = likely_least(self._lost(evidence), self.choice_epsilon, draws)
        selection = self.selection.select(evidence.at(place), draws)
        return selection._replace(cap=self.caps[place])

    def _lost(self, evidence: AmountsAtCaps) -> Ints:
        """What is lost at each cap, in multiples of 2^-20: by users above it, and by noise."""
        of_users = evidence.above(self.whole) * (WHOLE_WEIGHT // self.whole)
        return of_users + self._lost_in_noise

    @property
    def _noise(self) -> float:
        """How many users above a cap weigh as much as noise that is e times as large."""
        selects = self.selection
        epsilon = selects.selection.epsilon if isinstance(selects, EachGroup) else self.epsilon
        # Large sums lie in few of the groups, and so not all of their noise counts.
        return self.noise_weight * self.k * math.sqrt(self.lists) / epsilon

    @property
    def _lost_in_noise(self) -> Ints:
        larger = np.log([cap / self.caps[0] for cap in self.caps])
        most = min(self._noise, 2.0**30)  # as many users there may be
        return np.rint(most * larger * WHOLE_WEIGHT).astype(np.int64)
