"""Hitting sets of invented tables where items cluster, as no real table here does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

import shortlist as sl
from bench.accuracy.hitting_set import STUDY
from bench.accuracy.study import CLEARLY, DEFAULT, overall
from bench.common import report
from bench.common.cells import BOUND, DELTA, means
from bench.common.seeds import bits_of
from shortlist.draws import Floats, Ints
from shortlist.metrics import compare as compare_mechanisms

__all__ = ["compare"]

EPSILONS, SIZES = (0.3, 1.0, 3.0), (10, 50, 200)
MISSED = "missed users"


def compare(runs: int) -> None:
    """Measure, print and write.

    Args:
        runs: Of each mechanism in each cell.
    """
    figures = pl.concat([_of_shape(name, runs) for name in SHAPES])
    summary = STUDY.summary(figures)
    sizes, epsilons = (", ".join(map(str, each)) for each in (SIZES, EPSILONS))
    told = (
        f"k {sizes}, epsilon {epsilons}, delta={DELTA:g}, at most {BOUND} items of a user where "
        f"items are discovered; {runs} runs from fixed seeds (so nothing here is private). Ratios "
        "are those of missed users + 1. The rules by which the power of weights follows the picks "
        "and rounds go on were tried on tables like seven of these (a core, fans, cliques, nested "
        "sets, clusters of all sizes, one item each and bundles) and on four real ones."
    )
    shapes = [f"{name}: {make.__doc__}" for name, make in SHAPES.items()]
    tables = {
        "All": overall(summary),
        "Clearly worse": STUDY.losses(figures),
        "Parts": summary,
        "Figures": figures,
    }
    report.write("clusters", "Hitting sets where items cluster", tables, [told, CLEARLY, *shapes])


def _of_shape(name: str, runs: int) -> pl.DataFrame:
    rows = table(name)
    bounded = sl.pairs(rows, user="user", item="item", max_items_per_user=BOUND)
    questions = [sl.HittingSet(k) for k in SIZES]
    kinds = {DEFAULT: bounded.default_for(questions[0]), **STUDY.others}
    trials = compare_mechanisms(
        bounded,
        questions,
        mechanisms=kinds,
        epsilon=EPSILONS,
        delta=DELTA,
        max_items_per_user=BOUND,
        runs=runs,
        random=bits_of(name),
    ).runs.rename({"missed_users": MISSED})
    print(f"{name}: {runs} runs done.")
    columns = pl.lit(name).alias("table"), "epsilon", "k", "mechanism", "run", MISSED
    return means(trials.select(columns), [MISSED])


def table(name: str) -> pl.DataFrame:
    """The rows of a shape."""
    sets = list(SHAPES[name](np.random.default_rng(len(name))))
    users = np.repeat(np.arange(len(sets)), [len(items) for items in sets])
    return pl.DataFrame({"user": users, "item": np.concatenate(sets)})


Sets = Iterator[Ints]


def _odds(n: int, power: float) -> Floats:
    weights = np.arange(1, n + 1) ** -power
    odds: Floats = weights / weights.sum()
    return odds


def _fans(rng: np.random.Generator) -> Sets:
    """20,000 fans of 150 teams, each of a few of the 12 players of one team."""
    teams, players = _odds(150, 0.7), _odds(12, 0.6)
    for team in rng.choice(150, 20_000, p=teams):
        many = min(12, 1 + rng.poisson(2.5))
        yield team * 12 + rng.choice(12, many, replace=False, p=players)


def _cliques(rng: np.random.Generator) -> Sets:
    """12,000 users of 400 cliques, each of whom holds nearly all of the clique's 6 items."""
    for clique in rng.choice(400, 12_000, p=_odds(400, 0.5)):
        held = rng.random(6) < 0.85
        held[0] |= not held.any()
        yield clique * 6 + np.flatnonzero(held)


def _of_all_sizes(rng: np.random.Generator) -> Sets:
    """20,000 users of a few items of one of 160 clusters of 1 to 80 items."""
    sizes = rng.choice(np.unique(np.geomspace(1, 80, 120).astype(int)), 160)
    starts = np.cumsum(sizes) - sizes
    for cluster in rng.choice(160, 20_000, p=rng.dirichlet(np.full(160, 0.8))):
        many = min(sizes[cluster], 1 + rng.poisson(3))
        yield starts[cluster] + rng.choice(sizes[cluster], many, replace=False)


def _core(rng: np.random.Generator) -> Sets:
    """6,000 users of about 14 of 100 items, and 14,000 of one or two of 600 others."""
    for _ in range(6_000):
        yield rng.choice(100, 8 + rng.poisson(6), replace=False)
    for _ in range(14_000):
        yield 100 + rng.choice(600, 1 + (rng.random() < 0.2), replace=False, p=_odds(600, 0.5))


def _single(rng: np.random.Generator) -> Sets:
    """20,000 users of one item each, of 3,000."""
    yield from rng.choice(3_000, (20_000, 1), p=_odds(3_000, 0.8))


def _alike(rng: np.random.Generator) -> Sets:
    """8,000 users who hold 25 of the same 300 items."""
    for _ in range(8_000):
        yield rng.choice(300, 25, replace=False, p=_odds(300, 0.4))


def _nested(rng: np.random.Generator) -> Sets:
    """20,000 users of one of 1,000 items, and most of them of the group and class it is in."""
    for item in rng.permutation(1_000)[rng.choice(1_000, 20_000, p=_odds(1_000, 0.6))]:
        above = np.array([1_000 + item // 5, 1_200 + item // 40])
        yield np.append(item, above[rng.random(2) < (0.7, 0.5)])


def _topics(rng: np.random.Generator) -> Sets:
    """15,000 sentences of a few common words, and of words of one of 80 topics."""
    common, topics, words = _odds(60, 0.8), _odds(80, 0.7), _odds(40, 0.8)
    for topic in rng.choice(80, 15_000, p=topics):
        some = rng.choice(60, rng.poisson(2), replace=False, p=common)
        of_topic = rng.choice(40, 1 + rng.poisson(4), replace=False, p=words)
        yield np.append(some, 60 + 40 * topic + of_topic)


def _bundles(rng: np.random.Generator) -> Sets:
    """16,000 users of one or two of 500 bundles of 2 to 14 items, which they hold whole."""
    sizes = rng.integers(2, 15, 500)
    starts = np.cumsum(sizes) - sizes
    for _ in range(16_000):
        some = rng.choice(500, 1 + (rng.random() < 0.25), replace=False, p=_odds(500, 0.8))
        yield np.concatenate([starts[each] + np.arange(sizes[each]) for each in some])


def _towns(rng: np.random.Generator) -> Sets:
    """18,000 users of some of the 30 shops of one of 90 towns, and of 200 that are everywhere."""
    shops, chains = _odds(30, 0.9), _odds(200, 1.0)
    for town in rng.choice(90, 18_000, p=_odds(90, 0.6)):
        near = town * 30 + rng.choice(30, min(30, 1 + rng.poisson(5)), replace=False, p=shops)
        yield np.append(near, 2_700 + rng.choice(200, rng.poisson(0.7), replace=False, p=chains))


def _two_cores(rng: np.random.Generator) -> Sets:
    """5,000 users of about 14 of 60 items, 5,000 of 10 of 120 others, and 12,000 of one or two."""
    for _ in range(5_000):
        yield rng.choice(60, 10 + rng.poisson(4), replace=False)
        yield 60 + rng.choice(120, 6 + rng.poisson(4), replace=False)
    for _ in range(12_000):
        yield 180 + rng.choice(900, 1 + (rng.random() < 0.3), replace=False, p=_odds(900, 0.6))


SHAPES: dict[str, Callable[[np.random.Generator], Sets]] = {
    "fans": _fans,
    "cliques": _cliques,
    "clusters of all sizes": _of_all_sizes,
    "a core": _core,
    "one item each": _single,
    "all alike": _alike,
    "nested sets": _nested,
    "topics": _topics,
    "bundles": _bundles,
    "towns": _towns,
    "two cores": _two_cores,
}
