"""The exact instrument: the laws of a mechanism's code on all neighbours of small universes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx

from shortlist.audit.claims import GRAIN, Claim, claims_of
from shortlist.audit.enumerator import law_in_balls
from shortlist.audit.findings import Finding, Verdict
from shortlist.audit.lines import PRECISION
from shortlist.audit.losses import Laws, Range
from shortlist.audit.universes import Data, Universe, universe_of
from shortlist.mechanisms.base import Mechanism

__all__ = ["audit_exactly", "law_of"]

Told = tuple[tuple[int, ...] | frozenset[int], tuple[float, ...], float | None]
Law = dict[Told, arb]
Pair = tuple[Data, Data]
_STEPS = 3  # of the directed search
_SAMPLED = 5  # data sets of each size on which items are exchanged


def audit_exactly(mechanism: Mechanism, *, quick: bool = False) -> list[Finding]:
    """What was found of each claim of a mechanism with these parameters."""
    universe = universe_of(mechanism, quick=quick)
    search = _Search(universe, claims_of(mechanism))
    findings: dict[str, Finding] = {}
    with ctx.workprec(PRECISION):
        for family in universe.families():
            for finding in search.family(family):
                known = findings.get(finding.claim)
                findings[finding.claim] = finding if known is None else known.merged(finding)
        for finding in [] if quick else search.climb():
            findings[finding.claim] = findings[finding.claim].merged(finding)
    return list(findings.values())


def law_of(mechanism: Mechanism, evidence: Any, edges: Sequence[float] = ()) -> Law:  # noqa: ANN401
    """The law of all that a selection tells: positions, scores as cells, the noise's sd."""

    def run(draws: Any) -> Told:  # noqa: ANN401
        selection = mechanism.select(evidence, draws)
        positions = tuple(selection.positions.tolist())
        if selection.scores is not None:
            return positions, tuple(selection.scores.tolist()), selection.noise_sd
        is_set = not selection.ordered and len(set(positions)) == len(positions)
        return frozenset(positions) if is_set else positions, (), selection.noise_sd

    return law_in_balls(run, edges)


class _Memory:
    """Laws by data set. Where the order of items changes nothing, one is known for all orders."""

    def __init__(self, universe: Universe) -> None:
        self._universe, self._mechanism = universe, universe.enumerable()
        self._known: dict[Data, Law] = {}
        self.symmetric = universe.exchangeable

    def law(self, data: Data) -> Law:
        if not self.symmetric:
            return self.computed(data)
        order = self._universe.falling(data)
        return _relabelled(self.computed(self._universe.permuted(data, order)), order)

    def computed(self, data: Data) -> Law:
        if data not in self._known:
            edges = self._universe.edges(self._universe.n_items(data))
            evidence = self._universe.evidence_of(data)
            self._known[data] = law_of(self._mechanism, evidence, edges)
        return self._known[data]

    def differs(self, family: Sequence[Data]) -> Pair | None:
        """Data sets that differ by the order of their items, with laws that differ otherwise."""
        for data in family[:: max(1, len(family) // _SAMPLED)]:
            for order in _orders(self._universe.n_items(data)):
                other = self._universe.permuted(data, order)
                one, two = _relabelled(self.computed(data), order), self.computed(other)
                if not all(one.get(o, arb(0)).overlaps(two.get(o, arb(0))) for o in one | two):
                    return data, other
        return None


def _orders(n_items: int) -> Iterator[list[int]]:
    """Each exchange of two items side by side, and all items backwards."""
    items = list(range(n_items))
    for i in range(n_items - 1):
        yield [*items[:i], i + 1, i, *items[i + 2 :]]
    if n_items > 2:
        yield items[::-1]


def _relabelled(law: Law, order: Sequence[int]) -> Law:
    """The law on items in another order: item i of the law is item order[i]."""
    return {
        (type(positions)(order[i] for i in positions), scores, sd): p
        for (positions, scores, sd), p in law.items()
    }


@dataclass(frozen=True)
class _Worst:
    """The pair of the largest loss of a claim, as a share of its limit."""

    claim: Claim
    pair: Pair
    used: float


class _Search:
    """Through the pairs of a universe, for the largest loss of each claim."""

    def __init__(self, universe: Universe, claims: Sequence[Claim]) -> None:
        self._universe, self._claims = universe, claims
        self._memory = _Memory(universe)
        self._worst: dict[str, _Worst] = {}

    def family(self, family: list[Data]) -> Iterator[Finding]:
        """All pairs of the family's data sets and their neighbours, both ways."""
        if self._memory.symmetric and (differing := self._memory.differs(family)):
            self._memory.symmetric = False
            yield self._finding("order of items", 0.0, 1.0, differing, 1, Verdict.BROKEN)
        if self._universe.exchangeable and not self._memory.symmetric:
            orders = list(itertools.permutations(range(self._universe.n_items(family[0]))))
            every = (self._universe.permuted(data, o) for data in family for o in orders)
            family = list(dict.fromkeys(every))
        pairs = list(_pairs(self._universe, family))
        number = {data: i for i, data in enumerate(dict.fromkeys(itertools.chain(*pairs)))}
        laws = [self._memory.law(data) for data in number]
        if wrong := next((d for d, law in zip(number, laws, strict=True) if _is_wrong(law)), None):
            yield self._finding("items once", 0.0, 1.0, (wrong, wrong), 1, Verdict.BROKEN)
        first, second = ([number[pair[side]] for pair in pairs] for side in (0, 1))
        both = [*pairs, *((b, a) for a, b in pairs)]
        sides = Laws(laws).sides(first + second, second + first)
        found: dict[str, Finding] = {}
        for claim in self._claims:
            finding = self._searched(claim, both, claim.losses(sides))
            known = found.get(claim.name)
            found[claim.name] = finding if known is None else known.worse(finding)
        yield from found.values()

    def _searched(self, claim: Claim, pairs: list[Pair], losses: Range) -> Finding:
        """The verdict on all pairs; where floats cannot tell, balls do."""
        holds = losses.high <= claim.limit
        verdict = Verdict.HOLDS
        for i in np.flatnonzero(~holds).tolist():
            verdict = max(verdict, self._judged(claim, pairs[i]), key=list(Verdict).index)
            if verdict is Verdict.BROKEN:
                break
        worst = int(np.argmax(losses.high))
        return self._told(claim, pairs[worst], len(pairs) // 2, verdict)

    def _judged(self, claim: Claim, pair: Pair) -> Verdict:
        low, high = claim.loss(*map(self._memory.law, pair))
        if high <= arb(claim.limit) + GRAIN:
            return Verdict.HOLDS
        return Verdict.BROKEN if low > arb(claim.limit) + GRAIN else Verdict.UNDECIDED

    def _told(self, claim: Claim, pair: Pair, n_pairs: int, verdict: Verdict) -> Finding:
        _, high = claim.loss(*map(self._memory.law, pair))
        loss = float(high.upper())
        finding = self._finding(claim.name, claim.limit, loss, pair, n_pairs, verdict, claim.at)
        if claim.name not in self._worst or finding.used > self._worst[claim.name].used:
            self._worst[claim.name] = _Worst(claim, pair, finding.used)
        return finding

    def _finding(
        self,
        claim: str,
        limit: float,
        loss: float,
        pair: Pair,
        n_pairs: int,
        verdict: Verdict,
        at: str = "",
    ) -> Finding:
        mechanism, write = self._universe.mechanism, self._universe.written
        told = write(pair[0]), write(pair[1])
        name = type(mechanism).__name__
        return Finding(name, repr(mechanism), claim, limit, loss, told, n_pairs, verdict, at)

    def climb(self) -> Iterator[Finding]:
        """From the worst pair of each claim uphill, one entry at a time."""
        for start in list(self._worst.values()):
            pair, seen = start.pair, 0
            for _ in range(_STEPS):
                nearby = list(self._nearby(pair))
                losses = [_loss(start.claim, self._memory, other) for other in nearby]
                seen += len(nearby)
                if not losses or max(losses) <= _loss(start.claim, self._memory, pair):
                    break
                pair = nearby[int(np.argmax(losses))]
            if seen:
                yield self._told(start.claim, pair, seen, self._judged(start.claim, pair))

    def _nearby(self, pair: Pair) -> Iterator[Pair]:
        """Both data sets with one entry moved alike."""
        for i, step in itertools.product(range(len(pair[0])), (1, -1, 4)):
            moved = [self._universe.moved(data, i, step) for data in pair]
            if moved[0] is not None and moved[1] is not None:
                yield moved[0], moved[1]


def _loss(claim: Claim, memory: _Memory, pair: Pair) -> float:
    """The loss of a pair, in floats."""
    return float(claim.loss(*map(memory.law, pair))[1])


def _is_wrong(law: Law) -> bool:
    """Whether an answer names an item twice."""
    return any(len(set(o[0])) < len(o[0]) for o in law)


def _pairs(universe: Universe, family: Sequence[Data]) -> Iterator[Pair]:
    changes = universe.changes(universe.n_items(family[0]))
    for data, change in itertools.product(family, changes):
        other = universe.changed(data, change)
        if other is not None:
            yield data, other
