"""Densities made of exponentials and powers, in closed form: Laplace, exponential, Gumbel, uniform.

On each panel a function is a sum of coefficients times u^power exp(rate · u), with u the distance
from an end of the panel. So are products and integrals of such functions.

Gumbel noise -b ln E of an exponential clock E ranks as the clocks do: an item of score c is ahead
of others where its E exp(-c/b) is smaller. So its place on the line is minus that, which is
exponential of rate exp(c/b).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import factorial

from flint import arb, fmpq

from shortlist.audit.exact._real_lines import Function, PolynomialLine, RealLine, breaks_of
from shortlist.draws import Noise
from shortlist.draws.noise import Exponential, Given, Gumbel, Laplace

Rate = tuple[int, ...]  # how often each of the line's rates
Formula = dict[tuple[int, Rate], arb]  # coefficients by power and rate


class _ExponentialLine(RealLine):
    """Panels between breaks; the first and the last may reach to infinity.

    Attributes:
        ends: The left and right end of each panel, None where infinite.
        rates: Numbers of one sign, of which the rates of all formulas are whole multiples and sums.
    """

    def __init__(
        self, breaks: Sequence[arb], rates: Sequence[arb], *, left: bool, right: bool
    ) -> None:
        inner = list(itertools.pairwise(breaks))
        before, after = [(None, breaks[0])], [(breaks[-1], None)]
        self.ends = [*(before if left else []), *inner, *(after if right else [])]
        self.middles = [
            b - 1 if a is None else a + 1 if b is None else (a + b) / 2 for a, b in self.ends
        ]
        self.rates = list(rates)
        self.tail = arb(0)

    def anchor(self, panel: int) -> arb:
        left, right = self.ends[panel]
        return right if left is None else left

    def constant(self, value: arb) -> Formula:
        return {(0, (0,) * len(self.rates)): value}

    def plus(self, panel: Formula, value: arb) -> Formula:
        key = 0, (0,) * len(self.rates)
        return {**panel, key: panel.get(key, arb(0)) + value}

    def product(self, one: Formula, other: Formula) -> Formula:
        result: Formula = {}
        for (p, r), a in one.items():
            for (q, s), b in other.items():
                key = p + q, tuple(x + y for x, y in zip(r, s, strict=True))
                result[key] = result[key] + a * b if key in result else a * b
        return result

    def integral(self, panel: int, formula: Formula) -> tuple[Formula, arb]:
        primitive: Formula = {}
        for (power, rate), coefficient in formula.items():
            for key, share in self._primitive(power, rate):
                term = coefficient * share
                primitive[key] = primitive[key] + term if key in primitive else term
        left, right = self.ends[panel]
        if left is None:  # all rates are above 0: the integral begins at 0, and u = 0 is its end
            return primitive, self._at(primitive, arb(0))
        start = self._at(primitive, arb(0))
        end = arb(0) if right is None else self._at(primitive, right - left)
        return self.plus(primitive, -start), end - start

    def _primitive(self, power: int, rate: Rate) -> list[tuple[tuple[int, Rate], arb]]:
        """The primitive of u^power exp(rate u), as (power, rate) with coefficients."""
        if not any(rate):
            return [((power + 1, rate), arb(1) / (power + 1))]
        r = self._value(rate)
        return [
            (
                (j, rate),
                arb((-1) ** (power - j) * (factorial(power) // factorial(j)))
                / r ** (power - j + 1),
            )
            for j in range(power + 1)
        ]

    def _value(self, rate: Rate) -> arb:
        return sum((n * r for n, r in zip(rate, self.rates, strict=True) if n), arb(0))

    def _at(self, formula: Formula, u: arb) -> arb:
        if u.is_zero():
            return sum((c for (power, _), c in formula.items() if power == 0), arb(0))
        return sum(
            (
                c * u**power * (self._value(rate) * u).exp() if any(rate) else c * u**power
                for (power, rate), c in formula.items()
            ),
            arb(0),
        )


class CellLine(_ExponentialLine):
    """One noise for each item, perhaps with leading bits that are known."""

    def __init__(self, scores: Sequence[arb], noise: Noise, points: Sequence[arb]) -> None:
        cells: list[int] = [0] * len(scores)
        n_cells = 1
        if isinstance(noise, Given):
            cells, n_cells = noise.leading.tolist(), 2**noise.bits
            noise = noise.noise
        if not isinstance(noise, Laplace | Exponential | Gumbel):
            raise TypeError(f"{noise!r}: its density is no sum of exponentials")
        self._kind, self._n_cells, self._scores = type(noise), n_cells, scores
        self._scale = arb(noise.scale)
        if self._kind is Gumbel:
            if points:
                raise TypeError("values of Gumbel noise are not told")
            highest = max(scores, key=float)
            rates = [((score - highest) / self._scale).exp() for score in scores]
        else:
            rates = [1 / self._scale]
        self._clocks = rates
        self._same = [  # the first item of the same score
            next(j for j, other in enumerate(scores) if (other - score).is_zero())
            for score in scores
        ]
        self._known: dict[tuple[int, int], arb | None] = {}
        self._supports = [
            (self._quantile(self._same[i], cell), self._quantile(self._same[i], cell + 1))
            for i, cell in enumerate(cells)
        ]
        kinks = scores if self._kind is Laplace else []
        ends = [end for support in self._supports for end in support if end is not None]
        super().__init__(
            breaks_of([*ends, *kinks, *points]),
            rates,
            left=self._kind is not Exponential,
            right=self._kind is not Gumbel,
        )

    def _quantile(self, i: int, cell: int) -> arb | None:
        """Where a cell of item i begins, once for all; None where that is infinitely far."""
        if (i, cell) not in self._known:
            self._known[i, cell] = self._compute_quantile(i, cell)
        return self._known[i, cell]

    def _compute_quantile(self, i: int, cell: int) -> arb | None:
        below, above = fmpq(cell, self._n_cells), fmpq(self._n_cells - cell, self._n_cells)
        if self._kind is Gumbel:
            return arb(below).log() / self._clocks[i] if cell else None
        if cell == self._n_cells or (cell == 0 and self._kind is Laplace):
            return None
        if self._kind is Exponential:
            return self._scores[i] - self._scale * arb(above).log()
        if 2 * cell < self._n_cells:
            return self._scores[i] + self._scale * arb(2 * below).log()
        return self._scores[i] - self._scale * arb(2 * above).log()

    def density(self, item: int) -> Function:
        low, high = self._supports[item]
        panels: Function = []
        for i, middle in enumerate(self.middles):
            inside = (low is None or middle > low) and (high is None or middle < high)
            panels.append(self._formula(item, i, middle) if inside else None)
        return panels

    def _formula(self, item: int, panel: int, middle: arb) -> Formula:
        at = self.anchor(panel)
        if self._kind is Gumbel:
            clock = self._clocks[item]
            rate = tuple(int(j == item) for j in range(len(self.rates)))
            return {(0, rate): self._n_cells * clock * (clock * at).exp()}
        distance = (at - self._scores[item]) / self._scale
        sides = 2 if self._kind is Laplace else 1
        sign = 1 if middle < self._scores[item] else -1
        height = self._n_cells * (sign * distance).exp() / (sides * self._scale)
        return {(0, (sign,)): height}


class CubeLine(PolynomialLine):
    """Noise that is uniform on [-radius, radius], for a given radius: densities are constant."""

    def __init__(self, scores: Sequence[arb], radius: arb) -> None:
        self._scores, self._radius = scores, radius
        ends = [score + sign * radius for score in breaks_of(scores) for sign in (-1, 1)]
        super().__init__(breaks_of(ends), arb(0))

    def density(self, item: int) -> Function:
        height = self.constant(1 / (2 * self._radius))
        near = [abs(middle - self._scores[item]) < self._radius for middle in self.middles]
        return [height if is_near else None for is_near in near]
