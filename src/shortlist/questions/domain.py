"""All items that are common enough to be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.errors import InputError
from shortlist.questions.base import Question

__all__ = ["Domain"]


@dataclass(frozen=True)
class Domain(Question):
    """All items held by enough users to be named; also set union, partition selection, key set."""

    name: ClassVar[str] = "domain"

    def require(self, *, items_are_public: bool) -> None:
        """Refuse to discover what everybody knows."""
        if items_are_public:
            raise InputError(
                "everybody knows these items, so there is no domain to discover",
                "ask for {top_k} or {hitting_set}, or omit {public_items}",
                given={"public_items": ...},
            )
