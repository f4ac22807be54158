"""What every question is: a value, with what it gives to the mechanism that answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shortlist.parameters import Whole, checked

__all__ = ["KItems", "Question"]


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
        """As above."""
        return self.k
