"""How fast top-k of counts is, beside NumPy's float noise and NumPy's sort of the same counts."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import polars as pl

from bench.common import report, samples
from bench.common.axes import Axis
from bench.common.lines import Line, frame, ratio_line, timed_line
from bench.common.plotting import Look, against_k
from bench.common.timing import Times, in_turns
from shortlist.algorithms.grouping import EqualCounts
from shortlist.draws import ExactDraws, Ints
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import (
    Gamma,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    Mechanism,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
)

__all__ = ["measure"]

SIZES = (10, 50, 100, 200)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
DOMAIN = 166_000
FLOAT, SORT, WIDE = "float Gumbel", "np.sort", "Joint, ε = 0.01"
MECHANISMS: dict[str, partial[Mechanism]] = {
    "JointOrPeel": partial(JointOrPeel, **BUDGET),
    "Joint": partial(Joint, epsilon=1.0),
    WIDE: partial(Joint, epsilon=0.01),
    "JointPermuteAndFlip": partial(JointPermuteAndFlip, epsilon=1.0),
    "Peeling": partial(Peeling, **BUDGET),
    "PermuteAndFlip": partial(PermuteAndFlip, epsilon=1.0),
    "OneShotLaplace": partial(OneShotLaplace, epsilon=1.0),
    "Gamma": partial(Gamma, epsilon=1.0),
}
LOOKS = {
    "JointOrPeel": Look("#111111", width=3),
    "Joint": Look("#0b6e99"),
    WIDE: Look("#0b6e99", dashed=True),
    "JointPermuteAndFlip": Look("#58b4d8"),
    "Peeling": Look("#d1701a"),
    "PermuteAndFlip": Look("#3a8f3a"),
    "OneShotLaplace": Look("#8e4fa8"),
    "Gamma": Look("#a0795b"),
    FLOAT: Look("#888888", dashed=True),
    SORT: Look("#bbbbbb", dashed=True),
}
AIMS = {"Joint": 0.010, WIDE: 0.300}  # seconds
MANY = 1_000  # picks, and how many times as long as floats they may take
TIMES_MANY = 3.0
AGAINST_FLOATS = ("Peeling", "PermuteAndFlip", "OneShotLaplace")  # at most twice as long
LIGHT, MEMORY = ("Joint", "JointOrPeel"), 5.0  # MB over the counts
RUNS = 21


def measure(scale: float = 1.0) -> None:
    """Generate the counts, measure, print and write."""
    n = int(DOMAIN * scale)
    shapes = {
        "Zipf counts": samples.falling_counts(n, 2e5, 1.1),
        "Flat counts": samples.falling_counts(n, 2e4, 0.5),
    }
    times = {
        (shape, k): _side_by_side(counts, k) for shape, counts in shapes.items() for k in SIZES
    }
    lines = [line for cell, jobs in times.items() for line in _aimed_at(cell, jobs)]
    lines += [line for shape, counts in shapes.items() for line in _of_many_picks(shape, counts)]
    lines += [_memory(shape, counts, name) for shape, counts in shapes.items() for name in LIGHT]
    lines += [*_of_a_million(scale), *_of_ten_million(scale)]
    _tell(frame(lines), _figures(times), n)


# Measuring


def _side_by_side(counts: Ints, k: int) -> dict[str, Times]:
    """All mechanisms, float noise and a sort, in turns."""
    jobs = {name: _selecting(kind(k=k), counts) for name, kind in MECHANISMS.items()}
    beside = {FLOAT: _float_gumbel(counts, k), SORT: partial(np.sort, counts)}
    return in_turns(jobs | beside, runs=RUNS)


def _of_many_picks(shape: str, counts: Ints) -> list[Line]:
    """A thousand picks, of which each takes as long as the first."""
    jobs = {"Peeling": _selecting(Peeling(k=MANY, **BUDGET), counts)}
    jobs |= {FLOAT: _float_gumbel(counts, MANY)}
    times = in_turns(jobs, runs=RUNS)
    line = timed_line(f"{shape}, k={MANY}: Peeling", times["Peeling"], FLOAT, times[FLOAT])
    return [line, ratio_line(line, aim=TIMES_MANY)]


def _selecting(mechanism: Mechanism, counts: Ints) -> Callable[[], object]:
    mechanism.parameters()  # calibrated before the clock runs, as the float noise is
    return partial(mechanism.select, PublicCounts(counts), ExactDraws())


def _float_gumbel(counts: Ints, k: int) -> Callable[[], object]:
    """What is usually done, and not private: floats decide, from a seeded generator."""
    scale = 1 / Peeling(k=k, **BUDGET).local_epsilon
    rng = np.random.default_rng(1)

    def job() -> object:
        noisy = counts + rng.gumbel(scale=scale, size=len(counts))
        best = np.argpartition(noisy, -k)[-k:]
        return best[np.argsort(-noisy[best])]

    return job


def _memory(shape: str, counts: Ints, name: str) -> Line:
    """The most that is held over the counts, in what NumPy and Python allocate."""
    k = SIZES[-1]
    job = _selecting(MECHANISMS[name](k=k), counts)
    job()
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    title = f"{shape}, k={k}: {name}, peak memory over the counts"
    return Line(title, peak / 1e6, "MB", beside="counts", other=counts.nbytes / 1e6, aim=MEMORY)


def _of_a_million(scale: float) -> list[Line]:
    """The top 100 of a million, for counts of people and for the hardest there are."""
    n, k = int(1_000_000 * scale), 100
    shapes = {
        "Zipf counts": samples.falling_counts(n, 2e5, 1.1),
        "all different, to 2^62": samples.huge_counts(n),
    }
    lines = []
    for shape, counts in shapes.items():
        jobs = {"Peeling": _selecting(Peeling(k=k, **BUDGET), counts)}
        jobs |= {FLOAT: _float_gumbel(counts, k)}
        times = in_turns(jobs, runs=11)
        job = f"{n:,} counts, {shape}, k={k}: Peeling"
        lines += [timed_line(job, times["Peeling"], FLOAT, times[FLOAT], aim=0.030)]
    return lines


def _of_ten_million(scale: float) -> list[Line]:
    """The whole answer, and the one pass that groups the counts."""
    n, k = int(10_000_000 * scale), 100
    counts = samples.falling_counts(n, 2e5, 1.1)
    jobs = {
        "Peeling": _selecting(Peeling(k=k, **BUDGET), counts),
        "grouping": partial(EqualCounts.of, counts),
    }
    times = in_turns(jobs, runs=11)
    job = f"{n:,} counts, Zipf counts, k={k}: Peeling"
    line = timed_line(job, times["Peeling"], "grouping", times["grouping"])
    return [line, ratio_line(line, aim=2.0)]


# Telling


def _aimed_at(cell: tuple[str, int], times: Mapping[str, Times]) -> list[Line]:
    """Those of a cell's figures that were aimed at."""
    title, (_, k) = "{}, k={}".format(*cell), cell
    lines = []
    if k == SIZES[-1]:
        lines += [timed_line(f"{title}: {job}", times[job], aim=aim) for job, aim in AIMS.items()]
    if k == 100:
        beside = [
            timed_line(f"{title}: {job}", times[job], FLOAT, times[FLOAT]) for job in AGAINST_FLOATS
        ]
        lines += [ratio_line(line, aim=2.0) for line in beside]
    return lines


def _figures(times: Mapping[tuple[str, int], Mapping[str, Times]]) -> pl.DataFrame:
    """One row for each shape, k and job."""
    rows = [
        {"counts": shape, "k": k, "job": job}
        | taken.row("milliseconds")
        | {f"over {FLOAT}": taken.median / jobs[FLOAT].median}
        for (shape, k), jobs in times.items()
        for job, taken in jobs.items()
    ]
    return pl.DataFrame(rows)


def _tell(aims: pl.DataFrame, figures: pl.DataFrame, n: int) -> None:
    wide = figures.pivot(on="job", index=["counts", "k"], values="milliseconds")
    settings = (
        f"{n:,} counts in random order: Zipf counts are 2e5 / r^1.1 at rank r, flat counts "
        "2e4 / sqrt(r), rounded up. epsilon=1 and, where it is used, delta=1e-6. Each figure is "
        f"the median of {RUNS} runs of `select`, grouping included, in turns with all others after "
        "one to warm up; the mechanism was calibrated before."
    )
    floats = (
        f"{FLOAT}: `rng.gumbel` at the local epsilon of Peeling, `argpartition` and a sort of k. "
        "It is not private: floats decide, from a seeded generator."
    )
    pictures = {"counts-speed.png": "Milliseconds against k"}
    tables = {"Figures": aims, "Milliseconds by k": wide, "Quartiles": figures}
    title = "Speed and memory of top-k of counts"
    report.write("counts-speed", title, tables, [settings, floats], pictures)
    _plot(figures, n)


def _plot(figures: pl.DataFrame, n: int) -> None:
    data = figures.select(
        row=pl.lit(f"{n:,} items"),
        column="counts",
        series="job",
        k="k",
        low="quartile 1",
        middle="milliseconds",
        high="quartile 3",
    )
    against_k(
        data,
        report.path_of("counts-speed.png"),
        axis=Axis(
            "milliseconds", [0.2, 0.5, 1, 2, 5, 10, 20, 50], labels="format(datum.value, '~g')"
        ),
        looks=LOOKS,
        title="Top-k of counts: the time it takes",
        subtitle="Milliseconds, median and quartiles; dashed in grey: NumPy, not private. ε = 1, "
        "and δ = 1e-6 where it is used.",
        size=(300, 240),
    )
