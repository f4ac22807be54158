"""Which mechanism a question gets: the one asked for, or that one with others around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from shortlist.errors import InputError
from shortlist.evidence import PairsOfItems, UserGroups
from shortlist.mechanisms.limited_domain import LimitedDomain
from shortlist.mechanisms.mechanism import Accounting, Mechanism
from shortlist.mechanisms.one_shot_laplace import Extreme
from shortlist.mechanisms.wrappers.each_group import EachGroup
from shortlist.mechanisms.wrappers.noisy_clipped_counts import NoisyClippedCounts
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.mechanisms.wrappers.noisy_others import NoisyOthers
from shortlist.mechanisms.wrappers.noisy_reach import NoisyReach
from shortlist.mechanisms.wrappers.of_scores import OfScores
from shortlist.questions import (
    OTHERS_SHARE,
    BottomScores,
    Domain,
    HittingSet,
    Question,
    TopK,
    TopScores,
    UserCounts,
    WithOthers,
)


@dataclass(frozen=True)
class AskedFor:
    """A mechanism that was asked for, to be built with any epsilon and delta.

    Attributes:
        kind: Its class.
        given: What the question and the source know, by name; of some, the class has no field.
        options: What the caller gave, all of it fields of the class.
        epsilon: Of the whole, with whatever is around it.
        delta: Of the whole.
        most_pairs: How many items of one user count among the pairs of a user and an item; None
            where rows are no such pairs, or nothing bounds them.
    """

    kind: type[Mechanism]
    given: dict[str, Any]
    options: dict[str, Any]
    epsilon: float
    delta: float
    most_pairs: int | None = None

    @property
    def max_items_per_user(self) -> int | None:
        """In how many counts one user is at most; None if there is no bound."""
        bound: int | None = (self.given | self.options).get("max_items_per_user")
        return bound

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
    question: Question, asked: AskedFor, max_groups_per_user: int | None
) -> Mechanism:
    """The mechanism that answers a question, in each group by itself where there are groups.

    Args:
        question: What is asked.
        asked: The mechanism that was asked for.
        max_groups_per_user: In how many groups one user is at most; None if there are no groups.
    """
    from shortlist.mechanisms.count_each import CountEach  # which imports this room first

    if isinstance(question, WithOthers) and question.others:
        return _with_others(question, asked, max_groups_per_user)
    if max_groups_per_user is None:
        return answering(question, asked)
    if asked.kind is CountEach and asked.delta > 0:
        # Normal noise may be the smaller one in several groups, where it is the larger one in one.
        normal = replace(asked, options={**asked.options, "accounting": Accounting.ZCDP})
        ways = (_in_each_group(question, way, max_groups_per_user) for way in (asked, normal))
        return min(ways, key=lambda way: way.selection.count_sd)  # type: ignore[attr-defined]
    if issubclass(asked.kind, LimitedDomain) and max_groups_per_user > 1:
        # A second try is a branch in each group, and the accountant takes few.
        asked = replace(asked, options={"second_try": None, **asked.options})
    return _in_each_group(question, asked, max_groups_per_user)


def _in_each_group(question: Question, asked: AskedFor, max_groups_per_user: int) -> EachGroup:
    return EachGroup.of(
        lambda epsilon, delta: answering(question, replace(asked, epsilon=epsilon, delta=delta)),
        epsilon=asked.epsilon,
        delta=asked.delta,
        max_groups_per_user=max_groups_per_user,
    )


def _with_others(
    question: WithOthers, asked: AskedFor, max_groups_per_user: int | None
) -> Mechanism:
    """What answers the question, with noisy numbers of what is not in the list around it."""
    if max_groups_per_user is not None or asked.most_pairs is None:
        raise InputError(
            "who holds none of the items named is known of rows of users alone, whose items are "
            "private and in no groups",
            "omit it, or {by} and {public_items}; how many users hold each item of a list that "
            "everybody knows, {user_counts} says",
            given={"others": True},
        )
    return NoisyOthers.of(
        lambda epsilon, delta: answering(question, replace(asked, epsilon=epsilon, delta=delta)),
        epsilon=asked.epsilon,
        delta=asked.delta,
        count_share=OTHERS_SHARE,
        max_pairs_per_user=asked.most_pairs,
    )


@singledispatch
def answering(question: Question, asked: AskedFor) -> Mechanism:  # noqa: ARG001 - by its type
    """The mechanism that answers a question. A kind of question that wraps it registers its own."""
    return asked(asked.epsilon, asked.delta)


@answering.register
def _with_counts(question: TopK, asked: AskedFor) -> Mechanism:
    """The selection; with noisy counts around it, if a share of the budget is for them."""
    selection = asked(asked.epsilon, asked.delta)
    share = question.share_of_counts
    if share is not None and selection.evidence is PairsOfItems:
        raise InputError(
            "it names pairs without counts",
            "omit {mechanism}, or omit {noisy_counts}, {count_share} and {min_users}",
            given={"mechanism": type(selection)},
        )
    if question.min_users is not None:
        _require_counts_apart(question.min_users, selection)
    has_counts = selection.evidence is UserGroups or selection.scores_are_counts
    if share is None or (has_counts and question.count_share is None):
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
        asked,
        k=question.k,
        epsilon=asked.epsilon,
        delta=asked.delta,
        count_share=share,
        max_items_per_user=asked.max_items_per_user,
        min_users=question.min_users,
    )


def _require_counts_apart(min_users: int, selection: Mechanism) -> None:
    """Refuse a floor on counts that chose the items: their noise does not say what is below it."""
    if selection.evidence is UserGroups:
        raise InputError(
            "{kind} ranks the items of groups by noisy counts, and its noise differs from list to "
            "list",
            "ask for {domain} with {by}, which has a floor in each group",
            given={"min_users": min_users},
            kind=type(selection),
        )
    if selection.scores_are_counts:
        raise InputError(
            "the noisy counts of {kind} chose the items",
            "omit {mechanism}, or give another",
            given={"min_users": min_users},
            kind=type(selection),
        )


@answering.register
def _with_clipped_counts(question: Domain, asked: AskedFor) -> Mechanism:
    """The domain; with noisy counts around it, if a share of the budget is for them."""
    epsilon, delta = asked.epsilon, asked.delta
    share = question.share_of_counts
    if share is None:
        return asked(epsilon, delta)
    return NoisyClippedCounts.of(
        asked, epsilon=epsilon, delta=delta, count_share=share, min_users=question.min_users
    )


@answering.register
def _with_reach(question: HittingSet, asked: AskedFor) -> Mechanism:
    """The hitting set; with noisy numbers of users reached around it, if a share is for them."""
    epsilon, delta = asked.epsilon, asked.delta
    share = question.share_of_counts
    if share is None:
        return asked(epsilon, delta)
    return NoisyReach.of(asked, k=question.k, epsilon=epsilon, delta=delta, count_share=share)


@answering.register
def _counted(question: UserCounts, asked: AskedFor) -> Mechanism:
    """What counts each item of a list, of which everybody knows how long it is."""
    if question.share_of_users is not None and "share_of_users" not in asked.kind.fields():
        raise InputError(
            "{kind} tells no shares of users",
            "omit it, or omit {mechanism}",
            given={"share_of_users": ...},
            kind=asked.kind,
        )
    if asked.given["n_items"] is None:
        raise InputError(
            "{question}: how much noise is needed depends on the number of items, which only the "
            "table knows",
            "give the items as a list, by {public_items}",
            question=question.name,
        )
    if "max_items_per_user" in asked.options:
        raise InputError(
            "counts of users' rows are of all that a user holds, so that intervals hold",
            "omit it",
            given={"max_items_per_user": asked.options["max_items_per_user"]},
        )
    return asked(asked.epsilon, asked.delta)


_STATED = ("sensitivity", "direction", "neighbours")
"""What whoever gives scores states of them: no field of the mechanism that selects."""


@answering.register
def _of_scores(question: TopScores, asked: AskedFor) -> Mechanism:
    """The selection on scores in the place of counts; with noisy scores, if there is a share."""
    rest = {name: value for name, value in asked.given.items() if name not in _STATED}
    least = isinstance(question, BottomScores)
    return OfScores.of(
        replace(asked, given=rest),
        k=question.k,
        epsilon=asked.epsilon,
        delta=asked.delta,
        score_share=question.share_of_scores,
        extreme=Extreme.SMALLEST if least else Extreme.LARGEST,
        **{name: asked.given[name] for name in _STATED},
    )
