"""Comparisons of items that are easily confused, as a source."""

import polars as pl

import shortlist as sl
from helpers.histogram import ITEMS

WON, LOST, WHO = "gagné, [bold]", "perdu é", "qui [x]"
STEP = 80  # wins between one item and the next: many times the noise
KNOWN = {"public_items": sl.IN_TABLE}


def table(items=ITEMS, step=STEP, schema=None):
    """Item number i of n wins (n - i) step times, against the next; rows are shuffled."""
    n = len(items)
    won = [items[i] for i in range(n) for _ in range((n - i) * step)]
    lost = [items[(i + 1) % n] for i in range(n) for _ in range((n - i) * step)]
    who = [f"{i:05d}" for i in range(len(won))]
    frame = pl.DataFrame({LOST: lost, WHO: who, WON: won}, schema_overrides=schema)
    return frame.sample(fraction=1, shuffle=True, seed=3)


def comparisons(data, **more):
    return sl.comparisons(data, winner=WON, loser=LOST, **(KNOWN | more))


def by_user(data, bound, **more):
    return comparisons(data, user=WHO, max_comparisons_per_user=bound, **more)
