"""What can be asked of a source: one value for each question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shortlist.errors import InputError
from shortlist.parameters import Share, Whole, checked

__all__ = ["Domain", "HittingSet", "KItems", "Question", "Rank", "TopK"]


class Question:
    """A frozen dataclass of what is asked, without data and without a budget.

    A new kind of question is a subclass, and mechanisms that say they answer it.

    Class attributes:
        name: What it is called as a command, such as "top-k".
    """

    name: ClassVar[str]

    @property
    def most_items(self) -> int | None:
        """How many items are asked for, or None where no number is named."""
        return None

    @classmethod
    def method(cls) -> str:
        """What it is called as a method of a source."""
        return cls.name.replace("-", "_")

    def parameters(self) -> dict[str, Any]:
        """What it gives to the fields of a mechanism that have these names."""
        return {} if self.most_items is None else {"k": self.most_items}

    def require(self, *, items_are_public: bool) -> None:
        """Refuse a question that makes no sense of such items."""


@dataclass(frozen=True)
class KItems(Question):
    """A question for k items.

    Attributes:
        k: How many items, at least 1.

    Raises:
        InputError: An attribute is out of range.
    """

    k: Whole

    def __post_init__(self) -> None:
        checked(self)

    @property
    def most_items(self) -> int:
        return self.k


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


@dataclass(frozen=True)
class HittingSet(KItems):
    """At most k items that together reach as many users as possible, in the order picked.

    Attributes:
        k: How many items, at least 1.
    """

    name: ClassVar[str] = "hitting-set"


@dataclass(frozen=True)
class Rank(KItems):
    """The k items that do best when compared in pairs, best first.

    Attributes:
        k: How many items, at least 1.
    """

    name: ClassVar[str] = "rank"
