"""NOT private: the figures of a comparison, as frames, as text and as a plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

NOT_PRIVATE = (
    "Not private: this looks at the rows without noise. Use it on data that may be looked at."
)

SETTINGS = ("question", "k", "epsilon", "delta", "max_items_per_user", "mechanism")
"""The columns of a table of figures that say what was asked."""

_ERROR = "_se"
# Every question has it, and more of it is better.
_LAST = "items"
_MOST_COLUMNS_OF_TEXT = 160
_MEANING = {
    "missing_mass": "what the answer lacks, as a share of all pairs",
    "l1": "how far its counts are from those of the true top k, place by place, in sum",
    "linf": "the same at the worst place",
    "relative": "how far its least count is below the k-th largest",
    "largest_missed": "the share of the most frequent item that is not named",
    "missed_users": "the users who hold none of its items",
    "beyond_greedy": "how many more these are than of a greedy choice without noise",
    _LAST: "how many it names",
}


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
        runs = _runs_of(rows)
        return cls(_figures(runs), runs)

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
        return f"{_text(self.frame)}\n{NOT_PRIVATE}"


def _runs_of(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame(list(rows), infer_schema_length=None)
    types = {"k": pl.Int64, "epsilon": pl.Float64, "delta": pl.Float64}
    types |= {"max_items_per_user": pl.Int64, "run": pl.Int64}
    measured = [name for name in frame.columns if name not in types and name not in SETTINGS]
    measured.sort(key=lambda name: name == _LAST)
    return frame.select(
        *(pl.col(name).cast(types.get(name, pl.String)) for name in (*SETTINGS, "run")),
        *(pl.col(name).cast(pl.Float64) for name in measured),
        pl.lit(value=False).alias("private"),
    )


def _figures(runs: pl.DataFrame) -> pl.DataFrame:
    """The mean of each measure over the runs at a setting, and the standard error of that mean."""
    import polars as pl

    measured = [pl.col(name) for name in runs.columns if name not in (*SETTINGS, "run", "private")]
    errors = [(one.std(ddof=1) / one.count().sqrt()).name.suffix(_ERROR) for one in measured]
    pairs = zip((one.mean() for one in measured), errors, strict=True)
    grouped = runs.group_by(SETTINGS, maintain_order=True)
    return grouped.agg(
        pl.len().cast(pl.Int64).alias("runs"), *(column for pair in pairs for column in pair)
    ).with_columns(private=pl.lit(value=False))


def measures_of(frame: pl.DataFrame) -> list[str]:
    """The measures that have a value in some row, the most telling first."""
    given = [name for name in frame.columns if f"{name}{_ERROR}" in frame.columns]
    return [name for name in given if frame[name].null_count() < len(frame)]


def constant(frame: pl.DataFrame) -> dict[str, Any]:
    """The settings that are the same in every row, without those that are null."""
    same = [name for name in SETTINGS[:-1] if frame[name].n_unique() == 1]
    return {name: frame[name][0] for name in same if frame[name][0] is not None}


def _text(frame: pl.DataFrame) -> str:
    """A table for each question, with what all its rows have in common above it."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=_MOST_COLUMNS_OF_TEXT, color_system=None)
    for part in frame.partition_by("question", maintain_order=True):
        console.print(_title(part), markup=False, highlight=False)
        console.print(_table(part))
        console.print(_legend(part), markup=False, highlight=False)
    lines = (line.rstrip() for line in out.getvalue().split("\n"))
    return "\n".join(lines).rstrip("\n")


def _legend(part: pl.DataFrame) -> str:
    meanings = [f"{name}: {_MEANING[name]}" for name in measures_of(part) if name in _MEANING]
    return f"Less is better, but for {_LAST}. {'; '.join(meanings)}." if meanings else ""


def _title(part: pl.DataFrame) -> str:
    same = constant(part)
    question = str(same.pop("question"))
    runs = part["runs"][0]
    given = [f"{name}={value:g}" for name, value in same.items()]
    said = "1 run" if runs == 1 else f"means of {runs} runs ± standard errors"
    return f"{', '.join([question, *given])}: {said}"


def _table(part: pl.DataFrame) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    same = constant(part)
    differ = [
        name for name in SETTINGS[:-1] if name not in same and part[name].null_count() < len(part)
    ]
    for name in (*differ, "mechanism", *measures_of(part)):
        table.add_column(name, justify="left" if name == "mechanism" else "right")
    for row in part.iter_rows(named=True):
        given = ["" if row[name] is None else f"{row[name]:g}" for name in differ]
        means = [_with_error(row[name], row[f"{name}{_ERROR}"]) for name in measures_of(part)]
        table.add_row(*map(Text, (*given, row["mechanism"], *means)))
    return table


def _with_error(mean: float, error: float | None) -> str:
    """A mean to the second digit of its standard error.

    >>> _with_error(0.0123456, 0.00049), _with_error(2754.2, 921.3), _with_error(10, 0)
    ('0.01235 ± 0.00049', '2,754 ± 921', '10 ± 0')
    """
    if not error:
        value = f"{mean:,.0f}" if mean == round(mean) else f"{mean:.3g}"
        return value if error is None else f"{value} ± 0"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:,.{digits}f} ± {error:,.{digits}f}"
