"""Whom a release protects, and how well, in plain words: from its guarantee, and nothing else."""

from __future__ import annotations

import math
from decimal import Decimal
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
    "plainly",
    "protected",
    "taken",
]

_COUNTABLE = 1e-12  # the smallest delta whose zeros are written out


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
            f"Protected: {harmless(guarantee.protects)}. Words in quotation marks are names of "
            f"columns. The list reveals only a little about {_secret(guarantee)}, whatever else a "
            "reader knows or finds out later. Epsilon says how little."
        ),
        (
            f"Two tables are neighbours if they differ by this: {harmless(guarantee.adjacency)}. "
            "Either of them gives this list with nearly the same probability. Epsilon says how "
            f"nearly{_allowing(guarantee)}."
        ),
        (
            "What is true of many people can still be learned from the list: that is what it is "
            "for. Some of it may be true of you, whether or not you are in the table."
        ),
    ]


def _allowing(guarantee: Guarantee) -> str:
    return ", and delta allows for rare exceptions" if guarantee.delta else ""


def _guessed(guarantee: Guarantee) -> str:
    """What somebody may try to find out."""
    if guarantee.adjacency == ADD_OR_REMOVE:
        return "whether a given user is in the table"
    return _secret(guarantee)


def _secret(guarantee: Guarantee) -> str:
    """What a reader may hardly learn."""
    if guarantee.adjacency == ADD_OR_REMOVE:
        return "whether any one of these is in the table at all"
    return "which of two neighbouring tables it was made from"


def taken(guarantee: Guarantee) -> list[str]:
    """What is taken as public or as promised, a sentence each."""
    if not (guarantee.private and guarantee.assumes):
        return []
    return [f"Assumed: {harmless(line)}." for line in guarantee.assumes]


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
            f"Suppose somebody guesses {_guessed(guarantee)}, and thinks both equally likely. "
            f"Without the list, half of such guesses are right. With it, at most {right} are."
        ),
        (
            f"Any result is at most {times:.4g} times as likely with one of two neighbouring "
            f"tables as with the other{_beside(guarantee)}."
        ),
        (
            f"{'Smaller values protect' if guarantee.delta else 'A smaller epsilon protects'} "
            "more. Lists about the same people add up: with each further list, everybody in them "
            "is protected less."
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
    if not guarantee.private:
        return "Nothing that adds up: it protects nobody. The same seed gives the same list again."
    lost = f" and delta = {guarantee.cost.lost:.4g}" if guarantee.cost.lost else ""
    return (
        f"Epsilon = {guarantee.epsilon:g} and delta = {plainly(guarantee.delta)}. To add up "
        f"several lists, count these; or, in zCDP, rho = {guarantee.cost.rho:.4g}{lost}. A second "
        "run costs as much again, and gives another list. To show this list again costs nothing."
    )


def _beside(guarantee: Guarantee) -> str:
    delta = guarantee.delta
    return f", plus at most delta = {plainly(delta)}" if delta else ""


def plainly(delta: float) -> str:
    """A small number with all its zeros, where these can still be counted."""
    short = f"{delta:g}"
    return f"{Decimal(short):f}" if delta == 0 or delta >= _COUNTABLE else short


def guesses_right(guarantee: Guarantee) -> str:
    """The share of right guesses at most, rounded up: (e^epsilon + delta) / (1 + e^epsilon)."""
    odds = math.exp(-min(guarantee.epsilon, 700))
    share = (1 + Fraction(guarantee.delta) * Fraction(odds)) / (1 + Fraction(odds))
    tenths = math.ceil(round_up(share) * 1000)
    return f"{min(tenths, 1000) / 10:g}\N{NO-BREAK SPACE}%"
