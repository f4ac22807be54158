"""Ranking from comparisons: how much of the true top is found, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl

import shortlist as sl
from bench import report
from bench.comparisons_data import Games, even, listed, sparse, uneven
from bench.lines import Line, frame, timed_line
from bench.ranking_plot import BY_USER, COUNT, OF_ALL, PUBLISHED, SPECTRAL, plot
from bench.seeds import draws_of
from bench.timing import peak_memory, timed
from shortlist.draws import ExactDraws, Ints
from shortlist.experiments import ergodicity_coefficient, spectral_scores, transition_matrix
from shortlist.mechanisms import Selection, SpectralRanking, WinCount

__all__ = ["measure"]

K, EPSILONS = 10, [10.0 ** (half / 2) for half in range(-6, 5)]
BOUND = 20  # comparisons of a user
ITEMS, ROWS, STATES, MANY = 1000, 100_000, 1000, 5000
AIMS = {"rank": 0.1, "coefficient": 2.0}  # seconds
MEMORY = 1000.0  # MB
RUNS = 15


@dataclass(frozen=True, kw_only=True)
class _Published(SpectralRanking):
    """With the noise of Qiao et al. (2021), Theorem 2.1, for their sensitivity."""

    def _ranked(self, shares: Ints, moved: Fraction, draws: ExactDraws) -> Selection:
        return super()._ranked(shares, 2 * self.k * moved, draws)


def measure(scale: float = 1.0, runs: int = 100) -> None:
    """Rank, measure, print and write."""
    every = [games for games in (even(), uneven(), listed()) if games is not None]
    figures = pl.DataFrame([row for games in every for row in _recovery(games, runs)])
    limits = pl.DataFrame([_without_noise(games) for games in every])
    lines = [*_ranking_times(scale), *_coefficient_times(scale)]
    _tell(figures, limits, frame(lines), runs)


# How much is found


def _recovery(games: Games, runs: int) -> Iterator[dict[str, object]]:
    wins, outcomes = games.wins, games.outcomes
    promised = {"contraction": games.promise}
    kinds: dict[str, Callable[[float, ExactDraws], Ints]] = {
        COUNT: lambda e, draws: WinCount(k=K, epsilon=e).select(wins, draws).positions,
        SPECTRAL: lambda e, draws: (
            SpectralRanking(k=K, epsilon=e, **promised).select(outcomes, draws).positions
        ),
        PUBLISHED: lambda e, draws: (
            _Published(k=K, epsilon=e, **promised).select(outcomes, draws).positions
        ),
    }
    if len(outcomes.first) == outcomes.n_items * (outcomes.n_items - 1) // 2:
        kinds[OF_ALL] = lambda e, draws: (
            SpectralRanking(k=K, epsilon=e).select(outcomes, draws).positions
        )
    if "user" in games.frame.columns:
        kinds[BY_USER] = _by_user(games)
    for series, pick in kinds.items():
        for epsilon in EPSILONS:
            draws = draws_of(games.name, series, epsilon)
            found = [_share(games, pick(epsilon, draws)) for _ in range(runs)]
            low, high = np.quantile(found, [0.025, 0.975])
            yield {
                "comparisons": games.name,
                "mechanism": series,
                "epsilon": epsilon,
                "found": float(np.mean(found)),
                "2.5 %": float(low),
                "97.5 %": float(high),
            }
    print(f"{games.name}: done.")


def _by_user(games: Games) -> Callable[[float, ExactDraws], Ints]:
    """All comparisons of a user are protected together."""
    source = sl.comparisons(
        games.frame,
        winner="winner",
        loser="loser",
        public_items=games.best_first,
        user="user",
        max_comparisons_per_user=BOUND,
    )
    return lambda epsilon, draws: np.array(source.rank(K, epsilon=epsilon, random=draws.bits).items)


def _share(games: Games, positions: Ints) -> float:
    """How much of the true top is among these."""
    return len(set(positions.tolist()) & set(games.best_first[:K].tolist())) / K


def _without_noise(games: Games) -> dict[str, object]:
    outcomes = games.outcomes
    least = int(outcomes.times.min())
    return {
        "comparisons": games.name,
        "items": outcomes.n_items,
        "rows": int(outcomes.times.sum()),
        "largest degree": int(outcomes.degrees.max()),
        "least of a pair": least,
        "coefficient": ergodicity_coefficient(transition_matrix(outcomes)),
        "contraction picked": games.promise,
        "found by wins": _share(games, np.argsort(-games.wins.counts)[:K]),
        "found by shares": _share(games, np.argsort(-spectral_scores(outcomes))[:K]),
    }


# How long it takes


def _ranking_times(scale: float) -> Iterator[Line]:
    games = sparse(int(ITEMS * scale), int(ROWS * scale))
    kinds = {"WinCount": None, "SpectralRanking": partial(SpectralRanking, contraction=0.9)}
    texts = games.cast(pl.String)
    users = games.with_columns(user=pl.int_range(pl.len()) // 40)
    for name, kind in kinds.items():
        for what, rows in {"integers": games, "text": texts}.items():
            times = timed(_asking(rows, kind), runs=RUNS)
            yield timed_line(f"{name}, items are {what}", times, aim=AIMS["rank"])
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
        times = timed(partial(ergodicity_coefficient, matrix), runs=runs)
        yield timed_line(f"ergodicity_coefficient, {len(matrix):,} states", times, aim=aim)
    peak = peak_memory("coefficient", str(int(MANY * scale))) / 1e6
    yield Line(f"ergodicity_coefficient, {int(MANY * scale):,} states", peak, "MB", aim=MEMORY)


# What is told


def _tell(figures: pl.DataFrame, limits: pl.DataFrame, times: pl.DataFrame, runs: int) -> None:
    report.show("Recovery", figures)
    report.show("Without noise", limits)
    report.show("Times", times)
    settings = (
        f"The share of the true {K} best items among the {K} named: means of {runs} runs from "
        "fixed seeds (so nothing here is private), and the band that 95 % of them are in. Invented "
        "comparisons follow the Bradley-Terry-Luce model with weights from e^1.5 to 1, 1,000 of "
        "each pair compared. Anime: each of 5,000 readers is shown 100 random pairs of the 100 "
        "titles that most have listed; a title on the reader's list wins against one that is not, "
        "and where both or none are there is no comparison. The true order is that of how many "
        "have listed a title."
    )
    kinds = (
        f"{COUNT} protects a comparison, and {BY_USER}, all of a reader, of whom {BOUND} count. "
        f"“{OF_ALL}” protects who won in one comparison, whatever the outcomes; it is not there "
        f"where a pair is missing. “{SPECTRAL}” protects that only between outcomes that keep the "
        "contraction of the second table, which was picked by looking at these outcomes: so it is "
        f"not private for all outcomes. “{PUBLISHED}” has the noise of Theorem 2.1 for the "
        "published sensitivity, 2k times as much. On the anime lists the walk also takes as public "
        "for which pairs a reader has listed just one title."
    )
    speed = (
        f"Times are from a data frame of {ITEMS:,} items and about {ROWS:,} comparisons to the "
        "release, all steps included."
    )
    tables = {"Recovery": figures, "Without noise": limits, "Times": times}
    picture = "![Share of the true best against epsilon](ranking.svg)"
    title = "Ranking from pairwise comparisons"
    report.write("ranking", title, tables, [settings, kinds, speed, picture])
    plot(figures, limits, report.path_of("ranking"))
