"""The defaults, on tables that their parameters were chosen on, and on others."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bench.accuracy import domain, glance, hitting_set, top_k, unseen_counts
from bench.accuracy.study import CLEARLY, SETTINGS, Study, overall
from bench.common import report

__all__ = ["compare", "compare_seen"]


STUDIES = (top_k.STUDY, domain.STUDY, hitting_set.STUDY)
LOOKED_AT = (
    "Not all are new: for top-k and hitting sets, Amazon grocery and games, Retail baskets and "
    "AskReddit words were measured while the designs were settled, and early ends on Retail "
    "baskets spoke for the slack of AdaptiveTopK. Nobody had looked at AskReddit bigrams, IMDb "
    "review words and Reddit title words. Of domains, the rule by which GreedyOrRounds chooses its "
    "way was settled with all tables in view. Of the histograms of counts, some were looked at "
    "more than once."
)
"""What the choice of parameters had seen of the other tables: figures of these flatter."""

Measured = Sequence[tuple[Study, pl.DataFrame]]


def compare(runs: int) -> None:
    """All questions on tables that no parameter was chosen on: the README's figures."""
    measured = [(study, study.figures(study.unseen, runs)) for study in STUDIES]
    if any(figures.is_empty() for _, figures in measured):
        return
    counted, of_counts = unseen_counts.measure(runs)
    tables = _tables(measured) | counted
    which = "Tables and histograms beside those that parameters of the defaults were chosen on."
    told = [study.told(study.unseen) for study in STUDIES]
    notes = [which, LOOKED_AT, SETTINGS.format(runs=runs), CLEARLY, *told, of_counts]
    pictures = {"glance.png": "What the defaults name beside the published mechanisms"}
    pictures |= _plot(measured, "unseen")
    report.write("unseen", "Tables that no parameter was chosen on", tables, notes, pictures)
    (_, ranked), (_, found), _ = measured
    glance.plot(ranked, found, "glance.png")


def compare_seen(runs: int) -> None:
    """The same, but counts, on the tables that their parameters were chosen on."""
    measured = [(study, study.figures(study.chosen_on, runs)) for study in STUDIES]
    if any(figures.is_empty() for _, figures in measured):
        return
    which = (
        "Tables that parameters of the defaults were chosen on, or that were looked at meanwhile. "
        "[unseen.md](unseen.md) has the others."
    )
    told = [study.told(study.chosen_on) for study in STUDIES]
    notes = [which, SETTINGS.format(runs=runs), CLEARLY, *told]
    title = "Accuracy on the tables that the defaults were chosen on"
    pictures = _plot(measured, "accuracy")
    report.write("accuracy", title, _tables(measured), notes, pictures)


def _plot(measured: Measured, stem: str) -> dict[str, str]:
    """Draw top-k and domains; what is shown, by the names of the files."""
    (_, ranked), (_, found), _ = measured
    top_k.plot(ranked, f"{stem}.png")
    domain.plot(found, f"{stem}-domain.png")
    return {
        f"{stem}.png": "Missing mass of top-k against k",
        f"{stem}-domain.png": "Items named against the bound",
    }


def _tables(measured: Measured) -> dict[str, pl.DataFrame]:
    """Summaries over all cells, where defaults lose, summaries of parts, and all figures."""
    found = [(study, figures, study.summary(figures)) for study, figures in measured]
    first = {study.title: overall(summary) for study, _, summary in found}
    losses = {f"{study.title}: clearly worse": study.losses(f) for study, f, _ in found}
    parts = {f"{study.title}: parts": summary for study, _, summary in found}
    return first | losses | parts | {f"{study.title}: figures": f for study, f, _ in found}
