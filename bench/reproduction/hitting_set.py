"""Figures 3 and 13: hitting sets, the users whom k items miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from bench.common import report
from bench.common.axes import Axis
from bench.common.cells import BOUND, DELTA, EPSILONS, SIZES, curves, means, wide
from bench.common.plotting import against_k
from bench.common.seeds import draws_of
from bench.reproduction.hitting_set_findings import (
    MISSED,
    OURS,
    PAPERS,
    findings,
    large,
    shares,
    told,
)
from bench.reproduction.looks import HITTING_SET, KINDS, KNOWN, KNOWN_TIGHT, NOT_PRIVATE, ZCDP
from bench.reproduction.tables import Loaded, sizes, small, titles
from shortlist.draws import ExactDraws, Ints
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import Accounting, Mechanism, UserPeeling
from shortlist.mechanisms.user_peeling import peel_users
from shortlist.metrics import greedy_hitting_set, missed_users
from shortlist.privacy.calibration import peeling_epsilon_lemma_b1

__all__ = ["COLUMNS", "compare", "trials_of"]

COLUMNS = ("table", "epsilon", "k", "mechanism", "run", MISSED)
_SETTINGS = (
    "Users who hold none of the items named; delta=1e-5; {runs} runs from fixed seeds, so nothing "
    "here is private. The paper's mechanism is `UserPeeling` with `Accounting.PUBLISHED` and "
    "max_items_per_user=100. Its baselines: the greedy choice without privacy, and the private "
    "greedy choice (Mitrovic et al. 2017, with the noise of Lemma B.1) among all items of the "
    "table, as if these were public, which they are not. Beside them `UserPeeling` with its own "
    "accounting, of public and of private items, and our default, `{ours}`."
)


def compare(tables: Sequence[Loaded], runs: int) -> None:
    """Measure, print, write and draw."""
    shown = small(tables)
    rows = [row for table in shown for row in trials_of(table, table.runs(runs))]
    figures = means(pl.DataFrame(rows, schema=COLUMNS, orient="row"), (MISSED,))
    users = {table.source.title: table.size.users for table in shown}
    notes = [
        "Figures 3 (ε = 1) and 13 (ε = 0.1) of Dick et al. (2026).",
        _SETTINGS.format(runs=runs, ours=KINDS["hitting set"].__name__),
        *told(figures, users),
        large([table for table in tables if table not in shown]),
    ]
    parts = {
        "Findings": findings(figures),
        "Tables": sizes(shown),
        "Missed users": wide(figures, MISSED),
        "Users reached over greedy": shares(figures, users),
    }
    pictures = {"reproduction-hitting-set.png": "Missed users against k"}
    report.write("reproduction-hitting-set", "Hitting sets", parts, notes, pictures)
    _plot(figures, shown)


def trials_of(table: Loaded, runs: int) -> Iterator[tuple[object, ...]]:
    """One row for each cell, mechanism and run."""
    held, title = table.held, table.source.title
    greedy = {k: missed_users(held, greedy_hitting_set(held, k)) for k in SIZES}
    built = {(e, k): _mechanisms(e, k) for e in EPSILONS for k in SIZES}
    for run in range(runs):
        draws = draws_of("hitting set", title, run)
        for (epsilon, k), mechanisms in built.items():
            cell = (title, epsilon, k)
            yield (*cell, NOT_PRIVATE, run, float(greedy[k]))
            known = _among_all(held, epsilon, k, draws)
            yield (*cell, KNOWN, run, float(missed_users(held, known)))
            for name, mechanism in mechanisms.items():
                picked = mechanism.select(held, draws).positions
                yield (*cell, name, run, float(missed_users(held, picked)))
    print(f"Hitting set, {title}: {runs} runs done.")


def _among_all(held: Contributions, epsilon: float, k: int, draws: ExactDraws) -> Ints:
    """The private greedy choice with the published noise, the table's items taken as public."""
    local = peeling_epsilon_lemma_b1(k, epsilon=epsilon, delta=DELTA)
    return peel_users(held, np.arange(held.n_items), k, local, draws)


def _mechanisms(epsilon: float, k: int) -> dict[str, Mechanism]:
    asked: dict[str, Any] = {"k": k, "epsilon": epsilon, "delta": DELTA}
    private = {**asked, "max_items_per_user": BOUND}
    return {
        KNOWN_TIGHT: UserPeeling(**asked),
        PAPERS: UserPeeling(**private, accounting=Accounting.PUBLISHED),
        ZCDP: UserPeeling(**private),
        OURS: KINDS["hitting set"](**private),
    }


def _plot(figures: pl.DataFrame, tables: Sequence[Loaded]) -> None:
    against_k(
        curves(figures, MISSED, titles(tables), HITTING_SET),
        report.path_of("reproduction-hitting-set.png"),
        axis=Axis("missed users", None, "linear"),
        looks=HITTING_SET,
        title="Hitting sets: users who hold none of the k items",
        subtitle="Less is better; each panel has an axis of its own. Mean ± 2 standard errors; "
        "δ = 1e-5, at most 100 items a user for discovery. Dashed grey: not private.",
        size=(210, 180),
    )
