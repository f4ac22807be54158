"""Figures 1-3 and 8-13 of Dick et al. (2026) on real tables: which findings hold here too.

Top-k and hitting sets are measured on the small tables, as in the paper, and runs on the largest
tables are a quarter as many.
"""

from __future__ import annotations

from bench.common.parts import Part
from bench.reproduction import hitting_set, set_union, top_k
from bench.reproduction.tables import load, small

__all__ = ["PARTS"]


def _compare(runs: int) -> None:
    """All figures: tables, plots and findings, one file for each of the paper's questions."""
    tables = load()
    if tables:
        set_union.compare(tables, runs)
    if small(tables):
        top_k.compare(tables, runs)
        hitting_set.compare(tables, runs)


PARTS = {"reproduction": Part(lambda asked: _compare(asked.runs or 50))}
