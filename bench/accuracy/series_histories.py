"""Tables whose rows come over time: by days that are known, or in weeks that are invented."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.common import real
from shortlist.draws import Floats, Ints

__all__ = ["CHOSEN_ON", "DATED", "UNSEEN", "WAYS", "History", "histories", "ranks"]

DATED = {
    "movietweetings_2013_days": ("Films by day", 182),
    "amazon_grocery_5core_days": ("Grocery by day", 720),
}
"""What each is called, and the last days that are looked at."""

CHOSEN_ON = ("steam_200k", "twitter_airline_tokens", "anime_5k", "fimi_retail")
UNSEEN = (
    "amazon_magazine",
    "amazon_video_games_5core",
    "imdb_reviews_tokens",
    "reddit_title_tokens",
)
_MOST_ROWS = 100_000  # of users at random: more than two cores can go through 365 times
_BURST = 0.3  # of all rows
_Times = Callable[[Ints, np.random.Generator], Floats]


def _uniform(users: Ints, rng: np.random.Generator) -> Floats:
    return rng.random(len(users))


def _growing(users: Ints, rng: np.random.Generator) -> Floats:
    return np.sqrt(rng.random(len(users)))


def _burst(users: Ints, rng: np.random.Generator) -> Floats:
    return np.where(rng.random(len(users)) < _BURST, 1 / 3, rng.random(len(users)))


def _once(users: Ints, rng: np.random.Generator) -> Floats:
    return rng.random(int(users.max()) + 1)[users]


def _at_once(users: Ints, _: np.random.Generator) -> Floats:
    return np.zeros(len(users))


WAYS: Mapping[str, _Times] = {
    "uniform": _uniform,
    "growing": _growing,
    "a burst": _burst,
    "users come once": _once,
    "all at once": _at_once,
}
"""When rows come, as parts of the whole time."""


@dataclass(frozen=True)
class History:
    """Who held what, and from when on.

    Attributes:
        table: What it is called.
        way: When rows come.
        users: A code for each pair of user and item, shape (n,).
        items: Likewise.
        times: When it comes, as a part of the whole time: from 0 on, below 1.
    """

    table: str
    way: str
    users: Ints
    items: Ints
    times: Floats

    @property
    def n_items(self) -> int:
        """How many there are at the end."""
        return int(self.items.max()) + 1

    @property
    def n_users(self) -> int:
        """How many there are at the end."""
        return int(self.users.max()) + 1

    @property
    def counts(self) -> Ints:
        """How many users hold each item at the end."""
        return np.bincount(self.items)

    def weeks(self, periods: int) -> Ints:
        """The period in which each pair comes, of so many of one length, from 1 on."""
        return (self.times * periods).astype(np.int64) + 1

    def tables(self, periods: int) -> Iterator[tuple[Ints, Ints]]:
        """Users and items of all pairs that have come by the end of each period."""
        weeks = self.weeks(periods)
        order = np.argsort(weeks, kind="stable")
        for end in np.searchsorted(weeks[order], range(1, periods + 1), side="right").tolist():
            yield self.users[order[:end]], self.items[order[:end]]


def histories(names: Sequence[str], ways: Sequence[str]) -> Iterator[History]:
    """Each of these tables, in each of these ways; tables with days in their own."""
    for name, path in real.find(names).items():
        rows = _some(pl.read_parquet(path))
        users, items = (_codes(rows[column]) for column in ("user", "item"))
        if name in DATED:
            called, days = DATED[name]
            yield History(called, "its days", users, items, _parts(rows["day"], days))
            continue
        for way in ways:
            times = WAYS[way](users, np.random.default_rng(1))
            yield History(real.TABLES[name], way, users, items, times)


def _some(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of some of the users at random, where there are too many."""
    if len(rows) <= _MOST_ROWS:
        return rows
    users = rows["user"].unique().sort().shuffle(seed=1)
    some = users.head(int(len(users) * _MOST_ROWS / len(rows)))
    return rows.filter(pl.col("user").is_in(some.implode()))


def _codes(column: pl.Series) -> Ints:
    return column.rank("dense").to_numpy().astype(np.int64) - 1


def _parts(days: pl.Series, length: int) -> Floats:
    """Parts of the last days; what came earlier is there from the beginning."""
    numbers = days.cast(pl.Int32).to_numpy()
    first = int(numbers.max()) + 1 - length
    return np.maximum(numbers - first, 0) / length


def ranks(groups: NDArray[np.integer]) -> Ints:
    """The place of each element within its group, from 0 on, where groups lie together."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, sizes)
