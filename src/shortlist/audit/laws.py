"""The output laws of a mechanism's code on the data sets of a universe."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from shortlist.audit.cells import Cell
from shortlist.audit.enumerator import Enumerator, law_in_balls
from shortlist.audit.universes import Data, Universe
from shortlist.mechanisms.base import Mechanism

__all__ = ["Law", "Memory", "Pair", "Told", "law_of"]

_SAMPLED = 5  # data sets of each size on which items are exchanged


class Told(NamedTuple):
    """All that a selection tells.

    Attributes:
        positions: The items in their order; rising, if they are a set.
        ordered: Whether their order means anything.
        scores: Their scores as cells, which are edges passed and whether the negative was told; or
            digit by digit if no draw told them; None, if untold.
        digits: To which the scores were rounded; None, if untold.
        noise_sd: Of the scores.
    """

    positions: tuple[int, ...]
    ordered: bool
    scores: tuple[tuple[int, bool] | str, ...] | None = None
    digits: tuple[int, ...] | None = None
    noise_sd: float | None = None

    def relabelled(self, order: Sequence[int]) -> Told:
        """The same where item i is called order[i]."""
        return self._replace(positions=tuple(order[i] for i in self.positions)).without_order()

    def without_order(self) -> Told:
        """The same with rising positions, each with its score, if they are a set."""
        if self.ordered:
            return self
        if self.scores is None:
            return self._replace(positions=tuple(sorted(self.positions)))
        rising = sorted(zip(self.positions, self.scores, strict=True))
        return self._replace(
            positions=tuple(item for item, _ in rising), scores=tuple(score for _, score in rising)
        )

    @property
    def repeats(self) -> bool:
        """Whether an item is named twice."""
        return len(set(self.positions)) < len(self.positions)


Law = dict[Told, arb]
Pair = tuple[Data, Data]


def law_of(mechanism: Mechanism, evidence: Any, edges: Sequence[float] = ()) -> Law:  # noqa: ANN401
    """The law of what a selection tells; scores are cut into cells at the edges."""

    def run(draws: Any) -> Told:  # noqa: ANN401 - they do as `Draws`
        selection = mechanism.select(evidence, draws)
        scores = digits = None
        if selection.scores is not None:
            scores, digits = tuple(map(_known, selection.scores)), tuple(draws.digits)
        named = tuple(selection.positions.tolist())
        return Told(named, selection.ordered, scores, digits, selection.noise_sd).without_order()

    return law_in_balls(run, edges, draws=_OfCells)


def _known(score: Any) -> tuple[int, bool] | str:  # noqa: ANN401 - a cell, or a number
    return (score.passed, score.negated) if type(score) is Cell else float(score).hex()


class _OfCells(Enumerator):
    """Its values are cells, which code can pass on but not decide by."""

    def values(self, passed: Sequence[int]) -> NDArray[Any]:
        """As cells."""
        told = np.empty(len(passed), object)
        told[:] = [Cell(n) for n in passed]
        return told


class Memory:
    """Laws by data set. Where the order of items changes nothing, one is known for all orders.

    Attributes:
        symmetric: Whether the order of items is taken to change nothing.
    """

    def __init__(self, universe: Universe, *, symmetric: bool) -> None:
        """Nothing is known yet."""
        self._universe, self._mechanism = universe, universe.enumerable()
        self._known: dict[Data, Law] = {}
        self.symmetric = symmetric

    def law(self, data: Data) -> Law:
        """The law on a data set."""
        if not self.symmetric:
            return self._computed(data)
        order = self._universe.falling(data)
        return _relabelled(self._computed(self._universe.permuted(data, order)), order)

    def _computed(self, data: Data) -> Law:
        if data not in self._known:
            edges = self._universe.edges(self._universe.n_items(data))
            law = law_of(self._mechanism, self._universe.evidence_of(data), edges)
            self._known[data] = _relabelled(law, self._universe.held(data))
        return self._known[data]

    def differing(self, family: Sequence[Data]) -> Pair | None:
        """Data sets that differ by the order of their items, with laws that differ otherwise.

        A few are looked at in a few orders, if order is taken to change nothing; else all in all.
        """
        step = max(1, len(family) // _SAMPLED) if self.symmetric else 1
        for data in family[::step]:
            for order in self._orders(self._universe.n_items(data)):
                other = self._universe.permuted(data, order)
                one, two = self._computed(data), _relabelled(self._computed(other), order)
                if not all(one.get(o, arb(0)).overlaps(two.get(o, arb(0))) for o in one | two):
                    return data, other
        return None

    def _orders(self, n_items: int) -> Iterable[Sequence[int]]:
        if self.symmetric:
            return _a_few_orders(n_items)
        return itertools.permutations(range(n_items))


def _a_few_orders(n_items: int) -> Iterator[Sequence[int]]:
    """Each exchange of two items side by side, and all items backwards."""
    items = list(range(n_items))
    for i in range(n_items - 1):
        yield [*items[:i], i + 1, i, *items[i + 2 :]]
    if n_items > 2:
        yield items[::-1]


def _relabelled(law: Law, order: Sequence[int]) -> Law:
    """The law on items in another order: item i of the law is item order[i]."""
    return {told.relabelled(order): p for told, p in law.items()}
