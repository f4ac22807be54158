"""NOT private: the figures of a comparison, as frames, as text and as a plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["NOT_PRIVATE", "Trials"]

NOT_PRIVATE = (
    "Not private: this looks at the rows without noise. Use it on data that may be looked at."
)


@dataclass(frozen=True, eq=False, repr=False)
class Trials:
    """NOT private: what `compare` found. It is no release, and has no guarantee.

    Both frames begin with the columns question, k, epsilon, delta, max_items_per_user (as asked;
    null where the default chooses it) and mechanism. They end with `private`, which is False in
    every row, so that no file of theirs is taken for a release.

    Attributes:
        frame: One row for each setting and mechanism: the number of runs, then the mean of each
            measure and, with `_se` after its name, the standard error of that mean (null for one
            run). A measure that a question has not is null.
        runs: One row for each run, with what was measured.
    """

    frame: pl.DataFrame
    runs: pl.DataFrame

    private: ClassVar[bool] = False

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Trials:
        """From a row for each run: what was asked, the run, and its measures."""
        from shortlist.metrics._summary import figures, runs_of

        runs = runs_of(rows)
        return cls(figures(runs), runs)

    def plot(
        self,
        measure: str | None = None,
        *,
        question: str | None = None,
        across: str | None = None,
    ) -> alt.LayerChart | alt.FacetChart:
        """The means of a measure with two standard errors, a line for each mechanism.

        In a notebook it is shown; `.save("plot.png")` writes it.

        Args:
            measure: A measure of `frame`. By default the first one: missing mass, or missed users.
            question: As in `frame`; needed where there are several.
            across: The setting along the horizontal axis. By default the first one of epsilon, k,
                max_items_per_user and delta that takes several values; panels show the others.

        Raises:
            InputError: There is no such measure, question or setting, or Altair is not installed:
                it is in the extra `shortlist[plot]`.
        """
        from shortlist.metrics._plot import plotted

        return plotted(self.frame, measure, question=question, across=across, note=NOT_PRIVATE)

    def __repr__(self) -> str:
        from shortlist.metrics._summary import text

        return f"{text(self.frame)}\n{NOT_PRIVATE}"
