"""The statistical instrument: the code as it runs, on a few neighbours, a million times.

These have twice as many items as are named, with counts too many to enumerate all that is drawn.
What comes out on two neighbours is counted, and a loss is told that the frequencies certainly show
(`frequencies`). Nearly all samples are drawn together (`together`); some are drawn one by one, as
an answer is, and the event that was chosen is judged on these too.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.columns import bare
from shortlist.audit.findings import Finding
from shortlist.audit.frequencies import DOUBT, Seen, certain_loss, likelier_event
from shortlist.audit.together import sample
from shortlist.audit.universes import Data, Universe, universe_of
from shortlist.bits import Bits
from shortlist.exact import Draws
from shortlist.mechanisms.base import Mechanism, Selection

__all__ = ["BlockBits", "audit_by_samples"]

_BLOCK = 2**16  # words that are read at a time
_SAMPLES, _QUICK = 10**6, 10**4  # of a mechanism
_LENGTH = 60  # of a data set as it is told
_ALONE = 50  # of so many samples one more is drawn by itself


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


@dataclass(frozen=True)
class _Sampler:
    """A mechanism on one data set.

    An outcome is cut down to what the change can tell: which places of the answer hold items of
    which kind, and how its best score compares. What is computed from an output loses no more.
    """

    universe: Universe
    data: Data
    kinds: tuple[int, ...]
    bits: Bits

    def together(self, n: int) -> Seen:
        """The outcomes of so many samples."""
        return sample(self._run(), n, self.bits)

    def alone(self, n: int) -> Seen:
        """The same, one after another."""
        run, draws = self._run(), Draws(self.bits)
        return Counter(outcome for _ in range(n) for outcome in run(draws))

    def _run(self) -> Callable[[Draws], list[Hashable]]:
        evidence, select = self.universe.evidence_of(self.data), self.universe.mechanism.select
        kinds = [self.kinds[item] for item in self.universe.held(self.data)]
        return lambda draws: self._told(select(evidence, draws), kinds)

    def _told(self, selection: Selection, kind_of: Sequence[int]) -> list[Hashable]:
        """The outcome, by the kind of each position; or one for each column of scores."""
        kinds = tuple(kind_of[i] for i in selection.positions.tolist())
        if selection.scores is None:
            return [kinds if selection.ordered else tuple(sorted(kinds))]
        scores = bare(selection.scores)
        places = (
            np.arange(len(kinds))[:, None] if selection.ordered else np.argsort(-scores, axis=0)
        )
        ranked = np.broadcast_to(np.array(kinds, int)[places], scores.shape)
        best = np.take_along_axis(scores, places[:1], axis=0) / (selection.noise_sd or 1.0)
        rows = zip(ranked.T.tolist(), np.floor(best * 2).T.tolist(), strict=True)
        return [(tuple(row), *score) for row, score in rows]

    def written(self) -> str:
        """The data set, for a report."""
        text = self.universe.written(self.data)
        if len(text) < _LENGTH:
            return text
        return f"{text[: _LENGTH - 10]}… ({self.universe.n_items(self.data)} items)"


def audit_by_samples(
    mechanism: Mechanism,
    *,
    quick: bool = False,
    bits: Bits | None = None,
    samples: int | None = None,
    settings: int = 1,
) -> list[Finding]:
    """What samples say of a mechanism's (epsilon, delta).

    Args:
        mechanism: With its parameters.
        quick: With ten thousand samples of a mechanism in place of a million.
        bits: What they are drawn from; None for the operating system's, in blocks.
        samples: How many of each data set; None for as many as its share is.
        settings: How many settings of the mechanism share its samples, and the doubt of its row.
    """
    universe = universe_of(mechanism)
    source = BlockBits() if bits is None else bits
    inputs = list(_inputs(universe))
    share = math.ceil((_QUICK if quick else _SAMPLES) / (settings * len(inputs) * 2))
    found: Finding | None = None
    for pair, kinds in inputs:
        samplers = [_Sampler(universe, data, kinds, source) for data in pair]
        for finding in _judged(samplers, samples or share, DOUBT / (settings * len(inputs))):
            found = finding if found is None else found.merged(finding)
    return [] if found is None else [found]


def _judged(samplers: list[_Sampler], n: int, doubt: float) -> Iterator[Finding]:
    """Both ways: an event chosen on half of the samples, judged on the rest, and on those alone.

    These are four bounds, which share the doubt.
    """
    chosen_on = [sampler.together(n // 2) for sampler in samplers]
    judged_on = [
        [sampler.together(n - n // 2) for sampler in samplers],
        [sampler.alone(n // _ALONE) for sampler in samplers],
    ]
    drawn = sum(seen.total() for sides in [chosen_on, *judged_on] for seen in sides)
    delta = samplers[0].universe.mechanism.delta
    for one, other in ((0, 1), (1, 0)):
        event = likelier_event(chosen_on[one], chosen_on[other], delta)
        losses = [certain_loss(event, s[one], s[other], delta, doubt / 4) for s in judged_on]
        yield _finding(samplers[one], samplers[other], max(losses), drawn if one else 0)


def _finding(one: _Sampler, other: _Sampler, loss: float, n: int) -> Finding:
    mechanism = one.universe.mechanism
    return Finding.of_samples(
        type(mechanism).__name__,
        repr(mechanism),
        epsilon=mechanism.epsilon,
        delta=mechanism.delta,
        loss=loss,
        pair=(one.written(), other.written()),
        samples=n,
    )


def _inputs(universe: Universe) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
    """Neighbours with twice as many items as are named."""
    named = min(int(getattr(universe.mechanism, "k", 1)), 4)
    return universe.sampled_pairs(2 * named)
