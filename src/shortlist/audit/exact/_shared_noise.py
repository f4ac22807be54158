"""The law of values that share a normal draw S: what it is at each S, averaged with a proven error.

Let G(s) be the probability of an outcome given S = s, where n values have normal noise of variance
V of their own. It is an integral of a product of n densities, each an entire function of s, with
|density(x - s - iy)| = density(x - s) exp(y² / 2V). So |G(s + iy)| <= exp(n y² / 2V), and for
f = density of S times G, of variance a, the integral of |f(x + iy)| over x is at most exp(q y² / 2)
with q = 1/a + n/V. Sums at equal steps h then are off by at most

    |h (… + f(-h) + f(0) + f(h) + …) - ∫ f| <= 2 exp(q y² / 2) / (exp(2 pi y / h) - 1)

for every y > 0 (Trefethen & Weideman 2014, Theorem 5.1). What is left out beyond J steps on either
side is at most the mass of S beyond J h, since its density falls and G <= 1.

Where all values take part, moving them by s is moving the cells by -s, so the densities are
integrated once, for all s (`MovedValues`). Let I_w(x) be the chance that the items of a word w lie
below x, in this order, rising. The chance J_w that they lie in this order in a cell from a to b
follows from those at its ends (Chen 1954):

    I_w(b) = sum of I_u(a) J_v over all splits w = u v.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import reduce
from math import prod
from typing import TypeVar

from flint import arb

from shortlist.audit.exact._normals import NormalLine
from shortlist.audit.exact._real_lines import Function
from shortlist.draws import Noise
from shortlist.draws.noise import Normal

_FINENESS = 0.4  # q h²: the error is then below 1e-21
_REACH = 10  # standard deviations of S on either side

Outcome = TypeVar("Outcome", bound=Hashable)
_Law = dict[Outcome, arb]


def averaged(
    law_at: Callable[[arb], _Law[Outcome]], n: int, noises: Sequence[Noise], shared: Noise
) -> _Law[Outcome]:
    """The law of n values of these noises, from the law for each S that may be added to all.

    Raises:
        TypeError: The noises, or what is shared, are not normal ones known on no side of a bound.
    """
    own = sum((_variance(noise) for noise in noises), arb(0))
    spread = _variance(shared)
    sharpness = 1 / spread + n / own
    step = (arb(_FINENESS) / sharpness).sqrt()
    most = math.ceil(float(_REACH * spread.sqrt() / step))
    law: _Law[Outcome] = {}
    for j in range(-most, most + 1):
        at = j * step
        weight = step * (-at * at / (2 * spread)).exp() / (2 * arb.pi() * spread).sqrt()
        for outcome, p in law_at(at).items():
            law[outcome] = law.get(outcome, arb(0)) + weight * p
    error = _error(step, sharpness) + (most * step / (2 * spread).sqrt()).erfc()
    return {outcome: p + arb(0, error.abs_upper()) for outcome, p in law.items()}


def _variance(noise: Noise) -> arb:
    if not isinstance(noise, Normal) or noise.bounds is not None:
        raise TypeError(f"{noise!r}: beside a shared draw, only the law of normal noise is known")
    return (arb(noise.sd) * arb(noise.weight)) ** 2


def _error(step: arb, sharpness: arb) -> arb:
    """The error of sums at equal steps, at the y where the bound is about least."""
    y = 2 * arb.pi() / (step * sharpness)
    return 2 * (sharpness * y * y / 2).exp() / ((2 * arb.pi() * y / step).exp() - 1)


_Word = tuple[int, ...]  # items' classes, which are equal where values have the same law
_Chances = dict[_Word, arb]


class MovedValues:
    """Values with normal noise of their own, to which one draw for all is added."""

    def __init__(
        self,
        scores: Sequence[arb],
        noises: Sequence[Noise],
        classes: Sequence[int],
        edges: Sequence[arb],
    ) -> None:
        self._noises, self._classes, self._edges = noises, classes, edges
        self._line = NormalLine(scores, noises, [])
        orders = set(itertools.permutations(classes))
        self._words = sorted({w[:i] for w in orders for i in range(1, len(w) + 1)}, key=len)
        self._below: dict[_Word, tuple[Function, arb]] = {}
        densities = {c: self._line.density(classes.index(c)) for c in classes}
        for word in self._words:
            factors = [densities[word[-1]]]
            if len(word) > 1:
                factors.append(self._below[word[:-1]][0])
            self._below[word] = self._line.cumulative(self._line.times(*factors), arb(0))

    def law(self, shared: Noise, k: int | None) -> dict[tuple[_Word, _Word], arb]:
        """The chance of the best k items (all, if None), best first, with the edges passed."""
        n = len(self._classes)
        of_words = averaged(lambda s: dict(self._moved(s)), n, self._noises, shared)
        law: dict[tuple[_Word, _Word], arb] = {}
        for order in itertools.permutations(range(n)):
            word = tuple(self._classes[i] for i in reversed(order))
            for cells in self._rising_cells():
                outcome = order[:k], cells[::-1][:k]
                law[outcome] = law.get(outcome, arb(0)) + of_words[word, cells]
        return law

    def _rising_cells(self) -> Iterator[_Word]:
        cells = range(len(self._edges) + 1)
        return itertools.combinations_with_replacement(cells, len(self._classes))

    def _moved(self, shift: arb) -> Iterator[tuple[tuple[_Word, _Word], arb]]:
        """The chance of each word of all items with their cells, both rising, for a given move.

        It is off by no more than all items' tails, which lie beyond the line's ends.
        """
        chances = [self._at(edge - shift) for edge in self._edges]
        ends = [dict.fromkeys(self._words, arb(0)), *chances, self._of_all()]
        inside = [self._between(low, high) for low, high in itertools.pairwise(ends)]
        lost = arb(0, (self._line.tail * len(self._classes)).abs_upper())
        for word in self._words:
            if len(word) == len(self._classes):
                for cells in self._rising_cells():
                    parts = _cut(word, cells)
                    yield (word, cells), prod((inside[c][w] for c, w in parts), start=arb(1)) + lost

    def _of_all(self) -> _Chances:
        return {word: whole for word, (_, whole) in self._below.items()}

    def _at(self, x: arb) -> _Chances:
        """The chance of each word below a point; the hull of what may hold, at a panel's end."""
        line = self._line
        places = [(x - c) / h for c, h in zip(line.middles, line.halves, strict=True)]
        near = [i for i, u in enumerate(places) if not abs(u) > 1]
        found = [{word: f[i](places[i]) for word, (f, _) in self._below.items()} for i in near]
        if not places[0] > -1:
            found.append(dict.fromkeys(self._words, arb(0)))
        if not places[-1] < 1:
            found.append(self._of_all())
        return {word: reduce(arb.union, [chances[word] for chances in found]) for word in found[0]}

    def _between(self, low: _Chances, high: _Chances) -> _Chances:
        inside: _Chances = {}
        for word in self._words:
            splits = (low[word[:i]] * inside[word[i:]] for i in range(1, len(word)))
            inside[word] = high[word] - low[word] - sum(splits, arb(0))
        return inside


def _cut(word: _Word, cells: _Word) -> Iterator[tuple[int, _Word]]:
    """Each cell that is not empty, and the part of the word that lies in it."""
    start = 0
    for cell, together in itertools.groupby(cells):
        stop = start + len(list(together))
        yield cell, word[start:stop]
        start = stop
