"""A list, and in noise what it leaves out: users who hold none of its items, pairs it covers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shortlist.draws import UNIT, Draws, Ints, Order
from shortlist.errors import InputError
from shortlist.evidence import UserSets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE, AuditHints, Mechanism, Selection, counted
from shortlist.mechanisms.wrappers.noisy_counts import (
    MOST_SD,
    CorrelatedNoise,
    CountedInNoise,
    independent,
)
from shortlist.parameters import Delta, Epsilon, Share, Whole
from shortlist.questions import Question

_MOST = 2**61  # of `UNIT`: what is beyond is cut off, so that nobody changes more


@dataclass(frozen=True, kw_only=True)
class NoisyOthers(CountedInNoise):
    """Another mechanism's list, and three noisy numbers of what is in it and what is not.

    They are the number of users who hold none of the named items, the number of pairs of a user and
    an item that the list covers, and the number of all other pairs. A user who holds n items, more
    than D, adds D / n for each to the pairs instead of 1. So one user changes the first number by
    at most 1, and the other two by at most D together.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by composition. count_share of
    epsilon and delta is withheld from the selection; the numbers get all that it does not use.

    Source: of this project. Proof note: `docs/proofs/noisy-others.md`.

    Attributes:
        selection: The mechanism that selects, with counts around it where these are asked for.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
        max_pairs_per_user: D.
    """

    selection: Mechanism
    epsilon: Epsilon
    delta: Delta
    count_share: Share
    max_pairs_per_user: Whole

    derived: ClassVar[tuple[str, ...]] = ("others_noise", "users_sd", "pairs_sd")

    def __post_init__(self) -> None:
        shown = issubclass(self.selection.evidence, UserSets)
        if not (shown and self.adjacency == ADD_OR_REMOVE):
            raise InputError(
                "{kind} does not look at users' sets of items, which tell who holds none of the "
                "items named",
                "omit it, or {mechanism}, {public_items} and {by}",
                given={"others": True},
                kind=type(self.selection),
            )
        super().__post_init__()
        if self.pairs_sd > MOST_SD:
            raise InputError(
                "so small that what is said of the others would be all noise",
                "give more, or omit {others}",
                given={"epsilon": self.epsilon},
            )

    @property
    def question(self) -> type[Question]:  # type: ignore[override]
        return self.selection.question

    @property
    def score_unit(self) -> str | None:  # type: ignore[override]
        return self.selection.score_unit

    @property
    def noise_varies(self) -> bool:
        return self.selection.noise_varies

    @property
    def evidence(self) -> type:  # type: ignore[override]
        """Users' sets; as rows, where the selection goes through them."""
        rows = issubclass(self.selection.evidence, Contributions)
        return Contributions if rows else UserSets

    @property
    def _changed(self) -> int:
        """Of the first number, and of the two others over D."""
        return 2

    def _laid(self, mu: float) -> CorrelatedNoise:
        # A change by 1 in one number, and of norm 1 in two others: the square is at most 2.
        return independent(mu, m=2)

    @property
    def others_noise(self) -> str:
        """The law of the noise of all three numbers, before rounding."""
        return self.count_noise

    @property
    def users_sd(self) -> float:
        """The standard deviation of the rounded noise of the number of users."""
        return self.count_sd

    @property
    def pairs_sd(self) -> float:
        """The standard deviation of the noise of a number of pairs, a rounded number times D."""
        return self.count_sd * self.max_pairs_per_user

    def parameters(self) -> dict[str, object]:
        # Not by the name that the share of counts has: by that it is known what scores are.
        own = super().parameters()
        most = {"max_pairs_per_user": self.max_pairs_per_user}
        return {"others_share": own.pop("count_share"), **most, **own}

    def audit_hints(self) -> AuditHints:
        inner = self.selection.audit_hints()
        coarse = None if inner.coarse is None else replace(self, selection=inner.coarse)
        return replace(inner, inner=self.selection, coarse=coarse)

    def _explained_counts(self) -> list[str]:
        told = (
            "Beside the list it is published how many users hold none of its items, with noise of "
            f"standard deviation {self.users_sd:.3g} ({self.others_noise}, rounded to a whole "
            "number), and how many pairs of a user and an item it covers and leaves out, each with "
            f"noise of standard deviation {self.pairs_sd:.3g}. {self.count_share:.3g} of the "
            "budget is withheld for that."
        )
        most = self.max_pairs_per_user
        less = (
            f"Of a user who holds more than {counted(most, 'item')} each pair counts for less, so "
            f"that all of them count for {most:,}."
        )
        return [told, less]

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """The selection; and users without its items, pairs covered and pairs left over D."""
        selection = self.selection.select(evidence, draws)
        numbers = _without(evidence, selection.positions, self.max_pairs_per_user)
        noisy = draws.order(Order(numbers, [self._best.noise], digits=0))
        return selection._replace(others=noisy.by_position())


def _without(held: UserSets, positions: Ints, most: int) -> Ints:
    """In `UNIT`: users who hold none of the items; pairs of these items, and of others, over D."""
    users = held.users_of_size()
    weights = _weights(most, len(users) - 1)
    n_users, whole, covered = int(users[1:].sum()), _sum(users, weights), 0
    if len(positions):
        n_users -= int(held.among(positions).users_of_size()[1:].sum())
        covered = sum(held.added_by_size(weights)[positions].tolist())
    numbers = n_users * round(1 / UNIT), covered, whole - covered
    return np.array([min(number, _MOST) for number in numbers], np.int64)


def _weights(most: int, largest: int) -> Ints:
    """What a pair counts for, by how many its user holds: 1 over that or D, whichever is more."""
    sizes = np.maximum(np.arange(largest + 1), min(most, 1 << 62))
    weights: Ints = round(1 / UNIT) // sizes
    return weights


def _sum(users: Ints, weights: Ints) -> int:
    """What all pairs count for, of so many users of each size."""
    by_size = zip(users.tolist(), weights.tolist(), strict=True)
    return sum(n * size * weight for size, (n, weight) in enumerate(by_size))
