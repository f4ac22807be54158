"""The most common items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shortlist.errors import InputError
from shortlist.parameters import Share
from shortlist.questions.base import Build, KItems

if TYPE_CHECKING:
    from shortlist.mechanisms.base import Mechanism

__all__ = ["TopK"]


@dataclass(frozen=True)
class TopK(KItems):
    """The k items held by most users, best first.

    Attributes:
        k: How many items, at least 1.
        count_share: A share of the budget, between 0 and 1, for a noisy count of each selected
            item; None for none.

    Raises:
        InputError: An attribute is out of range.

    >>> TopK(20)
    TopK(k=20, count_share=None)
    """

    count_share: Share | None = None

    name: ClassVar[str] = "top-k"

    def answered(
        self, build: Build, *, epsilon: float, delta: float, max_items_per_user: int | None
    ) -> Mechanism:
        """The selection; with noisy counts around it, if a share of the budget is for them."""
        selection = build(epsilon, delta)
        if self.count_share is None:
            return selection
        if selection.tells_counts:
            raise InputError(
                f"count_share={self.count_share!r}: {type(selection).__name__} gives noisy counts "
                "at no cost where max_items_per_user is at most k; leave it out."
            )
        from shortlist.mechanisms.noisy_counts import NoisyCounts

        return NoisyCounts.of(
            build,
            k=self.k,
            epsilon=epsilon,
            delta=delta,
            count_share=self.count_share,
            max_items_per_user=max_items_per_user,
        )
