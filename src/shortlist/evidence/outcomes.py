"""Comparisons of two items: how many each won, and how they came out pair by pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist.draws import Ints
from shortlist.errors import InputError


@dataclass(frozen=True)
class Wins:
    """How many comparisons each of the items won, which everybody knows.

    Adding one comparison raises one count by 1. Adding one user raises counts by at most
    `max_comparisons_per_user` in sum.

    Attributes:
        counts: Shape (n_items,), 0 or more.
        max_comparisons_per_user: The bound that was enforced; None where users are not known.
    """

    counts: Ints
    max_comparisons_per_user: int | None = None


@dataclass(frozen=True)
class Outcomes:
    """How the comparisons of each compared pair of items came out; the rest everybody knows.

    Changing the outcome of one comparison changes one entry of `wins` by 1. One user changes those
    of at most `max_comparisons_per_user`.

    Attributes:
        first: One item of each pair, shape (n_pairs,), in 0 .. n_items - 1.
        second: The other item, a larger number; no pair twice.
        times: How often they were compared, 1 or more, shape (n_pairs,).
        wins: How many of these the first item won, from 0 to `times`. Nobody knows them.
        n_items: How many items there are.
        max_comparisons_per_user: The bound that was enforced; None where users are not known.
    """

    first: Ints
    second: Ints
    times: Ints
    wins: Ints
    n_items: int
    max_comparisons_per_user: int | None = None

    @classmethod
    def of_rows(
        cls,
        winners: Ints,
        losers: Ints,
        n_items: int,
        max_comparisons_per_user: int | None = None,
    ) -> Outcomes:
        """Count rows of a winner and a loser, integers of any type.

        Raises:
            InputError: A row has no two different items of 0 .. n_items - 1.
        """
        winners, losers = (_items(of, n_items) for of in (winners, losers))
        if winners.shape != losers.shape or (winners == losers).any():
            raise InputError("winners and losers: must be as many, and no item against itself")
        pairs = np.minimum(winners, losers) * n_items + np.maximum(winners, losers)
        known, place = np.unique(pairs, return_inverse=True)
        first, second = np.divmod(known, max(n_items, 1))
        times = np.bincount(place, minlength=len(known))
        wins = np.bincount(place[winners < losers], minlength=len(known))
        return cls(first, second, times, wins, n_items, max_comparisons_per_user)

    @property
    def degrees(self) -> Ints:
        """With how many others each item was compared, shape (n_items,)."""
        items = np.concatenate([self.first, self.second])
        return np.bincount(items, minlength=self.n_items)


def _items(items: Ints, n_items: int) -> Ints:
    """The items in 64 bits, in which a pair of them is one number."""
    numbers = np.asarray(items)
    whole = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not numbers.size)
    if not whole or ((numbers < 0) | (numbers >= n_items)).any():
        raise InputError("winners and losers: must be whole numbers from 0 to n_items - 1")
    return numbers.astype(np.int64)
