"""How long ranking from comparisons takes, and the ergodicity coefficient of its random walk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl

import shortlist as sl
from bench.common.comparisons import BOUND, K, sparse
from bench.common.lines import Line, timed_line
from bench.common.timing import peak_memory, timed
from shortlist.experiments import ergodicity_coefficient
from shortlist.mechanisms import SpectralRanking

__all__ = ["ITEMS", "ROWS", "times"]

ITEMS, ROWS, STATES, MANY = 1000, 100_000, 1000, 5000
AIMS = {"rank": 0.1, "coefficient": 2.0}  # seconds
MEMORY = 1000.0  # MB
RUNS = 15


def times(scale: float) -> list[Line]:
    """Of whole questions, and of the coefficient."""
    return [*_ranking_times(scale), *_coefficient_times(scale)]


def _ranking_times(scale: float) -> Iterator[Line]:
    games = sparse(int(ITEMS * scale), int(ROWS * scale))
    kinds = {"WinCount": None, "SpectralRanking": partial(SpectralRanking, contraction=0.9)}
    texts = games.cast(pl.String)
    users = games.with_columns(user=pl.int_range(pl.len()) // 40)
    for name, kind in kinds.items():
        for what, rows in {"integers": games, "text": texts}.items():
            taken = timed(_asking(rows, kind), runs=RUNS)
            yield timed_line(f"{name}, items are {what}", taken, aim=AIMS["rank"])
    asking = _asking(users, None, user="user", max_comparisons_per_user=BOUND)
    yield timed_line(f"WinCount, {BOUND} of 40 comparisons of each user", timed(asking, runs=RUNS))


def _asking(rows: pl.DataFrame, mechanism: object, **more: object) -> Callable[[], object]:
    """From a data frame to the release."""

    def job() -> object:
        source = sl.comparisons(
            rows, winner="winner", loser="loser", public_items=sl.IN_TABLE, **more
        )
        return source.rank(K, epsilon=1.0, mechanism=mechanism)

    return job


def _coefficient_times(scale: float) -> Iterator[Line]:
    for states, runs, aim in ((STATES, RUNS, AIMS["coefficient"]), (MANY, 3, None)):
        matrix = np.random.default_rng(1).dirichlet(
            np.ones(int(states * scale)), int(states * scale)
        )
        taken = timed(partial(ergodicity_coefficient, matrix), runs=runs)
        yield timed_line(f"ergodicity_coefficient, {len(matrix):,} states", taken, aim=aim)
    peak = peak_memory("coefficient", str(int(MANY * scale))) / 1e6
    yield Line(f"ergodicity_coefficient, {int(MANY * scale):,} states", peak, "MB", aim=MEMORY)
