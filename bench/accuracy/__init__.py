"""How good the answers are, beside what was published and beside what is possible."""

from __future__ import annotations

from bench.accuracy import (
    amounts,
    ask,
    bounds,
    caps,
    choice,
    clusters,
    counts,
    discoveries,
    floors,
    groups,
    intervals,
    known_in_groups,
    known_items,
    own_items,
    periods,
    ranking,
    series,
    sets,
    together,
    tuning,
    unseen,
    which_bound,
)
from bench.common.parts import Part

__all__ = ["PARTS"]

PARTS = {
    "accuracy": Part(lambda asked: unseen.compare_seen(asked.runs or 10)),
    "errors": Part(lambda asked: counts.compare(asked.runs or 50)),
    "unseen": Part(lambda asked: unseen.compare(asked.runs or 10)),
    "choice": Part(lambda asked: choice.compare(asked.runs or 50)),
    "sets": Part(lambda asked: sets.compare(asked.runs or 24)),
    "clusters": Part(lambda asked: clusters.compare(asked.runs or 5)),
    "groups": Part(lambda asked: groups.compare(asked.runs or 5)),
    "own-items": Part(lambda asked: own_items.compare(asked.runs or 5)),
    "periods": Part(lambda asked: periods.measure(asked.runs or 5)),
    "ranking": Part(lambda asked: ranking.measure(asked.scale, asked.runs or 100)),
    "bounds": Part(lambda asked: bounds.measure(asked.scale, asked.runs or 5)),
    "which-bound": Part(lambda asked: which_bound.measure(asked.runs or 5)),
    "known-items": Part(lambda asked: known_items.measure(asked.runs or 1)),
    "known-in-groups": Part(lambda asked: known_in_groups.measure(asked.runs or 5)),
    "floors": Part(lambda asked: floors.measure(asked.runs or 2)),
    "together": Part(lambda asked: together.compare(asked.runs or 3)),
    "amounts": Part(lambda asked: amounts.measure(asked.runs or 3)),
    "caps": Part(lambda asked: caps.measure(asked.runs or 2)),
    "discoveries": Part(lambda asked: discoveries.compare(asked.runs or 200)),
    "series": Part(lambda asked: series.measure(asked.runs or 3)),
    "intervals": Part(lambda asked: intervals.measure(asked.runs or 10_000)),
    "ask": Part(lambda asked: ask.measure(asked.runs or 3, asked.peers)),
    "tuning": Part(lambda asked: tuning.compare(asked.runs or 10), apart=True),
}
