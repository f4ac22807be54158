"""What a store must answer: who comes next by falling score, and what score a given id has."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from shortlist.draws import Ints


@runtime_checkable
class View(Protocol):
    """A store at one snapshot, during one question.

    Items are ids from 0 to `size` - 1. Some may not exist: a gap is in no list and is never
    selected. Scores are whole numbers from 0 to 2^62.

    Attributes:
        size: How many ids there are, gaps included. Public.
        costs: What one sorted and one random access cost, in any common unit. Public constants.
    """

    size: int
    costs: tuple[float, float]

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Ints]:
        """Ids and scores number `start` to `start + n - 1` by falling score, shapes (n,).

        Fewer where the list ends, each id once. Ties are in any order that stays the same during
        the question. `start` is how many were read so far.
        """

    def random_access(self, ids: Ints) -> Ints:
        """The score of each id; -1 where no such id exists. Shapes (n,)."""
