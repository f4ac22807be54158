"""The most common items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.parameters import Share
from shortlist.questions.question import KItems

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
