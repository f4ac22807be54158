"""Privacy costs as frozen values: what a mechanism spends, how costs add, what they convert to.

A cost speaks about one pair of neighbouring tables, whichever adjacency the release states. Every
two costs add, in the tightest form that is known to be sound. Every number is rounded towards more
privacy: sums, products and conversions are rounded up.

Sources: zCDP and its composition, Bun & Steinke (2016); its conversion, Canonne, Kamath & Steinke
(2020), Corollary 13; the Gaussian curve, Balle & Wang (2018), Theorem 8; bounded range, Durfee &
Rogers (2019) and Cesar & Rogers (2021); (epsilon, delta)-DP as randomised response that fails with
probability delta, Kairouz, Oh & Viswanath (2015). Proof note: `docs/proofs/costs.md`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Self

from shortlist.errors import InputError, written
from shortlist.privacy._delta_curves import gaussian_delta, response_delta, zcdp_delta
from shortlist.privacy.rounding import bisect, round_up


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
                raise InputError("must be a finite number, 0 or more", given={name: value})
        object.__setattr__(self, "_parameters", {k: float(v) for k, v in parameters.items()})

    def parameters(self) -> dict[str, float]:
        """The numbers that the cost is made of, by name."""
        return dict(self._parameters)

    @property
    @abstractmethod
    def rho(self) -> float:
        """The zCDP parameter, which holds once a mass of `lost` is left out."""

    @property
    def lost(self) -> float:
        """The mass that the guarantee on `rho` leaves out."""
        return 0.0

    @property
    def as_zcdp(self) -> ZCDP:
        """The cost as one in zCDP, which forgets what else is known."""
        return ZCDP(self.rho, self.lost)

    @property
    def ways(self) -> tuple[Cost, Cost]:
        """The cost to add up in zCDP, and the one to add up by epsilons and deltas."""
        return self, self

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The smallest known delta with which this cost implies (epsilon, delta)-DP."""

    def epsilon(self, delta: float) -> float:
        """The smallest known epsilon with which this cost implies (epsilon, delta)-DP.

        Infinite where `delta` is less than the cost needs whatever the epsilon.
        """
        if not 0 <= delta < 1:
            raise InputError("must lie in [0, 1)", given={"delta": delta})
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2
            if high > 2.0**100:
                return math.inf
        return bisect(lambda epsilon: self.delta(epsilon) <= delta, bad=0.0, good=high)

    def __add__(self, other: Cost) -> Cost:
        # Here, as sums know all kinds of costs.
        from shortlist.privacy.combined_costs import Sum

        return Sum.of(self, other) if isinstance(other, Cost) else NotImplemented

    def __radd__(self, other: object) -> Cost:
        # `sum` begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, times: int) -> Self:
        if not (isinstance(times, int) and times >= 0):
            raise InputError(
                "a cost times {factor}: the factor must be a whole number, 0 or more",
                factor=written(times),
            )
        scaled = {k: round_up(Fraction(v) * times) for k, v in self._parameters.items()}
        return type(self)(**scaled)

    def __rmul__(self, times: int) -> Cost:
        return self * times

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

    def __reduce__(self) -> tuple[object, tuple[Any, ...]]:
        return type(self), tuple(self._parameters.values())


class _Named(Cost):
    """A cost whose numbers are its parameters."""

    __slots__ = ()

    @property
    def rho(self) -> float:
        return self._parameters["rho"]

    @property
    def lost(self) -> float:
        return self._parameters.get("delta", 0.0)


class ZCDP(_Named):
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

    def delta(self, epsilon: float) -> float:
        require_epsilon(epsilon)
        return min(1.0, round_up(Fraction(self.lost) + Fraction(self._curve(epsilon))))

    def _curve(self, epsilon: float) -> float:
        return zcdp_delta(self.rho, epsilon)

    def __add__(self, other: Cost) -> Cost:
        if type(other) is type(self):
            return self._summed(other)
        if isinstance(other, ZCDP):
            return self.as_zcdp._summed(other.as_zcdp)
        return super().__add__(other)


class Gaussian(ZCDP):
    """Gaussian releases of total `rho` = sum of sensitivity² / (2 sigma²), with their exact curve.

    Tighter than `ZCDP` with the same numbers, as which it composes with anything but its own kind:
    delta(epsilon) = Φ(μ/2 - epsilon/μ) - exp(epsilon) Φ(-μ/2 - epsilon/μ), with μ = sqrt(2 rho).

    >>> round(Gaussian(0.02).epsilon(1e-6), 3)
    0.834
    """

    __slots__ = ()

    def _curve(self, epsilon: float) -> float:
        return gaussian_delta(self.rho, epsilon)


class Pure(_Named):
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
            # This refuses what has no square.
            super().__init__(epsilon=epsilon)
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

    def covers(self, other: Pure) -> bool:
        """Whether the other costs at most this in both numbers."""
        return other.pure <= self.pure and other.rho <= self.rho

    def delta(self, epsilon: float) -> float:
        """0 from the pure epsilon on; below it the better of randomised response and zCDP."""
        require_epsilon(epsilon)
        if epsilon >= self.pure:
            return 0.0
        return min(1.0, response_delta(self.pure, epsilon), zcdp_delta(self.rho, epsilon))

    def __add__(self, other: Cost) -> Cost:
        return self._summed(other) if isinstance(other, Pure) else super().__add__(other)


class Approximate(_Named):
    """(`epsilon`, `delta`)-DP: an `epsilon`-DP release that fails with probability `delta`.

    So it is `delta`-approximate `rho`-zCDP as well, with epsilon²/2 for rho unless a better one is
    known, and composition keeps all three numbers.

    >>> Approximate(0.5, 1e-6) + Approximate(0.25, 1e-6)
    Approximate(epsilon=0.75, delta=2e-06, rho=0.15625)
    """

    __slots__ = ()

    def __init__(self, epsilon: float, delta: float, rho: float | None = None) -> None:
        pure = Pure(epsilon, rho)
        super().__init__(epsilon=epsilon, delta=delta, rho=pure.rho)

    @property
    def pure(self) -> float:
        """The epsilon, once a mass of `lost` is left out."""
        return self._parameters["epsilon"]

    def delta(self, epsilon: float) -> float:
        rest = Fraction(Pure(self.pure, self.rho).delta(epsilon))
        return min(1.0, round_up(Fraction(self.lost) + rest))

    def __add__(self, other: Cost) -> Cost:
        return self._summed(other) if isinstance(other, Approximate) else super().__add__(other)


def require_epsilon(epsilon: float) -> None:
    """Refuse an epsilon at which no delta can be asked for."""
    if not 0 <= epsilon < math.inf:
        raise InputError("must be a finite number, 0 or more", given={"epsilon": epsilon})
