"""Other options for the defaults than their own, on the tables that these were chosen on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bench.accuracy import domain, top_k
from bench.accuracy.study import CLEARLY, SETTINGS, Kinds
from bench.common import report
from shortlist.mechanisms import AdaptiveGaussian, AdaptiveTopK

__all__ = ["compare"]

SHARES = (0.1, 0.4, 0.55)
ROUNDS = (2, 3, 5, 6)
_TOP_K: Kinds = {
    f"threshold_share={share:g}": partial(AdaptiveTopK, threshold_share=share) for share in SHARES
}
_DOMAIN: Kinds = {f"rounds={rounds}": partial(AdaptiveGaussian, rounds=rounds) for rounds in ROUNDS}
STUDIES = (
    replace(top_k.STUDY, title="AdaptiveTopK", others=_TOP_K, of_counts={}),
    replace(domain.STUDY, title="AdaptiveGaussian", others=_DOMAIN),
)


def compare(runs: int) -> None:
    """All settings beside the defaults, in geometric means over all cells and over parts."""
    found = [(study, study.figures(top_k.STUDY.chosen_on, runs)) for study in STUDIES]
    if any(figures.is_empty() for _, figures in found):
        return
    tables = {study.title: study.summary(figures) for study, figures in found}
    meaning = (
        "Ratios of the default, a threshold_share of "
        f"{AdaptiveTopK.threshold_share:g} and {AdaptiveGaussian.rounds} rounds, over other "
        "settings: where the default is as good, items are at least 1 and missing mass at most 1. "
        "`JointOrPeel` has [choice.md](choice.md)."
    )
    notes = [meaning, SETTINGS.format(runs=runs), CLEARLY]
    report.write("tuning", "Options of the defaults", tables, notes)
