"""How well an epsilon and a delta protect, in words: whatever is said of it comes from here."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "BETTER",
    "SCALE",
    "USUAL",
    "Strength",
    "of_delta",
    "of_epsilon",
    "strength",
    "usual_delta",
    "why",
]


class Strength(IntEnum):
    """A band of protection, the weaker the larger."""

    STRONG = 0
    MODERATE = 1
    WEAK = 2
    HARDLY = 3

    @property
    def told(self) -> str:
        """What a list of this band does for those it protects.

        >>> Strength.WEAK.told, Strength.HARDLY.told
        ('protection is weak', 'this protects hardly at all')
        """
        if self is Strength.HARDLY:
            return "this protects hardly at all"
        return f"protection is {self.name.lower()}"


# With epsilon, whoever thinks it as likely as not that somebody is in the table is right with
# a probability of at most e^epsilon / (1 + e^epsilon): 0.73 at 1, 0.95 at 3, 0.9997 at 8.
_EPSILONS = 1.0, 3.0, 8.0

# Delta is a chance of no protection at all: to publish all rows of each user with that probability
# is (0, delta)-private. So it is judged by how many users may be given away like that: one of
# 100,000, of 10,000, of 1,000. In the probability above, (e^epsilon + delta) / (1 + e^epsilon), it
# would not be seen: there, a delta of 0.01 counts for less than 0.01, though of each hundred users
# one may be published.
_DELTAS = 1e-5, 1e-4, 1e-3

_ROUNDING = 1 + 1e-9  # ten times 0.1, added up and rounded up, is a little more than 1


def usual_delta(users: int | None = None) -> float:
    """One that protects well: where the number of users is known, at most a tenth of one over it.

    >>> usual_delta(), usual_delta(20_000), usual_delta(30), usual_delta(300_000_000)
    (1e-06, 5e-06, 1e-05, 3e-10)
    """
    delta = _DELTAS[0] / 10 if users is None else min(_DELTAS[0], 0.1 / users)
    return float(f"{delta:.0e}")


SCALE = (
    f"protection is strong up to {_EPSILONS[0]:g}, moderate up to {_EPSILONS[1]:g}, weak up to "
    f"{_EPSILONS[2]:g}; above that, it protects hardly at all"
)
"""The bands of epsilon, for a delta that is small."""

BETTER = f"protection is strong up to {_EPSILONS[0]:g}, and moderate up to {_EPSILONS[1]:g}"
"""What to do about a large epsilon."""

USUAL = f"use a delta far below 1 / (number of users), such as {usual_delta():g}"
"""What to do about a large delta."""


def strength(epsilon: float, delta: float) -> Strength:
    """How well both together protect: as the weaker of them does.

    >>> strength(1.0, 1e-6).name, strength(1.0, 1e-4).name, strength(5.0, 1e-6).name
    ('STRONG', 'MODERATE', 'WEAK')
    """
    return max(of_epsilon(epsilon), of_delta(delta))


def of_epsilon(epsilon: float) -> Strength:
    """How well it protects, with a delta that is small enough."""
    return _band(epsilon, _EPSILONS)


def of_delta(delta: float) -> Strength:
    """How well it protects, with an epsilon that is small enough."""
    return _band(delta, _DELTAS)


def _band(value: float, limits: tuple[float, ...]) -> Strength:
    return Strength(sum(value > limit * _ROUNDING for limit in limits))


def why(epsilon: float, delta: float) -> str:
    """Why they protect no better than they do, as the end of a sentence.

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
