"""The real data, which lies beside the project and is no part of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from shortlist.reals import Ints

__all__ = ["HISTOGRAMS", "TABLES", "find", "histograms"]

FOLDER = Path(__file__).parents[2] / "shared" / "data"
TABLES = {
    "steam_200k": "Steam games",
    "amazon_magazine": "Amazon magazines",
    "anime_5k": "Anime lists",
    "reddit_title_tokens": "Reddit title words",
    "imdb_reviews_tokens": "IMDb review words",
    "fimi_retail": "Retail baskets",
}
"""Rows of users and items that accuracy is measured on."""

HISTOGRAMS = {
    "counts_books_goodreads": "Books",
    "counts_news_shares": "News",
    "counts_games_steam": "Games",
    "counts_foods_grocery_5core": "Foods",
    "counts_reddit_posts_all": "Reddit posts",
}
"""Counts of items, most of them those of Gillenwater et al. (2022)."""

_FURTHER = (
    "amazon_grocery_5core",
    "amazon_video_games_5core",
    "reddit_askreddit_1pct_bigrams",
    "reddit_askreddit_1pct_tokens",
    "twitter_airline_tokens",
)


def find(names: Iterable[str] = TABLES) -> dict[str, Path]:
    """The tables that are here, by name; says which are not."""
    paths = {name: FOLDER / f"{name}.parquet" for name in names}
    missing = [name for name, path in paths.items() if not path.exists()]
    if missing:
        print(f"Left out, since ../shared/data does not have them: {', '.join(missing)}.")
    return {name: path for name, path in paths.items() if name not in missing}


def histograms(*, of_tables: bool = False) -> dict[str, Ints]:
    """How many users hold each item, by name: of the histograms, and of all tables if asked."""
    names = [*HISTOGRAMS, *TABLES, *_FURTHER] if of_tables else list(HISTOGRAMS)
    return {name: _counts(name, path) for name, path in find(names).items()}


def _counts(name: str, path: Path) -> Ints:
    if name in HISTOGRAMS:
        counts = pl.read_parquet(path, columns=["count"])["count"]
        if name == "counts_books_goodreads":  # Gillenwater et al. leave out the first row
            counts = counts[1:]
    else:  # a table's pairs are distinct
        counts = pl.scan_parquet(path).group_by("item").len().collect()["len"]
    return np.ascontiguousarray(counts.to_numpy().astype(np.int64))
