"""How fast it is, beside the exact, non-private answer of the engine that reads the tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import shortlist as sl
from bench.common import report, samples
from bench.common.defaults import of_private_items
from bench.common.lines import Line, frame, ratio_line, timed_line
from bench.common.timing import in_turns, peak_memory, timed
from shortlist.draws import ExactDraws
from shortlist.evidence import WeightedHistogram
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import (
    AdaptiveGaussian,
    DiscoverThenRank,
    PolicyGaussian,
    PolicyGreedy,
    WeightedGaussian,
)
from shortlist.mechanisms.weighted_gaussian import discover
from shortlist.table import open_table

__all__ = ["measure"]

K = 100
ASKED = {"epsilon": 1.0, "delta": 1e-6}
BOUND = 100
TEXT_SHARE = 0.25  # of the large table's rows, in the text one: writing names takes longest
KEYS = {"dense": "dense integers", "sparse": "random 64-bit integers", "text": "text"}
OVER_EXACT = {"dense": 0.5, "sparse": 0.4, "text": 0.6}
OF_CATEGORIES = 0.5
BYTES_A_ROW = {"dense": 12.0, "sparse": 20.0, "text": 20.0}


def measure(scale: float = 1.0, runs: int = 9) -> None:
    """Generate the tables, measure, print and write; leaves nothing but the results.

    Args:
        scale: Of the data.
        runs: Turns of each whole question.
    """
    lines: list[Line] = []
    stages: list[Line] = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        million = samples.write(samples.MILLION.scaled(scale), "text", folder)
        lines += [_question("1 M rows of text", million, runs=runs, aim=0.25)]
        stages += _stages("1 M rows of text", million, runs=runs)
        for kind in samples.KINDS:
            share = TEXT_SHARE if kind == "text" else 1.0
            shape = samples.TWENTY_MILLION.scaled(scale * share)
            path = samples.write(shape, kind, folder)
            title = f"{20 * share:g} M rows, {KEYS[kind]}"
            asked = _question(title, path, runs=runs, aim=0.6 if kind == "dense" else None)
            lines += [asked, ratio_line(asked, aim=OVER_EXACT[kind])]
            stages += _stages(title, path, runs=min(runs, 3))
            lines += [_memory(title, path, shape.rows, aim=BYTES_A_ROW[kind])]
            if kind == "text":
                lines += _of_categories(f"{20 * share:g} M rows, categories in a frame", path, runs)
            path.unlink()
            print(f"{title}: done.", flush=True)
    lines += _arrays(scale)
    _tell(lines, stages, scale, runs)


def _tell(lines: list[Line], stages: list[Line], scale: float, runs: int) -> None:
    figures = frame(lines)
    parts = frame(stages).select("job", "median", "quartile 1", "quartile 3", "unit")
    settings = (
        f"Generated tables from a fixed seed, at scale {scale:g}: Zipf popularity and activity, "
        f"rows in random order. top_k: k={K}, epsilon={ASKED['epsilon']:g}, "
        f"delta={ASKED['delta']:g}, max_items_per_user={BOUND}, a fresh source each time. One run "
        f"to warm up, then {runs} in turns with what stands beside it. exact: Polars' "
        "`group_by(item).agg(user.n_unique()).top_k`, not private, of the same file. ratio of CPU: "
        "of the seconds that all cores worked, which says more where the machine does other work."
    )
    tables = {"Figures": figures, "Where the time goes": parts}
    report.write("speed", "Speed and memory", tables, [settings])


# Whole questions


def _top_k(data: Path | pl.DataFrame) -> Callable[[], object]:
    return lambda: sl.pairs(data, user="user", item="item").top_k(K, **ASKED)


def _exact(data: Path | pl.DataFrame) -> Callable[[], object]:
    rows = data.lazy() if isinstance(data, pl.DataFrame) else pl.scan_parquet(data)
    return rows.group_by("item").agg(pl.col("user").n_unique()).top_k(K, by="user").collect


def _of_categories(title: str, path: Path, runs: int) -> list[Line]:
    """Users and items of text, in memory as categories."""
    frame = pl.read_parquet(path).cast(pl.Categorical)
    asked = _question(title, frame, runs=runs, aim=None)
    return [asked, ratio_line(asked, aim=OF_CATEGORIES)]


def _question(title: str, data: Path | pl.DataFrame, *, runs: int, aim: float | None) -> Line:
    taken = in_turns({"ours": _top_k(data), "exact": _exact(data)}, runs=runs)
    return timed_line(f"top_k, {title}", taken["ours"], "exact", taken["exact"], aim=aim)


def _memory(title: str, path: Path, rows: int, *, aim: float | None) -> Line:
    ours, theirs = (peak_memory(job, str(path)) / rows for job in ("top_k", "read"))
    job = f"top_k, {title}: peak memory over the engine's read"
    return Line(job, ours - theirs, unit="B/row", beside="read", other=theirs, aim=aim)


# Parts


def _stages(title: str, path: Path, *, runs: int) -> list[Line]:
    """The parts of `top_k`, each timed by itself."""
    kind = of_private_items(sl.TopK(K))
    mechanism = kind(k=K, max_items_per_user=BOUND, **ASKED)
    draws = ExactDraws()

    def read_and_code() -> tuple[object, ...]:
        return open_table(path, user="user", items=["item"]).pairs()

    users, items = open_table(path, user="user", items=["item"]).pairs()

    def group() -> Contributions:
        codes = users.codes.copy(), items.codes.copy()  # which are used up
        return Contributions.of_rows(*codes, n_users=users.size, n_items=items.size)

    held = group()
    parts = {
        "reading alone": pl.scan_parquet(path).select("user", "item").collect,
        "reading and coding": read_and_code,
        "grouping": group,
        "bounding alone": lambda: held.bounded(BOUND, draws),
        "calibrating": lambda: kind(k=K, max_items_per_user=BOUND, **ASKED).parameters(),
        "mechanism, bounding included": lambda: mechanism.select(held, draws),
    }
    return [timed_line(f"{title}: {name}", timed(job, runs=runs)) for name, job in parts.items()]


def _arrays(scale: float) -> list[Line]:
    draws = ExactDraws()
    n = int(943_522 * scale)
    users, items, n_users, n_items = samples.coded_pairs(n)
    held = Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)
    bounded = timed(lambda: held.bounded(BOUND, draws).weigh(), runs=21)
    lines = [timed_line(f"bounding and weighting {n:,} coded pairs", bounded, aim=0.05)]
    lines += _domains(held, n)

    n = int(1_000_000 * scale)
    weights, counts = samples.positive_weights(n)
    evidence = WeightedHistogram(weights, counts, BOUND)
    domain = WeightedGaussian(max_items_per_user=BOUND, **ASKED)
    coin = timed(lambda: discover(evidence, domain.sigma, domain.threshold, draws), runs=21)
    scored = timed(lambda: domain.select(evidence, draws), runs=21)
    lines += [timed_line(f"drawing the set from {n:,} items", coin, aim=0.05)]
    lines += [timed_line(f"the same with scores: WeightedGaussian.select, {n:,} items", scored)]
    for way, k in {"peeled": K, "by the mean": n // 50}.items():
        mechanism = DiscoverThenRank(k=k, max_items_per_user=BOUND, **ASKED)
        times = timed(lambda: mechanism.select(evidence, draws), runs=11)  # noqa: B023 - now
        lines += [timed_line(f"DiscoverThenRank.select, {n:,} items, k={k:,} ({way})", times)]
    return lines


def _domains(held: Contributions, n: int) -> list[Line]:
    """Domain discovery, from the users' sets to the selected items."""
    draws = ExactDraws()
    weighted = WeightedGaussian(max_items_per_user=BOUND, **ASKED)
    gaussian = PolicyGaussian(max_items_per_user=BOUND, **ASKED)
    greedy, rounds = PolicyGreedy(**ASKED), AdaptiveGaussian(max_items_per_user=BOUND, **ASKED)
    taken = in_turns(
        {
            "WeightedGaussian": lambda: weighted.select(held.bounded(BOUND, draws).weigh(), draws),
            "AdaptiveGaussian": lambda: rounds.select(held, draws),
            "PolicyGaussian": lambda: gaussian.select(held, draws),
            "PolicyGreedy": lambda: greedy.select(held, draws),
        },
        runs=21,
    )
    beside = "WeightedGaussian", taken.pop("WeightedGaussian")
    return [
        timed_line(f"{name}, {n:,} coded pairs", times, *beside, aim=0.15)
        for name, times in taken.items()
    ]
