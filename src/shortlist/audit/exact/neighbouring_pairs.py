"""The exact instrument: the laws of a mechanism's code on all neighbours of small universes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from shortlist.audit.exact._claimed_losses import Claim, DeltaClaim, Laws, claims_of
from shortlist.audit.exact._laws_of_data_sets import FEW_ITEMS, Law, Memory, Pair, UnknownLaw
from shortlist.audit.exact._real_lines import PRECISION
from shortlist.audit.findings import Finding, Verdict, share_of, worst_of_each_claim
from shortlist.audit.universes import Audited, Data, Look, Universe, universe_of
from shortlist.draws import Floats
from shortlist.draws.uniform import precision

_EVERY = "all tables", "their neighbours"


def audit_exactly(
    mechanism: Audited,
    *,
    quick: bool = False,
    at: Look = Look.USUAL,
    families: Iterable[list[Data]] | None = None,
) -> list[Finding]:
    """What was found of each claim of a mechanism with these parameters, or of a series.

    Args:
        mechanism: With its parameters.
        quick: On fewer and smaller data sets, in all orders of their items. Else one order of
            items stands for all, where an exchange of them exchanges them in the law.
        at: At which data.
        families: Only on these data sets, with all that their universe's changes lead to, such as
            one user more; each family of as many items. What a data set is, its universe says.
    """
    universe = universe_of(mechanism, quick=quick, at=at)
    search = _SearchForLosses(universe, claims_of(mechanism), every_order=quick)
    with precision(PRECISION):
        looked_at = universe.families() if families is None else families
        steps = map(search.family_if_needed, looked_at)
        climbs = [search.climb()] if not quick and families is None else []
        settled = map(search.settled, itertools.chain(steps, climbs))
        found = worst_of_each_claim(itertools.chain.from_iterable(settled))
    if at is not Look.USUAL:
        return [replace(each, claim=f"{each.claim}{at.value}") for each in found]
    return [*found, *search.of_parameters()]


class _JudgedPair(NamedTuple):
    """A claim on one pair."""

    verdict: Verdict
    share: float
    loss: float
    pair: Pair
    claim: Claim
    edges: tuple[float, ...]

    @property
    def severity(self) -> tuple[int, float]:
        return self.verdict.rank, self.share


class _SearchForLosses:
    """Through the pairs of a universe, for the largest loss of each claim.

    Attributes:
        is_broken: Whether a claim is known to be broken.
    """

    def __init__(self, universe: Universe, claims: Sequence[Claim], *, every_order: bool) -> None:
        self._universe, self._claims = universe, claims
        self._memory = Memory(universe, symmetric=universe.exchangeable and not every_order)
        self._worst: dict[str, _JudgedPair] = {}
        self.is_broken = False

    def family_if_needed(self, family: list[Data]) -> Iterator[Finding]:
        """Go through a family, unless it is of many items and something is broken already."""
        few = family and self._universe.n_items(family[0]) <= FEW_ITEMS
        return self.family(family) if few or (family and not self.is_broken) else iter(())

    def settled(self, found: Iterator[Finding]) -> Iterator[Finding]:
        """What is found; of a law that is unknown, that its claims are undecided, and why."""
        try:
            yield from found
        except (UnknownLaw, ArithmeticError) as reason:
            for claim in self._claims:
                yield self._about(
                    claim.name,
                    Verdict.UNDECIDED,
                    _EVERY,
                    limit=claim.limit,
                    loss=math.inf,
                    at=claim.at,
                    reason=str(reason),
                )

    def family(self, family: list[Data]) -> Iterator[Finding]:
        """Go through all pairs of the family's data sets and their neighbours, both ways."""
        self._memory.edges = self._universe.edges_for(family)
        if remembering := self._memory.remembering(family):
            yield self._wrong("effect of earlier answers", remembering)
        if self._universe.exchangeable:
            if differing := self._memory.differing(family):
                self._memory.found_asymmetric()
                yield self._wrong("effect of item order", differing)
            if not self._memory.is_symmetric(self._universe.n_items(family[0])):
                family = self._in_every_order(family)
        if not (pairs := list(pairs_of(self._universe, family))):
            return
        number = {data: i for i, data in enumerate(dict.fromkeys(itertools.chain(*pairs)))}
        laws = [self._memory.law(data) for data in number]
        yield from self._flaws(dict(zip(number, laws, strict=True)))
        if self._memory.is_face_changed():
            yield self._wrong("tells a table later", pairs[-1])
        first, second = ([number[pair[side]] for pair in pairs] for side in (0, 1))
        both = [*pairs, *((b, a) for a, b in pairs)]
        sides = Laws(laws).sides(first + second, second + first)
        worst: dict[str, _JudgedPair] = {}
        for claim in self._claims:
            judged = self._searched(claim, both, claim.most(sides))
            known = worst.get(claim.name, judged)
            worst[claim.name] = max(known, judged, key=lambda j: j.severity)
        for judged in worst.values():
            yield self._finding(judged, len(pairs))

    def _flaws(self, laws: dict[Data, Law]) -> Iterator[Finding]:
        """What is wrong with answers, each with a data set that has such a one."""
        found = {answer.flaw: data for data, law in laws.items() for answer in law if answer.flaw}
        for flaw, data in found.items():
            yield self._wrong(flaw, (data, data))

    def _in_every_order(self, family: list[Data]) -> list[Data]:
        orders = [*itertools.permutations(range(self._universe.n_items(family[0])))]
        every = (self._universe.permuted(data, order) for data in family for order in orders)
        return list(dict.fromkeys(every))

    def _searched(self, claim: Claim, pairs: Sequence[Pair], most: Floats) -> _JudgedPair:
        """The worst pair, by balls: the one of the largest loss, and all where floats cannot tell.

        One that breaks the claim is enough.
        """
        by_loss = np.argsort(-most, kind="stable")
        holds = most[by_loss] <= claim.limit
        worst = self._judged(claim, pairs[by_loss[0]])
        for i in by_loss[1:][~holds[1:]].tolist():
            if worst.verdict is Verdict.BROKEN:
                break
            worst = max(worst, self._judged(claim, pairs[i]), key=lambda j: j.severity)
        return worst

    def _judged(self, claim: Claim, pair: Pair) -> _JudgedPair:
        loss = claim.loss(*map(self._memory.law, pair))
        most = max(0.0, float(loss.high.upper()))  # less: sub-laws lack more than they differ by
        share, verdict = share_of(claim.limit, most), claim.verdict(loss)
        return _JudgedPair(verdict, share, most, pair, loss.claim, self._memory.edges)

    def _finding(self, judged: _JudgedPair, n_pairs: int) -> Finding:
        claim, known = judged.claim, self._worst.get(judged.claim.name, judged)
        self._worst[claim.name] = max(known, judged, key=lambda j: j.severity)
        return self._about(
            claim.name,
            judged.verdict,
            self._written(judged.pair),
            limit=claim.limit,
            loss=judged.loss,
            pairs=n_pairs,
            at=claim.at,
        )

    def _wrong(self, promise: str, pair: Pair) -> Finding:
        return self._about(promise, Verdict.BROKEN, self._written(pair), pairs=1)

    def _written(self, pair: Pair) -> tuple[str, str]:
        return self._universe.written(pair[0]), self._universe.written(pair[1])

    def _about(self, claim: str, verdict: Verdict, *which: Any, **figures: Any) -> Finding:
        self.is_broken |= verdict is Verdict.BROKEN
        return Finding.about(self._universe.mechanism, claim, verdict, *which, **figures)

    def of_parameters(self) -> Iterator[Finding]:
        """What the mechanism's own numbers say, whatever the data: that they are not exceeded.

        A guarantee says the delta that is spent. The cost is still what it was before the mechanism
        had looked at any data, and no evidence is asked for that is looser than is accounted for.
        """
        mechanism = self._universe.mechanism
        asked_for = DeltaClaim(mechanism.epsilon, min(mechanism.delta, mechanism.spent_delta))
        spent = mechanism.cost.delta(mechanism.epsilon)
        verdict = Verdict.HOLDS if spent <= asked_for.limit else Verdict.BROKEN
        limit, at = asked_for.limit, asked_for.at
        yield self._about("cost as delta", verdict, _EVERY, limit=limit, loss=spent, at=at)
        if claims_of(mechanism) != list(self._claims):
            yield self._about("changed cost", Verdict.BROKEN, _EVERY)
        if self._universe.asks_for_looser():
            yield self._about("asks for looser evidence", Verdict.BROKEN, _EVERY)

    def climb(self) -> Iterator[Finding]:
        """Go uphill from the worst pair of each claim, one entry at a time."""
        for start in list(self._worst.values()):
            best, self._memory.edges = start, start.edges
            for _ in range(self._universe.steps_uphill):
                nearby = [self._judged(start.claim, pair) for pair in self._nearby(best.pair)]
                if not nearby:
                    break
                top = max(nearby, key=lambda j: j.severity)
                yield self._finding(top, len(nearby))
                if top.severity <= best.severity:
                    break
                best = top

    def _nearby(self, pair: Pair) -> Iterator[Pair]:
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
