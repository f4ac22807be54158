"""The defaults, on tables that they were chosen on, and on those that nothing was tuned on."""

from __future__ import annotations

import polars as pl

from bench.accuracy import domain, glance, hitting_set, top_k, unseen_counts
from bench.accuracy.study import CLEARLY, SETTINGS, overall
from bench.common import report

__all__ = ["compare", "compare_seen"]


def compare(runs: int) -> None:
    """All questions on tables that nothing was tuned on: the README's figures."""
    ranked = top_k.STUDY.figures(top_k.UNSEEN, runs)
    found = domain.STUDY.figures(domain.UNSEEN, runs)
    hit = hitting_set.STUDY.figures(hitting_set.UNSEEN, runs)
    if ranked.is_empty() or found.is_empty() or hit.is_empty():
        return
    counted, of_counts = unseen_counts.summary(runs)
    tables = _tables(ranked, found) | {
        "Hitting set": overall(hitting_set.STUDY.summary(hit)),
        "Hitting set, parts": hitting_set.STUDY.summary(hit),
        "Counts": counted,
    }
    notes = [
        "Tables and histograms on which no parameter of a default was chosen.",
        SETTINGS.format(runs=runs),
        CLEARLY,
        *(module.STUDY.told(module.UNSEEN) for module in (top_k, domain, hitting_set)),
        of_counts,
    ]
    pictures = {
        "glance.png": "What the defaults name beside the published mechanisms",
        "unseen.png": "Missing mass of top-k against k",
        "unseen-domain.png": "Items named against the bound",
    }
    report.write("unseen", "Tables that nothing was tuned on", tables, notes, pictures)
    top_k.plot(ranked, "unseen.png")
    domain.plot(found, "unseen-domain.png")
    glance.plot(ranked, found, "glance.png")


def compare_seen(runs: int) -> None:
    """Top-k and domain on the tables that their parameters were chosen on."""
    ranked = top_k.STUDY.figures(top_k.CHOSEN_ON, runs)
    found = domain.STUDY.figures(domain.CHOSEN_ON, runs)
    if ranked.is_empty() or found.is_empty():
        return
    which = (
        "Tables that parameters of the defaults were chosen on, or that were looked at meanwhile. "
        "[unseen.md](unseen.md) has the others."
    )
    notes = [
        which,
        SETTINGS.format(runs=runs),
        CLEARLY,
        *(module.STUDY.told(module.CHOSEN_ON) for module in (top_k, domain)),
    ]
    pictures = {
        "accuracy.png": "Missing mass of top-k against k",
        "accuracy-domain.png": "Items named against the bound",
    }
    title = "Accuracy on the tables that the defaults were chosen on"
    report.write("accuracy", title, _tables(ranked, found), notes, pictures)
    top_k.plot(ranked, "accuracy.png")
    domain.plot(found, "accuracy-domain.png")


def _tables(ranked: pl.DataFrame, found: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Summaries over all cells and over parts of them, and the figures."""
    every = {"Top-k": (top_k.STUDY, ranked), "Domain": (domain.STUDY, found)}
    summaries = {name: study.summary(figures) for name, (study, figures) in every.items()}
    return (
        {name: overall(summary) for name, summary in summaries.items()}
        | {f"{name}, parts": summary for name, summary in summaries.items()}
        | {f"{name}, figures": figures for name, (_, figures) in every.items()}
    )
