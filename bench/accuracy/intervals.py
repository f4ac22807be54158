"""How often intervals hold what they are of: counts, ranks, and users reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import altair as alt
import numpy as np
import polars as pl

import shortlist as sl
from bench.common import real, report
from bench.common.plotting import save
from bench.common.seeds import bits_of
from shortlist.questions import Question
from shortlist.release._others import Others

__all__ = ["measure"]

EPSILONS = (0.3, 1.0)
DELTA = 1e-4  # so large that tiny tables have answers
STATED = 0.95
K = 5
REAL = ("steam_200k", "twitter_airline_tokens", "fimi_retail")
QUESTIONS: tuple[Question, ...] = (
    sl.TopK(K, noisy_counts=True),
    sl.HittingSet(K, noisy_counts=True),
    sl.Domain(noisy_counts=True),
    sl.TopK(K, others=True),
    sl.Domain(others=True),
)
_MOST_PAIRS = 100  # of one user, where nobody gives another bound
_PANELS = (
    *("counts", "all ranks", "clipped counts, lower ends", "users reached", "reached in all"),
    *("users without", "coverage"),
)


@dataclass(frozen=True)
class _Table:
    """Rows of users and items, with a source of them.

    Attributes:
        name: What it is called in the results.
        rows: Columns user and item, each pair once.
        is_tiny: Whether it is so small that many runs take little time.
        public: Whether everybody knows the items.
    """

    name: str
    rows: pl.DataFrame
    is_tiny: bool = True
    public: bool = False

    def source(self) -> sl.Pairs:
        known = self.rows["item"].unique().sort().to_list() if self.public else None
        return sl.pairs(self.rows, user="user", item="item", public_items=known)

    @property
    def questions(self) -> Iterator[Question]:
        """Those that such items allow."""
        for_all = (sl.TopK(K, noisy_counts=True),)
        return iter(for_all if self.public else QUESTIONS)


def measure(runs: int) -> None:
    """Run, look whether intervals hold, print, write and draw.

    Args:
        runs: Of each tiny table; of a real one a tenth of them.
    """
    tables = [*_tiny(), *_real()]
    held = pl.DataFrame([row for table in tables for row in _of_table(table, runs)])
    setting = (
        "Seeded runs (so nothing here is private) of questions with noisy_counts=True or "
        f"others=True, at delta={DELTA:g}. In {STATED:.0%} of all cases an interval is to hold the "
        "number without noise; of ranks, all of a list together; of clipped counts the lower end "
        "alone. ±: two standard errors, where the intervals of one run count as one."
    )
    short = held.filter(pl.col("held") + pl.col("±") < STATED)
    report.write(
        "intervals",
        "How often intervals hold",
        {"Fewer than stated": short, "All": held},
        [setting],
        {"intervals.png": "How often intervals hold"},
    )
    _plot(held)


def _tiny() -> Iterator[_Table]:
    """Counts that are far apart, and counts that are equal."""
    for name, sizes in (("steps", range(60, 360, 60)), ("ties", [200] * 6)):
        held = [(user, f"item {i}") for i, size in enumerate(sizes) for user in range(size)]
        rows = pl.DataFrame(held, schema=["user", "item"], orient="row")
        yield _Table(f"tiny, {name}", rows)
        yield _Table(f"tiny, {name}, public items", rows, public=True)


def _real() -> Iterator[_Table]:
    for name, path in real.find(REAL).items():
        rows = pl.read_parquet(path).select("user", "item").unique(maintain_order=True)
        yield _Table(real.TABLES[name], rows, is_tiny=False)


def _of_table(table: _Table, runs: int) -> Iterator[dict[str, object]]:
    counts = dict(table.rows.group_by("item").len().iter_rows())
    for question, epsilon in product(table.questions, EPSILONS):
        plan = table.source().plan(question, epsilon=epsilon, delta=DELTA)
        seen: dict[str, list[float]] = {}
        for run in range(runs if table.is_tiny else max(runs // 10, 1)):
            release = plan.run(random=bits_of(table.name, question.name, epsilon, run))
            for what, right in _held(release, table.rows, counts).items():
                seen.setdefault(what, []).append(float(np.mean(right)))
        for what, shares in seen.items():
            error = 2 * np.std(shares) / len(shares) ** 0.5
            yield {
                "table": table.name,
                "question": question.name,
                "epsilon": epsilon,
                "interval": what,
                "runs": len(shares),
                "held": float(np.mean(shares)),
                "±": float(error),
            }
    print(f"{table.name}: done.")


def _held(
    release: sl.Release, rows: pl.DataFrame, counts: Mapping[object, int]
) -> dict[str, Sequence[bool]]:
    """Whether each interval of a release holds what it is of, by the kind of interval."""
    listed = release.to_polars()
    if release.others is not None:
        return _others_held(release, release.others, rows)
    if not len(listed):
        return {}
    found = {
        what: right(listed, rows, counts)
        for column, (what, right) in _CHECKS.items()
        if column in listed.columns
    }
    if "clipped_count" in listed.columns:
        found = {"clipped counts, lower ends": found["counts"]}
    if release.reached is not None:
        _, low, high = release.reached
        reached = rows.filter(pl.col("item").is_in(release.items))["user"].n_unique()
        found["reached in all"] = [low <= reached <= high]
    return found


def _others_held(
    release: sl.Release, others: Others, rows: pl.DataFrame
) -> dict[str, Sequence[bool]]:
    """Of a user who holds more than the bound each pair counts for less."""
    held = rows.select("user", named=pl.col("item").is_in(release.items)).group_by("user")
    users = held.agg(pl.col("named").sum(), size=pl.len().clip(_MOST_PAIRS), all=pl.len())
    covered, whole = (float((users[n] / users["size"]).sum()) for n in ("named", "all"))
    without = users.filter(pl.col("named") == 0).height
    (_, least, most), (_, low, high) = others.users_without, others.coverage
    return {
        "users without": [least <= without <= most],
        "coverage": [low <= covered / whole <= high],
    }


def _counts_held(listed: pl.DataFrame, _: pl.DataFrame, counts: Mapping[object, int]) -> list[bool]:
    highs = listed["count_high"] if "count_high" in listed.columns else [np.inf] * len(listed)
    ends = zip(listed["item"], listed["count_low"], highs, strict=True)
    return [low <= counts.get(item, 0) <= high for item, low, high in ends]


def _ranks_held(listed: pl.DataFrame, _: pl.DataFrame, counts: Mapping[object, int]) -> list[bool]:
    """One for the whole list; an item that others equal may have any of their ranks."""
    held = np.array([counts.get(item, 0) for item in listed["item"]])
    best = (held[:, None] < held).sum(axis=1) + 1
    worst = (held[:, None] <= held).sum(axis=1)
    lows, highs = listed["rank_low"].to_numpy(), listed["rank_high"].to_numpy()
    return [bool(((lows <= worst) & (best <= highs)).all())]


def _reach_held(listed: pl.DataFrame, rows: pl.DataFrame, _: Mapping[object, int]) -> list[bool]:
    """Each user counts once, at the first item of the list that the user holds."""
    places = dict(zip(listed["item"], range(len(listed)), strict=True))
    held = rows.filter(pl.col("item").is_in(listed["item"].to_list()))
    first = held.select("user", place=pl.col("item").replace_strict(places)).group_by("user").min()
    reached = np.bincount(first["place"].to_numpy(), minlength=len(listed))
    ends = zip(reached, listed["reached_low"], listed["reached_high"], strict=True)
    return [low <= n <= high for n, low, high in ends]


_Check = Callable[[pl.DataFrame, pl.DataFrame, Mapping[object, int]], list[bool]]
_CHECKS: dict[str, tuple[str, _Check]] = {
    "count_low": ("counts", _counts_held),
    "rank_low": ("all ranks", _ranks_held),
    "reached_low": ("users reached", _reach_held),
}


def _plot(held: pl.DataFrame) -> None:
    """A panel for each kind of interval, a dot with two standard errors for each cell."""
    cells = held.with_columns(
        cell=pl.format("{}, ε = {}", "table", "epsilon"),
        low=pl.col("held") - pl.col("±"),
        high=pl.min_horizontal(pl.col("held") + pl.col("±"), pl.lit(1.0)),
        stated=pl.lit(STATED),
    )
    across = alt.Scale(domain=[0.9, 1], zero=False, clamp=True)
    y = alt.Y("cell:N", title=None)
    base = alt.Chart(cells).encode(y=y)
    x = alt.X(
        "held:Q", title="share of intervals that hold", scale=across, axis=alt.Axis(format="%")
    )
    layers = (
        base.mark_rule(color="#888888", strokeDash=[4, 3]).encode(x="stated:Q", y=alt.Y()),
        base.mark_rule(color="#0b6e99").encode(x=alt.X("low:Q", scale=across), x2="high:Q"),
        base.mark_point(filled=True, size=45, color="#0b6e99").encode(x=x),
    )
    chart = (
        alt.layer(*layers)
        .properties(width=260)
        .facet(alt.Facet("interval:N", title=None, sort=list(_PANELS)), columns=2)
    )
    save(
        chart.resolve_scale(y="independent"),
        report.path_of("intervals.png"),
        "How often intervals hold",
        f"Stated: {STATED:.0%} (dashed), or more. Two standard errors.",
    )
