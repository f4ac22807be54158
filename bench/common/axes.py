"""The axes of the plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

__all__ = ["MISSING_MASS", "Across", "Axis"]


@dataclass(frozen=True)
class Axis:
    """The vertical axis.

    Attributes:
        title: What is measured.
        values: Where the ticks are, rising; figures beyond the first and last are drawn there. With
            None each panel has an axis of its own, that begins at 0 where it is linear.
        kind: "log", "linear", or "symlog" where figures may be 0.
        labels: The labels, as a Vega expression of `datum.value`.
    """

    title: str
    values: Sequence[float] | None
    kind: str = "log"
    labels: str = "format(datum.value, '~s')"

    def of(self, column: str) -> alt.Y:
        """That column on this axis."""
        if self.values is None:
            own = alt.Axis(labelExpr=self.labels, title=self.title, tickCount=5)
            return alt.Y(f"{column}:Q", scale=alt.Scale(type=self.kind), axis=own)
        ends = [self.values[0], self.values[-1]]
        return alt.Y(
            f"{column}:Q",
            scale=alt.Scale(type=self.kind, domain=ends, clamp=True),
            axis=alt.Axis(values=list(self.values), labelExpr=self.labels, title=self.title),
        )


MISSING_MASS = Axis(
    "missing mass",
    values=[1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1],
    labels="datum.value <= 1e-5 ? '0' : format(datum.value, '~g')",
)
"""With what is below 1e-5 drawn as 0."""


@dataclass(frozen=True)
class Across:
    """The horizontal axis.

    Attributes:
        column: Of the data.
        title: What it is.
        ticks: Those of them are shown that lie between the ends.
        ends: Where the axis begins and ends.
        kind: "log" or "linear".
        labels: The labels, as a Vega expression of `datum.value`.
    """

    column: str
    title: str
    ticks: Sequence[float]
    ends: tuple[float, float]
    kind: str = "log"
    labels: str = "format(datum.value, 'd')"

    def of(self) -> alt.X:
        """That column on this axis."""
        first, last = self.ends
        axis = alt.Axis(
            values=[tick for tick in self.ticks if first <= tick <= last],
            labelExpr=self.labels,
            title=self.title,
        )
        scale = alt.Scale(type=self.kind, domain=[first, last], nice=False)
        return alt.X(f"{self.column}:Q", scale=scale, axis=axis)
