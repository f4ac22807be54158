"""Top-k per group beside what can be done without it: the budget split by hand, or one list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from bench.common import real, report
from bench.common.axes import Axis
from bench.common.cells import BOUND, means
from bench.common.plotting import Look, against_k
from bench.common.seeds import draws_of
from shortlist.draws import Draws, Ints
from shortlist.engines.grouped_rows import Rows
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped import GroupedSets
from shortlist.mechanisms import AdaptiveGaussian, AdaptiveTopK, PerGroup
from shortlist.metrics import top_k_missing_mass
from shortlist.table import open_table

__all__ = ["compare"]

TABLES = {
    "twitter_airline_tokens_by_airline": "Airline tweets, 6 airlines",
    "reddit_title_tokens_by_subreddit": "Reddit titles, 100 subreddits",
}
EPSILONS, SIZES, DELTA = (0.1, 1.0), (5, 10, 20), 1e-6
SPLIT = "each group for its part of the budget"
FILTERED = "one top-k of pairs, filtered"
DOMAIN = "one domain of pairs, the best of it"
APART = "each group for all of the budget, one group a user"
OURS = "PerGroup"
MASS = "missing mass"
LOOKS = {
    SPLIT: Look("#888888"),
    FILTERED: Look("#d1701a"),
    DOMAIN: Look("#8e4fa8"),
    APART: Look("#2f7d32", dashed=True),
    OURS: Look("#0b6e99", width=3),
}
_PLAIN = "format(datum.value, '~g')"

Named = tuple[Ints, Ints]
"""Groups and items, by their codes; those of a group best first."""


@dataclass(frozen=True)
class _Table:
    """Users' sets, and how many users hold each item in each group.

    Attributes:
        sets: As they are.
        truth: Shape (n_groups, n_items).
    """

    sets: GroupedSets
    truth: Ints

    @classmethod
    def of(cls, path: object) -> _Table:
        """Read it."""
        rows = Rows(open_table(path, user="user", items=["group", "item"]), 1)
        sets = rows.held().sets
        places = np.arange(sets.n_groups), np.arange(sets.n_items)
        counts = sets.among(*places).counts.reshape(sets.n_groups, sets.n_items)
        return cls(sets, counts)

    def missing(self, named: Named, k: int) -> float:
        """The missing mass of a group's top-k, in the mean of all groups."""
        groups, items = named
        return float(
            np.mean(
                [
                    top_k_missing_mass(counts, items[groups == group][:k], k)
                    for group, counts in enumerate(self.truth)
                ]
            )
        )


def _apart(sets: GroupedSets, draws: Draws, k: int, epsilon: float, delta: float) -> Named:
    """Each group as a table of its own, for so much."""
    mechanism = AdaptiveTopK(k=k, epsilon=epsilon, delta=delta, max_items_per_user=BOUND)
    items, every = [], np.arange(sets.n_items)
    for group in range(sets.n_groups):
        held = sets.among(np.array([group]), every)
        items.append(mechanism.select(held, draws).positions)
    groups = np.repeat(np.arange(sets.n_groups), [len(named) for named in items])
    return groups, np.concatenate(items)


def _split(sets: GroupedSets, draws: Draws, k: int, epsilon: float) -> Named:
    n = sets.n_groups
    return _apart(sets, draws, k, epsilon / n, DELTA / n)


def _alone(sets: GroupedSets, draws: Draws, k: int, epsilon: float) -> Named:
    return _apart(sets.bounded(1, draws), draws, k, epsilon, DELTA)


def _filtered(sets: GroupedSets, draws: Draws, k: int, epsilon: float) -> Named:
    mechanism = AdaptiveTopK(
        k=k * sets.n_groups, epsilon=epsilon, delta=DELTA, max_items_per_user=BOUND
    )
    pairs = mechanism.select(_pairs(sets), draws).positions
    groups, items = np.divmod(pairs, sets.n_items)
    return groups, items


def _domain(sets: GroupedSets, draws: Draws, k: int, epsilon: float) -> Named:  # noqa: ARG001 - all
    mechanism = AdaptiveGaussian(epsilon=epsilon, delta=DELTA, max_items_per_user=BOUND)
    told = mechanism.select(_pairs(sets), draws)
    weights = np.empty(0) if told.scores is None else told.scores
    pairs = told.positions[np.argsort(-weights, kind="stable")]
    groups, items = np.divmod(pairs, sets.n_items)
    return groups, items


def _pairs(sets: GroupedSets) -> Contributions:
    """Users' sets of pairs: the code of the group times the number of items, and of the item."""
    return sets.among(np.arange(sets.n_groups), np.arange(sets.n_items))


def _ours(sets: GroupedSets, draws: Draws, k: int, epsilon: float) -> Named:
    mechanism = PerGroup(k=k, epsilon=epsilon, delta=DELTA, max_items_per_user=BOUND)
    groups, items = np.divmod(mechanism.select(sets, draws).positions, sets.n_items)
    return groups, items


WAYS: dict[str, Callable[[GroupedSets, Draws, int, float], Named]] = {
    SPLIT: _split,
    FILTERED: _filtered,
    DOMAIN: _domain,
    APART: _alone,
    OURS: _ours,
}


def compare(runs: int) -> None:
    """Measure, print and write."""
    found = real.find(list(TABLES))
    if len(found) < len(TABLES):
        return
    rows = [row for name, path in found.items() for row in _of_table(name, path, runs)]
    figures = means(pl.DataFrame(rows), [MASS])
    asked = figures.filter(pl.col("mechanism").is_in([SPLIT, FILTERED, OURS]))
    beside = asked.pivot(on="mechanism", index=["table", "epsilon", "k"], values=MASS)
    beside = beside.with_columns(
        (pl.col(OURS) / pl.min_horizontal(SPLIT, FILTERED)).alias("over the better one")
    )
    what = (
        "The missing mass of a group's top-k is how much less its answer holds than its true "
        "top-k, as a share of all its pairs of a user and an item; here in the mean of all groups. "
        "0 is best."
    )
    how = (
        f"delta={DELTA:g}; means of {runs} runs of everything from fixed seeds (so nothing here is "
        f"private); at most {BOUND} items of a user. In the Reddit table each user, who is one "
        "post, is in one group. Some users wrote to several airlines, of which one counts for "
        "PerGroup."
    )
    beside_what = (
        f"“{SPLIT}” is AdaptiveTopK on each group's rows for epsilon and delta over the number of "
        f"groups. “{FILTERED}” is AdaptiveTopK of pairs, for k times the number of groups. "
        f"“{APART}” is sound where users are bounded first, as here. PerGroup's parameters were "
        "chosen by looking at these two tables, so that its figures may flatter."
    )
    notes = [what, how, beside_what]
    tables = {"Beside what was asked for": beside, "All figures": figures}
    pictures = {"groups.png": "Missing mass of a group's top-k against k"}
    report.write("groups", "Top-k in every group", tables, notes, pictures)
    _plot(figures)


def _of_table(name: str, path: object, runs: int) -> Iterator[dict[str, object]]:
    table = _Table.of(path)
    for epsilon, k, (way, answer) in product(EPSILONS, SIZES, WAYS.items()):
        cell = {"table": TABLES[name], "epsilon": epsilon, "k": k, "mechanism": way}
        for run in range(runs):
            named = answer(table.sets, draws_of(name, epsilon, k, way, run), k, epsilon)
            yield cell | {MASS: table.missing(named, k)}


def _plot(figures: pl.DataFrame) -> None:
    """A row for each epsilon, a column for each table."""
    error = pl.col(f"{MASS} error").fill_null(0.0)
    data = figures.select(
        "k",
        row=pl.format("ε = {}", "epsilon"),
        column="table",
        series="mechanism",
        low=(pl.col(MASS) - 2 * error).clip(1e-5),
        middle=pl.col(MASS).clip(1e-5),
        high=(pl.col(MASS) + 2 * error).clip(1e-5),
    )
    against_k(
        data,
        report.path_of("groups.png"),
        axis=Axis("missing mass, mean of groups", [1e-4, 1e-3, 1e-2, 1e-1, 1.0], labels=_PLAIN),
        looks=LOOKS,
        title="Top-k in every group: what is missing from the answers",
        subtitle=[
            "Share of a group's (user, item) pairs that its true top k holds and the answer",
            "does not, in the mean of all groups: less is better. Mean ± 2 standard errors.",
        ],
        size=(260, 190),
    )
