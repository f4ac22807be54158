"""A cap on amounts that is chosen privately, beside each that could be given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import polars as pl

from bench.accuracy.amounts import DELTA, EPSILONS, KS, TABLES, spent, with_amounts
from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.plotting import Look, against
from bench.common.seeds import bits_of

__all__ = ["measure"]

TO_CHOOSE = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_UNSEEN = ("amazon_magazine",)  # when the rule of the choice was found
CHOSEN, BEST, WORST = "chosen privately", "best by hand", "worst by hand"
LOOKS = {
    WORST: Look("#888888", dashed=True),
    BEST: Look("#d1701a"),
    CHOSEN: Look("#0b6e99", width=3),
}
_PLAIN = "format(datum.value, '~g')"


def measure(runs: int) -> None:
    """Measure, print and write.

    Args:
        runs: Lists in each cell.
    """
    parts = [
        row
        for name, path in real.find((*TABLES, *_UNSEEN)).items()
        for row in _of_table(real.TABLES[name], with_amounts(pl.read_parquet(path)), runs)
    ]
    if not parts:
        return
    cells = pl.DataFrame(parts)
    means = cells.group_by("items", "table", maintain_order=True).agg(
        pl.col(CHOSEN, BEST, WORST).mean().round(3)
    )
    setting = (
        "Missed: as in [Top-k by what users spent](amounts.md), with the same invented hours. One "
        f"cap of {', '.join(f'{cap:g}' for cap in TO_CHOOSE)} is chosen privately, or given: the "
        "best and the worst of these are by hand, in each cell, seen afterwards. k of "
        f"{', '.join(map(str, KS))}, delta={DELTA:g}; {runs} runs from fixed seeds (so nothing "
        "here is private). The rule of the choice was found on Steam games and anime lists; the "
        "other table was looked at afterwards."
    )
    _plot(cells)
    pictures = {"caps.png": "What is missed with a chosen cap, beside given ones, by epsilon"}
    title = "A cap that is chosen privately"
    report.write("caps", title, {"Means": means, "Cells": cells}, [setting], pictures)


def _of_table(name: str, rows: pl.DataFrame, runs: int) -> Iterator[dict[str, Any]]:
    sums = dict(rows.group_by("item").agg(pl.col("hours").sum()).iter_rows())
    for items, public in (("private", None), ("public", sorted(sums))):
        sources = {cap: spent(rows, cap, public_items=public) for cap in (TO_CHOOSE, *TO_CHOOSE)}
        for epsilon, k in product(EPSILONS, KS):
            best = sum(sorted(sums.values(), reverse=True)[:k])
            missed: dict[Any, float] = {}
            chosen: list[float] = []
            for cap, source in sources.items():
                asked = {"epsilon": epsilon, "delta": DELTA}
                found = [source.top_k(k, **asked, random=bits_of("caps", i)) for i in range(runs)]
                named = sum(sums[item] for one in found for item in one.items) / runs
                missed[cap] = round(1 - named / best, 4)
                chosen += [one.cap for one in found if one.cap is not None]
            given = {cap: missed[cap] for cap in TO_CHOOSE}
            yield {
                "items": items,
                "table": name,
                "epsilon": epsilon,
                "k": k,
                CHOSEN: missed[TO_CHOOSE],
                BEST: min(given.values()),
                WORST: max(given.values()),
                "caps chosen": ", ".join(f"{cap:g}" for cap in sorted(set(chosen))),
                "best cap": f"{min(given, key=lambda cap: given[cap]):g}",
            }
    print(f"{name}: done.")


def _plot(cells: pl.DataFrame) -> None:
    ways = cells.unpivot([CHOSEN, BEST, WORST], index=["items", "table", "epsilon", "k"])
    data = ways.select(
        "epsilon",
        row=pl.format("k = {}", "k"),
        column=pl.format("{},\n{} items", "table", "items"),
        series="variable",
        low="value",
        middle="value",
        high="value",
    )
    against(
        data,
        report.path_of("caps.png"),
        across=Across("epsilon", "epsilon", EPSILONS, (0.25, 3.6), labels=_PLAIN),
        axis=Axis("missed", [0, 0.2, 0.4, 0.6, 0.8, 1], "linear", "format(datum.value, '.0%')"),
        looks=LOOKS,
        title="A cap chosen privately, beside the best and the worst of six",
        subtitle="What is missing of the sums of the k items of the largest.",
    )
