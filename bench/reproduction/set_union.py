"""Figures 1 and 8 to 10: set union, its missing mass against the bound on a user's items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from bench.common import report
from bench.common.axes import Across, Axis
from bench.common.cells import DELTA, EPSILONS, curves, means, wide
from bench.common.plotting import against
from bench.common.seeds import draws_of
from bench.reproduction.looks import SET_UNION
from bench.reproduction.set_union_findings import MASS, NAMED, findings, told
from bench.reproduction.tables import Loaded, sizes, titles
from shortlist.mechanisms import Accounting, PolicyGaussian, PolicyGreedy, WeightedGaussian
from shortlist.metrics import missing_mass

__all__ = ["compare"]

BOUNDS = (1, 50, 100, 150, 200, 300)
COLUMNS = ("table", "epsilon", "bound", "mechanism", "run", MASS, NAMED)
ACROSS = Across("bound", "max_items_per_user", (1, 100, 200, 300), (-10, 312), "linear")
_SETTINGS = (
    "Missing mass is the share of all (user, item) pairs that are of items not named (Dick et al. "
    "2026, Definition 2.2); delta=1e-5; {runs} runs from fixed seeds (a quarter as many for more "
    "than a million pairs), so nothing here is private. All mechanisms of a run get the same "
    "bounded sets. PolicyGreedy has no bound and always gets whole sets, as in the code published "
    "with the paper."
)
_DIFFERENCES = (
    "What is not as in the paper: `PolicyGaussian` is the ℓ2 descent, and the cutoff of "
    "`PolicyGreedy` is a whole number. The variants that fill items one by one, or up to a "
    "fraction, are not private at the noise published for them. A user's items are filled in a "
    "random order common to all users; the published code begins with the items that the user has "
    "in most rows, and these tables have each pair once."
)


def compare(tables: Sequence[Loaded], runs: int) -> None:
    """Measure, print, write and draw."""
    rows = [row for table in tables for row in _trials(table, table.runs(runs))]
    trials = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    figures = means(trials, (MASS, NAMED))
    notes = [
        "Figures 1 and 8 (ε = 1), 9 and 10 (ε = 0.1) of Dick et al. (2026).",
        _SETTINGS.format(runs=runs),
        _DIFFERENCES,
        *told(figures),
    ]
    parts = {
        "Findings": findings(figures),
        "Tables": sizes(tables),
        "Missing mass": wide(figures, MASS),
        "Items named": wide(figures, NAMED),
    }
    pictures = {
        "reproduction-set-union.png": "Missing mass against the bound",
        "reproduction-set-union-items.png": "Items named against the bound",
    }
    report.write("reproduction-set-union", "Set union", parts, notes, pictures)
    _plot(figures, tables)


def _trials(table: Loaded, runs: int) -> Iterator[tuple[object, ...]]:
    held = table.held
    for run in range(runs):
        draws = draws_of("set union", table.source.title, run)
        sets = {bound: held.bounded(bound, draws) for bound in BOUNDS}
        weighed = {bound: bounded.weigh() for bound, bounded in sets.items()}
        for epsilon in EPSILONS:
            budget: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA}
            greedy = PolicyGreedy(**budget, accounting=Accounting.PUBLISHED).select(held, draws)
            for bound in BOUNDS:
                asked = {**budget, "max_items_per_user": bound}
                selected = {
                    "WeightedGaussian": WeightedGaussian(**asked).select(weighed[bound], draws),
                    "PolicyGaussian": PolicyGaussian(**asked).select(sets[bound], draws),
                    "PolicyGreedy": greedy,
                }
                for mechanism, selection in selected.items():
                    named = selection.positions
                    mass = missing_mass(held.counts, named)
                    cell = (table.source.title, epsilon, bound, mechanism, run)
                    yield (*cell, mass, len(named))
    print(f"Set union, {table.source.title}: {runs} runs done.")


def _plot(figures: pl.DataFrame, tables: Sequence[Loaded]) -> None:
    against(
        curves(figures, MASS, titles(tables), SET_UNION),
        report.path_of("reproduction-set-union.png"),
        across=ACROSS,
        axis=Axis(
            "missing mass", [0, 0.2, 0.4, 0.6, 0.8, 1], "linear", "format(datum.value, '~g')"
        ),
        looks=SET_UNION,
        title="Set union: what is missing from the domain",
        subtitle="Share of all (user, item) pairs that are of items not named: less is better. "
        "Mean ± 2 standard errors; δ = 1e-5. Figures 1 and 8 to 10 of Dick et al. (2026).",
    )
    against(
        curves(figures, NAMED, titles(tables), SET_UNION),
        report.path_of("reproduction-set-union-items.png"),
        across=ACROSS,
        axis=Axis("items named", [0, 10, 100, 1000, 10_000, 100_000], "symlog"),
        looks=SET_UNION,
        title="Set union: how many items are named",
        subtitle="More is better. Mean ± 2 standard errors; δ = 1e-5.",
    )
