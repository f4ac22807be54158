"""Which of many items of small chances succeed, with no coin for most of them: exactly.

Proof note: `docs/proofs/thinning.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from shortlist.algorithms._binomial import BinomialWeights
from shortlist.algorithms.grouping import sample
from shortlist.draws import Draws, Ints, Reals
from shortlist.draws.reals import Quotient
from shortlist.errors import InputError
from shortlist.evidence import LightItems, WeighedItems

__all__ = ["succeeding"]

_SPARE = Fraction(1025, 1024)  # of the largest chance's float, whose error is far less


def succeeding(
    light: LightItems, chances: Callable[[Ints], Reals], draws: Draws
) -> WeighedItems | None:
    """The light items that succeed, each with its own chance, independently; None if none was seen.

    It is drawn how many would succeed if all had the largest chance, and which. Only these are
    fetched, and each is kept with its chance over the largest one.

    Args:
        light: The items.
        chances: Of items of these weights: the more weight, the larger.
        draws: The exact draws.

    Raises:
        InputError: Other items came than there were, fewer or heavier ones.
    """
    most = _at_least_all(chances, light.below)
    ranks = sample(light.n, _how_many(light.n, most, draws), draws)
    if not len(ranks):
        return None
    fetched = light.fetch(ranks)
    _require_light(fetched.weights, len(ranks), light.below)
    return fetched.at(draws.coin(Quotient(chances(fetched.weights), most)))


def _require_light(weights: Ints, n: int, below: int) -> None:
    """Refuse what is not what it was when light items were counted: the law would be another."""
    if len(weights) != n or not ((weights > 0) & (weights < below)).all():
        raise InputError(
            "the table changed while it was read", "do not change it while a question is answered"
        )


def _at_least_all(chances: Callable[[Ints], Reals], below: int) -> Fraction:
    """A number that no light item's chance exceeds: 1, or a little more than the largest can be."""
    values, errors = chances(np.array([below - 1])).approximate()
    return min((Fraction(values[0]) + Fraction(errors[0])) * _SPARE, Fraction(1))


def _how_many(n: int, chance: Fraction, draws: Draws) -> int:
    """How many of n independent events of this chance happen."""
    if n == 0 or chance == 1:
        return n
    return BinomialWeights(n, chance.numerator, chance.denominator).draw(draws)
