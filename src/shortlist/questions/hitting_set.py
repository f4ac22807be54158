"""The few items that reach most users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.questions.question import KItems

__all__ = ["HittingSet"]


@dataclass(frozen=True)
class HittingSet(KItems):
    """At most k items that together reach as many users as possible, in the order picked.

    Attributes:
        k: How many items, at least 1.
    """

    name: ClassVar[str] = "hitting-set"
