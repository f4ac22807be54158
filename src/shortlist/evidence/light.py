"""Items of so little weight that hardly any is ever named: an engine keeps them to itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints

__all__ = ["LightItems", "WeighedItems"]


class WeighedItems(NamedTuple):
    """Some items of a weighted histogram.

    Attributes:
        positions: Where each stands in the evidence, shape (n,).
        weights: Integers in units of `UNIT`, above 0, shape (n,).
        counts: How many users hold each, without bounding, shape (n,).
    """

    positions: Ints
    weights: Ints
    counts: Ints

    def at(self, places: Ints | NDArray[np.bool_]) -> WeighedItems:
        """Those at these places, or those that a mask keeps."""
        return WeighedItems(*(column[places] for column in self))

    def and_also(self, others: WeighedItems) -> WeighedItems:
        """These, and behind them the others."""
        return WeighedItems(*map(np.concatenate, zip(self, others, strict=True)))


class LightItems(ABC):
    """The items that a weighted histogram does not show, of which a few may be asked for by rank.

    A mechanism draws how many of them might be named, and which: that depends on random bits and on
    `n` alone. Both `n` and the ranks are as private as the weights: they go to the engine that
    holds the rows, and to no log or release.

    Attributes:
        n: How many there are.
        below: Each weighs more than 0 and less than this, in units of `UNIT`. Public.
    """

    n: int
    below: int

    @abstractmethod
    def fetch(self, ranks: Ints) -> WeighedItems:
        """The items of these ranks, in any order.

        The ranks are from 0 to n - 1, in an order of all light items that is the engine's choice
        and stays the same as long as the evidence is shown. Each item stands at a position of its
        own, where no shown item stands.

        Args:
            ranks: Distinct, shape (m,).
        """
