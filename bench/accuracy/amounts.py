"""Top-k by what users spent, beside the number of holders, two questions by hand, plain noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import real, report
from bench.common.seeds import bits_of
from shortlist.draws.random_bits import Bits
from shortlist.mechanisms import LimitedDomain

__all__ = ["DELTA", "EPSILONS", "KS", "TABLES", "measure", "spent", "with_amounts"]

DELTA = 1e-6
EPSILONS = (0.3, 1.0, 3.0)
KS = (10, 50)
CAPS = (30.0, 100.0)
TABLES = ("steam_200k", "anime_5k")
_MEDIAN = 5.0
_SDS = 1.0, 0.7, 1.0  # of the logarithm: of items, of users, and of what is left
_FEW = 10  # items of each user that count, where noise is added to all sums

Way = Callable[[pl.DataFrame, int, float, float, Bits], list[str]]


def measure(runs: int) -> None:
    """Measure, print and write.

    Args:
        runs: Lists in each cell.
    """
    parts = [
        row
        for name, path in real.find(TABLES).items()
        for row in _of_table(name, with_amounts(pl.read_parquet(path)), runs)
    ]
    if not parts:
        return
    cells = pl.DataFrame(parts)
    by = ["items", "way", "epsilon"]
    means = (
        cells.group_by(by, maintain_order=True)
        .agg(pl.col("missed").mean().round(3))
        .pivot("epsilon", index=by[:2], values="missed")
    )
    setting = (
        "Missed: what is missing of the sums, without a cap, of the k items of the largest. Who "
        "holds what is real; what they spent is invented, since no table says it: log-normal, of "
        f"median {_MEDIAN:g}, with standard deviations of the logarithm of {_SDS[0]:g} between "
        f"items, {_SDS[1]:g} between users, and {_SDS[2]:g} besides. k of "
        f"{', '.join(map(str, KS))}, caps of {', '.join(f'{cap:g}' for cap in CAPS)}, "
        f"delta={DELTA:g}; {runs} runs from fixed seeds (so nothing here is private). Two "
        "questions: a domain for half of epsilon and delta, and a top-k of what it named, as "
        "public items, for the rest. Noise on all sums: Laplace noise where "
        f"{_FEW} random items of each user count."
    )
    tables = {"Means": means, "Cells": cells}
    report.write("amounts", "Top-k by what users spent", tables, [setting])


def with_amounts(rows: pl.DataFrame) -> pl.DataFrame:
    """What each user spent on each item, invented: `hours`."""
    rng = np.random.default_rng(1)
    items, users = (rows[name].rank("dense").to_numpy() - 1 for name in ("item", "user"))
    logs = sum(
        rng.normal(0, sd, int(of.max()) + 1)[of]
        for sd, of in zip(_SDS, (items, users, np.arange(len(rows))), strict=True)
    )
    return rows.select("user", "item", hours=pl.Series(_MEDIAN * np.exp(logs)))


def spent(rows: pl.DataFrame, cap: Any, **more: Any) -> sl.Pairs:
    """A source of these rows, up to a cap, or to one that is chosen from several."""
    return sl.pairs(rows, user="user", item="item", amount="hours", cap=cap, **more)


def _by_default(
    rows: pl.DataFrame, k: int, epsilon: float, cap: float, bits: Bits, **own: Any
) -> list[str]:
    asked = spent(rows, cap).top_k(k, epsilon=epsilon, delta=DELTA, random=bits, **own)
    return list(asked.items)


def _by_holders(rows: pl.DataFrame, k: int, epsilon: float, _: float, bits: Bits) -> list[str]:
    source = sl.pairs(rows, user="user", item="item")
    return list(source.top_k(k, epsilon=epsilon, delta=DELTA, random=bits).items)


def _by_two(rows: pl.DataFrame, k: int, epsilon: float, cap: float, bits: Bits) -> list[str]:
    source = sl.pairs(rows, user="user", item="item", max_items_per_user=100)
    half = {"epsilon": epsilon / 2, "delta": DELTA / 2, "random": bits}
    found = source.domain(**half)
    if not len(found):
        return []
    return list(spent(rows, cap).of_items(found).top_k(min(k, len(found)), **half).items)


def _of_public(rows: pl.DataFrame, k: int, epsilon: float, cap: float, bits: Bits) -> list[str]:
    public = sorted(set(rows["item"].to_list()))
    asked = spent(rows, cap, public_items=public)
    return list(asked.top_k(k, epsilon=epsilon, delta=DELTA, random=bits).items)


def _in_noise(rows: pl.DataFrame, k: int, epsilon: float, cap: float, bits: Bits) -> list[str]:
    """As one does it by hand: some items of each user, and noise on every sum."""
    rng = np.random.default_rng(int(bits.words(1)[0]))
    mixed = rows.with_columns(order=pl.Series(rng.random(len(rows)))).sort("order")
    few = mixed.group_by("user", maintain_order=True).head(_FEW)
    sums = few.group_by("item", maintain_order=True).agg(pl.col("hours").clip(0, cap).sum())
    noise = pl.Series(rng.laplace(0, _FEW * cap / epsilon, len(sums)))
    return sums.with_columns(noisy=sums["hours"] + noise).top_k(k, by="noisy")["item"].to_list()


_WAYS: Mapping[str, Mapping[str, Way]] = {
    "private": {
        "default": _by_default,
        "two questions": _by_two,
        "LimitedDomain": partial(_by_default, mechanism=LimitedDomain),
        "number of holders": _by_holders,
    },
    "public": {"default": _of_public, "noise on all sums": _in_noise},
}


def _of_table(name: str, rows: pl.DataFrame, runs: int) -> Iterator[dict[str, Any]]:
    sums = dict(rows.group_by("item").agg(pl.col("hours").sum()).iter_rows())
    for epsilon, k, cap in product(EPSILONS, KS, CAPS):
        best = sum(sorted(sums.values(), reverse=True)[:k])
        for items, ways in _WAYS.items():
            for way, ask in ways.items():
                found = [ask(rows, k, epsilon, cap, bits_of("amounts", run)) for run in range(runs)]
                named = sum(sums[item] for one in found for item in one) / runs
                yield {
                    "items": items,
                    "table": real.TABLES[name],
                    "epsilon": epsilon,
                    "k": k,
                    "cap": cap,
                    "way": way,
                    "missed": round(1 - named / best, 4),
                }
    print(f"{name}: done.")
