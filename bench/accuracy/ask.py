"""What people ask of a table, beside the libraries that they would try, each run here."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import shortlist as sl
from bench.accuracy.amounts import with_amounts
from bench.common import real, report
from bench.peers.asking import BOUNDS, CAP, DELTA, EPSILON, FLOOR, Counts, K, lines_of

__all__ = ["measure"]

_PROGRAMS = Path(__file__).parents[1] / "peers"
PEERS = {"OpenDP": "opendp", "Tumult": "tumult"}
CONDITIONS = {
    "movietweetings_2013_days": ("day", "part >= '2013-06-01'"),
    "twitter_airline_tokens_by_airline": ("group", "part = 'United'"),
}
_KNOWN = 50
_PAIRS = 10
_SET = 5
_MONTH = 7  # letters of a day


_NOTES = [
    " ".join(paragraph.split())
    for paragraph in f"""
    At epsilon={EPSILON:g} and delta={DELTA:g}. Lines are those of the function in
    `bench/accuracy/ask.py` or `bench/peers/` that reads the file and answers. Seconds are by the
    clock, without imports and the start of Spark, on a machine that did other work, too: take them
    for orders of magnitude.

    floor: items of at least {FLOOR} users; right is the share of them that is named, wrong the
    number named that have fewer. filter: the {K} best of the rows of a month and later, or of one
    airline; right is what the items named hold of what the {K} best hold. known items: how many
    users hold each of the {_KNOWN} commonest; wrong is the mean absolute error. pairs: the
    {_PAIRS} pairs of items that most users hold; right is the share found. amounts: the {K} items
    on which users spent most, each up to {CAP:g} on an item; what they spent is invented, as for
    `python -m bench amounts`; right is the share of the sums, without a cap, of the {K} best.
    hitting sets: {_SET} items of each month, or of each airline, that together reach the most users
    there; right is how many they reach, as a share of those whom a greedy choice without noise
    reaches; a user counts in one group. others: users who hold
    none of the {K} items named; wrong is the error.

    OpenDP and Tumult choose no bound on a user's items: both of {BOUNDS} were tried, and the better
    one stands here, though nobody could tell which it is without the exact answer. OpenDP 0.16.0
    takes the first (`keep="first"`), since `keep="sample"` failed with one column of groups; of its
    counts those below the floor are left out afterwards. Tumult Analytics 0.21.0 finds keys with
    half of epsilon, and counts them with the other.

    Pairs, others and hitting sets have no question of their own there. OpenDP finds keys by a count
    beside the sum of amounts, which has a part of the budget, and must be promised how many rows an
    item has, a million here. dp-wizard 0.10.0 was
    installed and is left out: what it generates code for are histograms, means and medians of
    columns of numbers, and none of these questions.

    `python -m bench ask --peers DIR` runs all, where DIR/opendp is a virtual environment with
    `opendp[polars]`, and DIR/tumult one with `tmlt.analytics` and a Java; without, this library.
    """.split("\n\n")
]


def floor(path: str, _: str, __: list[str]) -> Counts:
    """Items of at least about so many users."""
    rows = sl.pairs(path, user="user", item="item")
    release = rows.domain(epsilon=EPSILON, delta=DELTA, min_users=FLOOR)
    return [(item, 0) for item in release.items]


def filtered(path: str, condition: str, _: list[str]) -> Counts:
    """The best items of some rows."""
    rows = sl.pairs(path, user="user", item="item", where=condition)
    release = rows.top_k(K, epsilon=EPSILON, delta=DELTA)
    return [(item, 0) for item in release.items]


def known(path: str, _: str, items: list[str]) -> Counts:
    """How many users hold each of some items."""
    rows = sl.pairs(path, user="user", item="item")
    release = rows.user_counts(items, epsilon=EPSILON, delta=DELTA)
    return release.to_polars().select("item", "count").rows()


def together(path: str, _: str, __: list[str]) -> Counts:
    """The best pairs of items."""
    rows = sl.pairs(path, user="user", item="item")
    release = rows.top_k(_PAIRS, epsilon=EPSILON, delta=DELTA, of=2)
    return [(str(sorted(pair)), 0) for pair in release.items]


def amounts(path: str, _: str, __: list[str]) -> Counts:
    """The best items by what users spent on them, of whom each counts up to a cap."""
    rows = sl.pairs(path, user="user", item="item", amount="amount", cap=CAP)
    release = rows.top_k(K, epsilon=EPSILON, delta=DELTA)
    return [(item, 0) for item in release.items]


def reached(path: str, _: str, __: list[str]) -> Counts:
    """Items of each group that together reach the most of its users."""
    rows = sl.pairs(path, user="user", item="item")
    release = rows.hitting_set(_SET, by="section", epsilon=EPSILON, delta=DELTA)
    return [(str(pair), 0) for pair in release.items]


def others(path: str, _: str, __: list[str]) -> Counts:
    """How many users hold none of the best items."""
    rows = sl.pairs(path, user="user", item="item")
    release = rows.top_k(K, epsilon=EPSILON, delta=DELTA, others=True)
    return [(item, release.others.users) for item in release.items]


QUESTIONS: Mapping[str, Callable[[str, str, list[str]], Counts]] = {
    "floor": floor,
    "filter": filtered,
    "known items": known,
    "amounts": amounts,
    "pairs": together,
    "hitting sets": reached,
    "others": others,
}


def measure(runs: int, peers: Path | None) -> None:
    """Measure, print and write.

    Args:
        runs: Of each question by this library, of which medians are told; others answer once.
        peers: A folder with a virtual environment for each other library; None if they are not run.
    """
    found = [
        told
        for name, path in real.find(CONDITIONS).items()
        for told in _of_table(name, pl.read_parquet(path), runs, peers)
    ]
    if not found:
        return
    cell = ["question", "table", "library"]
    by_bound = pl.DataFrame(found, infer_schema_length=None).group_by(
        *cell, "bound", maintain_order=True
    )
    cells = by_bound.agg(pl.all().median()).sort("right", "wrong", descending=[True, False])
    cells = cells.group_by(cell, maintain_order=True).first().sort(*cell, descending=False)
    notes = [
        f"Medians of {runs} runs of this library, with fresh noise; others are run once.",
        *_NOTES,
    ]
    report.write("ask", "What people ask, beside other libraries", {"Answers": cells}, notes)


def _of_table(
    name: str, table: pl.DataFrame, runs: int, peers: Path | None
) -> Iterator[dict[str, Any]]:
    part, condition = CONDITIONS[name]
    held = table.select("user", "item", part=pl.col(part).cast(pl.String))
    section = pl.col("part").str.head(_MONTH) if part == "day" else pl.col("part")
    spent = with_amounts(held.select("user", "item").unique(maintain_order=True))
    once = held.unique(["user", "item"], keep="first", maintain_order=True)
    rows = once.join(spent, on=["user", "item"]).with_columns(section=section)
    rows = rows.rename({"hours": "amount"})
    exact = _counts(rows)
    items = exact.head(_KNOWN)["item"].to_list()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        rows.write_parquet(path)
        for run in range(runs):
            asked = peers if run == 0 else None
            for library, told in _answers([path, condition, *items], asked):
                quality = _quality(told["question"], told["answer"], rows, condition)
                cell = {"question": told["question"], "table": name, "library": library}
                more = {name: told.get(name) for name in ("bound", "lines", "seconds")}
                yield cell | quality | more


def _answers(given: list[str], peers: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    path, condition, *items = given
    for name, question in QUESTIONS.items():
        begin = time.perf_counter()
        answer = question(path, condition, items)
        seconds = time.perf_counter() - begin
        told = {"question": name, "answer": answer, "seconds": seconds, "lines": lines_of(question)}
        yield "shortlist", told
    for library, folder in PEERS.items() if peers else ():
        program = [str(peers / folder / "bin/python"), str(_PROGRAMS / f"with_{folder}.py")]
        for most in BOUNDS:
            asked = [*program, path, condition, str(most), *items]
            run = subprocess.run(asked, capture_output=True, text=True, check=True)  # noqa: S603 - our programs
            for line in run.stdout.splitlines():
                if line.startswith("{"):
                    yield library, json.loads(line) | {"bound": most}


def _counts(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("item").agg(n=pl.col("user").n_unique()).sort("n", "item", descending=True)


def _quality(
    question: str, answer: Counts, rows: pl.DataFrame, condition: str
) -> dict[str, float | None]:
    """How much of it is right, and how much wrong."""
    named = [item for item, _ in answer]
    if question in _OF_THE_BEST:
        return {"right": _OF_THE_BEST[question](rows, named, condition), "wrong": None}
    exact = dict(_counts(rows).iter_rows())
    if question == "floor":
        common = {item for item, n in exact.items() if n >= FLOOR}
        found = common & set(named)
        return {"right": len(found) / len(common), "wrong": float(len(set(named) - common))}
    if question == "others":
        holders = rows.filter(pl.col("item").is_in(named))["user"].n_unique()
        return {"right": None, "wrong": abs(rows["user"].n_unique() - holders - answer[0][1])}
    errors = [abs(n - exact[item]) for item, n in answer]
    return {"right": None, "wrong": sum(errors) / len(errors)}


def _of_filtered(rows: pl.DataFrame, named: list[str], condition: str) -> float:
    best = _counts(rows.filter(pl.sql_expr(condition)))
    held = best.filter(pl.col("item").is_in(named))["n"].sum()
    return float(held / best.head(K)["n"].sum())


def _of_sums(rows: pl.DataFrame, named: list[str], _: str) -> float:
    sums = rows.group_by("item").agg(n=pl.col("amount").sum()).sort("n", descending=True)
    found = sums.filter(pl.col("item").is_in(named))["n"].sum()
    return float(found / sums.head(K)["n"].sum())


def _of_reached(rows: pl.DataFrame, named: list[str], _: str) -> float:
    return _reached(rows, named) / _reached(rows, _greedy(rows))


def _of_pairs(rows: pl.DataFrame, named: list[str], _: str) -> float:
    return len(_best_pairs(rows) & set(named)) / _PAIRS


_OF_THE_BEST = {
    "filter": _of_filtered,
    "amounts": _of_sums,
    "hitting sets": _of_reached,
    "pairs": _of_pairs,
}
"""Which share of what the best answer has is in an answer."""


def _best_pairs(rows: pl.DataFrame) -> set[str]:
    """The pairs that most users hold, of items common enough to be in one."""
    frequent = _counts(rows).head(200)["item"]
    held = rows.select("user", "item").unique().filter(pl.col("item").is_in(frequent.implode()))
    both = held.join(held, on="user").filter(pl.col("item") < pl.col("item_right"))
    best = both.group_by("item", "item_right").len().sort("len", descending=True).head(_PAIRS)
    return {str(sorted(pair)) for pair in best.select("item", "item_right").iter_rows()}


def _reached(rows: pl.DataFrame, named: list[str]) -> int:
    """How many users of all groups hold an item that is named in their group."""
    pair = pl.format("('{}', '{}')", "section", "item")
    held = rows.filter(pair.is_in(named))
    return held.select("user", "section").n_unique()


def _greedy(rows: pl.DataFrame) -> list[str]:
    """In each group, one after another, the item that most of those hold whom none reached yet."""
    picked = []
    for (section,), left in rows.select("section", "user", "item").group_by("section"):
        for _ in range(_SET):
            counts = left["item"].value_counts(sort=True)
            if counts.height:
                item = counts["item"][0]
                picked.append(f"('{section}', '{item}')")
                held = left.filter(pl.col("item") == item)
                left = left.join(held, on="user", how="anti")  # noqa: PLW2901 - of this group
    return picked
