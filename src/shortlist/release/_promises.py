"""Whom a release protects, and how well, in plain words: from its guarantee, and nothing else."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from shortlist.mechanisms.mechanism import ADD_OR_REMOVE
from shortlist.privacy import round_up
from shortlist.questions import OF_SERIES
from shortlist.release.readable import harmless
from shortlist.release.sheet import NOT_PRIVATE
from shortlist.strength import SCALE, USUAL, Strength, strength, why
from shortlist.strength import of_epsilon as band_of_epsilon

if TYPE_CHECKING:
    from shortlist.privacy.guarantee import Guarantee

_REVEALS = {
    Strength.STRONG: "little",
    Strength.MODERATE: "something",
    Strength.WEAK: "much",
}
_BETTER = {
    Strength.WEAK: f"For strong protection, take an epsilon of at most 1, and {USUAL}.",
    Strength.HARDLY: f"To protect at all, take an epsilon of at most 1, and {USUAL}.",
}
_ANEW = "A second run costs as much again, and gives another list."
_OF_SERIES = "All lists of its series together cost that much: count it once."
_COUNTABLE = 14  # of the longest delta whose zeros are written out: 0.000000000001


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
            f"columns. {_how_well(guarantee)} {_revealed(guarantee)}"
        ),
        (
            f"Two tables are neighbours if they differ by this: {harmless(guarantee.adjacency)}. "
            "Epsilon limits how much more likely this list can be with one of them than with the "
            f"other{', and delta allows for rare exceptions' * bool(guarantee.delta)}."
        ),
        (
            "What is true of many people can still be learned from the list: that is what it is "
            "for. Some of it may be true of you, whether or not you are in the table."
        ),
    ]


def _revealed(guarantee: Guarantee) -> str:
    band = _band(guarantee)
    if band is Strength.HARDLY:
        return f"In the worst case the list shows {_guessed(guarantee)}."
    return (
        f"The list reveals {_REVEALS[band]} about {_secret(guarantee)}, whatever else a reader "
        "knows or finds out later."
    )


def _band(guarantee: Guarantee) -> Strength:
    return strength(guarantee.epsilon, guarantee.delta)


def _how_well(guarantee: Guarantee) -> str:
    """The band, and why it is no better."""
    band = _band(guarantee).described
    return f"{band[0].upper()}{band[1:]}: {why(guarantee.epsilon, guarantee.delta)}."


def _guessed(guarantee: Guarantee) -> str:
    if guarantee.adjacency == ADD_OR_REMOVE:
        return "whether a given user is in the table"
    return _secret(guarantee)


def _secret(guarantee: Guarantee) -> str:
    if guarantee.adjacency == ADD_OR_REMOVE:
        return "whether any one of these is in the table at all"
    return "which of two neighbouring tables it was made from"


def assumed(guarantee: Guarantee) -> list[str]:
    """What the promise takes as public or as given, a sentence each."""
    if not (guarantee.private and guarantee.assumes):
        return []
    return [f"Assumed: {harmless(line)}." for line in guarantee.assumes]


def what_epsilon_means(guarantee: Guarantee) -> str:
    """The question that `meaning` answers."""
    return f"What does epsilon = {guarantee.epsilon:g} mean here?"


def meaning(guarantee: Guarantee) -> list[str]:
    """What epsilon and delta mean, in paragraphs."""
    if not guarantee.private:
        return ["Nothing: it would hold if the noise had not come from a seed."]
    hardly = _band(guarantee) is Strength.HARDLY
    right = "nearly all may be right" if hardly else f"up to {guesses_right(guarantee)} may be"
    return [
        (
            f"Suppose somebody guesses {_guessed(guarantee)}, and thinks both equally likely. "
            f"Without the list, half of such guesses are right. With it, {right}."
        ),
        f"{_times(guarantee)} Measured by epsilon, {SCALE}.",
        (
            f"{'Smaller values protect' if guarantee.delta else 'A smaller epsilon protects'} "
            "more. Lists about the same people add up: with each further list, everybody in them "
            "is protected less."
        ),
    ]


def _times(guarantee: Guarantee) -> str:
    tables = "with one of two neighbouring tables as with the other"
    if band_of_epsilon(guarantee.epsilon) is Strength.HARDLY:
        return f"Some results may be thousands of times as likely {tables}, or more."
    times = math.exp(guarantee.epsilon)
    beside = f", plus at most delta = {plainly(guarantee.delta)}" if guarantee.delta else ""
    return f"Any result is at most {times:,.4g} times as likely {tables}{beside}."


class Caution(NamedTuple):
    """What must not be overlooked, and what follows."""

    what: str
    therefore: str


def cautions(guarantee: Guarantee) -> list[Caution]:
    """That nobody is protected, or that all are protected weakly or hardly at all."""
    if not guarantee.private:
        return [
            Caution(
                f"{NOT_PRIVATE}.",
                "Nobody is protected by it. Do not publish it about sensitive data.",
            )
        ]
    if (band := _band(guarantee)) < Strength.WEAK:
        return []
    return [Caution(_how_well(guarantee), _BETTER[band])]


def may_be_published(guarantee: Guarantee) -> list[str]:
    """What the list itself can say of that, and what is left to decide, in paragraphs."""
    if not guarantee.private:
        return ["Not if the data are sensitive: nobody is protected by it."]
    weak = _band(guarantee) >= Strength.WEAK
    return [
        (
            f"{'Protection is poor, so ask first' if weak else 'It was made for that'}. Whoever is "
            "responsible for the data must agree to four things: who is protected, what is "
            "assumed, how well epsilon and delta protect, and what all lists about the same people "
            "add up to."
        ),
        "The documentation has the questions to ask, under Approving a list.",
    ]


def cost(guarantee: Guarantee, question: str) -> str:
    """What it adds to the cost of other releases, by what was asked."""
    if not guarantee.private:
        return "Nothing that adds up: it protects nobody. The same seed gives the same list again."
    lost = f" and delta = {guarantee.cost.lost:.4g}" if guarantee.cost.lost else ""
    return (
        f"Epsilon = {guarantee.epsilon:g} and delta = {plainly(guarantee.delta)}. To add up "
        f"several lists, count these; or, in zCDP, rho = {guarantee.cost.rho:.4g}{lost}. "
        f"{_OF_SERIES if question in OF_SERIES else _ANEW} To show this list again costs "
        "nothing."
    )


def plainly(delta: float) -> str:
    """A small number with all its zeros, where these can still be counted."""
    short = f"{delta:g}"
    long = f"{Decimal(short):f}"
    return long if len(long) <= _COUNTABLE else short


def guesses_right(guarantee: Guarantee) -> str:
    """The share of right guesses at most, rounded up: (e^epsilon + delta) / (1 + e^epsilon).

    With as many digits as it takes to be below 100 %, which no bound is.
    """
    odds = math.exp(-min(guarantee.epsilon, 700))
    share = round_up((1 + Fraction(guarantee.delta) * Fraction(odds)) / (1 + Fraction(odds)))
    for digits in range(1, 16):
        steps = 10 ** (digits + 2)
        if (rounded := math.ceil(Fraction(share) * steps)) < steps:
            return f"{Decimal(rounded).scaleb(-digits).normalize():f}\N{NO-BREAK SPACE}%"
    return "all"
