"""What mechanisms share that find items in rounds: the search, and what is said of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from shortlist.algorithms.rounding_grids import GridFor, coarse_grid, fine_grid
from shortlist.algorithms.search_in_rounds import Search
from shortlist.draws import Draws, Ints
from shortlist.errors import joined
from shortlist.evidence import UserSets
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import AuditHints, Mechanism
from shortlist.mechanisms.weighted_gaussian import weight_added
from shortlist.questions import Domain


@dataclass(frozen=True, kw_only=True)
class SearchDesign:
    """What is fixed of a search, whatever the parameters.

    Attributes:
        grid: What noisy weights are rounded down to: any grid is private.
    """

    grid: GridFor = fine_grid

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(self, grid=coarse_grid)


class InRounds(Mechanism):
    """A mechanism that finds items in rounds."""

    max_items_per_user: int
    evidence: ClassVar[type] = UserSets
    discovers: ClassVar[bool | None] = True
    takes_known_items: ClassVar[bool] = True

    @property
    @abstractmethod
    def search(self) -> Search:
        """The rounds, among users of at most `max_items_per_user` items."""

    @property
    def sigma(self) -> float:
        """The standard deviation of the mean of all rounds' noise."""
        return self.search.sigma

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The least mean of the noisy weights so far to be found, after each round."""
        return self.search.thresholds

    @property
    def threshold(self) -> float:
        """That after the last round."""
        return self.search.threshold

    def audit_hints(self) -> AuditHints:
        """The thresholds."""
        return replace(super().audit_hints(), thresholds=self.thresholds[::-1])

    @property
    def finding(self) -> ByPlay:
        """All rounds, as where they do not stop early."""
        return ByPlay(self._found_by_all, around=self.threshold, most=self.max_items_per_user)

    def _found_by_all(self, held: UserSets, draws: Draws) -> Ints:
        return self.search.found(held.bounded(self.max_items_per_user, draws), draws).items

    def explain_known(self) -> list[str]:
        """The lower thresholds of a domain; in which case the others find them."""
        told = ["Known items take part whether anybody holds them or not, and need no delta."]
        if self.question is not Domain:
            return [*told, "If the rounds do not stop early, all known items are found."]
        least = in_turn([f"{threshold:.4g}" for threshold in self.search.of_known.thresholds])
        return [
            *told,
            f"A known item is named if its mean noisy weight is at least {least}.",
            "One that nobody holds is named with a chance of at most 1 %.",
        ]

    def _explain_rounds(
        self, found: str, *, may_stop: bool, bound: int | str | None = None
    ) -> list[str]:
        """Which weights users add, the noise, and when an item is `found`, or named."""
        number = f"{'up to ' if may_stop else ''}{len(self.thresholds)}"
        added = weight_added(self.max_items_per_user if bound is None else bound)
        close = f"not yet {found}, but close to it by the noisy weights so far"
        sd = f"In the mean of all rounds, its standard deviation is {self.sigma:.3g}."
        least = in_turn([f"{threshold:.4g}" for threshold in self.thresholds])
        return [
            f"There are {number} rounds. In the first round, {added[0].lower()}{added[1:]}",
            f"In each later round, users move weight to those of their items that are {close}.",
            f"Normal noise is added to each item's weight in each round. {sd}",
            f"An item is {found} if its mean noisy weight is at least {least}.",
        ]


def in_turn(levels: Sequence[str]) -> str:
    """A level for each round, the first one apart.

    >>> in_turn(["40"]), in_turn(["40", "30"])
    ('40 after the first round', '40 after the first round, or 30 after the next')
    >>> in_turn(["40", "30", "24", "20"])
    '40 after the first round, or 30, 24 and 20 after the next ones'
    """
    first, *later = levels
    if not later:
        return f"{first} after the first round"
    if len(later) == 1:
        return f"{first} after the first round, or {later[0]} after the next"
    return f"{first} after the first round, or {joined(later, 'and')} after the next ones"
