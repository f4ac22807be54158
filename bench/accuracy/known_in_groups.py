"""Top-k in every group, with and without `known_items` from the weeks before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl

import shortlist as sl
from bench.accuracy.groups import TABLES, UNSEEN
from bench.accuracy.known_items import Split
from bench.common import real, report
from bench.common.axes import Axis
from bench.common.cells import means
from bench.common.plotting import Look, against_k
from bench.common.seeds import bits_of
from shortlist.metrics import top_k_missing_mass

__all__ = ["measure"]

EPSILONS, SIZES, DELTA = (0.3, 1.0), (5, 10, 20), 1e-6
WEEKS = Split(4, "users")
LONG = 2000
_NOTHING = 1e-4  # of missing mass
WITHOUT, LISTS, COMMON = "nothing", "the lists before", f"the {LONG:,} most common items"
MASS = "missing mass"
_CELL = ["table", "epsilon", "k", "known"]
_LOOKS = {
    WITHOUT: Look("#8a9a01"),
    LISTS: Look("#0b6e99", width=3),
    COMMON: Look("#d1701a", dashed=True),
}


def measure(runs: int) -> None:
    """Measure, print, write and draw.

    Args:
        runs: Series of four weeks in each cell.
    """
    rows = [row for name in real.find([*TABLES, *UNSEEN]) for row in _of_table(name, runs)]
    if not rows:
        return
    figures = means(pl.DataFrame(rows), [MASS])
    setting = (
        f"Users in {WEEKS.weeks} weeks at random; a top-k in groups each week, at delta={DELTA:g} "
        "and the epsilon of the cell. The figures are of the last week: the missing mass of a "
        f"group's top-k, in the mean of all groups; means of {runs} series from fixed seeds (so "
        "nothing here is private). Known are no items, those that the lists of the weeks before "
        f"named in any group, or the {LONG:,} that most users held in those weeks."
    )
    beside = figures.pivot(on="known", index=["table", "epsilon", "k"], values=MASS)
    ratios = beside.with_columns(
        _over(name).alias(f"{name}, over {WITHOUT}") for name in (LISTS, COMMON)
    )
    pictures = {"known-in-groups.png": "Missing mass of a group's top-k against k"}
    tables = {"Beside what knows nothing": ratios, "All figures": figures}
    report.write(
        "known-in-groups", "Top-k in every group, with known items", tables, [setting], pictures
    )
    _plot(figures)


def _over(name: str) -> pl.Expr:
    """Where anything worth the name is missing at all."""
    return pl.when(pl.col(WITHOUT) > _NOTHING).then(pl.col(name) / pl.col(WITHOUT))


def _of_table(name: str, runs: int) -> Iterator[dict[str, object]]:
    grouped = (TABLES | UNSEEN)[name]
    rows = pl.read_parquet(real.find([name])[name])
    if grouped.group is not None:
        rows = rows.with_columns(group=grouped.group)
    rows = rows.select("user", "item", "group").unique()
    *before, last = WEEKS.parts(rows, "group")
    truth = _truth(last)
    common = pl.concat(before)["item"].value_counts(sort=True)["item"].head(LONG).to_list()
    for epsilon, k, known, run in product(EPSILONS, SIZES, _LOOKS, range(runs)):
        label = f"{name} {epsilon} {k} {known} {run}"
        items = _named_before(before, epsilon, k, label) if known == LISTS else common
        named = _asked(last, [] if known == WITHOUT else items, epsilon, k, label)
        missed = [_missed(named, counts, group, k) for group, counts in truth.items()]
        cell = dict(zip(_CELL, (grouped.title, epsilon, k, known), strict=True))
        yield cell | {MASS: float(np.mean(missed))}


def _named_before(weeks: list[pl.DataFrame], epsilon: float, k: int, label: str) -> list[object]:
    """What the lists of all weeks name, each knowing those before."""
    known: dict[object, None] = {}
    for number, week in enumerate(weeks):
        answer = _asked(week, list(known), epsilon, k, f"{label} {number}")
        known |= dict.fromkeys(item for _, item in answer)
    return list(known)


def _asked(
    rows: pl.DataFrame, known: list[object], epsilon: float, k: int, label: str
) -> list[tuple[object, object]]:
    source = sl.pairs(rows, user="user", item="item", known_items=known or None)
    named = source.top_k(k, by="group", epsilon=epsilon, delta=DELTA, random=bits_of(label))
    return [(group, item) for group, item in named.items]


def _truth(rows: pl.DataFrame) -> dict[object, dict[object, int]]:
    """How many users hold each item in each group."""
    found: dict[object, dict[object, int]] = {}
    for group, item, n in rows.group_by("group", "item").len().iter_rows():
        found.setdefault(group, {})[item] = n
    return found


def _missed(
    named: list[tuple[object, object]], counts: dict[object, int], group: object, k: int
) -> float:
    places = {item: place for place, item in enumerate(counts)}
    own = [places[item] for of, item in named if of == group and item in places]
    held = np.array(list(counts.values()), np.int64)
    return top_k_missing_mass(held, np.array(own, np.int64), k)


def _plot(figures: pl.DataFrame) -> None:
    """A row for each epsilon, a column for each table."""
    error = pl.col(f"{MASS} error").fill_null(0.0)
    data = figures.select(
        "k",
        row=pl.format("ε = {}", "epsilon"),
        column="table",
        series="known",
        low=(pl.col(MASS) - 2 * error).clip(1e-5),
        middle=pl.col(MASS).clip(1e-5),
        high=(pl.col(MASS) + 2 * error).clip(1e-5),
    )
    against_k(
        data,
        report.path_of("known-in-groups.png"),
        axis=Axis(
            "missing mass, mean of groups",
            [1e-4, 1e-3, 1e-2, 1e-1, 1.0],
            labels="format(datum.value, '~g')",
        ),
        looks=_LOOKS,
        title="Top-k in every group: what is missing, by what is known",
        subtitle="Less is better. Mean ± 2 standard errors.",
        size=(190, 190),
    )
