"""Costs of several releases as one: of all of them together, or of one that was chosen of two.

Every two costs add, in the tightest form that is known to be sound. Proof note:
`docs/proofs/costs.md`.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import zcdp_delta
from shortlist.privacy.costs import ZCDP, Approximate, Cost, Pure, require_epsilon
from shortlist.privacy.rounding import round_down, round_up

_ALTERNATIVES = 128  # more are merged, two at a time


class _MadeOf(Cost):
    """A cost that is what it is made of: by that it is compared, shown and saved."""

    __slots__ = ("_made_of",)
    _made_of: tuple[Any, ...]

    def __init__(self, made_of: tuple[Any, ...], parameters: dict[str, float]) -> None:
        super().__init__(**parameters)
        object.__setattr__(self, "_made_of", made_of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _MadeOf) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.__reduce__())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._made_of))})"

    def __reduce__(self) -> tuple[object, tuple[Any, ...]]:
        return type(self), self._made_of


class Sum(_MadeOf):
    """Costs of different kinds together, each kind kept apart; made by adding them.

    A pure or approximate part may be counted by its epsilon, which shifts the curve of the rest, or
    by its rho, which joins it. Every way is sound, and a conversion takes the best one. So a sum is
    never worse than adding up epsilons and deltas.

    >>> top_k = ZCDP(0.024, delta=1e-9)
    >>> round(top_k.epsilon(1e-6), 3), round((Pure(1.0) + top_k).epsilon(1e-6), 3)
    (0.992, 1.992)
    """

    __slots__ = ()

    def __init__(self, *parts: Cost) -> None:
        known = all(isinstance(part, ZCDP | Approximate | Pure | Either) for part in parts)
        if not known or len(set(map(_kind, parts))) < len(parts):
            raise InputError("its parts must be of different kinds", "add costs, as in a + b")
        super().__init__(
            parts,
            {f"{type(one).__name__}.{name}": x for one in parts for name, x in _numbers(one)},
        )

    @classmethod
    def of(cls, *costs: Cost) -> Cost:
        """The sum of some costs: those of one kind are added up, and one kind alone is no `Sum`."""
        if any(isinstance(cost, Ways) for cost in costs):
            by_rho, by_epsilon = zip(*(cost.ways for cost in costs), strict=True)
            return Ways(cls.of(*by_rho), cls.of(*by_epsilon))
        kinds: dict[type[Cost], Cost] = {}
        for part in map(_known, itertools.chain.from_iterable(map(_parts, costs))):
            kind = _kind(part)
            kinds[kind] = _of_one_kind(kinds[kind], part) if kind in kinds else part
        parts = [kinds[kind] for kind in (Pure, ZCDP, Approximate) if kind in kinds]
        return parts[0] if len(parts) == 1 else cls(*parts)

    @property
    def parts(self) -> tuple[Cost, ...]:
        """The costs that it is the sum of, one of each kind."""
        return self._made_of

    @property
    def rho(self) -> float:
        return round_up(sum((Fraction(part.rho) for part in self.parts), Fraction(0)))

    @property
    def lost(self) -> float:
        return round_up(sum((Fraction(part.lost) for part in self.parts), Fraction(0)))

    def delta(self, epsilon: float) -> float:
        require_epsilon(epsilon)
        return min(self._deltas(Fraction(epsilon)))

    def _deltas(self, epsilon: Fraction) -> Iterator[float]:
        """By each choice of parts that are counted by their epsilon, the others by their rho."""
        whole = [part for part in self.parts if isinstance(part, ZCDP)]
        two_ways = [part for part in self.parts if isinstance(part, Pure | Either | Approximate)]
        for n_by_epsilon in range(len(two_ways) + 1):
            for by_epsilon in itertools.combinations(two_ways, n_by_epsilon):
                by_rho = [part.as_zcdp for part in two_ways if part not in by_epsilon]
                left = epsilon - sum((Fraction(part.pure) for part in by_epsilon), Fraction(0))
                rest = _curve_of([*whole, *by_rho], round_down(left)) if left >= 0 else 1.0
                lost = (Fraction(part.lost) for part in by_epsilon)
                yield min(1.0, round_up(sum(lost, Fraction(rest))))

    def __mul__(self, times: int) -> Cost:  # type: ignore[override]
        return Sum(*(part * times for part in self.parts))


class Ways(_MadeOf):
    """Two costs of the same releases, each of which holds: the better one counts.

    The first adds up in zCDP, so that a filter may stop on it whatever was chosen adaptively; the
    second by epsilons and deltas. Made by adding costs that know more than one way to add.

    >>> both = Ways(ZCDP(0.024, delta=1e-6), Approximate(1.0, 1e-6))
    >>> both.delta(1.0), (both + Pure(1.0)).delta(2.0)
    (1e-06, 1e-06)
    """

    __slots__ = ("_ways",)
    _ways: tuple[Cost, Cost]

    def __init__(
        self, by_rho: Cost, by_epsilon: Cost, *, made_of: tuple[Any, ...] | None = None
    ) -> None:
        named = ("by_rho", by_rho), ("by_epsilon", by_epsilon)
        super().__init__(
            made_of or (by_rho, by_epsilon),
            {f"{way}.{name}": x for way, cost in named for name, x in _numbers(cost)},
        )
        object.__setattr__(self, "_ways", (by_rho, by_epsilon))

    @property
    def ways(self) -> tuple[Cost, Cost]:
        return self._ways

    @property
    def rho(self) -> float:
        return self._ways[0].rho

    @property
    def lost(self) -> float:
        return self._ways[0].lost

    def delta(self, epsilon: float) -> float:
        return min(cost.delta(epsilon) for cost in self._ways)

    def __mul__(self, times: int) -> Cost:  # type: ignore[override]
        return Ways(*(cost * times for cost in self._ways))


def max(first: Cost, second: Cost) -> Cost:  # noqa: A001 - as numpy.max: read `privacy.max(a, b)`
    """The cost of running one of two mechanisms, chosen from what was already released.

    >>> max(ZCDP(0.1, delta=1e-6), ZCDP(0.2))
    ZCDP(rho=0.2, delta=1e-06)
    """
    if isinstance(first, Ways) or isinstance(second, Ways):
        return Ways(*map(max, first.ways, second.ways))
    if isinstance(first, Pure | Either) and isinstance(second, Pure | Either):
        return Either.of([*alternatives_of(first), *alternatives_of(second)])
    if type(first) is not type(second) or isinstance(first, Sum):
        first, second = first.as_zcdp, second.as_zcdp
    mine, theirs = first.parameters(), second.parameters()
    return type(first)(**{name: builtins.max(mine[name], theirs[name]) for name in mine})


def _numbers(cost: Cost) -> Iterable[tuple[str, float]]:
    return cost.parameters().items()


def _parts(cost: Cost) -> tuple[Cost, ...]:
    return cost.parts if isinstance(cost, Sum) else (cost,)


def _known(cost: Cost) -> Cost:
    """The cost as a kind that sums know: a cost of another class counts as zCDP."""
    return cost if isinstance(cost, ZCDP | Approximate | Pure | Either) else cost.as_zcdp


def _kind(cost: Cost) -> type[Cost]:
    return next((kind for kind in (ZCDP, Approximate) if isinstance(cost, kind)), Pure)


def _of_one_kind(one: Cost, other: Cost) -> Cost:
    # `Either` knows `Pure`, and not the other way round.
    return other + one if isinstance(other, Either) else one + other


def _curve_of(parts: list[ZCDP], epsilon: float) -> float:
    return Sum.of(*parts).delta(epsilon) if parts else 0.0


class Either(_MadeOf):
    """The cost of one of several `Pure` ones: which, was chosen from what was already released.

    Tighter than the largest in each number: where epsilon is at least the pure epsilon of one
    alternative, that one needs no delta, whatever its rho (`docs/proofs/costs.md`). Made by `max`.

    >>> from shortlist.privacy import max
    >>> max(Pure(0.5), Pure.bounded_range(0.25) * 4)
    Either(Pure(epsilon=0.5, rho=0.125), Pure(epsilon=1.0, rho=0.03125))
    """

    __slots__ = ()

    def __init__(self, *alternatives: Pure) -> None:
        numbered = enumerate(alternatives, start=1)
        super().__init__(
            alternatives, {f"{name}_{i}": x for i, cost in numbered for name, x in _numbers(cost)}
        )

    @classmethod
    def of(cls, alternatives: Iterable[Pure]) -> Pure | Either:
        """A choice among alternatives; those that another one covers are left out."""
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
    def alternatives(self) -> tuple[Pure, ...]:
        """The alternatives that no other one covers, by rising epsilon."""
        return self._made_of

    @property
    def largest(self) -> Pure:
        """A cost that covers all alternatives: the largest of them in each number."""
        return Pure(self.pure, self.rho)

    @property
    def pure(self) -> float:
        """The epsilon from which on no delta is needed: the largest of the alternatives."""
        return builtins.max(cost.pure for cost in self.alternatives)

    @property
    def rho(self) -> float:
        return builtins.max(cost.rho for cost in self.alternatives)

    def delta(self, epsilon: float) -> float:
        require_epsilon(epsilon)
        # Alternatives that are pure at this epsilon need no delta, whatever their rho.
        left = [cost for cost in self.alternatives if cost.pure > epsilon]
        if not left:
            return 0.0
        return min(self.largest.delta(epsilon), zcdp_delta(Either(*left).rho, epsilon))

    def __add__(self, other: Cost) -> Cost:
        if isinstance(other, Pure | Either):
            pairs = itertools.product(self.alternatives, alternatives_of(other))
            return Either.of(one._summed(another) for one, another in pairs)  # noqa: SLF001 - our own
        return super().__add__(other)

    def __mul__(self, times: int) -> Cost:  # type: ignore[override]
        if not (isinstance(times, int) and times >= 0):
            return super().__mul__(times)
        if times < 2:
            return self if times else Pure(0.0)
        half = self * (times // 2)
        return half + half + self if times % 2 else half + half


def alternatives_of(cost: Pure | Either) -> tuple[Pure, ...]:
    """The alternatives of a choice; a pure cost is the only one of its own."""
    return cost.alternatives if isinstance(cost, Either) else (cost,)
