"""Figures 2, 11 and 12: top-k of private items, beside limited domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import polars as pl

from bench.common import report
from bench.common.axes import MISSING_MASS, Axis
from bench.common.cells import BOUND, DELTA, EPSILONS, SIZES, curves, means, wide
from bench.common.plotting import against_k
from bench.common.seeds import draws_of
from bench.reproduction import looks
from bench.reproduction.limited_domain import PublishedLimitedDomain
from bench.reproduction.looks import LIMITED
from bench.reproduction.tables import Loaded, sizes, small, titles
from bench.reproduction.top_k_findings import DEFAULT, L1, MASS, PAPER, TIGHT, findings, large, told
from shortlist.mechanisms import (
    LimitedDomain,
    Mechanism,
    WeightedGaussianPeeling,
)
from shortlist.metrics import top_k_l1, top_k_missing_mass

__all__ = ["compare"]

TIGHT_KIND = partial(LimitedDomain, second_try=None)
COLUMNS = ("table", "epsilon", "k", "mechanism", "run", MASS, L1)
_SETTINGS = (
    "The measures are those of Definition 4.1 and Appendix F.2; delta=1e-5; {runs} runs from fixed "
    "seeds, so nothing here is private. The paper's mechanism is `WeightedGaussianPeeling` with "
    "max_items_per_user=100; so has our default, `{ours}`, which bounds by itself. Limited "
    "domain (Durfee & Rogers 2019) as the paper ran it: k_bar of k, 5 k and 10 k with whole sets, "
    "and of ∞ with at most 100 items of a user; half of delta for the bar, and the published "
    "composition of k picks. `LimitedDomain` is the same with our composition, which allows a "
    "local epsilon up to {more:.0%} larger."
)


def compare(tables: Sequence[Loaded], runs: int) -> None:
    """Measure, print, write and draw."""
    rows = [row for table in tables for row in _trials(table, table.runs(runs))]
    trials = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    every = means(trials, (MASS, L1))
    shown = small(tables)
    among_shown = pl.col("table").is_in(list(titles(shown)))
    figures = every.filter(among_shown)
    drawn = figures.filter(pl.col("mechanism").is_in(list(looks.TOP_K)))
    notes = [
        "Figures 2 and 11 (ε = 1) and 12 (ε = 0.1) of Dick et al. (2026).",
        _SETTINGS.format(runs=runs, more=_looser(), ours=looks.KINDS["top-k"].__name__),
        *told(figures),
        large(every.filter(~among_shown)),
    ]
    parts = {
        "Findings": findings(figures),
        "Tables": sizes(shown),
        "Missing mass": wide(drawn, MASS),
        "l1 loss": wide(drawn, L1),
    }
    pictures = {
        "reproduction-top-k.png": "Missing mass against k",
        "reproduction-top-k-l1.png": "ℓ1 loss against k",
    }
    report.write("reproduction-top-k", "Top-k of private items", parts, notes, pictures)
    _plot(drawn, shown)


def _looser() -> float:
    """How much larger a local epsilon our composition allows, at most."""
    return max(
        TIGHT_KIND(k=k, epsilon=epsilon, delta=DELTA).local_epsilon
        / PublishedLimitedDomain(k=k, epsilon=epsilon, delta=DELTA).local_epsilon
        - 1
        for epsilon in EPSILONS
        for k in SIZES
    )


def _mechanisms(epsilon: float, k: int) -> dict[str, Mechanism]:
    asked: dict[str, Any] = {"k": k, "epsilon": epsilon, "delta": DELTA}
    looked_at = ({"k_bar": k}, {"k_bar": 5 * k}, {"k_bar": 10 * k}, {"max_items_per_user": BOUND})
    limited: dict[str, Mechanism] = {}
    for names, kind in ((LIMITED, PublishedLimitedDomain), (TIGHT, TIGHT_KIND)):
        limited |= {n: kind(**asked, **own) for n, own in zip(names, looked_at, strict=True)}
    bounded = {**asked, "max_items_per_user": BOUND}
    return limited | {
        PAPER: WeightedGaussianPeeling(**bounded),
        DEFAULT: looks.KINDS["top-k"](**bounded),
    }


def _trials(table: Loaded, runs: int) -> Iterator[tuple[object, ...]]:
    held = table.held
    built = {(e, k): _mechanisms(e, k) for e in EPSILONS for k in SIZES}
    whole = held.recount()
    for run in range(runs):
        draws = draws_of("top-k", table.source.title, run)
        sets = held.bounded(BOUND, draws)
        weighed, recounted = sets.weigh(), sets.recount()
        for (epsilon, k), mechanisms in built.items():
            for name, mechanism in mechanisms.items():
                evidence: object = weighed
                if isinstance(mechanism, looks.KINDS["top-k"]):
                    evidence = held
                elif isinstance(mechanism, LimitedDomain):
                    evidence = whole if mechanism.max_items_per_user is None else recounted
                picked = mechanism.select(evidence, draws).positions
                mass = top_k_missing_mass(held.counts, picked, k)
                yield (
                    *(table.source.title, epsilon, k, name, run),
                    *(mass, float(top_k_l1(held.counts, picked, k))),
                )
    print(f"Top-k, {table.source.title}: {runs} runs done.")


def _plot(figures: pl.DataFrame, tables: Sequence[Loaded]) -> None:
    against_k(
        curves(figures, MASS, titles(tables), looks.TOP_K),
        report.path_of("reproduction-top-k.png"),
        axis=MISSING_MASS,
        looks=looks.TOP_K,
        title="Top-k of private items: what is missing from the answer",
        subtitle="Share of all (user, item) pairs that the true top k holds and the answer does "
        "not: less is better. Mean ± 2 standard errors, below 1e-5 drawn as 0; δ = 1e-5.",
        size=(210, 180),
    )
    against_k(
        curves(figures, L1, titles(tables), looks.TOP_K),
        report.path_of("reproduction-top-k-l1.png"),
        axis=Axis("ℓ1 loss, in users", [0, 1, 10, 100, 1e3, 1e4, 1e5], "symlog"),
        looks=looks.TOP_K,
        title="Top-k of private items: how far the answer's counts are off",
        subtitle="Users by which the counts fall short of the true ones, summed over the places: "
        "less is better. Mean ± 2 standard errors.",
        size=(210, 180),
    )
