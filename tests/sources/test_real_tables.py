"""Answers on real tables, where they are at hand."""

from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from shortlist.bits import SeededBits

DATA = Path(__file__).parents[3] / "shared" / "data"

REAL = {
    "steam_200k": None,
    "amazon_magazine": None,
    "anime_5k": None,
    "fimi_retail": None,
    "reddit_title_tokens": 100_000,  # users
    "imdb_reviews_tokens": 10_000,
}


@pytest.fixture(scope="module", params=REAL)
def real(request):
    path = DATA / f"{request.param}.parquet"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: the real table of that name is left out")
    lazy, users = pl.scan_parquet(path), REAL[request.param]
    return lazy.collect() if users is None else lazy.filter(pl.col("user") < users).collect()


def test_real_tables(real):
    counts = real.group_by("item").len().sort("len", descending=True)
    source = sl.pairs(real, user="user", item="item")
    top = source.top_k(10, epsilon=1.0, delta=1e-5, random=SeededBits(1))
    domain = source.domain(epsilon=1.0, delta=1e-5, random=SeededBits(2))
    everything = set(counts["item"])
    assert len(top) == len(set(top.items)) == 10
    assert len(domain) == len(set(domain.items)) > 100
    assert everything.issuperset(top.items)
    assert everything.issuperset(domain.items)
    assert len(set(top.items) & set(counts["item"].head(10))) >= 8
    assert set(counts["item"].head(10)) <= set(domain.items)
