"""How the time of hitting sets and domains grows with the table, beside the non-private greedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report, samples
from bench.common.axes import Across, Axis
from bench.common.defaults import of_private_items
from bench.common.lines import Line, frame, ratio_line, timed_line
from bench.common.plotting import Look, against
from bench.common.timing import Times, in_turns
from bench.reproduction.looks import HITTING_SET, KNOWN_TIGHT, NOT_PRIVATE, SET_UNION, ZCDP
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import (
    PolicyGaussian,
    PolicyGreedy,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.mechanisms.adaptive_hitting_set import pick_by_reach
from shortlist.mechanisms.user_peeling import peel_users
from shortlist.metrics import greedy_hitting_set

__all__ = ["measure"]

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
AIMED_AT, AIM = 1_000_000, 0.2  # seconds for a hitting set of so many pairs
MANY, FOUND, A_PICK = 10_000, 12_000, 5e-5  # picks among so many items; seconds for each
TIMES_ONE_ROUND = 2.5  # for a domain in rounds
K, BOUND = 20, 100
ASKED: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
GREEDY = "greedy, not private"
HIT, NAMED = (of_private_items(question) for question in (sl.HittingSet(K), sl.Domain()))
LOOKS = {
    GREEDY: HITTING_SET[NOT_PRIVATE],
    "UserPeeling, public items": HITTING_SET[KNOWN_TIGHT],
    "UserPeeling": HITTING_SET[ZCDP],
    HIT.__name__: Look("#0b6e99", width=3),
    **SET_UNION,
    NAMED.__name__: Look("#111111", width=3),
}
DOMAINS = (*SET_UNION, NAMED.__name__)


def measure(scale: float = 1.0) -> None:
    """Generate the tables, measure, print, write and draw."""
    lines: list[Line] = []
    times: dict[int, dict[str, Times]] = {}
    for size in SIZES:
        n = int(size * scale)
        users, items, n_users, n_items = samples.small_sets(n)
        held = Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)
        jobs = _jobs(held)
        if size == AIMED_AT:
            jobs["question"] = _question(pl.DataFrame({"user": users, "item": items}))
        runs = 21 if size <= AIMED_AT else 7
        taken = in_turns(jobs, runs=runs)
        if size == AIMED_AT:
            lines = [*_aimed_at(taken, n), *_of_many_picks(held)]
        times[n] = {job: taken[job] for job in LOOKS}
        print(f"{n:,} pairs: done.")
    _tell(lines, _figures(times))


def _jobs(held: Contributions) -> dict[str, Callable[[], object]]:
    draws = ExactDraws()
    bounded = {**ASKED, "max_items_per_user": BOUND}
    hit, named = HIT(k=K, **bounded), NAMED(**bounded)
    peel, known = UserPeeling(k=K, **bounded), UserPeeling(k=K, **ASKED)
    weighted, gaussian = WeightedGaussian(**bounded), PolicyGaussian(**bounded)
    greedy = PolicyGreedy(**ASKED)
    return {
        GREEDY: lambda: greedy_hitting_set(held, K),
        "UserPeeling, public items": lambda: known.select(held, draws),
        "UserPeeling": lambda: peel.select(held, draws),
        HIT.__name__: lambda: hit.select(held, draws),
        "WeightedGaussian": lambda: weighted.select(held.bounded(BOUND, draws).weigh(), draws),
        NAMED.__name__: lambda: named.select(held, draws),
        "PolicyGaussian": lambda: gaussian.select(held, draws),
        "PolicyGreedy": lambda: greedy.select(held, draws),
    }


def _of_many_picks(held: Contributions) -> list[Line]:
    """So many picks that the items among which they are made are most of what takes time."""
    domain = np.argsort(-held.counts)[:FOUND]
    weights, draws = np.maximum(held.counts[domain] / 20.0, 1.0), ExactDraws()
    k = min(MANY, len(domain))
    local = UserPeeling(k=MANY, **ASKED).local_epsilon
    jobs = {
        "AdaptiveHittingSet": lambda: pick_by_reach(held, domain, weights, k, local, draws),
        "UserPeeling": lambda: peel_users(held, domain, k, local, draws),
    }
    lines = []
    for name, times in in_turns(jobs, runs=3).items():
        each = float(np.median(times.cpu)) / k
        title = f"picks of {name}, k={k:,}, among {len(domain):,} items"
        lines.append(Line(f"{title}: CPU of one", each * 1e3, "ms", aim=A_PICK * 1e3))
    return lines


def _question(table: pl.DataFrame) -> Callable[[], object]:
    return lambda: sl.pairs(table, user="user", item="item").hitting_set(K, **ASKED)


def _aimed_at(taken: dict[str, Times], n: int) -> list[Line]:
    titles = {
        HIT.__name__: f"{HIT.__name__}.select",
        "UserPeeling": "UserPeeling.select",
        "UserPeeling, public items": "UserPeeling.select, public items",
        "question": "pairs(...).hitting_set, from a frame of integers",
    }
    domain = timed_line(
        f"domain, {n:,} pairs: {NAMED.__name__}.select",
        taken[NAMED.__name__],
        "WeightedGaussian",
        taken["WeightedGaussian"],
    )
    hits = [
        timed_line(f"k={K}, {n:,} pairs: {title}", taken[job], GREEDY, taken[GREEDY], aim=AIM)
        for job, title in titles.items()
    ]
    return [*hits, domain, ratio_line(domain, aim=TIMES_ONE_ROUND)]


# Telling


def _figures(times: dict[int, dict[str, Times]]) -> pl.DataFrame:
    rows = [
        {"job": job, "pairs": n} | taken.row() | {"nanoseconds a pair": taken.median / n * 1e9}
        for n, jobs in times.items()
        for job, taken in jobs.items()
    ]
    return pl.DataFrame(rows)


def _tell(lines: list[Line], figures: pl.DataFrame) -> None:
    aims = frame(lines)
    each = figures.pivot(on="pairs", index="job", values="nanoseconds a pair")
    each = each.rename({name: f"{int(name):,} pairs" for name in each.columns[1:]})
    settings = (
        "Generated sets, about ten items of each user, the items' popularity that of Zipf with "
        f"exponent 1.05; k={K}, epsilon={ASKED['epsilon']:g}, delta={ASKED['delta']:g}, "
        f"max_items_per_user={BOUND}. From the grouped sets to the selection, calibrated before; "
        "medians and quartiles of runs in turns, after one to warm up."
    )
    growth = (
        f"{GREEDY}: `shortlist.metrics.greedy_hitting_set`. Time grows in proportion to the pairs "
        "where a pair takes as long at every size. In the smallest tables the set-up takes most of "
        "it, and what fits the processor's caches is faster."
    )
    pictures = {"domain-speed.png": "Seconds against pairs"}
    tables = {"Aims": aims, "Nanoseconds a pair": each, "Seconds": figures}
    title = "Speed of hitting sets and domains"
    report.write("domain-speed", title, tables, [settings, growth], pictures)
    _plot(figures)


def _plot(figures: pl.DataFrame) -> None:
    domain = pl.col("job").is_in(DOMAINS)
    data = figures.select(
        "pairs",
        row=pl.lit(""),
        column=pl.when(domain).then(pl.lit("domain")).otherwise(pl.lit(f"hitting set, k = {K}")),
        series="job",
        low="quartile 1",
        middle="seconds",
        high="quartile 3",
    )
    sizes = figures["pairs"].to_list()
    against(
        data,
        report.path_of("domain-speed.png"),
        across=Across(
            "pairs",
            "(user, item) pairs",
            [10**exponent for exponent in range(3, 9)],
            (min(sizes) / 1.3, max(sizes) * 1.3),
            labels="format(datum.value, '~s')",
        ),
        axis=Axis("seconds", [1e-4, 1e-3, 1e-2, 1e-1, 1, 10], labels="format(datum.value, '~g')"),
        looks=LOOKS,
        title="Hitting sets and domains: the time it takes",
        subtitle="From users' sets to the selection, median and quartiles; ε = 1, δ = 1e-6.",
        size=(270, 220),
    )
