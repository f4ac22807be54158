"""The real data, which lies beside the project and is no part of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np
import polars as pl

from shortlist.draws import Ints
from shortlist.evidence.contributions import Contributions
from shortlist.table import open_table

__all__ = ["HISTOGRAMS", "TABLES", "find", "grouped", "histograms", "lie_in", "missing", "read"]

TABLES = {
    "steam_200k": "Steam games",
    "amazon_magazine": "Amazon magazines",
    "anime_5k": "Anime lists",
    "reddit_title_tokens": "Reddit title words",
    "imdb_reviews_tokens": "IMDb review words",
    "fimi_retail": "Retail baskets",
    "amazon_grocery_5core": "Amazon grocery",
    "amazon_video_games_5core": "Amazon games",
    "reddit_askreddit_1pct_bigrams": "AskReddit bigrams",
    "reddit_askreddit_1pct_tokens": "AskReddit words",
    "twitter_airline_tokens": "Airline tweets",
}
"""Rows of users and items."""

HISTOGRAMS = {
    "counts_books_goodreads": "Books",
    "counts_news_shares": "News",
    "counts_games_steam": "Games",
    "counts_foods_grocery_5core": "Foods",
    "counts_reddit_posts_all": "Reddit posts",
}
"""Counts of items, most of them those of Gillenwater et al. (2022)."""

_REDDIT = "Reddit Top 2.5 Million (2013)"
_ASK = "r/AskReddit of Gopi et al. (2020), the 1 % sample in the tests of the SmartNoise SDK"
_AIRLINES = "Twitter US Airline Sentiment (Kaggle: crowdflower/twitter-airline-sentiment)"
_STEAM = "Steam Video Games (Kaggle: tamber/steam-video-games)"
_FILMS = "MovieTweetings (S. Dooms), snapshot of 100,000 ratings, 2013"
_REVIEWS = "Large Movie Review Dataset (Maas et al. 2011)"
_GROCERY = "Amazon Product Data (2014), Grocery and Gourmet Food, 5-core"
_PUBLISHED = {
    "steam_200k": _STEAM,
    "amazon_magazine": "Amazon Review Data (2018), ratings of Magazine Subscriptions",
    "anime_5k": "Anime Recommendations Database (Kaggle: CooperUnion), a sample of 5,000 users",
    "reddit_title_tokens": _REDDIT,
    "reddit_title_tokens_by_subreddit": _REDDIT,
    "imdb_reviews_tokens": _REVIEWS,
    "imdb_reviews_labels": _REVIEWS,
    "fimi_retail": "FIMI repository, retail.dat (Brijs et al. 1999)",
    "amazon_grocery_5core": _GROCERY,
    "amazon_video_games_5core": "Amazon Product Data (2014), Video Games, 5-core",
    "reddit_askreddit_1pct_bigrams": _ASK,
    "reddit_askreddit_1pct_tokens": _ASK,
    "twitter_airline_tokens": _AIRLINES,
    "twitter_airline_tokens_by_airline": _AIRLINES,
    "movietweetings_2013_days": _FILMS,
    "amazon_grocery_5core_days": _GROCERY,
    "counts_books_goodreads": "Goodreads-books (Kaggle: jealousleopard/goodreadsbooks)",
    "counts_news_shares": "Online News Popularity (UCI Machine Learning Repository)",
    "counts_games_steam": _STEAM,
    "counts_foods_grocery_5core": _GROCERY,
    "counts_reddit_posts_all": _REDDIT,
}
"""Where each file comes from."""

_folder = Path(__file__).parents[3] / "shared" / "data"
_missing: dict[str, str] = {}


def lie_in(folder: Path) -> None:
    """Look for the files there from now on."""
    global _folder  # noqa: PLW0603 - one process measures on one folder
    _folder = folder


def missing() -> dict[str, str]:
    """The files that were looked for and not found so far, with where each was published."""
    return dict(_missing)


def find(names: Iterable[str] = TABLES) -> dict[str, Path]:
    """The files that are here, by name."""
    paths = {name: _folder / f"{name}.parquet" for name in names}
    absent = {name: _PUBLISHED[name] for name, path in paths.items() if not path.exists()}
    _missing.update(absent)
    if absent:
        print(f"Left out, since they are not in {_folder}: {', '.join(absent)}.")
    return {name: path for name, path in paths.items() if name not in absent}


def read(rows: Path | pl.DataFrame) -> Contributions:
    """Who holds what in a file or frame of users and items."""
    users, items = open_table(rows, user="user", items=["item"]).pairs()
    return Contributions.of_rows(users.codes, items.codes, n_users=users.size, n_items=items.size)


def histograms(*, of_tables: bool = False, but: Collection[str] = ()) -> dict[str, Ints]:
    """How many users hold each item, by name: of the histograms, and of all tables if asked.

    Args:
        of_tables: Whether tables are counted, too.
        but: Those that are left out.
    """
    every = [*HISTOGRAMS, *TABLES] if of_tables else list(HISTOGRAMS)
    names = [name for name in every if name not in but]
    return {name: _counts(name, path) for name, path in find(names).items()}


def grouped(name: str, most: int) -> dict[str, Ints]:
    """How many users hold each item in each group of a table, of the groups with most rows."""
    paths = find([name])
    if not paths:
        return {}
    rows = pl.read_parquet(paths[name])
    largest = rows["group"].value_counts(sort=True)["group"].head(most)
    counted = rows.group_by("group", "item", maintain_order=True).len()
    return {group: _array(counted.filter(group=group)["len"]) for group in largest}


def _counts(name: str, path: Path) -> Ints:
    if name in HISTOGRAMS:
        counts = pl.read_parquet(path, columns=["count"])["count"]
        if name == "counts_books_goodreads":  # Gillenwater et al. leave out the first row
            counts = counts[1:]
    else:  # a table's pairs are distinct
        counts = pl.read_parquet(path).group_by("item", maintain_order=True).len()["len"]
    return _array(counts)


def _array(counts: pl.Series) -> Ints:
    return np.ascontiguousarray(counts.to_numpy().astype(np.int64))
