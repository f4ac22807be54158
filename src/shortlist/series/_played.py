"""A series that is played on an invented table, from its first run to its last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist.charts import NamedCurve, numbers_by_step
from shortlist.draws import ExactDraws, Ints
from shortlist.draws.random_bits import SeededBits
from shortlist.errors import InputError
from shortlist.expectations.playing import ZipfTable
from shortlist.parameters import SeriesKind
from shortlist.series.weekly_run import State

if TYPE_CHECKING:
    import altair as alt

    from shortlist.series._facts import SeriesFacts

_SEED = 1  # the same weeks and the same noise each time
_MOST_ROWS = 200_000_000  # of all runs
_SHOWN = 6
_UNREAD = "1 series. No data was read, and nothing was spent."
_LISTS = {SeriesKind.SO_FAR: "A list so far", SeriesKind.PERIOD: "A list of its period"}


@dataclass(frozen=True, kw_only=True, repr=False)
class SeriesExpectation:
    """How many items a series named on an invented table: a guess, of which no data is part.

    Attributes:
        described: The table and the series, in words.
        named: How many items were on the list of each run.
    """

    described: str
    named: tuple[int, ...]

    def __repr__(self) -> str:
        first, *more = self._shown()
        lines = [f"- run {first}: {self.named[first - 1]:,} items on the list"]
        lines += [f"- run {run}: {self.named[run - 1]:,}" for run in more]
        return "\n".join([f"{self.described}:", *lines, _UNREAD])

    def _shown(self) -> list[int]:
        runs = len(self.named)
        return sorted({round(run) for run in np.linspace(1, runs, min(runs, _SHOWN)).tolist()})

    def plot(self) -> alt.LayerChart:
        """How many items were on the list of each run.

        Raises:
            InputError: Altair is not installed: it is in the extra `shortlist[plot]`.
        """
        points = [(float(run), float(n)) for run, n in enumerate(self.named, start=1)]
        return numbers_by_step(
            NamedCurve("items", points),
            title="What to expect of the series",
            notes=[f"{self.described}.", _UNREAD],
            across="run",
            up="items on the list",
        )


class Played:
    """A series, and a table that nobody has."""

    def __init__(
        self, facts: SeriesFacts, users: int, items: int, exponent: float, each: int
    ) -> None:
        self.facts, self.table = facts, ZipfTable.asked(users, items, exponent, each)
        if users * each * facts.terms.periods > _MOST_ROWS:
            raise InputError(
                "a table of {rows} rows in {periods} runs is too large to be invented",
                "give less: noise does not grow with the table, so a smaller one tells as much",
                given={"users": users},
                rows=f"{users * each:,}",
                periods=facts.terms.periods,
            )

    def expectation(self) -> SeriesExpectation:
        """What its lists hold."""
        periods, lists = self.facts.terms.periods, _LISTS[self.facts.kind]
        where = f"in each of {periods} runs" if periods > 1 else "in 1 run"
        described = f"{lists} {where}, of {self.table}"
        return SeriesExpectation(described=described, named=tuple(self._numbers()))

    def _numbers(self) -> Iterator[int]:
        facts, draws = self.facts, ExactDraws(SeededBits(_SEED))
        state = State()
        for users, items in self._tables():
            state = facts.of_kind.run(facts.terms, state, users, items, draws).made()
            yield len(facts.of_kind.told(facts.terms, state).items)

    def _tables(self) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of each run: each pair comes in one of them, in each as likely."""
        users, items = self.table.pairs
        periods = self.facts.terms.periods
        comes_in = np.random.default_rng(_SEED).integers(1, periods + 1, len(users))
        for run in range(1, periods + 1):
            here = comes_in <= run if self.facts.kind is SeriesKind.SO_FAR else comes_in == run
            yield users[here], items[here]
