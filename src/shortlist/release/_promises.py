"""Whom a release protects, and how well, in plain words: from its guarantee, and nothing else."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from shortlist.mechanisms.base import ADD_OR_REMOVE
from shortlist.parameters import WEAK_DELTA, WEAK_EPSILON
from shortlist.privacy import round_up
from shortlist.release.sheet import NOT_PRIVATE, harmless

if TYPE_CHECKING:
    from shortlist.privacy.guarantee import Guarantee

__all__ = [
    "Caution",
    "cautions",
    "cost",
    "guesses_right",
    "meaning",
    "of_epsilon",
    "protected",
    "taken",
]


def protected(guarantee: Guarantee) -> list[str]:
    """Who is, and against what, in paragraphs."""
    if not guarantee.private:
        return [
            (
                "Nobody. The random noise came from a seed, so that whoever knows the seed can "
                "take it away. Such a list is for tests, and not for sensitive data."
            )
        ]
    return [
        (
            f"This is protected: {harmless(guarantee.protects)}. There is a limit to what the list "
            f"can tell of {_secret(guarantee)}, whatever else a reader knows or finds out later. "
            "Epsilon says where it lies."
        ),
        (
            "Two tables are neighbours if one becomes the other by this: "
            f"{harmless(guarantee.adjacency)}. Any neighbour could have given this list too, with "
            "a probability that epsilon keeps close."
        ),
        "What is true of many people can be learned from the list: that is what it is for.",
    ]


def _secret(guarantee: Guarantee) -> str:
    """What a reader may hardly learn."""
    if guarantee.adjacency == ADD_OR_REMOVE:
        return "whether a given one of the protected is in the table at all"
    return "which of two neighbouring tables it was drawn from"


def taken(guarantee: Guarantee) -> list[str]:
    """What is taken as public or as promised, a sentence each."""
    if not (guarantee.private and guarantee.assumes):
        return []
    return [f"It rests on this: {harmless(line)}." for line in guarantee.assumes]


def of_epsilon(guarantee: Guarantee) -> str:
    """The question for what it means."""
    return f"What does epsilon = {guarantee.epsilon:g} mean here?"


def meaning(guarantee: Guarantee) -> list[str]:
    """What epsilon and delta mean, in paragraphs."""
    if not guarantee.private:
        return ["Nothing: it would hold if the noise had not come from a seed."]
    right, times = guesses_right(guarantee), math.exp(min(guarantee.epsilon, 700))
    return [
        (
            f"Somebody guesses from this list {_secret(guarantee)}, and held both for equally "
            "likely before. Without the list, half of such guesses are right. With it, at most "
            f"{right} are."
        ),
        (
            f"Whatever a list may show is at most {times:.4g} times as likely with one of two "
            f"neighbouring tables as with the other{_beside(guarantee)}."
        ),
        (
            "A smaller epsilon protects more. Releases about the same people add up: the more of "
            "them there are, the less each person is protected."
        ),
    ]


class Caution(NamedTuple):
    """What must not be overlooked, and what follows."""

    what: str
    therefore: str


def cautions(guarantee: Guarantee) -> list[Caution]:
    """That nobody is protected, or next to nobody, where it is so."""
    if not guarantee.private:
        return [
            Caution(
                f"{NOT_PRIVATE}.",
                "Nobody is protected by it. Do not publish it about sensitive data.",
            )
        ]
    if guarantee.epsilon > WEAK_EPSILON or guarantee.delta >= WEAK_DELTA:
        return [
            Caution(
                "With an epsilon or a delta this large, next to nobody is protected.",
                "An epsilon of 1 and a delta far below one over the number of users are usual.",
            )
        ]
    return []


def cost(guarantee: Guarantee) -> str:
    """What it adds to the cost of other releases."""
    lost = f" and delta = {guarantee.cost.lost:.4g}" if guarantee.cost.lost else ""
    return (
        f"Epsilon = {guarantee.epsilon:g} and delta = {guarantee.delta:g}. In a sum with other "
        f"releases it counts as these, or in zCDP as rho = {guarantee.cost.rho:.4g}{lost}. Asking "
        "again costs as much again, and gives another list."
    )


def _beside(guarantee: Guarantee) -> str:
    delta = guarantee.delta
    return f", and delta = {delta:g} more" if delta else ""


def guesses_right(guarantee: Guarantee) -> str:
    """The share of right guesses at most, rounded up: (e^epsilon + delta) / (1 + e^epsilon)."""
    odds = math.exp(-min(guarantee.epsilon, 700))
    share = (1 + Fraction(guarantee.delta) * Fraction(odds)) / (1 + Fraction(odds))
    tenths = math.ceil(round_up(share) * 1000)
    return f"{min(tenths, 1000) / 10:g} %"
