"""The statistical instrument: the code as it runs, on inputs of any size, many times.

What comes out on two neighbours is counted. An event is chosen on one half of the samples, and
judged on the other: by Clopper & Pearson's bounds, its probability on one data set is certainly so
high and on the other so low that the loss is at least what is told, but for a chance of 1e-6.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.findings import Finding, Verdict
from shortlist.audit.universes import Data, Universe, universe_of
from shortlist.bits import Bits
from shortlist.exact import Draws
from shortlist.mechanisms.base import Mechanism, Selection

__all__ = ["CONFIDENCE", "BlockBits", "audit_by_samples", "lower_bound"]

CONFIDENCE = 1 - 1e-6
_BLOCK = 2**16  # words that are read at a time
_SECONDS, _QUICK = 36.0, 1.0  # of a mechanism, for all its inputs
_CHUNK = 500  # samples between two looks at the clock
_MOST = 10**6  # samples of a mechanism

Outcome = Hashable


class BlockBits:
    """The operating system's bits, read many at a time: a system call costs more than its words."""

    private = True

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._words, self._next = np.empty(0, np.uint64), 0

    def words(self, n: int) -> NDArray[np.uint64]:
        """`n` independent uniform 64-bit words, shape (n,), each told once."""
        if self._next + n > len(self._words):
            self._words = np.frombuffer(os.urandom(8 * max(n, _BLOCK)), np.uint64)
            self._next = 0
        self._next += n
        return self._words[self._next - n : self._next]


class _Bound(NamedTuple):
    """What is certain of an event."""

    loss: float
    event: frozenset[Outcome]


def lower_bound(
    first: list[Outcome], second: list[Outcome], delta: float, confidence: float = CONFIDENCE
) -> _Bound:
    """An epsilon that the loss at this delta certainly exceeds, from samples of two outputs.

    No event E has P(E) > exp(epsilon) Q(E) + delta where the output is (epsilon, delta)-private.

    Args:
        first: Outcomes on one data set, of which P is the law.
        second: Outcomes on the other, of which Q is.
        delta: That of the claim.
        confidence: The chance that the bound is right, at least.
    """
    event = _best_event(Counter(first[::2]), Counter(second[::2]), delta)
    judged = [sum(o in event for o in outcomes[1::2]) for outcomes in (first, second)]
    sizes = len(first[1::2]), len(second[1::2])
    doubt = (1 - confidence) / 2
    p = _at_least(judged[0], sizes[0], doubt)
    q = 1 - _at_least(sizes[1] - judged[1], sizes[1], doubt)
    loss = float(np.log(max(p - delta, 1e-300) / q))
    return _Bound(max(loss, 0.0), event)


def _at_least(seen: int, n: int, doubt: float) -> float:
    """A probability that is certainly not less, but for the doubt (Clopper & Pearson 1934)."""
    from scipy.special import betaincinv

    return float(betaincinv(seen, n - seen + 1, doubt)) if seen else 0.0


def _best_event(p: Counter[Outcome], q: Counter[Outcome], delta: float) -> frozenset[Outcome]:
    """The outcomes up to a ratio of frequencies, of the ratio whose bound is best."""
    ranked = sorted(p | q, key=lambda o: (p[o] + 0.5) / (q[o] + 0.5), reverse=True)
    n, m = p.total(), q.total()
    best, event, inside = -np.inf, frozenset[Outcome](), [0, 0]
    for i, outcome in enumerate(ranked, start=1):
        inside[0] += p[outcome]
        inside[1] += q[outcome]
        lower = inside[0] - 4 * np.sqrt(inside[0]) - 4 - delta * n
        upper = inside[1] + 4 * np.sqrt(inside[1]) + 16
        if lower > 0 and lower / n * m / upper > best:
            best, event = lower / n * m / upper, frozenset(ranked[:i])
    return event or frozenset(ranked[:1])


@dataclass(frozen=True)
class _Sampler:
    """A mechanism as it runs, on one data set.

    An outcome is cut down to what the change can tell: which places of the answer hold items of
    which kind, and how its best score compares. What is computed from an output loses no more.
    """

    universe: Universe
    data: Data
    kinds: tuple[int, ...]
    bits: Bits

    def outcomes(self) -> Iterator[Outcome]:
        """One after another, without end."""
        evidence = self.universe.evidence_of(self.data)
        select, draws = self.universe.mechanism.select, Draws(self.bits)
        while True:
            yield self._told(select(evidence, draws))

    def _told(self, selection: Selection) -> Outcome:
        kinds = tuple(self.kinds[i] for i in selection.positions.tolist())
        if selection.scores is None:
            return kinds
        unit = selection.noise_sd or 1.0
        return kinds, tuple(np.floor(selection.scores[:1] / unit * 2).tolist())


def audit_by_samples(
    mechanism: Mechanism,
    *,
    quick: bool = False,
    bits: Bits | None = None,
    samples: int | None = None,
) -> list[Finding]:
    """What samples say of a mechanism's (epsilon, delta).

    Args:
        mechanism: With its parameters.
        quick: For a second instead of half a minute.
        bits: Where they come from; None for the operating system's, in blocks.
        samples: How many of each data set, however long it takes; None for what time allows.
    """
    universe = universe_of(mechanism)
    source = BlockBits() if bits is None else bits
    inputs = list(_inputs(universe))
    found: Finding | None = None
    for pair, kinds in inputs:
        samplers = [_Sampler(universe, data, kinds, source).outcomes() for data in pair]
        if samples is None:
            seconds = (_QUICK if quick else _SECONDS) / len(inputs)
            sides = _sampled(samplers, seconds, _MOST // len(inputs) // 2)
        else:
            sides = [list(itertools.islice(sampler, samples)) for sampler in samplers]
        for first, second in ((0, 1), (1, 0)):
            bound = lower_bound(sides[first], sides[second], mechanism.delta)
            n = len(sides[first])  # of either direction, so that both add up to all samples
            finding = _finding(universe, bound.loss, (pair[first], pair[second]), n)
            found = finding if found is None else found.merged(finding)
    return [] if found is None else [found]


def _sampled(samplers: list[Iterator[Outcome]], seconds: float, most: int) -> list[list[Outcome]]:
    """As many outcomes of each as there is time for, and two chunks at least."""
    sides: list[list[Outcome]] = [[] for _ in samplers]
    end = time.monotonic() + seconds
    while len(sides[0]) < most and (time.monotonic() < end or len(sides[0]) < 2 * _CHUNK):
        for side, sampler in zip(sides, samplers, strict=True):
            side.extend(itertools.islice(sampler, _CHUNK))
    return sides


def _finding(universe: Universe, loss: float, pair: tuple[Data, Data], n: int) -> Finding:
    mechanism = universe.mechanism
    return Finding(
        mechanism=type(mechanism).__name__,
        setting=repr(mechanism),
        claim="epsilon",
        limit=mechanism.epsilon,
        loss=loss,
        pair=(_short(universe, pair[0]), _short(universe, pair[1])),
        pairs=n,
        verdict=Verdict.BROKEN if loss > mechanism.epsilon else Verdict.UNDECIDED,
        at=f"delta {mechanism.delta:.4g}, certain by samples",
    )


def _short(universe: Universe, data: Data) -> str:
    text = universe.written(data)
    return text if len(text) < 60 else f"{text[:50]}… ({universe.n_items(data)} items)"


def _inputs(universe: Universe) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
    """Neighbours with twice as many items as are named."""
    named = min(int(getattr(universe.mechanism, "k", 1)), 4)
    return universe.sampled_pairs(2 * named)
