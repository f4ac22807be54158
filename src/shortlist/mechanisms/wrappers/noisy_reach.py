"""A hitting set, and a noisy number of the users whom each of its items reaches first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.errors import InputError
from shortlist.evidence import UserSets
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE, Selection
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.questions import HittingSet, Question


@dataclass(frozen=True, kw_only=True)
class NoisyReach(NoisyCounts):
    """Another mechanism's hitting set, each item with how many users it reaches first, in noise.

    A user is counted at the first item of the list that the user holds, and at no other, of all
    that a user holds. So one user changes one number by 1, however many items are listed, and the
    numbers add up to all users reached. They are released as by `NoisyCounts`.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by composition. count_share of
    epsilon and delta is withheld from the selection; the numbers get all that it does not use.

    Source: of this project. Proof note: `docs/proofs/noisy-reach.md`.

    Attributes:
        selection: The mechanism that selects.
        k: How many items it selects at most.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
        max_items_per_user: None: all items of a user count.
        min_users: None: the numbers are of users whom no item before reaches.
    """

    question: ClassVar[type[Question]] = HittingSet
    score_unit: ClassVar[str | None] = "noisy number of users reached"

    def __post_init__(self) -> None:
        self._require_hitting_set()
        if self.min_users is not None:
            raise InputError(
                "an item of a hitting set is told with the users whom none before it reaches",
                "omit it",
                given={"min_users": self.min_users},
            )
        super().__post_init__()

    def _require_hitting_set(self) -> None:
        """Refuse what does not select from users' whole sets."""
        selection, whole = self.selection, self.max_items_per_user is None
        shown = issubclass(selection.evidence, UserSets) and selection.question is HittingSet
        if not (shown and whole and self.adjacency == ADD_OR_REMOVE):
            raise InputError(
                "{kind} selects no hitting set from users' whole sets",
                "omit it",
                given={"count_share": self.count_share},
                kind=type(selection),
            )

    @property
    def _changed(self) -> int:
        """How many of the numbers one user can change: that of the first item held."""
        return 1

    def _explained_counts(self) -> list[str]:
        told = (
            "Of each selected item it is published how many users it reaches first, with noise of "
            f"standard deviation {self.count_sd:.3g} ({self.count_noise}, rounded to a whole "
            "number). A user is counted once."
        )
        return [told]

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """The selection, with noisy numbers of users reached first as its scores."""
        selection = self.selection.select(evidence, draws)
        scores = self._noisy(_reached_first(evidence, selection.positions), draws)
        return selection._replace(scores=scores, noise_sd=self.count_sd, shared_sd=None)


def _reached_first(held: UserSets, positions: Ints) -> Ints:
    """How many users hold each item and none before it."""
    unreached = held.unreached(positions)
    first = np.empty(len(positions), np.int64)
    for place in range(len(positions)):
        first[place] = unreached.counts[place]
        unreached.reach(place)
    return first
