"""How well `JointOrPeel` chooses on real histograms, as it is and with other settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import polars as pl

from bench.accuracy.choice_runs import DELTAS, SHARES, Cell, Errors, all_cells
from bench.common import real, report
from bench.common.axes import Axis
from bench.common.cells import EPSILONS, SIZES
from bench.common.plotting import Look, against_k
from shortlist.mechanisms import JointOrPeel

__all__ = ["compare"]

THRESHOLDS: dict[str, Callable[[int], int]] = {
    str(threshold): lambda _, threshold=threshold: threshold
    for threshold in (10, 20, 30, 40, 50, 60, 80)
} | {"k, at most 40": lambda k: min(k, 40), "2 k, at most 80": lambda k: min(2 * k, 80)}
CELL = ("histogram", "delta", "epsilon", "k")
LOOKS = {
    "always the other": Look("#d1701a"),
    "always JOINT": Look("#0b6e99"),
    "JointOrPeel": Look("#111111", width=3),
}
STATISTICS: dict[str, Callable[[Errors], float]] = {
    "medians": lambda errors: errors.median,
    "means": lambda errors: errors.mean,
}
WAYS: dict[str, Callable[[Cell], Errors]] = {
    "JointOrPeel": lambda cell: cell.chosen,
    "always JOINT": lambda cell: cell.joint,
    "always the other": lambda cell: cell.other,
}


def compare(runs: int) -> None:
    """The mechanism as it is, and the grid of other settings: tables and a plot."""
    cells = list(all_cells(runs))
    if not cells:
        return
    tables = {"Summary": _summary(cells), "Settings": _grid(cells), "Cells": _frame(cells)}
    pictures = {"choice.png": "Ratios against k"}
    notes = _notes(cells, runs)
    report.write("choice", "The private choice of JointOrPeel", tables, notes, pictures)
    _plot(cells)


def _notes(cells: Sequence[Cell], runs: int) -> list[str]:
    with_delta, pure = (_default(5, delta) for delta in DELTAS)
    rule = (
        "The rule: the logarithm of JOINT's normaliser, which says how many sequences compete, "
        f"with Laplace noise that {pure.choice_share:g} of epsilon pays for. Where it is "
        f"{with_delta.switch_at} or more, or {pure.switch_at} with delta=0, items "
        "are picked one by one; where it is less, JOINT picks them as a whole."
    )
    reason = (
        "Why so: settings are judged by medians and by means, since a rare wrong choice shows in "
        "means alone. By medians low thresholds are a little better. By means they are "
        "bad: the noise then often chooses to pick one by one where gaps are wide and JOINT makes "
        "no error. A smaller share makes that more frequent, a larger one leaves less for the "
        "answer. With delta=0 the other way errs by much more where it is wrong, and is hardly "
        "better where it is right; so the threshold is higher there. Thresholds that grow with k, "
        "the last two of each share, are not clearly better: on about half of the histograms."
    )
    n = len({cell.histogram for cell in cells})
    settings = (
        f"{n} histograms of real data (five of counts, the rest counted from tables), k from "
        f"{SIZES[0]} to {SIZES[-1]}, {runs} runs each from fixed seeds (so nothing here is "
        "private). All figures are ℓ1 error + 1, over that of the better of JOINT and the other "
        "way, both at full budget; geometric means over the cells, or the worst of them. The other "
        "way is Peeling, or PermuteAndFlip with delta=0."
    )
    mixture = (
        "The errors of JointOrPeel are those of runs of both ways with the budget that is left to "
        "them, weighted with the exact odds of the choice: so no rare choice is missed. The last "
        "table has ℓ1 errors in every cell, and the logarithm of the normaliser, ln Z."
    )
    return [settings, rule, reason, mixture]


def _default(k: int, delta: float) -> JointOrPeel:
    return JointOrPeel(k=k, epsilon=1.0, delta=delta)


# Summing up


def _ratio(cell: Cell, errors: Errors, statistic: str) -> float:
    """Error + 1, over that of the better way at full budget."""
    of = STATISTICS[statistic]
    return (of(errors) + 1) / (min(of(cell.joint), of(cell.other)) + 1)


def _geometric_mean(ratios: Iterable[float]) -> float:
    return math.exp(np.mean(np.log(list(ratios))))


def _parts(cells: Sequence[Cell]) -> Iterator[tuple[str, list[Cell]]]:
    yield "all", list(cells)
    for epsilon in EPSILONS:
        yield f"epsilon={epsilon:g}", [cell for cell in cells if cell.epsilon == epsilon]
    yield "histograms", [cell for cell in cells if cell.histogram in real.HISTOGRAMS]
    yield "tables", [cell for cell in cells if cell.histogram not in real.HISTOGRAMS]


def _summary(cells: Sequence[Cell]) -> pl.DataFrame:
    """The mechanism beside either way alone, by parts of the cells."""
    rows = []
    for delta, statistic in product(DELTAS, STATISTICS):
        some = [cell for cell in cells if cell.delta == delta]
        for part, members in _parts(some):
            row: dict[str, object] = {"delta": delta, "by": statistic, "cells": part}
            for name, of in WAYS.items():
                ratios = [_ratio(cell, of(cell), statistic) for cell in members]
                row |= {name: _geometric_mean(ratios), f"worst of {name}": max(ratios)}
            rows.append(row)
    return pl.DataFrame(rows)


def _grid(cells: Sequence[Cell]) -> pl.DataFrame:
    """The mechanism with other settings, over all cells of a delta."""
    rows = []
    for delta, share, (name, threshold) in product(DELTAS, SHARES, THRESHOLDS.items()):
        some = [cell for cell in cells if cell.delta == delta]
        row: dict[str, object] = {"delta": delta, "choice_share": share, "threshold": name}
        for statistic in STATISTICS:
            errors = [cell.settings[share].errors(threshold(cell.k)) for cell in some]
            ratios = [_ratio(c, e, statistic) for c, e in zip(some, errors, strict=True)]
            row |= {statistic: _geometric_mean(ratios), f"worst of {statistic}": max(ratios)}
        row["default"] = share == JointOrPeel.choice_share and all(
            threshold(k) == _default(k, delta).switch_at for k in SIZES
        )
        rows.append(row)
    return pl.DataFrame(rows)


def _frame(cells: Sequence[Cell]) -> pl.DataFrame:
    """One row for each cell."""
    rows = []
    for cell in cells:
        default = _default(cell.k, cell.delta)
        setting = cell.settings[default.choice_share]
        row: dict[str, object] = {name: getattr(cell, name) for name in CELL}
        row |= {"ln Z": setting.log_z, "chance of the other": setting.chance(default.switch_at)}
        for statistic, (name, of) in product(STATISTICS, WAYS.items()):
            row[f"{name}, {statistic}"] = STATISTICS[statistic](of(cell))
        rows.append(row)
    return pl.DataFrame(rows)


def _plot(cells: Sequence[Cell]) -> None:
    """The ratio of medians against k, geometric means over the histograms."""
    rows = []
    for delta, epsilon, k, name in product(DELTAS, EPSILONS, SIZES, WAYS):
        some = [c for c in cells if (c.delta, c.epsilon, c.k) == (delta, epsilon, k)]
        ratios = [_ratio(cell, WAYS[name](cell), "medians") for cell in some]
        low, high = np.quantile(ratios, [0.25, 0.75])
        rows.append(
            (f"δ = {delta:g}", f"ε = {epsilon:g}", name, k, low, _geometric_mean(ratios), high)
        )
    names = ["row", "column", "series", "k", "low", "middle", "high"]
    against_k(
        pl.DataFrame(rows, schema=names, orient="row"),
        report.path_of("choice.png"),
        axis=Axis("times the better", [1, 2, 5, 10, 20], labels="datum.value"),
        looks=LOOKS,
        title="JointOrPeel beside the better of its two ways",
        subtitle=[
            "Median ℓ1 error + 1, over that of the better at full budget; the other is peeling,",
            "or permute-and-flip where δ = 0. Geometric mean over the histograms, and quartiles.",
        ],
        size=(260, 190),
    )
