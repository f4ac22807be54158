"""How long things take, how much they read, and how much memory they hold."""

from __future__ import annotations

from bench.common.parts import Part
from bench.speed import (
    accesses,
    beside,
    counts,
    domain,
    engines,
    groups,
    large_text,
    larger,
    leaving,
    ledger,
    rare,
    series_state,
    shell,
    stores,
    tables,
    together,
)

__all__ = ["PARTS"]

PARTS = {
    "speed": Part(lambda asked: tables.measure(asked.scale, asked.runs or 9)),
    "shell": Part(lambda asked: shell.measure(asked.scale, asked.runs or 9)),
    "counts-speed": Part(lambda asked: counts.measure(asked.scale)),
    "domain-speed": Part(lambda asked: domain.measure(asked.scale)),
    "rare-items": Part(lambda asked: rare.measure(asked.scale, asked.runs or 3)),
    "groups-speed": Part(lambda asked: groups.measure(asked.scale, asked.runs or 9)),
    "together-speed": Part(lambda asked: together.measure(asked.scale, asked.runs or 3)),
    "store-speed": Part(lambda asked: stores.measure(asked.scale)),
    "engines-speed": Part(lambda asked: engines.measure(asked.scale, asked.runs or 3)),
    "engines-larger": Part(lambda asked: larger.measure(asked.scale), apart=True),
    "large-text": Part(lambda asked: large_text.measure(asked.scale), apart=True),
    "engines-leaving": Part(lambda asked: leaving.measure(asked.scale), apart=True),
    "accesses": Part(lambda asked: accesses.measure(asked.scale, asked.runs or 30)),
    "ledger": Part(lambda asked: ledger.measure(asked.scale), apart=True),
    "series-state": Part(lambda asked: series_state.measure(asked.scale), apart=True),
    "beside": Part(
        lambda asked: beside.measure(asked.commit, asked.scale, asked.runs or 15), apart=True
    ),
}
