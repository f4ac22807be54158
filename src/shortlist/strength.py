"""How well an epsilon and a delta protect, in words, for every place that says so."""

from __future__ import annotations

from enum import IntEnum


class Strength(IntEnum):
    """Bands of protection; a larger number protects less."""

    STRONG = 0
    MODERATE = 1
    WEAK = 2
    HARDLY = 3

    @property
    def described(self) -> str:
        """How well a list of this band protects, in words.

        >>> Strength.WEAK.described, Strength.HARDLY.described
        ('protection is weak', 'this protects hardly at all')
        """
        if self is Strength.HARDLY:
            return "this protects hardly at all"
        return f"protection is {self.name.lower()}"


# An attacker who at first holds it as likely as not that a person is in the table can, after the
# release, be right with probability e^epsilon / (1 + e^epsilon): 0.73 at 1, 0.95 at 3, 0.9997 at 8.
_EPSILONS = 1.0, 3.0, 8.0

# To publish all rows of each user with probability delta is (0, delta)-private. So delta is judged
# by the users who may be exposed like that: one in 100,000, in 10,000, in 1,000. The probability
# above becomes (e^epsilon + delta) / (1 + e^epsilon), which hardly shows it: a delta of 0.01 adds
# less than 0.01, though one user in a hundred may be published.
_DELTAS = 1e-5, 1e-4, 1e-3

_ROUNDING = 1 + 1e-9  # ten times 0.1, added up and rounded up, is a little more than 1


def usual_delta(users: int | None = None) -> float:
    """A delta that protects well: at most 0.1 / `users`, where that number is public.

    >>> usual_delta(), usual_delta(20_000), usual_delta(30), usual_delta(300_000_000)
    (1e-06, 5e-06, 1e-05, 3e-10)
    """
    delta = _DELTAS[0] / 10 if users is None else min(_DELTAS[0], 0.1 / users)
    return float(f"{delta:.0e}")


SCALE = (
    f"protection is strong up to {_EPSILONS[0]:g}, moderate up to {_EPSILONS[1]:g}, weak up to "
    f"{_EPSILONS[2]:g}; above that, it protects hardly at all"
)
"""The bands of epsilon, where delta is small."""

BETTER = f"protection is strong up to {_EPSILONS[0]:g}, and moderate up to {_EPSILONS[1]:g}"
"""What to aim for, where epsilon is large."""

USUAL = f"use a delta far below 1 / (number of users), such as {usual_delta():g}"
"""What to do where delta is large."""


def strength(epsilon: float, delta: float) -> Strength:
    """The band of a guarantee: the weaker of those of its epsilon and its delta.

    >>> strength(1.0, 1e-6).name, strength(1.0, 1e-4).name, strength(5.0, 1e-6).name
    ('STRONG', 'MODERATE', 'WEAK')
    """
    return max(of_epsilon(epsilon), of_delta(delta))


def of_epsilon(epsilon: float) -> Strength:
    """The band of an epsilon whose delta is small enough."""
    return _band(epsilon, _EPSILONS)


def of_delta(delta: float) -> Strength:
    """The band of a delta whose epsilon is small enough."""
    return _band(delta, _DELTAS)


def _band(value: float, limits: tuple[float, ...]) -> Strength:
    return Strength(sum(value > limit * _ROUNDING for limit in limits))


def why(epsilon: float, delta: float) -> str:
    """The reason for the band of a guarantee, as the end of a sentence.

    >>> why(1.0, 1e-6), why(5.0, 1e-6), why(5.0, 0.01)
    ('epsilon is at most 1', 'epsilon is above 3', 'delta is above 0.001')
    """
    band = strength(epsilon, delta)
    if band is Strength.STRONG:
        return f"epsilon is at most {_EPSILONS[0]:g}"
    reasons = [
        f"{name} is above {limits[band - 1]:g}"
        for name, value, limits in (("epsilon", epsilon, _EPSILONS), ("delta", delta, _DELTAS))
        if _band(value, limits) is band
    ]
    return " and ".join(reasons)
