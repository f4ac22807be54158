"""The real tables, which lie beside the project and are no part of it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["TABLES", "find"]

FOLDER = Path(__file__).parents[2] / "shared" / "data"
TABLES = {
    "steam_200k": "Steam games",
    "amazon_magazine": "Amazon magazines",
    "anime_5k": "Anime lists",
    "reddit_title_tokens": "Reddit title words",
    "imdb_reviews_tokens": "IMDb review words",
    "fimi_retail": "Retail baskets",
}


def find() -> dict[str, Path]:
    """The tables that are here, by name; says which are not."""
    paths = {name: FOLDER / f"{name}.parquet" for name in TABLES}
    missing = [name for name, path in paths.items() if not path.exists()]
    if missing:
        print(f"Left out, since ../shared/data does not have them: {', '.join(missing)}.")
    return {name: path for name, path in paths.items() if name not in missing}
