"""The tables: those of the paper that are here, and others of the same kind for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from bench.common import real
from shortlist.evidence.contributions import Contributions

__all__ = ["Loaded", "Size", "Source", "load", "sizes", "small", "titles"]


class Size(NamedTuple):
    """How many there are."""

    users: int
    items: int
    pairs: int


@dataclass(frozen=True)
class Source:
    """A table, and what the paper has in its place.

    Attributes:
        title: What it is.
        published: The paper's name of its table.
        size: Of the paper's table (Table 1).
        is_small: Whether the paper calls its table so.
    """

    title: str
    published: str
    size: Size
    is_small: bool = False


SOURCES = {
    "reddit_title_tokens": Source(
        "Reddit title words", "Reddit", Size(245_103, 631_855, 18_272_211)
    ),
    "anime_5k": Source("Anime lists", "Movie Reviews", Size(162_541, 59_047, 25_000_095)),
    "amazon_video_games_5core": Source(
        "Amazon games, 5-core", "Amazon Games", Size(1_540_618, 71_982, 2_489_395)
    ),
    "steam_200k": Source("Steam games", "Steam Games", Size(12_393, 5_155, 128_804), is_small=True),
    "amazon_magazine": Source(
        "Amazon magazines", "Amazon Magazine", Size(72_098, 2_428, 88_318), is_small=True
    ),
    "amazon_grocery_5core": Source(
        "Amazon grocery, 5-core", "Amazon Pantry", Size(247_659, 10_814, 447_399), is_small=True
    ),
}
"""In the order of the paper's figures."""

_LARGE = 1_000_000  # pairs, from which on a quarter of the runs is enough


@dataclass(frozen=True)
class Loaded:
    """A table in memory."""

    source: Source
    held: Contributions

    @property
    def size(self) -> Size:
        """Of what was read."""
        held = self.held
        return Size(len(held.sizes), held.n_items, int(held.counts.sum()))

    @property
    def is_published(self) -> bool:
        """Whether it is the paper's own, by its size."""
        return self.size == self.source.size

    @property
    def title(self) -> str:
        """For a column of panels, in two lines."""
        published = self.source.published
        kind = "the paper's table" if self.is_published else f"in place of {published}"
        return f"{self.source.title}\n({kind})"

    def runs(self, runs: int) -> int:
        """How many of these runs, 5 at least."""
        return min(runs, max(runs // 4, 5)) if self.size.pairs > _LARGE else runs


def load() -> list[Loaded]:
    """Those that are here."""
    return [Loaded(SOURCES[name], real.read(path)) for name, path in real.find(SOURCES).items()]


def small(tables: Sequence[Loaded]) -> list[Loaded]:
    """Those in place of the paper's small tables."""
    return [table for table in tables if table.source.is_small]


def titles(tables: Sequence[Loaded]) -> dict[str, str]:
    """Of columns of panels, by table."""
    return {table.source.title: table.title for table in tables}


def sizes(tables: Sequence[Loaded]) -> pl.DataFrame:
    """Users, items and pairs beside those of the paper."""
    rows = [
        {
            "table": table.source.title,
            **table.size._asdict(),
            "the paper's": table.source.published,
            "its users": table.source.size.users,
            "its items": table.source.size.items,
            "its pairs": table.source.size.pairs,
            "equal": table.is_published,
        }
        for table in tables
    ]
    return pl.DataFrame(rows)
