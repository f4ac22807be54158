"""The list of a report: every item whole, as it is written in its own script, and harmless."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from shortlist.release._intact import intact
from shortlist.release.intervals import reach
from shortlist.release.sheet import on_grid

if TYPE_CHECKING:
    from shortlist.release import Release
    from shortlist.release.scores import Scores

__all__ = ["Listed", "listed"]


class Listed(NamedTuple):
    """The table of a report.

    Attributes:
        headings: Of each column.
        kinds: What each column holds: "n r" ranks, "n s" scores, "n i" intervals; of items and
            their groups "n" numbers and "" texts.
        rows: The cells of all rows.
    """

    headings: list[str]
    kinds: list[str]
    rows: list[tuple[str, ...]]


def listed(release: Release) -> Listed:
    """All rows: rank, items, and the score with the ends of its interval, if there is one."""
    frame, scores = release.to_polars(), release.scores
    columns = [[intact(value) for value in column] for column in frame.iter_columns()]
    headings = [intact(name) for name in frame.columns]
    kinds = ["n" if dtype.is_numeric() else "" for dtype in frame.dtypes]
    kinds[len(release.by)] = "n r"
    if scores is not None:
        columns[-1], kinds[-1] = _numbers(scores, scores), "n s"
        if (far := reach(scores)) is not None:
            low, high = (_numbers([s + d for s in scores], scores) for d in (-far, far))
            columns.append([f"{a} to {b}" for a, b in zip(low, high, strict=True)])
            headings.append("interval")
            kinds.append("n i")
    return Listed(headings, kinds, list(zip(*columns, strict=True)))


def _numbers(values: Iterable[float], scores: Scores) -> list[str]:
    """To the digits that say something, with commas between thousands."""
    return [f"{Decimal(text):,}" for text in on_grid(values, scores.noise_sd)]
