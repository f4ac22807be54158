"""Who holds what, by the values themselves: for what must know a user again later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class KeyedPairs:
    """Pairs of a user and an item, in an order that means nothing; a pair may be there twice.

    Nothing is bounded.

    Attributes:
        rows: The column of users, and those of items.
    """

    rows: pl.DataFrame = field(repr=False)
