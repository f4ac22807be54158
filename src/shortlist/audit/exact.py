"""The exact instrument: the laws of a mechanism's code on all neighbours of small universes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.audit.claims import Claim, claims_of
from shortlist.audit.findings import Finding, Verdict, share_of
from shortlist.audit.laws import Memory, Pair
from shortlist.audit.lines import PRECISION
from shortlist.audit.losses import Laws, Range
from shortlist.audit.universes import Data, Universe, universe_of
from shortlist.mechanisms.base import Mechanism
from shortlist.precision import precision

__all__ = ["audit_exactly", "pairs_of"]

_STEPS = 3  # of the directed search


def audit_exactly(
    mechanism: Mechanism,
    *,
    quick: bool = False,
    families: Iterable[list[Data]] | None = None,
) -> list[Finding]:
    """What was found of each claim of a mechanism with these parameters.

    Args:
        mechanism: With its parameters.
        quick: On fewer and smaller data sets, in all orders of their items. Else one order of
            items stands for all, where an exchange of them exchanges them in the law.
        families: Only on these data sets, with all that their universe's changes lead to, such as
            one user more; each family of as many items. What a data set is, its universe says.
    """
    universe = universe_of(mechanism, quick=quick)
    search = _Search(universe, claims_of(mechanism), every_order=quick)
    findings: dict[str, Finding] = {}
    with precision(PRECISION):
        looked_at = universe.families() if families is None else families
        found = itertools.chain.from_iterable(map(search.family, looked_at))
        climbs = not quick and families is None
        for finding in itertools.chain(found, search.climb() if climbs else ()):
            known = findings.get(finding.claim)
            findings[finding.claim] = finding if known is None else known.merged(finding)
    return list(findings.values())


class _Judged(NamedTuple):
    """A claim on one pair."""

    verdict: Verdict
    share: float
    loss: float
    pair: Pair
    claim: Claim

    @property
    def severity(self) -> tuple[int, float]:
        """A broken claim is worse than one that holds; else, what uses more of its limit."""
        return self.verdict.rank, self.share


class _Search:
    """Through the pairs of a universe, for the largest loss of each claim."""

    def __init__(self, universe: Universe, claims: Sequence[Claim], *, every_order: bool) -> None:
        self._universe, self._claims = universe, claims
        self._memory = Memory(universe, symmetric=universe.exchangeable and not every_order)
        self._worst: dict[str, _Judged] = {}

    def family(self, family: list[Data]) -> Iterator[Finding]:
        """All pairs of the family's data sets and their neighbours, both ways."""
        if self._universe.exchangeable:
            if differing := self._memory.differing(family):
                self._memory.symmetric = False
                yield self._wrong("effect of item order", differing)
            if not self._memory.symmetric:
                family = self._in_every_order(family)
        if not (pairs := list(pairs_of(self._universe, family))):
            return
        number = {data: i for i, data in enumerate(dict.fromkeys(itertools.chain(*pairs)))}
        laws = [self._memory.law(data) for data in number]
        for data, law in zip(number, laws, strict=True):
            if any(told.repeats for told in law):
                yield self._wrong("repeated items", (data, data))
                break
        first, second = ([number[pair[side]] for pair in pairs] for side in (0, 1))
        both = [*pairs, *((b, a) for a, b in pairs)]
        sides = Laws(laws).sides(first + second, second + first)
        worst: dict[str, _Judged] = {}
        for claim in self._claims:
            judged = self._searched(claim, both, claim.losses(sides))
            known = worst.get(claim.name, judged)
            worst[claim.name] = max(known, judged, key=lambda j: j.severity)
        for judged in worst.values():
            yield self._finding(judged, len(pairs))

    def _in_every_order(self, family: list[Data]) -> list[Data]:
        orders = [*itertools.permutations(range(self._universe.n_items(family[0])))]
        every = (self._universe.permuted(data, order) for data in family for order in orders)
        return list(dict.fromkeys(every))

    def _searched(self, claim: Claim, pairs: Sequence[Pair], losses: Range) -> _Judged:
        """The worst pair, by balls: the one of the largest loss, and all where floats cannot tell.

        One that breaks the claim is enough.
        """
        by_loss = np.argsort(-losses.high, kind="stable")
        holds = losses.high[by_loss] <= claim.limit
        worst = self._judged(claim, pairs[by_loss[0]])
        for i in by_loss[1:][~holds[1:]].tolist():
            if worst.verdict is Verdict.BROKEN:
                break
            worst = max(worst, self._judged(claim, pairs[i]), key=lambda j: j.severity)
        return worst

    def _judged(self, claim: Claim, pair: Pair) -> _Judged:
        low, high = claim.loss(*map(self._memory.law, pair))
        loss = max(0.0, float(high.upper()))  # less: sub-laws lack more than they differ by
        return _Judged(claim.verdict(low, high), share_of(claim.limit, loss), loss, pair, claim)

    def _finding(self, judged: _Judged, n_pairs: int) -> Finding:
        """For the report; the worst one found so far is remembered."""
        claim, known = judged.claim, self._worst.get(judged.claim.name, judged)
        self._worst[claim.name] = max(known, judged, key=lambda j: j.severity)
        return self._told(
            claim.name, claim.limit, judged.loss, judged.pair, n_pairs, judged.verdict, claim.at
        )

    def _wrong(self, promise: str, pair: Pair) -> Finding:
        """A promise that is no loss: kept, or broken once."""
        return self._told(promise, 0.0, 1.0, pair, 1, Verdict.BROKEN)

    def _told(
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
            best = start
            for _ in range(_STEPS):
                nearby = [self._judged(start.claim, pair) for pair in self._nearby(best.pair)]
                if not nearby:
                    break
                top = max(nearby, key=lambda j: j.severity)
                yield self._finding(top, len(nearby))
                if top.severity <= best.severity:
                    break
                best = top

    def _nearby(self, pair: Pair) -> Iterator[Pair]:
        """Both data sets with one entry moved alike."""
        for i, step in itertools.product(range(len(pair[0])), (1, -1, 4)):
            moved = [self._universe.moved(data, i, step) for data in pair]
            if moved[0] is not None and moved[1] is not None:
                yield moved[0], moved[1]


def pairs_of(universe: Universe, family: Sequence[Data]) -> Iterator[Pair]:
    """Each data set with each neighbour that a change leads to; no pair twice, nor reversed."""
    known: set[Pair] = set()
    changes = universe.changes(universe.n_items(family[0])) if family else []
    for data, change in itertools.product(dict.fromkeys(family), changes):
        other = universe.changed(data, change)
        if other is not None and (other, data) not in known:
            known.add((data, other))
            yield data, other
