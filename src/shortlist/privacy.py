"""Privacy costs as frozen values: what a mechanism spends, how costs add, what they convert to.

A cost speaks about one pair of neighbouring tables, whichever adjacency the release states.
Every number is rounded towards more privacy: sums, products and conversions are rounded up.

Sources: zCDP and its composition, Bun & Steinke (2016); its conversion, Canonne, Kamath & Steinke
(2020), Corollary 13; the Gaussian curve, Balle & Wang (2018), Theorem 8; bounded range, Durfee &
Rogers (2019) and Cesar & Rogers (2021).
"""

from __future__ import annotations

import builtins
import itertools
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Self

from shortlist.errors import InputError, written

__all__ = [
    "ZCDP",
    "Approximate",
    "Cost",
    "Either",
    "Gaussian",
    "Pure",
    "bisect",
    "max",
    "round_down",
    "round_up",
]

_ULP = 2.0**-52
_LEAST = 5e-324  # the least positive float
_FARTHEST = 2.0**100  # of alpha - 1 in conversions; what leads there is no delta to speak of
_ALTERNATIVES = 128  # more are merged, two at a time


class Cost(ABC):
    """A privacy cost. Costs add (`a + b`, adaptively chosen steps included) and repeat (`a * n`).

    `.delta(epsilon)` and `.epsilon(delta)` give the (epsilon, delta) guarantees that it implies;
    `.parameters()` the numbers it is made of, by the names of its constructor.
    """

    __slots__ = ("_parameters",)
    _parameters: dict[str, float]

    def __init__(self, **parameters: float) -> None:
        for name, value in parameters.items():
            if not (isinstance(value, int | float) and 0 <= value < math.inf):
                raise InputError(f"{name}={written(value)}: must be a finite number, 0 or more.")
        object.__setattr__(self, "_parameters", {k: float(v) for k, v in parameters.items()})

    def parameters(self) -> dict[str, float]:
        """The cost's numbers by name."""
        return dict(self._parameters)

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The smallest known delta with which this cost implies (epsilon, delta)-DP."""

    def epsilon(self, delta: float) -> float:
        """The smallest known epsilon with which this cost implies (epsilon, delta)-DP.

        Infinite where `delta` is less than the cost needs whatever the epsilon.
        """
        if not 0 <= delta < 1:
            raise InputError(f"delta={written(delta)}: must lie in [0, 1).")
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2
            if high > 2.0**100:
                return math.inf
        return bisect(lambda epsilon: self.delta(epsilon) <= delta, bad=0.0, good=high)

    @abstractmethod
    def __add__(self, other: Cost) -> Cost: ...

    def __radd__(self, other: object) -> Cost:
        if other == 0:  # where `sum` begins
            return self
        raise TypeError(f"{other!r} + {self!r}: no common form is known, so these do not add.")

    def __mul__(self, times: int) -> Self:
        if not (isinstance(times, int) and times >= 0):
            raise InputError(
                f"a cost times {written(times)}: the factor must be a whole number >= 0."
            )
        scaled = {k: round_up(Fraction(v) * times) for k, v in self._parameters.items()}
        return type(self)(**scaled)

    __rmul__ = __mul__

    def _summed(self, other: Cost) -> Self:
        mine, theirs = self._parameters, other._parameters
        return type(self)(**{k: round_up(Fraction(mine[k]) + Fraction(theirs[k])) for k in mine})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a cost is a value: {name} cannot be set.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parameters == other._parameters

    def __hash__(self) -> int:
        return hash((type(self), *self._parameters.items()))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[object, tuple[float, ...]]:
        return type(self), tuple(self._parameters.values())


class ZCDP(Cost):
    """`delta`-approximate `rho`-zCDP.

    Approximate means, for the output laws P and Q of two neighbours: there are sub-laws P' <= P
    and Q' <= Q that lose mass at most `delta` each, with sum P'^a Q'^(1-a) <= exp((a-1) a rho) both
    ways for every a > 1. This form composes and converts (`docs/proofs/costs.md`).

    >>> ZCDP(0.25) + ZCDP(0.25, delta=1e-7)
    ZCDP(rho=0.5, delta=1e-07)
    >>> round(ZCDP(0.02).epsilon(1e-6), 3)
    0.9
    """

    __slots__ = ()

    def __init__(self, rho: float, delta: float = 0.0) -> None:
        super().__init__(rho=rho, delta=delta)

    @property
    def rho(self) -> float:
        """The zCDP parameter."""
        return self._parameters["rho"]

    @property
    def lost(self) -> float:
        """The approximation: the mass that the guarantee on `rho` leaves out."""
        return self._parameters["delta"]

    def delta(self, epsilon: float) -> float:
        """The lost mass plus the conversion of what remains."""
        _require_epsilon(epsilon)
        return min(1.0, round_up(Fraction(self.lost) + Fraction(self._curve(epsilon))))

    def _curve(self, epsilon: float) -> float:
        return _zcdp_delta(self.rho, epsilon)

    def __add__(self, other: Cost) -> Cost:
        if type(other) is type(self):
            return self._summed(other)
        converted = _as_zcdp(other)
        return NotImplemented if converted is None else ZCDP(self.rho, self.lost)._summed(converted)


class Gaussian(ZCDP):
    """Gaussian releases of total `rho` = sum of sensitivity² / (2 sigma²), with their exact curve.

    Tighter than `ZCDP` with the same numbers, as which it composes with anything but its own kind:
    delta(epsilon) = Φ(μ/2 - epsilon/μ) - exp(epsilon) Φ(-μ/2 - epsilon/μ), with μ = sqrt(2 rho).

    >>> round(Gaussian(0.02).epsilon(1e-6), 3)
    0.834
    """

    __slots__ = ()

    def _curve(self, epsilon: float) -> float:
        return _gaussian_delta(self.rho, epsilon)


class Pure(Cost):
    """`epsilon`-DP, which is also `rho`-zCDP: epsilon²/2 unless a better `rho` is known.

    Composition keeps both numbers, so a hundred pure queries convert as well as zCDP can. The
    exponential mechanism knows a better rho, see `bounded_range`.

    >>> Pure(0.1) * 100
    Pure(epsilon=10.000000000000002, rho=0.5000000000000001)
    >>> round((Pure(0.1) * 100).epsilon(1e-6), 2)
    5.22
    """

    __slots__ = ()

    def __init__(self, epsilon: float, rho: float | None = None) -> None:
        if rho is None:
            super().__init__(epsilon=epsilon)  # refuses what has no square
            rho = round_up(Fraction(epsilon) ** 2 / 2)
        super().__init__(epsilon=epsilon, rho=rho)

    @classmethod
    def bounded_range(cls, epsilon: float) -> Pure:
        """The cost of an `epsilon`-bounded-range mechanism: epsilon²/8-zCDP.

        The exponential mechanism with weights exp(epsilon · count) on counts that all move the same
        way is one. Permute-and-flip and report-noisy-max are not: they cost `Pure(epsilon)`.
        """
        return cls(epsilon, round_up(Fraction(epsilon) ** 2 / 8))

    @property
    def pure(self) -> float:
        """The epsilon from which on no delta is needed."""
        return self._parameters["epsilon"]

    @property
    def rho(self) -> float:
        """The zCDP parameter."""
        return self._parameters["rho"]

    def covers(self, other: Pure) -> bool:
        """Whether the other costs at most this in both numbers."""
        return other.pure <= self.pure and other.rho <= self.rho

    def delta(self, epsilon: float) -> float:
        """0 from the pure epsilon on; below it the better of randomised response and zCDP."""
        _require_epsilon(epsilon)
        if epsilon >= self.pure:
            return 0.0
        worst_pair = -math.expm1(epsilon - self.pure) / (1 + math.exp(-self.pure))
        return min(1.0, worst_pair * (1 + 16 * _ULP), _zcdp_delta(self.rho, epsilon))

    def __add__(self, other: Cost) -> Cost:
        if isinstance(other, Pure):
            return self._summed(other)
        if isinstance(other, Approximate):
            return Approximate(self.pure, 0.0)._summed(other)
        return other + self


class Either(Cost):
    """The cost of one of several `Pure` ones: which, was chosen from what was already released.

    Tighter than the largest in each number: where epsilon is at least the pure epsilon of one
    alternative, that one needs no delta, whatever its rho (`docs/proofs/costs.md`). Made by `max`.

    >>> max(Pure(0.5), Pure.bounded_range(0.25) * 4)
    Either(Pure(epsilon=0.5, rho=0.125), Pure(epsilon=1.0, rho=0.03125))
    """

    __slots__ = ("_alternatives",)
    _alternatives: tuple[Pure, ...]

    def __init__(self, *alternatives: Pure) -> None:
        numbers = {
            f"{name}_{i}": value
            for i, cost in enumerate(alternatives, start=1)
            for name, value in cost.parameters().items()
        }
        super().__init__(**numbers)
        object.__setattr__(self, "_alternatives", alternatives)

    @classmethod
    def of(cls, alternatives: Iterable[Pure]) -> Pure | Either:
        """Those of the alternatives that no other covers, by rising epsilon."""
        kept: list[Pure] = []
        for cost in sorted(alternatives, key=lambda cost: (-cost.rho, -cost.pure)):
            if not any(other.covers(cost) for other in kept):
                kept.append(cost)
        kept.sort(key=lambda cost: cost.pure)
        while len(kept) > _ALTERNATIVES:
            pairs = zip(kept[::2], [*kept[1::2], kept[-1]], strict=False)
            kept = [Pure(b.pure, builtins.max(a.rho, b.rho)) for a, b in pairs]
        return kept[0] if len(kept) == 1 else cls(*kept)

    @property
    def largest(self) -> Pure:
        """The larger of the alternatives in each number."""
        alternatives = self._alternatives
        return Pure(
            builtins.max(cost.pure for cost in alternatives),
            builtins.max(cost.rho for cost in alternatives),
        )

    @property
    def rho(self) -> float:
        """The zCDP parameter: the largest of the alternatives."""
        return self.largest.rho

    def delta(self, epsilon: float) -> float:
        """As of a pure cost, from the alternatives whose pure epsilon lies above."""
        _require_epsilon(epsilon)
        left = [cost for cost in self._alternatives if cost.pure > epsilon]
        if not left:
            return 0.0
        return min(self.largest.delta(epsilon), _zcdp_delta(Either(*left).rho, epsilon))

    def __add__(self, other: Cost) -> Cost:
        if isinstance(other, Pure | Either):
            pairs = itertools.product(self._alternatives, _alternatives(other))
            return Either.of(one._summed(another) for one, another in pairs)  # noqa: SLF001 - our own
        return self.largest + other

    def __mul__(self, times: int) -> Cost:  # type: ignore[override]
        if not (isinstance(times, int) and times >= 0):
            return super().__mul__(times)
        if times < 2:
            return self if times else Pure(0.0)
        half = self * (times // 2)
        return half + half + self if times % 2 else half + half

    __rmul__ = __mul__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Either({', '.join(map(repr, self._alternatives))})"

    def __reduce__(self) -> tuple[object, tuple[Pure, ...]]:  # type: ignore[override]
        return Either, self._alternatives


class Approximate(Cost):
    """(`epsilon`, `delta`)-DP of which nothing more is known. Adds with its kind and with `Pure`.

    >>> Approximate(0.5, 1e-6) + Pure(0.25)
    Approximate(epsilon=0.75, delta=1e-06)
    """

    __slots__ = ()

    def __init__(self, epsilon: float, delta: float) -> None:
        super().__init__(epsilon=epsilon, delta=delta)

    def delta(self, epsilon: float) -> float:
        """The known delta from the known epsilon on; nothing is known below."""
        _require_epsilon(epsilon)
        return self._parameters["delta"] if epsilon >= self._parameters["epsilon"] else 1.0

    def __add__(self, other: Cost) -> Cost:
        if isinstance(other, Pure | Either):
            return other + self
        return self._summed(other) if isinstance(other, Approximate) else NotImplemented


def max(first: Cost, second: Cost) -> Cost:  # noqa: A001 - as numpy.max: read `privacy.max(a, b)`
    """The cost of running one of two mechanisms, chosen from what was already released.

    >>> max(ZCDP(0.1, delta=1e-6), ZCDP(0.2))
    ZCDP(rho=0.2, delta=1e-06)
    """
    if isinstance(first, Pure | Either) and isinstance(second, Pure | Either):
        return Either.of([*_alternatives(first), *_alternatives(second)])
    if type(first) is not type(second):
        one, other = _as_zcdp(first), _as_zcdp(second)
        if one is None or other is None:
            raise InputError(
                f"max({first!r}, {second!r}): no common form is known; compare what both give "
                "at one delta, by .epsilon(delta)."
            )
        first, second = one, other
    mine, theirs = first.parameters(), second.parameters()
    return type(first)(**{name: builtins.max(mine[name], theirs[name]) for name in mine})


def bisect(
    holds: Callable[[float], bool], *, bad: float, good: float, near: float | None = None
) -> float:
    """The end nearest to `bad` at which `holds` was seen to hold, by bisection to the last bit.

    `holds(good)` must be true. The answer is always a point where `holds` was true: the safe end.
    Where the answer may be, `near`, saves looks at `holds` and decides nothing.
    """
    if near is not None and min(bad, good) <= near <= builtins.max(bad, good):
        bad, good = _around(holds, near, bad=bad, good=good)
    while True:
        middle = (bad + good) / 2
        if middle in (bad, good):
            return good
        if holds(middle):
            good = middle
        else:
            bad = middle


def _around(
    holds: Callable[[float], bool], near: float, *, bad: float, good: float
) -> tuple[float, float]:
    """Ends that enclose the change, found by growing steps from `near`."""
    held = holds(near)
    end = bad if held else good
    ends = {held: near, not held: end}
    step = math.copysign(2 * math.ulp(near), end - near)
    while abs(step) < abs(end - ends[held]):
        probe = ends[held] + step
        if holds(probe) is not held:
            ends[not held] = probe
            break
        ends[held] = probe
        step *= 8
    return ends[False], ends[True]


def round_up(value: Fraction) -> float:
    """The smallest float that is not less than `value`; infinity beyond the floats."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """The largest float that is not more than `value`."""
    return -round_up(-value)


def _as_zcdp(cost: Cost) -> ZCDP | None:
    if isinstance(cost, ZCDP):
        return ZCDP(cost.rho, cost.lost)
    return ZCDP(cost.rho) if isinstance(cost, Pure | Either) else None


def _alternatives(cost: Pure | Either) -> tuple[Pure, ...]:
    return cost._alternatives if isinstance(cost, Either) else (cost,)  # noqa: SLF001 - our own


def _require_epsilon(epsilon: float) -> None:
    if not 0 <= epsilon < math.inf:
        raise InputError(f"epsilon={written(epsilon)}: must be a finite number, 0 or more.")


def _zcdp_delta(rho: float, epsilon: float) -> float:
    """Canonne, Kamath & Steinke (2020), Corollary 13, rounded up.

    With x = alpha - 1, ln delta is the minimum over x > 0 of the convex
    f(x) = x((1+x) rho - epsilon) - x ln(1 + 1/x) - ln(1+x). Every x gives a valid bound, so the
    minimiser may be rough; only the value there is rounded with care.
    """
    if rho == 0:
        return 0.0

    x = _minimiser(rho, epsilon)
    terms = x * (1 + x) * rho, -x * epsilon, -x * math.log1p(1 / x), -math.log1p(x)
    log_delta = sum(terms) + 16 * _ULP * sum(map(abs, terms))
    # Never 0: no delta that underflows may pass for a pure guarantee.
    return builtins.max(math.exp(log_delta) * (1 + 4 * _ULP), _LEAST) if log_delta < 0 else 1.0


def _minimiser(rho: float, epsilon: float) -> float:
    """Where (2x + 1) rho - epsilon - ln(1 + 1/x), rising and concave in x > 0, is about 0.

    Newton's steps from the left of a zero of such a function stay there. A bound of the logarithm
    tells where to begin: ln(1 + 1/x) is at least 2/(2x + 1), which is good for large x; and at
    most 1/x, which gives an upper bound of x, and that one, in (2x + 1) rho, a lower one.
    """
    away, root = rho - epsilon, math.sqrt(8 * rho)
    if away > 0:
        x = 1 / math.expm1(min((away + math.hypot(away, root)) / 2, 28.0))
    else:
        x = builtins.max(((epsilon + math.hypot(epsilon, root)) / (2 * rho) - 1) / 2, 2.0**-40)
    for _ in range(20):
        x = min(x, _FARTHEST)
        step = (epsilon + math.log1p(1 / x) - (2 * x + 1) * rho) / (2 * rho + 1 / (x * (1 + x)))
        x += builtins.max(step, 0.0)
        if not step > x * 2.0**-26:  # the next one would be less than a rounding error
            break
    # On a grid, so that it is the same for neighbouring rho: then the bound grows with rho.
    mantissa, exponent = math.frexp(min(x, _FARTHEST))
    return math.ldexp(round(mantissa * 2**30), exponent - 30)


def _gaussian_delta(rho: float, epsilon: float) -> float:
    """Balle & Wang (2018), Theorem 8, rounded up.

    From epsilon = 700 on, where exp(epsilon) leaves the floats, the second term is left out.
    """
    if rho == 0:
        return 0.0
    mu = math.sqrt(2 * rho)
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    upper, lower = _tail_bounds(near, far)[1], _tail_bounds(far, far)[0]
    growth = math.exp(epsilon) * (1 - 4 * _ULP) if epsilon < 700 else 0.0
    return min(1.0, builtins.max(0.0, upper - growth * lower) + 4 * _ULP * upper)


def _tail_bounds(z: float, size: float) -> tuple[float, float]:
    """Bounds of P(standard normal > z) around the float; the lower is 0 where floats run out.

    z is off by at most 4 units in the last place of `size` (it may be a difference of near
    numbers), which moves the tail by that times |z| + 1, relatively; the library's error function
    is taken to be within 16 units.
    """
    tail = math.erfc(z / math.sqrt(2)) / 2
    error = (8 * (abs(z) + 1) * size + 32) * _ULP
    return (tail * (1 - error) if tail > 1e-290 else 0.0), tail * (1 + error) + 1e-321
