"""Which mechanism a question gets: the one asked for, or that one with another around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

from shortlist.errors import InputError
from shortlist.evidence import UserGroups
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.wrappers.noisy_clipped_counts import NoisyClippedCounts
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.questions import Domain, Question, TopK

__all__ = ["Build", "answering"]

Build = Callable[[float, float], Mechanism]
"""From epsilon and delta to the mechanism that was asked for, all its other parameters given."""


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
