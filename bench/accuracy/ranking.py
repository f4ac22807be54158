"""Ranking from comparisons: how much of the true top is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report
from bench.common.axes import Across, Axis
from bench.common.cells import mean_and_band
from bench.common.comparisons import BOUND, Games, K, even, listed, uneven
from bench.common.lines import frame
from bench.common.plotting import Look, against
from bench.common.seeds import draws_of
from bench.speed import ranking as speed
from shortlist.draws import ExactDraws, Ints
from shortlist.experiments import ergodicity_coefficient, spectral_scores, transition_matrix
from shortlist.mechanisms import Selection, SpectralRanking, WinCount

__all__ = ["measure"]

EPSILONS = [10.0 ** (half / 2) for half in range(-6, 5)]
COUNT, BY_USER = "WinCount", "WinCount, by user"
OF_ALL = "SpectralRanking, all pairs, no promise"
SPECTRAL = "SpectralRanking, conditional"
PUBLISHED = "the same, published noise"
LIMIT = "by numbers of wins, without noise"
LOOKS = {
    LIMIT: Look("#0b6e99", dashed=True, width=1, points=False),
    SPECTRAL: Look("#d1701a"),
    PUBLISHED: Look("#888888", dashed=True),
    OF_ALL: Look("#2f7d32"),
    BY_USER: Look("#58b4d8"),
    COUNT: Look("#0b6e99"),
}


_HOW = (
    "Mean and 95 % band. Conditional: contraction 0.8, 0.9 and 0.9, picked by looking at these "
    "outcomes;"
)
_LIMIT = (
    "only outcomes that keep it are protected from each other. So that is not private for all "
    "outcomes."
)
_PLAIN, _PERCENT = "format(datum.value, '~g')", "format(datum.value, '.0%')"


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
    _tell(figures, limits, frame(speed.times(scale)), runs)


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
            cell = {"comparisons": games.name, "mechanism": series, "epsilon": epsilon}
            yield cell | mean_and_band(found)
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


# What is told


def _tell(figures: pl.DataFrame, limits: pl.DataFrame, times: pl.DataFrame, runs: int) -> None:
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
    timing = (
        f"Times are from a data frame of {speed.ITEMS:,} items and about {speed.ROWS:,} "
        "comparisons to the release, all steps included."
    )
    tables = {"Recovery": figures, "Without noise": limits, "Times": times}
    pictures = {"ranking.png": "Share of the true best against epsilon"}
    title = "Ranking from pairwise comparisons"
    report.write("ranking", title, tables, [settings, kinds, timing], pictures)
    _plot(figures, limits)


def _plot(figures: pl.DataFrame, limits: pl.DataFrame) -> None:
    """The means with their bands, and what numbers of wins find without noise."""
    ends = pl.DataFrame({"epsilon": [EPSILONS[0], EPSILONS[-1]]})
    known = limits.select("comparisons", pl.lit(LIMIT).alias("mechanism"), mean="found by wins")
    known = known.join(ends, how="cross").with_columns(
        pl.col("mean").alias("2.5 %"), pl.col("mean").alias("97.5 %")
    )
    data = pl.concat([figures, known.select(figures.columns)]).select(
        "epsilon",
        row=pl.lit(""),
        column="comparisons",
        series="mechanism",
        low="2.5 %",
        middle="mean",
        high="97.5 %",
    )
    ticks = [10.0**exponent for exponent in range(-3, 3)]
    against(
        data,
        report.path_of("ranking.png"),
        across=Across("epsilon", "epsilon", ticks, (ticks[0], ticks[-1]), labels=_PLAIN),
        axis=Axis(f"share of the true {K} best", [0, 0.2, 0.4, 0.6, 0.8, 1], "linear", _PERCENT),
        looks=LOOKS,
        title=f"Private ranking from comparisons: how many of the {K} best are named",
        subtitle=[_HOW, _LIMIT],
        size=(250, 240),
    )
