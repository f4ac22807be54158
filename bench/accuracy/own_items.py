"""Groups whose items are their own: said, beside what can be done without saying so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import polars as pl

from bench.accuracy import groups
from bench.accuracy.groups import APART, DELTA, DOMAIN, EPSILONS, MASS, OURS, SIZES, TEN, Grouped
from bench.common import real, report
from bench.common.cells import BOUND, means
from bench.common.seeds import draws_of
from shortlist.parameters import GroupItems

__all__ = ["compare"]

OWN = "PerGroup, items are the groups' own"
UNKNOWN = "PerGroup, nobody knows"
WAYS = {
    **{way: groups.WAYS[way] for way in (OURS, TEN, DOMAIN, APART)},
    OWN: partial(groups.ours, kind=GroupItems.OWN),
    UNKNOWN: partial(groups.ours, kind=GroupItems.UNKNOWN),
}
_OVER = {OWN: "own, over the best", UNKNOWN: "nobody knows, over the best"}
_HASH = pl.col("item").hash(1)
_WHOSE = pl.col("item").hash(7) % 5
_EVERYWHERE = pl.struct("user", "item").hash(3)
_STEAM = "steam_200k"
CHOSEN_ON = {
    "amazon_video_games_5core": Grouped("Video games, 20 groups", _HASH % 20),
    _STEAM: groups.UNSEEN[_STEAM],
}
UNSEEN = {
    "anime_5k": Grouped("Anime lists, 20 groups", _HASH % 20),
    "amazon_grocery_5core": Grouped("Groceries, 50 groups", _HASH % 50),
    "fimi_retail": Grouped("Retail baskets, 100 groups", _HASH % 100),
    "reddit_askreddit_1pct_tokens": Grouped("AskReddit words, 30 groups", _HASH % 30),
}
SHARED = {**groups.TABLES, "imdb_reviews_tokens": groups.UNSEEN["imdb_reviews_tokens"]}
BETWEEN = {
    "movietweetings_2013_days": Grouped("Films, by month", pl.col("day").dt.month()),
    "amazon_grocery_5core_days": Grouped("Groceries, by weekday", pl.col("day").dt.weekday()),
    "twitter_airline_tokens": Grouped(
        "Airline tweets, 20 groups, two in five words in all of them",
        pl.when(_WHOSE < 2).then(_EVERYWHERE).otherwise(_HASH) % 20,
    ),
}


def compare(runs: int) -> None:
    """Measure, print and write.

    Args:
        runs: Of every way in each cell.
    """
    every = CHOSEN_ON | UNSEEN | SHARED | BETWEEN
    found = real.find(list(every))
    if len(found) < len(every):
        return
    rows = [row for name in found for row in _of_table(name, every[name], runs)]
    figures = means(pl.DataFrame(rows), [MASS])
    how = (
        "The missing mass of a group's top-k, in the mean of all groups: 0 is best. "
        f"delta={DELTA:g}; means of {runs} runs from fixed seeds (so nothing here is private); at "
        f"most {BOUND} items of a user. Where items are the groups' own, games go by the first "
        "letter of their title, and all others by a hash of the item, since no table has a column "
        "of such groups. The last columns are over the best of the ways that need no statement. "
        "“nobody knows” is the private choice between the first way and the one for groups' own "
        "items; its constants, a fourth, a fiftieth and .005, were chosen with all tables in view "
        "but the last one. The first five ways were not run again beside it, but in between."
    )
    tables = {
        "Items are the groups' own, tables that nothing was chosen on": _beside(figures, UNSEEN),
        "Items are the groups' own, tables that the share of counts was chosen on": _beside(
            figures, CHOSEN_ON
        ),
        "Items are shared, so that it is untrue": _beside(figures, SHARED),
        "In between": _beside(figures, BETWEEN),
    }
    report.write("own-items", "Top-k of groups whose items are their own", tables, [how], {})


def _beside(figures: pl.DataFrame, tables: dict[str, Grouped]) -> pl.DataFrame:
    """A row for each cell; the ratio only where anything worth the name is missing."""
    titles = [table.title for table in tables.values()]
    of_tables = figures.filter(pl.col("table").is_in(titles))
    beside = of_tables.pivot(on="mechanism", index=["table", "epsilon", "k"], values=MASS)
    best = pl.min_horizontal(way for way in WAYS if way not in _OVER)
    ratios = (pl.when(best > 0).then(pl.col(way) / best).alias(name) for way, name in _OVER.items())
    return beside.with_columns(ratios)


def _of_table(name: str, grouped: Grouped, runs: int) -> Iterator[dict[str, object]]:
    table = groups.Table.of(real.find([name])[name], grouped.group)
    for epsilon, k, (way, answer) in product(EPSILONS, SIZES, WAYS.items()):
        cell = {"table": grouped.title, "epsilon": epsilon, "k": k, "mechanism": way}
        for run in range(runs):
            named = answer(table.sets, draws_of(name, epsilon, k, way, run), k, epsilon)
            yield cell | {MASS: table.missing(named, k)}
