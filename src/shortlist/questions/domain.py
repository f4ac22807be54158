"""All items that are common enough to be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.errors import InputError
from shortlist.parameters import Share, checked
from shortlist.questions.question import Question

__all__ = ["Domain"]


@dataclass(frozen=True)
class Domain(Question):
    """All items held by enough users to be named; also set union, partition selection, key set.

    Attributes:
        count_share: A share of the budget, between 0 and 1, for a noisy count of each named item;
            None for none. A user who holds many of the named items adds less than 1 to each count.

    Raises:
        InputError: The attribute is out of range.

    >>> Domain()
    Domain(count_share=None)
    """

    count_share: Share | None = None

    name: ClassVar[str] = "domain"

    def __post_init__(self) -> None:
        checked(self)

    def require(self, *, items_are_public: bool) -> None:
        """Refuse to discover what everybody knows."""
        if items_are_public:
            raise InputError(
                "everybody knows these items, so there is no domain to discover",
                "ask for {top_k} or {hitting_set}, or omit {public_items}",
                given={"public_items": ...},
            )
