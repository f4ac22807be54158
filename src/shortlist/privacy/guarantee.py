"""The privacy promise of a release: whom it protects, how much, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from shortlist.errors import InputError
from shortlist.privacy import Cost, round_up


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The privacy promise of one release, or of several together: guarantees of one unit add.

    A sum states the epsilons and deltas added up, which always holds; `cost` may convert to less,
    by `cost.epsilon(delta)`.

    Attributes:
        epsilon: The epsilon that was asked for.
        delta: The delta that is spent: the one asked for, or 0 if it is not used.
        cost: The cost, which adds up with other costs.
        adjacency: Which tables count as neighbours, such as "add or remove one user".
        protects: The privacy unit, such as 'all rows of any one "user"'.
        assumes: What is taken as public or promised by the caller, one sentence each.
        private: False if the noise came from a seed: then nothing above holds.
    """

    epsilon: float
    delta: float
    cost: Cost
    adjacency: str
    protects: str
    assumes: tuple[str, ...]
    private: bool = True

    def __add__(self, other: Guarantee) -> Guarantee:
        """The promise of both releases together; the second may have been chosen by the first.

        Raises:
            InputError: They protect different units, or from different neighbours.
        """
        if not isinstance(other, Guarantee):
            return NotImplemented
        for name in ("protects", "adjacency"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise InputError(
                    "{field}: one guarantee says {mine} and the other {theirs}, so that together "
                    "they promise nothing to either",
                    "add up guarantees of one kind. If both mean the same, add their costs, as in "
                    "a.cost + b.cost",
                    field=name,
                    mine=repr(mine),
                    theirs=repr(theirs),
                )
        return replace(
            self,
            epsilon=round_up(Fraction(self.epsilon) + Fraction(other.epsilon)),
            delta=round_up(Fraction(self.delta) + Fraction(other.delta)),
            cost=self.cost + other.cost,
            assumes=tuple(dict.fromkeys((*self.assumes, *other.assumes))),
            private=self.private and other.private,
        )

    def __radd__(self, other: object) -> Guarantee:
        return self if isinstance(other, int) and other == 0 else NotImplemented
