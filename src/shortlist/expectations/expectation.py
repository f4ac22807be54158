"""What a plan answered on a table that was invented: how many items, and which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist.charts import Curve, curves

if TYPE_CHECKING:
    import altair as alt

__all__ = ["Expectation"]

_POINTS = 60
_GROUPED = "Ranks that lie close together are averaged."


@dataclass(frozen=True, kw_only=True, repr=False)
class Expectation:
    """What a plan answered on a table that was invented: a guess, of which no data is part.

    Attributes:
        told: The table and the plan, in words.
        k: How many items are asked for; None for as many as can be named.
        named: How many were named, on average.
        right: How many of these are among the k of the largest counts; all, where there is no k.
        chances: Of the item of each rank by its count, in how many of the runs it was named.
        runs: How often it was asked.
    """

    told: str
    k: int | None
    named: float
    right: float
    chances: tuple[float, ...]
    runs: int

    def __repr__(self) -> str:
        asked = "" if self.k is None else f" of {self.k}"
        lines = [f"{self.told}:", f"- {self.named:.1f}{asked} items named"]
        if self.k is not None:
            lines.append(f"- {self.right:.1f} of them among the {self.k} of the largest counts")
        lines.append(f"- {self._often()} named in at least half of the runs")
        return "\n".join([*lines, f"{_means(self.runs)} No data was read, and nothing was spent."])

    def _often(self) -> str:
        """Which items, from the most common one on, were named in at least half of the runs."""
        sure = next((at for at, chance in enumerate(self.chances) if chance < 0.5), None)
        if sure is None:
            return "each item"
        if sure < 2:
            return "the most common item" if sure else "not even the most common item"
        return f"each of the {sure} most common items"

    def plot(self) -> alt.LayerChart:
        """How often the item of each rank was named.

        Raises:
            InputError: Altair is not installed: it is in the extra `shortlist[plot]`.
        """
        return curves(
            [Curve("share of runs", self._points())],
            title="What to expect",
            notes=[f"{self.told}.", f"{_means(self.runs)} {_GROUPED} No data was read."],
            across="rank of an item by its count",
            up="share of runs in which it was named",
        )

    def _points(self) -> list[tuple[float, float]]:
        """The mean rank and the mean chance of neighbouring ranks: single ones far up, then more.

        As far as twice the last rank that was named at all.
        """
        chances = np.array(self.chances)
        end = min(2 * (int(np.flatnonzero(chances).max(initial=0)) + 1), len(chances))
        starts = np.unique(np.geomspace(1, end, _POINTS).round().astype(np.int64)) - 1
        sizes = np.diff(starts, append=end)
        ranks = np.add.reduceat(np.arange(1.0, end + 1), starts) / sizes
        means = np.add.reduceat(chances[:end], starts) / sizes
        return list(zip(ranks.tolist(), means.tolist(), strict=True))


def _means(runs: int) -> str:
    return "1 run." if runs == 1 else f"Means of {runs} runs."
