"""Which mechanism a question gets: the one asked for, or that one with others around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from shortlist.errors import InputError
from shortlist.evidence import UserGroups
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.wrappers.each_group import EachGroup
from shortlist.mechanisms.wrappers.noisy_clipped_counts import NoisyClippedCounts
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.questions import Domain, Question, TopK

__all__ = ["AskedFor", "Build", "answering", "answering_in_groups"]

Build = Callable[[float, float], Mechanism]
"""From epsilon and delta to the mechanism that was asked for, all its other parameters given."""


@dataclass(frozen=True)
class AskedFor:
    """A mechanism that was asked for, to be built with any epsilon and delta.

    Attributes:
        kind: Its class.
        given: What the question and the source know, by name; of some, the class has no field.
        options: What the caller gave, all of it fields of the class.
    """

    kind: type[Mechanism]
    given: dict[str, Any]
    options: dict[str, Any]

    def __call__(self, epsilon: float, delta: float) -> Mechanism:
        """Build it.

        Raises:
            InputError: A parameter is out of range, or nothing would depend on an option.
        """
        known = self.given | {"epsilon": epsilon, "delta": delta}
        fields = {name: known[name] for name in self.kind.fields() if name in known}
        made = self.kind(**fields, **self.options)
        for name in made.idle:
            if name in self.options:
                raise InputError(
                    "has no effect with the other options",
                    "omit it",
                    given={name: self.options[name]},
                )
        return made


def answering_in_groups(
    question: Question,
    build: Build,
    *,
    epsilon: float,
    delta: float,
    max_items_per_user: int | None,
    max_groups_per_user: int | None,
) -> Mechanism:
    """The mechanism that answers a question, in each group by itself where there are groups.

    Args:
        question: What is asked.
        build: The mechanism that was asked for, from epsilon and delta.
        epsilon: Of the whole.
        delta: Of the whole.
        max_items_per_user: In how many counts one user is at most; None if there is no bound.
        max_groups_per_user: In how many groups one user is at most; None if there are no groups.
    """

    def answer(epsilon: float, delta: float) -> Mechanism:
        return answering(
            question, build, epsilon=epsilon, delta=delta, max_items_per_user=max_items_per_user
        )

    if max_groups_per_user is None:
        return answer(epsilon, delta)
    return EachGroup.of(
        answer, epsilon=epsilon, delta=delta, max_groups_per_user=max_groups_per_user
    )


@singledispatch
def answering(
    question: Question,  # noqa: ARG001 - its type decides which function this is
    build: Build,
    *,
    epsilon: float,
    delta: float,
    max_items_per_user: int | None,  # noqa: ARG001 - for what adds to a selection
) -> Mechanism:
    """The mechanism that answers a question. A kind of question that wraps it registers its own.

    Args:
        question: What is asked.
        build: The mechanism that was asked for, from epsilon and delta.
        epsilon: Of the whole.
        delta: Of the whole.
        max_items_per_user: In how many counts one user is at most; None if there is no bound.
    """
    return build(epsilon, delta)


@answering.register
def _with_counts(
    question: TopK,
    build: Build,
    *,
    epsilon: float,
    delta: float,
    max_items_per_user: int | None,
) -> Mechanism:
    """The selection; with noisy counts around it, if a share of the budget is for them."""
    selection = build(epsilon, delta)
    if question.count_share is None:
        return selection
    if selection.evidence is UserGroups:
        raise InputError(
            "{kind} gives noisy counts with its ranks",
            "omit it",
            given={"count_share": question.count_share},
            kind=type(selection),
        )
    if selection.scores_are_counts:
        raise InputError(
            "{kind} gives noisy counts at no cost where {max_items_per_user} is at most {k}",
            "omit it",
            given={"count_share": question.count_share},
            kind=type(selection),
        )
    return NoisyCounts.of(
        build,
        k=question.k,
        epsilon=epsilon,
        delta=delta,
        count_share=question.count_share,
        max_items_per_user=max_items_per_user,
    )


@answering.register
def _with_clipped_counts(
    question: Domain,
    build: Build,
    *,
    epsilon: float,
    delta: float,
    max_items_per_user: int | None,  # noqa: ARG001 - counts are of whole sets
) -> Mechanism:
    """The domain; with noisy counts around it, if a share of the budget is for them."""
    if question.count_share is None:
        return build(epsilon, delta)
    return NoisyClippedCounts.of(
        build, epsilon=epsilon, delta=delta, count_share=question.count_share
    )
