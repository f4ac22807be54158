"""Counts of items in groups, and of how many groups and items one user is part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shortlist.draws import Ints
from shortlist.evidence.counts import PrivateCounts, PublicCounts

__all__ = ["GroupedCounts"]


@dataclass(frozen=True)
class GroupedCounts:
    """How many users hold each item in each group.

    Adding one user raises counts of at most `max_groups_per_user` groups by 1, at most
    `max_items_per_user` in all, and lowers none. A private group without a count above 0 is not in
    the table: it may be listed or not, and nothing of it is ever named.

    Attributes:
        counts: Of the items of all groups, one group after another, shape (n,), 0 or more.
        ends: Where each group ends, shape (n_groups,).
        kind: Whether everybody knows the groups and their items, as the kind of counts.
        max_items_per_user: In how many counts one user is, as was promised; None if in any number.
        max_groups_per_user: In how many groups one user is, as was promised.
    """

    counts: Ints
    ends: Ints
    kind: type[PrivateCounts | PublicCounts]
    max_items_per_user: int | None
    max_groups_per_user: int

    @classmethod
    def of_rows(
        cls,
        counts: Ints,
        groups: Ints,
        kind: type[PrivateCounts | PublicCounts],
        *,
        max_items_per_user: int | None,
        max_groups_per_user: int,
    ) -> GroupedCounts:
        """Counts of which those of each group lie side by side.

        Args:
            counts: As above.
            groups: The number of the group of each, rising.
            kind: As above.
            max_items_per_user: As above.
            max_groups_per_user: As above.
        """
        ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))
        return cls(counts, ends, kind, max_items_per_user, max_groups_per_user)

    def each(self) -> Iterator[tuple[int, PrivateCounts | PublicCounts]]:
        """Where a group begins, and its counts; one group after another."""
        for start, end in pairwise([0, *self.ends.tolist()]):
            yield start, self.kind(self.counts[start:end], self.max_items_per_user)
