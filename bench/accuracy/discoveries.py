"""Which items go with a label: how many real ones are named, and how many false ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import altair as alt
import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

import shortlist as sl
from bench.accuracy import labelled_tables
from bench.accuracy.labelled_tables import Invented, Labelled
from bench.common import report
from bench.common.plotting import save
from bench.common.seeds import draws_of
from bench.common.timing import in_turns
from shortlist.algorithms.e_values import ETest, NoisyNumbers, Sizes
from shortlist.draws import Floats, Ints
from shortlist.mechanisms import Association
from shortlist.mechanisms.wrappers.noisy_counts import least_correlated
from shortlist.parameters import Side

__all__ = ["compare"]

DELTA, FDR, K = 1e-6, 0.1, 100
EPSILONS = (0.3, 1.0)
USERS = (5000, 20_000, 200_000)
_REVIEWS = (5000, 20_000, 50_000)
_K_OF_GENOMES = 50
_TIMED_USERS, _TIMED_ITEMS, _TIMED_EACH = 100_000, 5000, 20
_DRAWN = {  # the colour of each way
    "default": "#0b6e99",
    "noise on all items": "#d98b2b",
    "Dwork, Su & Zhang": "#b04a5a",
    "not private": "#888888",
}


@dataclass(frozen=True)
class Test:
    """What is asked of a table.

    Attributes:
        items: How many there are.
        k: How many are looked at.
        epsilon: Above 0.
    """

    items: int
    k: int
    epsilon: float

    @cached_property
    def mechanism(self) -> Association:
        """With sizes drawn in noise, as by default."""
        return Association(
            k=self.k,
            n_items=self.items,
            epsilon=self.epsilon,
            delta=DELTA,
            fdr=FDR,
            side=Side.CASES,
        )

    def by_default(self, table: Labelled, run: int) -> Ints:
        """The positions of the items named."""
        draws = draws_of("discoveries", run, self.epsilon, self.k)
        looked_at = self.mechanism.concluded(self.mechanism.select(table.counts, draws))
        found = looked_at.associations or ()
        return looked_at.positions[[one.level <= FDR for one in found]]

    def in_noise(self, table: Labelled, run: int) -> Ints:
        """By the same e-values, from numbers of all items in noise; sizes are exact."""
        rho, counts = self.mechanism.rho, table.counts
        sizes = Sizes(counts.n_cases, counts.n_controls, 0.0)
        scores, holders = (
            least_correlated(math.sqrt(2 * part * rho), k=self.items, m=self.items).sd
            for part in (0.95, 0.05)
        )
        score_sd = scores * max(sizes.cases, sizes.controls) / sizes.total
        draw = np.random.default_rng([run, 11])
        noisy = NoisyNumbers(
            _scores(table) + draw.normal(0, score_sd, self.items),
            counts.cases + counts.controls + draw.normal(0, holders, self.items),
            0.0,
            0.0,
        )
        test = ETest.of(
            sizes, score_sd=score_sd, holder_sd=holders, level=FDR, k=self.k, n_items=self.items
        )
        return np.flatnonzero(_step_up(-test.log_e_values(noisy, Side.CASES), self.items))

    def as_published(self, table: Labelled, run: int) -> Ints:
        """Picks by p-values in Laplace noise, in one shot, and a step-up test of these in noise.

        One user moves the logarithm of a p-value by at most so much: as for the most common item,
        though it is more for a rarer one.
        """
        counts = table.counts
        least = 0.5 * FDR / self.items
        share = max(counts.n_cases, counts.n_controls) / (counts.n_cases + counts.n_controls)
        most = (counts.cases + counts.controls).max()
        moved = -ndtri(least) * share / (math.sqrt(most) / 2)
        scale = moved * math.sqrt(10 * self.k * math.log(1 / DELTA)) / (2 * self.epsilon)
        draw = np.random.default_rng([run, 13])
        logarithms = np.log(np.maximum(_p_values(table), least))
        picked = np.argsort(logarithms + draw.laplace(0, scale, self.items))[: self.k]
        noisy = logarithms[picked] + draw.laplace(0, scale, self.k)
        lowered = 2 * scale * math.log(6 * self.k / FDR)
        return picked[_step_up(noisy + lowered, self.items)]

    def not_private(self, table: Labelled, _: int) -> Ints:
        """By the procedure of Benjamini and Hochberg."""
        return np.flatnonzero(_step_up(np.log(_p_values(table)), self.items))


def _scores(table: Labelled) -> Floats:
    counts = table.counts
    share = counts.n_controls / (counts.n_cases + counts.n_controls)
    scores: Floats = share * counts.cases - (1 - share) * counts.controls
    return scores


def _p_values(table: Labelled) -> Floats:
    """One-sided, in the normal approximation of drawing holders without replacement."""
    counts = table.counts
    users = counts.n_cases + counts.n_controls
    held = (counts.cases + counts.controls).astype(np.float64)
    share = counts.n_cases / users
    variance = held * (1 - (held - 1) / users) * share * (1 - share)
    p_values: Floats = ndtr(-_scores(table) / np.sqrt(np.maximum(variance, 1e-9)))
    return np.maximum(p_values, 1e-300)


def _step_up(logarithms: Floats, items: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether each is named by Benjamini and Hochberg, from logarithms of p-values.

    One over an e-value takes the place of a p-value.
    """
    order = np.argsort(logarithms)
    bars = np.log(FDR * np.arange(1, len(order) + 1) / items)
    below = np.flatnonzero(logarithms[order] <= bars)
    named = np.zeros(len(order), np.bool_)
    if len(below):
        named[order[: below[-1] + 1]] = True
    return named


_WAYS: Mapping[str, Callable[[Test, Labelled, int], Ints]] = {
    "default": Test.by_default,
    "noise on all items": Test.in_noise,
    "Dwork, Su & Zhang": Test.as_published,
    "not private": Test.not_private,
}


def compare(runs: int) -> None:
    """Compare, print and write.

    Args:
        runs: Tables in each cell of invented ones; of real ones a fifth.
    """
    invented = pl.DataFrame(list(_of_invented(runs)))
    tables = {
        "Invented tables": _a_line_a_cell(invented),
        "Reviews": pl.DataFrame(list(_of_reviews(runs // 5))),
        "Genomes": pl.DataFrame(list(_of_genomes(runs // 2))),
        "Time": _timed(),
    }
    setting = (
        f"5,000 public items, k={K} (genomes: {_K_OF_GENOMES}), fdr={FDR}, delta={DELTA:g}; half "
        "of the users are cases, and how many there are is drawn in noise. Invented: 50 items go "
        "with the label, by 4 to 8 standard deviations; common items are held by 5 to 50 % of "
        "users, rare ones by 0.2 to 3 %; shared: the other items come in blocks of 50, of which "
        f"each user of the block holds 90 %. {runs} tables a cell. Reviews: of films, label: "
        "positive; the 5,000 most common words, and the same words with labels dealt anew, as "
        f"decoys; {runs // 5} runs. Genomes: 10,000 people who copy stretches of 100 founders, "
        "4,900 variants in 50 segments; a segment counts once, however many of its variants are "
        f"named, and is false if it holds no cause; {runs // 2} runs. All from fixed seeds, so "
        "that nothing here is private."
    )
    ways = (
        "found: the share of the real items that are named (genomes: of segments with a cause). "
        "fdr: the mean share of false ones among those named; ± two standard errors. Noise on all "
        "items: the same e-values, and the sizes are known. Dwork, Su & Zhang (2021): with the "
        "constants of a published script, as if all items were as common as the most common one. "
        "Not private: Benjamini and Hochberg, for independent items."
    )
    _plot(invented)
    shown = {name: table for name, table in tables.items() if len(table)}
    pictures = {"discoveries.png": "Real items named, by users, for each way"}
    report.write("discoveries", "What goes with a label", shown, [setting, ways], pictures)


def _a_line_a_cell(invented: pl.DataFrame) -> pl.DataFrame:
    """What each way found, and its false discovery rate."""
    by = ["users", "items", "holders", "epsilon"]
    wide = invented.pivot("way", index=by, values=["found", "fdr", "±"])
    figures = [
        pl.col(f"{figure}_{way}").alias(f"{figure}: {way}")
        for way in _WAYS
        for figure in ("found", "fdr")
    ]
    most = pl.max_horizontal(f"±_{way}" for way in _WAYS if way != "not private")
    return wide.select(*by, *figures, most.alias("±, private ways"))


def _of_invented(runs: int) -> Iterator[dict[str, object]]:
    for shared, holders, users in product((False, True), labelled_tables.HOLDERS, USERS):
        made = Invented(users, holders, shared)
        named = {"users": users, "items": holders, "holders": "shared" if shared else "independent"}
        yield from _cells(named, made.tables(runs), K)
    print("invented tables: done.")


def _of_reviews(runs: int) -> Iterator[dict[str, object]]:
    for users in _REVIEWS:
        for cell in _cells({"reviews": users}, labelled_tables.reviews(users, runs), K):
            del cell["found"]  # which words go with praise, nobody knows
            yield {"decoys" if name == "false" else name: of for name, of in cell.items()}
    print("reviews: done.")


def _of_genomes(runs: int) -> Iterator[dict[str, object]]:
    yield from _cells({}, labelled_tables.genomes(runs), _K_OF_GENOMES)
    print("genomes: done.")


def _cells(
    named: Mapping[str, object], tables: Iterator[Labelled], k: int
) -> Iterator[dict[str, object]]:
    outcomes: dict[tuple[float, str], list[tuple[float, int, int]]] = {}
    tests: dict[float, Test] = {}
    for run, table in enumerate(tables):
        for epsilon in EPSILONS:
            test = tests.setdefault(epsilon, Test(len(table.real), k, epsilon))
            for way, ask in _WAYS.items():
                outcome = _outcome(table, ask(test, table, run))
                outcomes.setdefault((epsilon, way), []).append(outcome)
    for (epsilon, way), found in outcomes.items():
        share, real, false = (np.array(part, np.float64) for part in zip(*found, strict=True))
        fdp = false / np.maximum(real + false, 1)
        yield {
            **named,
            "epsilon": epsilon,
            "way": way,
            "found": round(float(share.mean()), 3),
            "named": round(float((real + false).mean()), 2),
            "false": round(float(false.mean()), 3),
            "fdr": round(float(fdp.mean()), 4),
            "±": round(float(2 * fdp.std() / math.sqrt(len(fdp))), 4),
        }


def _outcome(table: Labelled, positions: Ints) -> tuple[float, int, int]:
    """The share of real things that were named, and how many real and false ones."""
    things = np.unique(table.unit[positions])
    real_things = np.unique(table.unit[table.real])
    real = int(np.isin(things, real_things).sum())
    return real / len(real_things), real, len(things) - real


def _timed() -> pl.DataFrame:
    draw = np.random.default_rng(3)
    rows = pl.DataFrame(
        {
            "user": np.repeat(np.arange(_TIMED_USERS), _TIMED_EACH),
            "item": draw.integers(0, _TIMED_ITEMS, _TIMED_USERS * _TIMED_EACH),
        }
    )
    users = np.arange(_TIMED_USERS)
    labels = pl.DataFrame({"user": users, "label": np.where(users % 2, "yes", "no")})
    items = pl.DataFrame({"item": np.arange(_TIMED_ITEMS)})

    def private() -> object:
        study = sl.association(
            rows,
            user="user",
            item="item",
            labels=labels,
            label="label",
            case="yes",
            control="no",
            public_items=items,
        )
        return study.discoveries(k=K, fdr=FDR, epsilon=1.0, delta=DELTA)

    def exact() -> object:
        return rows.unique().join(labels, on="user").group_by("item", "label").len()

    times = in_turns({"private": private, "exact": exact}, runs=5)
    cpu = {name: float(np.median(of.cpu)) for name, of in times.items()}
    return pl.DataFrame(
        {
            "users": [_TIMED_USERS],
            "items": [_TIMED_ITEMS],
            "rows": [len(rows)],
            "discoveries, seconds": [times["private"].median],
            "exact counts by Polars": [times["exact"].median],
            "ratio": [round(times["private"].median / times["exact"].median, 2)],
            "ratio of CPU": [round(cpu["private"] / cpu["exact"], 2)],
            "aim": [2.0],
        }
    )


def _plot(cells: pl.DataFrame) -> None:
    """A panel for each kind of items and epsilon, the share found by users for each way."""
    data = cells.with_columns(
        kind=pl.format("{}, {}\nε = {}", "items", "holders", "epsilon"),
    )
    base = alt.Chart(data).encode(
        x=alt.X("users:Q", scale=alt.Scale(type="log"), title="users"),
        y=alt.Y("found:Q", title="real items named", axis=alt.Axis(format="%")),
        color=alt.Color(
            "way:N",
            scale=alt.Scale(domain=list(_DRAWN), range=list(_DRAWN.values())),
            legend=alt.Legend(title=None, orient="top"),
        ),
    )
    header = alt.Header(labelExpr=r"split(datum.label, '\n')")
    chart = (
        (base.mark_line() + base.mark_point(filled=True, size=40))
        .properties(width=170, height=130)
        .facet(alt.Facet("kind:N", title=None, header=header), columns=4)
    )
    save(
        chart,
        report.path_of("discoveries.png"),
        "What goes with a label: real items that are named",
        f"50 of 5,000 items are real; {FDR:.0%} of those named may be false on average.",
    )
