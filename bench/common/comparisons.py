"""Comparisons to rank by: invented ones on two kinds of graph, and some made of real lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from bench.common import real
from shortlist.draws import Ints
from shortlist.evidence import Outcomes, Wins
from shortlist.experiments import bradley_terry

__all__ = ["BOUND", "Games", "K", "even", "listed", "sparse", "uneven"]

K = 10  # of the best are asked for
BOUND = 20  # comparisons of a user
ITEMS, TIMES = 50, 1000
SHOWN, CATALOGUE = 100, 100  # pairs that each reader is shown, of as many titles


@dataclass(frozen=True)
class Games:
    """Comparisons.

    Attributes:
        name: What is compared.
        frame: Columns winner and loser, perhaps user; items are numbers from 0.
        best_first: All items in their true order.
        promise: A contraction above the ergodicity coefficient of these outcomes, picked by looking
            at them: what rests on it is not private for all outcomes.
    """

    name: str
    frame: pl.DataFrame
    best_first: Ints
    promise: float

    @property
    def outcomes(self) -> Outcomes:
        """By pair."""
        won, lost = self.frame["winner"].to_numpy(), self.frame["loser"].to_numpy()
        return Outcomes.of_rows(won, lost, len(self.best_first))

    @property
    def wins(self) -> Wins:
        """By item."""
        won = self.frame["winner"].to_numpy()
        return Wins(np.bincount(won, minlength=len(self.best_first)))


def even() -> Games:
    """Every pair is compared equally often."""
    frame = bradley_terry(_weights(), edge_probability=1.0, times=TIMES, seed=1)
    return Games("All pairs compared", frame, np.arange(ITEMS), promise=0.8)


def uneven() -> Games:
    """A half of the items, drawn at random, is hardly ever compared with another of that half."""
    rng = np.random.default_rng(5)
    rare = rng.permutation(ITEMS) < ITEMS // 2
    dice = rng.random((ITEMS, ITEMS))
    won, lost = pl.col("winner"), pl.col("loser")
    frame = even().frame
    low, high = (frame.select(f(won, lost)).to_series().to_numpy() for f in _ENDS)
    left_out = rare[low] & rare[high] & (dice[low, high] > 0.1)
    frame = frame.filter(pl.Series(~left_out))
    return Games("Half the items rarely compared", frame, np.arange(ITEMS), promise=0.9)


def listed() -> Games | None:
    """Readers are shown pairs of the titles that most have listed; what only one is listed, wins.

    Each of 5,000 readers is shown 100 pairs, drawn at random; where just one title of a pair is on
    the reader's list, it has won against the other. None where the lists are not here.
    """
    paths = real.find(["anime_5k"])
    if not paths:
        return None
    rows = pl.read_parquet(paths["anime_5k"])
    known = rows["item"].value_counts(sort=True).head(CATALOGUE).with_row_index("number")
    rows = rows.join(known, on="item", maintain_order="left")
    held = np.zeros((rows["user"].max() + 1, CATALOGUE), np.bool_)
    held[rows["user"].to_numpy(), rows["number"].to_numpy()] = True
    rng = np.random.default_rng(1)
    users = np.repeat(np.arange(len(held)), SHOWN)
    one = rng.integers(0, CATALOGUE, len(users))
    other = (one + rng.integers(1, CATALOGUE, len(users))) % CATALOGUE
    told = held[users, one] != held[users, other]
    first = held[users, one]
    columns = {
        "user": users,
        "winner": np.where(first, one, other),
        "loser": np.where(first, other, one),
    }
    frame = pl.DataFrame(columns).filter(pl.Series(told))
    return Games("Anime, listed or not", frame, np.arange(CATALOGUE), promise=0.9)


def sparse(n_items: int, n_rows: int, times: int = 10) -> pl.DataFrame:
    """About so many comparisons of random pairs of so many items, `times` of each pair."""
    pairs = n_items * (n_items - 1) // 2
    weights = np.exp(np.random.default_rng(3).normal(size=n_items) / 2)
    share = n_rows / times / pairs
    return bradley_terry(weights, edge_probability=share, times=times, seed=3)


_ENDS = (pl.min_horizontal, pl.max_horizontal)


def _weights() -> np.ndarray:
    return np.exp(np.linspace(1.5, 0, ITEMS))
