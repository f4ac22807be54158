"""A selection in each group of a histogram, each by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.errors import InputError
from shortlist.evidence import GroupedCounts, UserGroups, UserSets, Wants
from shortlist.mechanisms.mechanism import (
    ADD_OR_REMOVE,
    AuditHints,
    Mechanism,
    Selection,
    counted,
    require_bounded,
)
from shortlist.mechanisms.wrappers._wrapper import Wrapper
from shortlist.parameters import Delta, Epsilon, Whole
from shortlist.privacy import Cost
from shortlist.privacy.calibration import divide_down
from shortlist.privacy.composed import repeated

# How often the ratio between basic composition's epsilon of each group and all of it is halved.
_HALVINGS = 7


@dataclass(frozen=True, kw_only=True)
class EachGroup(Wrapper):
    """Another mechanism in each group, each by itself, however many groups there are.

    One user changes nothing in groups that the user is not in. So what counts is in how many groups
    one user counts: whoever gives counts promises it, and of rows of users no more are taken.

    Guarantee: (epsilon, delta)-DP for the neighbours of the mechanism that selects, by composition
    of it over the groups of one user: at most max_groups_per_user, or twice as many where a user
    may be changed, who is in other groups then.

    Source: parallel composition, McSherry (2009), over one user's own groups. Proof note:
    `docs/proofs/each-group.md`.

    Attributes:
        selection: The mechanism that selects in each group.
        epsilon: Of the whole.
        delta: Of the whole.
        max_groups_per_user: In how many groups one user counts at most.
    """

    selection: Mechanism
    epsilon: Epsilon
    delta: Delta
    max_groups_per_user: Whole

    def __post_init__(self) -> None:
        if self.selection.noise_varies:
            raise InputError(
                "the noise of {kind} may be larger in one group than in another, and one size is "
                "told for all",
                "omit it, or ask without {by}",
                given={"mechanism": ...},
                kind=type(self.selection),
            )
        super().__post_init__()

    @property
    def evidence(self) -> type:  # type: ignore[override]
        """Counts in groups; or users' sets in groups, if the selection looks at users' sets."""
        of_users = issubclass(self.selection.evidence, UserSets)
        return UserGroups if of_users else GroupedCounts

    @classmethod
    def of(
        cls,
        build: Callable[[float, float], Mechanism],
        *,
        epsilon: float,
        delta: float,
        max_groups_per_user: int,
    ) -> Self:
        """Around the mechanism that `build(epsilon, delta)` gives for about the most it may spend.

        Each group has its part of delta, or half of that, which leaves the other half to what they
        cost together. Of epsilon it has at least its part, and more as far as the worst case of all
        of a user's groups allows.
        """
        around = cls(
            selection=build(epsilon, delta),
            epsilon=epsilon,
            delta=delta,
            max_groups_per_user=max_groups_per_user,
        )
        if around.times == 1:
            return around
        part = divide_down(delta, around.times)
        some = [around._for_each(build, each) for each in dict.fromkeys((part, part / 2))]
        return max(some, key=lambda one: one.selection.epsilon)

    def _for_each(self, build: Callable[[float, float], Mechanism], delta: float) -> Self:
        """With about the most epsilon that each group may have beside so much delta."""
        low, high = divide_down(self.epsilon, self.times), self.epsilon
        best = replace(self, selection=build(low, delta))
        for _ in range(_HALVINGS if delta else 0):
            middle = math.sqrt(low * high)
            tried = replace(self, selection=build(middle, delta))
            if tried.cost.delta(self.epsilon) <= self.delta:
                best, low = tried, middle
            else:
                high = middle
        return best

    @property
    def times(self) -> int:
        """In how many groups neighbours differ at most."""
        groups = self.max_groups_per_user
        return groups if self.adjacency == ADD_OR_REMOVE else 2 * groups

    @cached_property
    def cost(self) -> Cost:
        """The selection's, as often as there are groups in which neighbours differ."""
        return repeated(self.selection.cost, self.times, epsilon=self.epsilon)

    @property
    def wants(self) -> Wants:
        each = self.selection.wants
        return replace(each, kind=self.evidence, groups=self.max_groups_per_user)

    @property
    def reads_unit(self) -> bool:  # type: ignore[override]
        return self.selection.reads_unit

    @property
    def scores_are_counts(self) -> bool:
        return self.selection.scores_are_counts

    def parameters(self) -> dict[str, object]:
        selection = self.selection
        price = {"epsilon": selection.epsilon, "delta": selection.delta}
        named = {"name": type(selection).__name__, **price, **selection.parameters()}
        return {"max_groups_per_user": self.max_groups_per_user, "selection": named}

    def audit_hints(self) -> AuditHints:
        inner = self.selection.audit_hints()
        return replace(
            inner,
            most_items=None,
            most_groups=self.max_groups_per_user,
            inner=self.selection,
            coarse=None if inner.coarse is None else replace(self, selection=inner.coarse),
        )

    def explain(self) -> list[str]:
        each, groups = self.selection, counted(self.max_groups_per_user, "group")
        price = f"epsilon = {each.epsilon:.4g} and delta = {each.delta:.4g}"
        whole = "Each group is answered by itself, as a table of its own would be"
        alone = f"{whole}. Its own price is {price}, and a user counts in {groups} at most."
        if self.times == 1:
            alone = f"{whole}: a user counts in one of them alone."
        return [alone, *each.explain()]

    def select(self, evidence: GroupedCounts | UserGroups, draws: Draws) -> Selection:
        """What is selected in each group, one group after another.

        The noise of the scores is of the same size in each, so that it is told once.

        Users' sets are bounded here; of counts, what one user can change must be so already.

        Raises:
            InputError: A user may be in more groups, or in more counts, than is accounted for.
        """
        groups = (
            self._of_users(evidence, draws)
            if isinstance(evidence, UserGroups)
            else self._of_counts(evidence)
        )
        answers = [one.placed(self.selection.select(one.evidence, draws)) for one in groups]
        scores = [each.scores for each in answers if each.scores is not None]
        users = [each.users for each in answers if each.users is not None]
        # Which way a choice went is released of no group, since there may be one without a choice.
        return answers[0]._replace(
            positions=np.concatenate([each.positions for each in answers]),
            scores=np.concatenate(scores) if scores else None,
            users=np.concatenate(users) if users else None,
            branch=None,
        )

    # Without any group, one without items: its answer is empty, and has scores, if all have.

    def _of_counts(self, evidence: GroupedCounts) -> Iterable[_OneGroup]:
        """The counts of each group."""
        require_bounded(evidence, max_groups_per_user=self.max_groups_per_user)
        none = evidence.kind(evidence.counts[:0], evidence.max_items_per_user, unit=evidence.unit)
        return [_OneGroup(start, own) for start, own in evidence.each()] or [_OneGroup(0, none)]

    def _of_users(self, evidence: UserGroups, draws: Draws) -> Iterable[_OneGroup]:
        """What users hold in each group, each user in no more groups than said."""
        held = evidence.bounded(self.max_groups_per_user, draws)
        if not held.n_groups:
            return [_OneGroup(0, held.items())]
        n = held.n_in_each
        return (_OneGroup(group * n, *own) for group, own in enumerate(held.each()))


class _OneGroup(NamedTuple):
    """A group, as a table of its own.

    Attributes:
        start: The position of its first item among those of all groups.
        evidence: What the selection looks at.
        codes: What its positions are, counted from the start; None where they are the same.
    """

    start: int
    evidence: Any
    codes: Ints | None = None

    def placed(self, found: Selection) -> Selection:
        """What was selected, by its positions among those of all groups."""
        within = found.positions if self.codes is None else self.codes[found.positions]
        return found._replace(positions=self.start + within)
