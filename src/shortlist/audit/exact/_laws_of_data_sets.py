"""The output laws of a mechanism's code on the data sets of a universe."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from shortlist.audit.exact.enumerator import Enumerator, Forgotten, law_in_balls
from shortlist.audit.stand_ins import Unknown, ValueInCell
from shortlist.audit.universes import Audited, Data, Universe
from shortlist.audit.visible_answers import (
    Answer,
    DrawsOfCells,
    answer_of,
    face_of,
    flawed,
    listening,
)
from shortlist.errors import InputError

_SAMPLED = 5  # data sets of each size on which items are exchanged
_SIDE_BY_SIDE = 6  # items, at most, of which all that are side by side are exchanged
_MOST_ORDERS, _MOST_LAWS = 2**16, 2**13  # that are kept, of data sets in other orders
FEW_ITEMS = 4  # items, at most, that are looked at in all orders

Law = dict[Answer, arb]
Pair = tuple[Data, Data]


def law_of(
    mechanism: Audited,
    evidence: Any,
    edges: Sequence[float] = (),
    *,
    n_items: int | None = None,
    before: Any = None,
) -> Law:
    """The law of the answer; scores are cut into cells at the edges.

    Args:
        mechanism: Whose code is run.
        evidence: What it looks at.
        edges: Of the cells.
        n_items: How many items the evidence knows; None for as many as it has counts.
        before: What it looks at each time before that; None for nothing.

    Raises:
        UnknownLaw: The exact instrument cannot find it.
    """
    n = len(evidence.counts) if n_items is None else n_items

    def run(draws: DrawsOfCells) -> Answer:
        if before is not None:
            answer_of(lambda given: mechanism.select(before, given), _OfCells(edges), n)
        return answer_of(lambda given: mechanism.select(evidence, given), draws, n)

    try:
        with listening() as said:
            law = law_in_balls(run, edges, enumerator=_OfCells)
    except Forgotten:
        return {flawed("effect of earlier answers"): arb(1)}
    except Unknown as unknown:
        raise UnknownLaw(f"{unknown}; audit it by samples: statistical=True.") from None
    return {flawed(said[0]): arb(1)} if said else law


class UnknownLaw(InputError):  # noqa: N818 - as the others that end a run
    """A law that the exact instrument cannot find, and why."""


class _OfCells(Enumerator):
    """Its values are cells, which code can pass on but not decide by."""

    def values(self, passed: Sequence[int]) -> NDArray[Any]:
        cells = np.empty(len(passed), object)
        cells[:] = [ValueInCell(n) for n in passed]
        return cells


class Memory:
    """Laws by data set. Where the order of items changes nothing, one is known for all orders.

    Attributes:
        edges: Where scores are cut into cells, until others are set.
    """

    def __init__(self, universe: Universe, *, symmetric: bool) -> None:
        """Nothing is known yet.

        Args:
            universe: Of the data sets.
            symmetric: Whether the order of few items is taken to change nothing; that of many is.
        """
        self._universe, self._mechanism = universe, universe.enumerable()
        self._known: dict[tuple[Data, tuple[float, ...]], Law] = {}
        self.edges: tuple[float, ...] = ()
        self._symmetric = symmetric
        self._in_order = lru_cache(_MOST_ORDERS)(self._ordered)
        self._as_asked = lru_cache(_MOST_LAWS)(self._in_own_order)
        self._face = face_of(self._mechanism)

    def is_face_changed(self) -> bool:
        """Whether the mechanism says something else of itself than before it saw any data."""
        return face_of(self._mechanism) != self._face

    def is_symmetric(self, n_items: int) -> bool:
        """Whether the order of as many items is taken to change nothing."""
        return self._universe.exchangeable and (self._symmetric or n_items > FEW_ITEMS)

    def found_asymmetric(self) -> None:
        self._symmetric = False

    def law(self, data: Data) -> Law:
        if not self.is_symmetric(self._universe.n_items(data)):
            return self._computed(data)
        return self._as_asked(data, self.edges)

    def _in_own_order(self, data: Data, edges: tuple[float, ...]) -> Law:
        del edges
        order, ordered = self._in_order(data)
        return _relabelled(self._computed(ordered), order)

    def _ordered(self, data: Data) -> tuple[Sequence[int], Data]:
        order = self._universe.falling(data)
        return order, self._universe.permuted(data, order)

    def _computed(self, data: Data) -> Law:
        key = data, self.edges
        if key not in self._known:
            self._known[key] = self._anew(self._mechanism, data)
        return self._known[key]

    def _anew(self, mechanism: Audited, data: Data, before: Data | None = None) -> Law:
        universe, held = self._universe, self._universe.held(data)
        evidence = universe.evidence_of(data)
        earlier = None if before is None else universe.evidence_of(before)
        law = law_of(mechanism, evidence, self.edges, n_items=len(held), before=earlier)
        if _differ(evidence, universe.evidence_of(data)):
            law = {flawed("changed evidence"): arb(1)}
        return _relabelled(law, held)

    def differing(self, family: Sequence[Data]) -> Pair | None:
        """Data sets that differ by the order of their items, with laws that differ otherwise.

        A few are looked at in a few orders, if order is taken to change nothing; else all in all.
        """
        n_items = self._universe.n_items(family[0])
        symmetric = self.is_symmetric(n_items)
        step = max(1, len(family) // _SAMPLED) if symmetric else 1
        orders = list(_a_few_orders(n_items) if symmetric else _every_order(n_items))
        for data, order in itertools.product(family[::step], orders):
            other = self._universe.permuted(data, order)
            if _apart(self._computed(data), _relabelled(self._computed(other), order)):
                return data, other
        return None

    def remembering(self, family: Sequence[Data]) -> Pair | None:
        """A data set of another law where the code, or this object, has looked at another before.

        Two data sets are looked at, each after the other, and one by an object that is new. They
        are not of the last ones, which have the longest laws.
        """
        one, other = family[len(family) // 2], family[len(family) // 4]
        if one == other:
            return None
        for before, data in ((other, one), (one, other)):
            if _apart(self._computed(data), self._anew(self._mechanism, data, before)):
                return before, data
        fresh = self._anew(_fresh(self._mechanism), one)
        return (other, one) if _apart(self._computed(one), fresh) else None


def _fresh(mechanism: Any) -> Any:
    return replace(mechanism)


def _apart(one: Law, other: Law) -> bool:
    return not all(one.get(o, arb(0)).overlaps(other.get(o, arb(0))) for o in one | other)


def _differ(evidence: Any, fresh: Any) -> bool:
    """Whether arrays of evidence are no longer as they were."""
    arrays = {name: x for name, x in vars(fresh).items() if isinstance(x, np.ndarray)}
    return not all(np.array_equal(getattr(evidence, name), x) for name, x in arrays.items())


def _every_order(n_items: int) -> Iterable[Sequence[int]]:
    return itertools.permutations(range(n_items))


def _a_few_orders(n_items: int) -> Iterator[Sequence[int]]:
    """Each exchange of two items side by side (of many, the first), and all items backwards."""
    items = list(range(n_items))
    for i in range(n_items - 1 if n_items <= _SIDE_BY_SIDE else 1):
        yield [*items[:i], i + 1, i, *items[i + 2 :]]
    if n_items > 2:
        yield items[::-1]


def _relabelled(law: Law, order: Sequence[int]) -> Law:
    """The law on items in another order: item i of the law is item order[i]."""
    return {answer.relabelled(order): p for answer, p in law.items()}
