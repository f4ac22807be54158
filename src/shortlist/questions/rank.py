"""The items that do best when compared in pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.questions.question import KItems

__all__ = ["Rank"]


@dataclass(frozen=True)
class Rank(KItems):
    """The k items that do best when compared in pairs, best first.

    Attributes:
        k: How many items, at least 1.
    """

    name: ClassVar[str] = "rank"
