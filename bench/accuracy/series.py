"""A series beside other ways to publish a list in every period under one promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import polars as pl

from bench.accuracy import series_beside as beside
from bench.accuracy.series_beside import Listed
from bench.accuracy.series_histories import (
    CHOSEN_ON,
    DATED,
    UNSEEN,
    WAYS,
    History,
    histories,
)
from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.cells import BOUND, DELTA
from bench.common.plotting import Look, against
from shortlist.mechanisms import AdaptiveGaussian, WeightedGaussian
from shortlist.series import SeriesTerms

__all__ = ["measure"]

SERIES, SPLIT, TREE, ROOT = "series", "split", "binary tree", "square root"
ONE_WEIGHTED, ONE_ADAPTIVE = "one WeightedGaussian", "one AdaptiveGaussian"
_KINDS: dict[str, Callable[[History, SeriesTerms, int], Listed]] = {
    SERIES: beside.in_a_series,
    SPLIT: beside.split,
    TREE: beside.tree,
    ROOT: beside.square_root,
    ONE_WEIGHTED: beside.at_the_end(WeightedGaussian),
    ONE_ADAPTIVE: beside.at_the_end(AdaptiveGaussian),
}
_LONG = 365  # periods: a run takes half a minute
_SETTINGS = [*product((0.3, 1.0, 3.0), (12, 52, _LONG))]
_USUAL = (1.0, 52)
_UNIFORM, *_OTHER_WAYS = WAYS
_NAMED, _MEAN = "named", "mean over periods"
_CELL = ("table", "rows come", "epsilon", "periods")
_AIMS = {ROOT: 2.5, ONE_WEIGHTED: 1.0, ONE_ADAPTIVE: 0.6, SPLIT: 3.0}
_DRAWN = [real.TABLES[name] for name in ("imdb_reviews_tokens", "amazon_video_games_5core")]
_GROUPS = {real.TABLES[name]: "chosen on" for name in CHOSEN_ON} | {
    called: "looked at" for called, _ in DATED.values()
}
_LOOKS = {
    TREE: Look("#8a9a01"),
    ROOT: Look("#8e4fa8"),
    SPLIT: Look("#d1701a"),
    ONE_WEIGHTED: Look("#777777", dashed=True),
    ONE_ADAPTIVE: Look("#222222", dashed=True),
    SERIES: Look("#0b6e99", width=3),
}


@dataclass(frozen=True)
class _Cell:
    """What one figure is of."""

    history: History
    epsilon: float
    periods: int
    run: int

    @property
    def terms(self) -> SeriesTerms:
        """Of its series."""
        return SeriesTerms(
            epsilon=self.epsilon, delta=DELTA, periods=self.periods, max_items_per_user=BOUND
        )

    def rows(self) -> Iterator[dict[str, object]]:
        """The figures of each way to publish, and by period."""
        for kind, listed_by in _KINDS.items():
            listed = listed_by(self.history, self.terms, self.run)
            counts, by_period = self.history.counts, listed.by_period
            values = self.history.table, self.history.way, self.epsilon, self.periods
            yield dict(zip(_CELL, values, strict=True)) | {
                "run": self.run,
                "kind": kind,
                _NAMED: int(by_period[-1]),
                _MEAN: float(by_period.mean()),
                "missed of 10": listed.missed(counts, 10),
                "missed of 50": listed.missed(counts, 50),
                "by period": by_period.tolist(),
            }


def measure(runs: int) -> None:
    """Measure, print, write and draw.

    Args:
        runs: In each cell; of the longest series, one.
    """
    names = [*DATED, *CHOSEN_ON, *UNSEEN]
    found = [row for cell in _cells(names, runs) for row in cell.rows()]
    if found:
        _write(pl.DataFrame(found), runs)


def _write(figures: pl.DataFrame, runs: int) -> None:
    cells = figures.group_by(*_CELL, "kind", maintain_order=True).agg(
        pl.col(_NAMED, _MEAN, "missed of 10", "missed of 50").mean()
    )
    tables = {"Named by a series, over what others name": _overall(cells)}
    tables |= {"Where a series comes short of an aim": _short(cells)}
    tables |= {f"Cells: {shown}": _wide(cells, shown) for shown in (_NAMED, _MEAN)}
    tables |= {f"Cells: what the first {k} miss": _wide(cells, f"missed of {k}") for k in (10, 50)}
    pictures = {"series.png": "Items named so far, period by period"}
    report.write("series", _TITLE, tables, _notes(runs), pictures)
    _plot(figures)


def _cells(names: Sequence[str], runs: int) -> Iterator[_Cell]:
    """All settings where rows come evenly or by days; the usual one for all other ways."""
    for history in histories(names, list(WAYS)):
        settings = [_USUAL] if history.way in _OTHER_WAYS else _SETTINGS
        for epsilon, periods in settings:
            for run in range(1 if periods == _LONG else runs):
                yield _Cell(history, epsilon, periods, run)
        print(f"{history.table}, {history.way}: done.", flush=True)


def _notes(runs: int) -> list[str]:
    return [_SETTING.format(runs=runs), _OTHERS, _TABLES, _RATIOS]


_TITLE = "A series beside other ways to give a list in every period"

_SETTING = f"""How many items all lists together name, of a table that grows from period to
period. δ = {DELTA:g}, at most {BOUND} items of a user, runs of each cell from fixed seeds:
{{runs}}, and one where there are {_LONG} periods (so nothing here is private). Rows that come
evenly or by their days are looked at with all ε and all numbers of periods, other ways to come at
ε = 1 with 52. Of larger tables some users are taken at random, who have 100,000 rows."""

_OTHERS = """*Series* is the code that ships. *Split* is a domain by `AdaptiveGaussian` in every
period, all calibrated together, with 1/T of the precision and 1/T of what may be lost. *Binary
tree* (the shape of DP-SQLP) and *square root* count each pair once, in the period in which it
comes, the j-th item of a user with a weight in proportion to 1/√j, and skip items that were named;
their noise is NumPy's. All of these divide δ as a series does. The last two name everything at the
end, at their own calibration, and nothing before."""

_TABLES = """Two tables have days: films those of half a year, grocery those of 720 days. What came
before is there from the beginning. The other eight have invented times: each pair at a time of its
own, evenly or more and more (growing); 30 % of all pairs at one time (a burst); all pairs of a user
together (users come once); or all before the first period (all at once). *Chosen on*: how users
move weight was chosen on these. *Looked at*: an earlier rule was, and the design. *Unseen*: nobody
had looked at a series of these."""

_RATIOS = """Ratios are of items + 1: geometric means, and the least. What the k first of the last
list miss is the share of what the k best items hold that they do not. The aims are for ε = 1 and 52
periods, in each table that nothing was chosen on: 2.5 times the square root, as many as one
`WeightedGaussian`, 0.6 of one `AdaptiveGaussian`, and 3 times split."""


def _wide(cells: pl.DataFrame, shown: str) -> pl.DataFrame:
    return cells.pivot("kind", index=_CELL, values=shown, maintain_order=True)


def _ratios(cells: pl.DataFrame) -> pl.DataFrame:
    """In each cell: items + 1 of a series, over that of each other."""
    others = [kind for kind in _KINDS if kind != SERIES]
    ratios = [((pl.col(SERIES) + 1) / (pl.col(other) + 1)).alias(other) for other in others]
    group = pl.col("table").replace_strict(_GROUPS, default="unseen").alias("tables")
    return _wide(cells, _NAMED).select(*_CELL, group, *ratios)


def _overall(cells: pl.DataFrame) -> pl.DataFrame:
    """Geometric means of ratios, and the least of them, by group of tables."""
    others = [kind for kind in _KINDS if kind != SERIES]
    return (
        _ratios(cells)
        .group_by("tables", "rows come", "epsilon", "periods", maintain_order=True)
        .agg(
            *(pl.col(other).log().mean().exp() for other in others),
            *(pl.col(other).min().alias(f"least: {other}") for other in (SPLIT, ROOT)),
        )
    )


def _short(cells: pl.DataFrame) -> pl.DataFrame:
    """The unseen cells of the usual setting in which a series names too little beside another."""
    epsilon, periods = _USUAL
    ratios = _ratios(cells).filter(
        pl.col("tables") != "chosen on", epsilon=epsilon, periods=periods
    )
    parts = [
        ratios.filter(pl.col(other) < aim).select(
            "table",
            "rows come",
            pl.lit(other).alias("beside"),
            pl.lit(aim).alias("aim"),
            pl.col(other).alias("ratio"),
        )
        for other, aim in _AIMS.items()
    ]
    return pl.concat(parts)


def _plot(figures: pl.DataFrame) -> None:
    """Items named so far in the usual setting, of the tables with days and some of the others."""
    epsilon, periods = _USUAL
    drawn = figures.filter(
        pl.col("rows come").is_in(_OTHER_WAYS).not_(),
        pl.col("table").is_in([called for called, _ in DATED.values()] + _DRAWN),
        epsilon=epsilon,
        periods=periods,
        run=0,
    )
    lines = (
        drawn.with_columns(period=pl.lit(list(range(1, periods + 1))))
        .explode("by period", "period")
        .with_columns(row=pl.lit(""), column=pl.col("table") + "\n" + pl.col("rows come"))
        .with_columns(middle=_all_along(pl.col("by period")))
        .select("row", "column", "period", "middle", series="kind", low="middle", high="middle")
    )
    against(
        lines,
        report.path_of("series.png"),
        across=Across("period", "period", (1, 13, 26, 39, 52), (1, periods), "linear"),
        axis=Axis("items named so far", None, "linear"),
        looks=_LOOKS,
        title="A list in every period, under one promise for all",
        subtitle=f"More is better. ε = {epsilon:g}, δ = {DELTA:g}. Dashed: one list, at the end.",
        size=(210, 190),
    )


def _all_along(named: pl.Expr) -> pl.Expr:
    """What one list names at the end, as a line to compare with."""
    at_the_end = pl.col("kind").is_in([ONE_WEIGHTED, ONE_ADAPTIVE])
    return pl.when(at_the_end).then(named.max().over("column", "kind")).otherwise(named)
