"""The cost of one of several pure releases: which, was chosen from what was already released.

Proof note: `docs/proofs/costs.md`.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterable

from shortlist.privacy._curves import zcdp_delta
from shortlist.privacy.costs import Cost, Pure, require_epsilon

__all__ = ["Either", "alternatives_of"]

_ALTERNATIVES = 128  # more are merged, two at a time


class Either(Cost):
    """The cost of one of several `Pure` ones: which, was chosen from what was already released.

    Tighter than the largest in each number: where epsilon is at least the pure epsilon of one
    alternative, that one needs no delta, whatever its rho (`docs/proofs/costs.md`). Made by `max`.

    >>> from shortlist.privacy import max
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
    def alternatives(self) -> tuple[Pure, ...]:
        """Those that no other covers, by rising epsilon."""
        return self._alternatives

    @property
    def largest(self) -> Pure:
        """The larger of the alternatives in each number."""
        alternatives = self._alternatives
        return Pure(
            builtins.max(cost.pure for cost in alternatives),
            builtins.max(cost.rho for cost in alternatives),
        )

    @property
    def pure(self) -> float:
        """The epsilon from which on no delta is needed: the largest of the alternatives."""
        return self.largest.pure

    @property
    def rho(self) -> float:
        """The zCDP parameter: the largest of the alternatives."""
        return self.largest.rho

    def delta(self, epsilon: float) -> float:
        """As of a pure cost, from the alternatives whose pure epsilon lies above."""
        require_epsilon(epsilon)
        left = [cost for cost in self._alternatives if cost.pure > epsilon]
        if not left:
            return 0.0
        return min(self.largest.delta(epsilon), zcdp_delta(Either(*left).rho, epsilon))

    def __add__(self, other: Cost) -> Cost:
        if isinstance(other, Pure | Either):
            pairs = itertools.product(self._alternatives, alternatives_of(other))
            return Either.of(one._summed(another) for one, another in pairs)  # noqa: SLF001 - our own
        return super().__add__(other)

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


def alternatives_of(cost: Pure | Either) -> tuple[Pure, ...]:
    """Those of a choice; of one that is none, itself."""
    return cost.alternatives if isinstance(cost, Either) else (cost,)
