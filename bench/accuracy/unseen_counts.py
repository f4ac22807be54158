"""Top-k of counts that `JointOrPeel` was not tuned on, beside the best of all mechanisms."""

from __future__ import annotations

import polars as pl

import shortlist as sl
from bench.accuracy.choice import KIN, TUNED
from bench.accuracy.choice_runs import GROUPED, SIZES
from bench.accuracy.counts import PURE, WITH_DELTA
from bench.common import real
from bench.common.seeds import bits_of
from shortlist.draws import Ints
from shortlist.mechanisms import JointOrPeel
from shortlist.metrics import compare

__all__ = ["measure"]

EPSILONS = (0.1, 1.0)
DELTA = 1e-6
_AGAIN = (*TUNED, *KIN, "amazon_grocery_5core")  # a histogram of it is among the others
_KINDS = {DELTA: WITH_DELTA, 0.0: {"JointOrPeel": JointOrPeel, **PURE}}
_CELL = ["histogram", "delta", "epsilon", "k"]
_FIGURES = ("medians", "means")
_SHOWN = 20  # of the worst cells
_MORE = 3  # times as many runs as elsewhere: they are short, and errors vary
_LARGE = 1_000_000  # items, from which on there are as many

_NOTE = (
    f"Counts: k from {SIZES[0]} to {SIZES[-1]}, epsilon {EPSILONS[0]:g} and {EPSILONS[1]:g}, "
    f"{_MORE} times as many runs but of histograms of a million items. ℓ1 error + 1 over the least "
    "of all mechanisms in the same cell, by medians and by means of the runs: geometric means over "
    "the cells, and the worst cell. With "
    "delta=0 among pure mechanisms. As the least of nine noisy figures is below the best "
    "mechanism's true one, even that would have a ratio above 1. Histograms that share and "
    "threshold of `JointOrPeel` were checked on, not chosen on: {names}. "
    "The first 14 of the worst cells were run again, 200 times from other seeds (a script, not "
    "this table; without Gamma): their ratios by means are 2.46 in the geometric mean and above 3 "
    "in six, at most 6.6 (todayilearned, delta 1e-6, epsilon 0.1, k=3: an error of 18 ± 3, and "
    "1.9 ± 0.8 by JointPermuteAndFlip) and 5.0 (the same with delta=0, k=5: 587 ± 69, and 116 ± "
    "11 by OneShotExponential). Airline tweets at k=5, the first, has 1.9. Five cells taken at "
    "random from the others have 1.00 to 1.07."
)


def measure(runs: int) -> tuple[dict[str, pl.DataFrame], str]:
    """How far each mechanism is from the best of all; and the note, with what was measured.

    Returns:
        Tables by heading, none if there are no histograms; and the note.
    """
    found = _histograms()
    parts = [
        _of_histogram(name, counts, runs * (1 if len(counts) > _LARGE else _MORE))
        for name, counts in found.items()
    ]
    note = _NOTE.format(names=", ".join(found))
    if not parts:
        return {}, note
    beside = _beside(pl.concat(parts))
    of_default = beside.filter(mechanism="JointOrPeel").sort("by means", descending=True)
    worst = of_default.head(_SHOWN).drop("mechanism")
    return {"Counts": _ratios(beside), "Counts: worst of JointOrPeel": worst}, note


def _histograms() -> dict[str, Ints]:
    """Of files, and of the largest groups of two tables."""
    names = {**real.HISTOGRAMS, **real.TABLES}
    counts = real.histograms(of_tables=True, but=_AGAIN)
    whole = {names[name]: held for name, held in counts.items()}
    of_groups = {
        f"{group} ({name.rpartition('_')[2]})": held
        for name, most in GROUPED.items()
        for group, held in real.grouped(name, most).items()
    }
    return whole | of_groups


def _of_histogram(name: str, counts: Ints, runs: int) -> pl.DataFrame:
    """Medians and means of ℓ1 errors."""
    frame = pl.DataFrame({"item": range(len(counts)), "count": counts})
    source = sl.counts(frame, item="item", count="count", public_items=sl.IN_TABLE)
    found = [
        compare(
            source,
            [sl.TopK(k) for k in SIZES],
            epsilon=EPSILONS,
            delta=delta,
            mechanisms=kinds,
            runs=runs,
            random=bits_of(name, delta),
        ).runs
        for delta, kinds in _KINDS.items()
    ]
    print(f"{name}: {len(counts):,} items, {runs} runs done.")
    pure = found[-1].filter(pl.col("mechanism").is_in(list(PURE)))  # who has a delta may use none
    cells = pl.concat([*found, pure.with_columns(delta=pl.lit(DELTA))])
    cells = cells.with_columns(histogram=pl.lit(name))
    return cells.group_by(*_CELL, "mechanism", maintain_order=True).agg(
        medians=pl.col("l1").median(), means=pl.col("l1").mean()
    )


def _beside(errors: pl.DataFrame) -> pl.DataFrame:
    """With the ratios to the least of all in the same cell."""
    ratios = ((pl.col(f) + 1) / (pl.col(f).min() + 1).over(_CELL) for f in _FIGURES)
    named = errors.with_columns(
        *(ratio.alias(f"by {f}") for f, ratio in zip(_FIGURES, ratios, strict=True))
    )
    return named.sort("delta", descending=True, maintain_order=True)


def _ratios(beside: pl.DataFrame) -> pl.DataFrame:
    """Geometric means over the cells, and the worst cell."""
    return beside.group_by("delta", "mechanism", maintain_order=True).agg(
        pl.len().alias("cells"),
        *(pl.col(f"by {f}").log().mean().exp() for f in _FIGURES),
        *(pl.col(f"by {f}").max().alias(f"worst by {f}") for f in _FIGURES),
    )
