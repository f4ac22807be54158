"""The law of `Draws.order` on a few items, in balls: what can come out, and how likely it is.

Whatever the noise, an order's probability is a chain of integrals, each of the density of the next
item times what was integrated before. Laplace, exponential, Gumbel and uniform noise have them in
closed form (`_exponentials`), normal noise by Taylor polynomials with a proven error (`_normals`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import factorial

from flint import arb, arb_mat

from shortlist.audit.exact._exponentials import CellLine, CubeLine
from shortlist.audit.exact._normals import BetweenLine, NormalLine
from shortlist.audit.exact._real_lines import PRECISION, Function, RealLine
from shortlist.audit.exact._shared_noise import MovedValues, averaged
from shortlist.draws import Noise, Order, SharedFactor
from shortlist.draws.noise import Given, Gumbel, Normal, NormalBetween, Radius, UniformNoise
from shortlist.draws.noisy_values import ANY
from shortlist.draws.uniform import precision

_Key = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
OrderLaw = dict[tuple[tuple[int, ...], tuple[int, ...]], arb]


def order_law(asked: Order) -> dict[tuple[int, ...], arb]:
    return {positions: p for (positions, _), p in order_and_cell_law(asked).items()}


def order_and_cell_law(asked: Order, edges: Sequence[float] = ()) -> OrderLaw:
    """The probability of positions with the number of `edges` that each value has passed."""
    if not len(asked.scores):
        return {((), ()): arb(1)}
    with precision(PRECISION + _digits_lost(asked)):
        if asked.shared is None or (asked.at_least is None and not edges):  # it changes no order
            return _law(asked, edges)
        if asked.radius is not None:
            raise TypeError(f"{asked.radius!r}, {asked.shared!r}: no law is known of both")
        if asked.at_least is None:
            return _moved_law(asked, edges, asked.shared)
        at = partial(_law, asked, edges)
        return averaged(at, len(asked.scores), asked.noises, asked.shared)


def _moved_law(asked: Order, edges: Sequence[float], shared: Noise) -> OrderLaw:
    """The law of values that share a draw and all take part: quicker than one law for each draw."""
    exact = [arb(int(score)) * arb(asked.unit) for score in asked.scores]
    classes = _item_classes(asked, [None] * len(exact))
    return MovedValues(exact, asked.noises, classes, [arb(x) for x in edges]).law(shared, asked.k)


def _digits_lost(asked: Order) -> int:
    """How many bits are lost: clocks of Gumbel noise run at rates that differ by so many, twice."""
    (first, *_) = asked.noises
    noise = first.noise if isinstance(first, Given) else first
    if not isinstance(noise, Gumbel):
        return 0
    gap = (int(asked.scores.max()) - int(asked.scores.min())) * asked.unit / noise.scale
    return min(3 * math.ceil(gap), 10_000)


def _law(asked: Order, edges: Sequence[float], shift: arb | None = None) -> OrderLaw:
    n, unit = len(asked.scores), arb(asked.unit)
    # Without bounds and cells only differences decide, whose balls are narrower.
    least = int(min(asked.scores)) if asked.at_least is None and not edges else 0
    moved = arb(0) if shift is None else shift
    exact = [arb(int(score) - least) * unit + moved for score in asked.scores]
    floors: list[arb | None] = [None] * n
    if asked.at_least is not None:
        floors = [None if x == ANY else arb(int(x)) * unit for x in asked.at_least]
    most = n if asked.k is None else min(asked.k, n)
    classes = _item_classes(asked, floors)
    if asked.radius is not None:
        return _cube_law(exact, asked.noises, classes, most, asked.radius)
    values = [arb(edge) for edge in edges]
    line = _line(exact, asked.noises, [*(f for f in floors if f is not None), *values])
    sizes = range(most + 1) if asked.at_least is not None else [most]
    return dict(_Orders(line, classes, floors, values).law(sizes, full=most))


def _line(exact: Sequence[arb], noises: Sequence[Noise], points: Sequence[arb]) -> RealLine:
    if all(isinstance(noise, Normal) for noise in noises):
        return NormalLine(exact, noises, points)
    if all(isinstance(noise, NormalBetween) for noise in noises):
        return BetweenLine(exact, noises, points)
    (noise,) = noises
    return CellLine(exact, noise, points)


def _item_classes(asked: Order, floors: Sequence[arb | None]) -> list[int]:
    """A number for each item, the same for items whose values have the same law."""
    known = []
    for i, (score, low) in enumerate(zip(asked.scores, floors, strict=True)):
        parts = [int(score), None if low is None else float(low)]
        for noise in asked.noises:
            if isinstance(noise, Normal) and noise.bounds is not None and noise.above is not None:
                parts += [int(noise.bounds[i]), bool(noise.above[i])]
            elif isinstance(noise, NormalBetween):
                parts += [int(noise.low[i]), int(noise.high[i])]
            elif isinstance(noise, Given):
                parts.append(int(noise.leading[i]))
        known.append(parts)
    return [known.index(parts) for parts in known]


@dataclass
class _Orders:
    """The noisy values of some items, on a line.

    Attributes:
        line: With the items' densities.
        classes: Equal for items whose values have the same law.
        floors: Below these, items do not take part; None where they always do.
        edges: Where values are cut into cells.
    """

    line: RealLine
    classes: Sequence[int]
    floors: Sequence[arb | None]
    edges: Sequence[arb]
    _above: dict[int, Function] = field(default_factory=dict)
    _below: dict[int, arb] = field(default_factory=dict)
    _behind: dict[int, Function] = field(default_factory=dict)
    _in_cells: dict[tuple[int, int], Function] = field(default_factory=dict)
    _chains: dict[_Key, tuple[Function | None, arb]] = field(default_factory=dict)

    def law(
        self, sizes: Sequence[int], full: int
    ) -> Iterator[tuple[tuple[tuple[int, ...], tuple[int, ...]], arb]]:
        """The probability of each outcome of so many items; the others are then below floors.

        Where it is `full`, the others may also be behind.
        """
        known: dict[tuple[tuple[int, ...], tuple[int, ...]], arb] = {}
        n = len(self.classes)
        for its_class in set(self.classes):
            self._prepare(its_class, self.classes.index(its_class))
        for size in sizes:
            for chosen in itertools.permutations(range(n), size):
                classes = tuple(self.classes[i] for i in chosen)
                rest = [self.classes[i] for i in range(n) if i not in chosen]
                passed = range(len(self.edges), -1, -1)
                for cells in itertools.combinations_with_replacement(passed, size):
                    if (classes, cells) not in known:
                        p = self._probability(classes, cells, rest, is_full=size == full)
                        known[classes, cells] = p
                    if not known[classes, cells].is_zero():
                        yield (chosen, cells), known[classes, cells]

    def _prepare(self, its_class: int, item: int) -> None:
        density, low = self.line.density(item), self.floors[item]
        kept = [low is None or middle > low for middle in self.line.middles]
        self._above[its_class] = self.line.where(density, kept)
        failed = self.line.where(density, [not keep for keep in kept])
        _, self._below[its_class] = self.line.cumulative(failed, arb(0))
        self._behind[its_class], _ = self.line.cumulative(
            self._above[its_class], self._below[its_class]
        )

    def _probability(
        self, classes: tuple[int, ...], cells: tuple[int, ...], rest: list[int], *, is_full: bool
    ) -> arb:
        """Of: these in this order, the rest below their floors, or just behind if it is full.

        No more is lost beyond the line's ends than all items' tails.
        """
        behind = tuple(sorted(rest)) if is_full else ()
        p = self._chain(classes, cells, behind)[1]
        if not is_full:
            for its_class in rest:
                p *= self._below[its_class]
        lost = self.line.tail * len(self.classes)
        return p if lost.is_zero() else p + arb(lost / 2, lost / 2)

    def _chain(
        self, classes: tuple[int, ...], cells: tuple[int, ...], behind: tuple[int, ...]
    ) -> tuple[Function | None, arb]:
        """The chance of these in this order with those behind, all below a point; and of all."""
        key = classes, cells, behind
        if key not in self._chains:
            if classes:
                within, _ = self._chain(classes[1:], cells[1:], behind)
                factors = [self._in_cell(classes[0], cells[0]), *([within] if within else [])]
                self._chains[key] = self.line.cumulative(self.line.times(*factors), arb(0))
            else:
                rest = [self._behind[its_class] for its_class in behind]
                self._chains[key] = self.line.times(*rest) if rest else None, arb(1)
        return self._chains[key]

    def _in_cell(self, its_class: int, cell: int) -> Function:
        if not self.edges:
            return self._above[its_class]
        if (its_class, cell) not in self._in_cells:
            kept = [passed == cell for passed in self._passed]
            self._in_cells[its_class, cell] = self.line.where(self._above[its_class], kept)
        return self._in_cells[its_class, cell]

    @cached_property
    def _passed(self) -> list[int]:
        middles = self.line.middles
        return [sum(bool(middle > edge) for edge in self.edges) for middle in middles]


def _cube_law(
    scores: list[arb], noises: Sequence[Noise], classes: list[int], k: int, radius: SharedFactor
) -> OrderLaw:
    """With noise that is uniform in a cube, whose half side is random.

    Between half the gaps of the scores, where the ends of the densities stand in one order, an
    order's probability is a polynomial of 1 / half side, of degree n at most: it is found from its
    values at n + 1 points. The half side is the sum of `shape` exponentials of mean `scale`.
    """
    is_uniform = [type(noise) for noise in noises] == [UniformNoise]
    if not (is_uniform and isinstance(radius, Radius) and radius.shape > len(scores)):
        raise TypeError(f"{noises!r}, {radius!r}: not the noise in a cube whose law is known")
    n, scale = len(scores), arb(radius.scale)
    pairs = itertools.combinations(scores, 2)
    gaps = sorted({abs(a - b) / 2 for a, b in pairs if not (a - b).is_zero()}, key=float)
    law: OrderLaw = {}
    for low, high in itertools.pairwise([arb(0), *_distinct(gaps), None]):
        end = low + scale if high is None else high
        radii = [low + (end - low) * (j + 1) / (n + 2) for j in range(n + 1)]
        laws = [
            dict(_Orders(CubeLine(scores, r), classes, [None] * n, ()).law([k], full=k))
            for r in radii
        ]
        weights = _polynomial_weights(radii, radius.shape, low, high, scale)
        for outcome in set().union(*laws):
            p = sum((w * at.get(outcome, arb(0)) for w, at in zip(weights, laws, strict=True)))
            law[outcome] = law.get(outcome, arb(0)) + p
    return law


def _distinct(rising: list[arb]) -> list[arb]:
    return [x for i, x in enumerate(rising) if i == 0 or not (x - rising[i - 1]).is_zero()]


def _polynomial_weights(
    radii: list[arb], shape: int, low: arb, high: arb | None, scale: arb
) -> list[arb]:
    """By which the values at these radii make up the integral from low to high.

    The integral of r^-j against the density r^(shape-1) exp(-r/scale) / (scale^shape (shape-1)!)
    is that of another such density, for j = 0 .. len(radii) - 1.
    """
    integrals = []
    for j in range(len(radii)):
        left = shape - j
        ratio = arb(factorial(left - 1)) / factorial(shape - 1) / scale**j
        beyond = arb(0) if high is None else _beyond(left, high / scale)
        integrals.append(ratio * (_beyond(left, low / scale) - beyond))
    powers = arb_mat([[r**-j for r in radii] for j in range(len(radii))])
    solved = powers.solve(arb_mat([[x] for x in integrals]))
    return [solved[i, 0] for i in range(len(radii))]


def _beyond(shape: int, t: arb) -> arb:
    """P(a sum of so many exponentials of mean 1 > t)."""
    terms = (t**i / factorial(i) for i in range(shape))
    return sum(terms, arb(0)) * (-t).exp()
