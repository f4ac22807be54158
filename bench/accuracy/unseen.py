"""The defaults, on tables that they were chosen on, and on those that nothing was tuned on."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from bench.accuracy import domain, glance, hitting_set, top_k, unseen_counts
from bench.accuracy.study import CLEARLY, SETTINGS, Study, overall
from bench.common import report

__all__ = ["compare", "compare_seen"]


STUDIES = (top_k.STUDY, domain.STUDY, hitting_set.STUDY)


def compare(runs: int) -> None:
    """All questions on tables that nothing was tuned on: the README's figures."""
    ranked = top_k.STUDY.figures(top_k.UNSEEN, runs)
    found = domain.STUDY.figures(domain.UNSEEN, runs)
    hit = hitting_set.STUDY.figures(hitting_set.UNSEEN, runs)
    if ranked.is_empty() or found.is_empty() or hit.is_empty():
        return
    counted, of_counts = unseen_counts.summary(runs)
    tables = {"Counts": counted} if not counted.is_empty() else {}
    tables = _tables(zip(STUDIES, (ranked, found, hit), strict=True)) | tables
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
    report.write(
        "accuracy", title, _tables(zip(STUDIES[:2], (ranked, found), strict=True)), notes, pictures
    )
    top_k.plot(ranked, "accuracy.png")
    domain.plot(found, "accuracy-domain.png")


def _tables(measured: Iterable[tuple[Study, pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """Summaries over all cells, where defaults lose, summaries of parts, and all figures."""
    found = [(study, figures, study.summary(figures)) for study, figures in measured]
    first = {study.title: overall(summary) for study, _, summary in found}
    losses = {f"{study.title}: clearly worse": study.losses(f) for study, f, _ in found}
    parts = {f"{study.title}: parts": summary for study, _, summary in found}
    return first | losses | parts | {f"{study.title}: figures": f for study, f, _ in found}
