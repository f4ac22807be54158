"""Series from their first run to their last, and universes of what users hold in all runs.

A data set says how many users have each history but that of nothing: an entry for each, of which
item i is held in run r, from 0 on, if bit r * n_items + i of its place + 1 is 1. A change is one
user more, with all rows of all runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shortlist.audit.universes.small_universe import Data, Universe
from shortlist.audit.visible_answers import VisibleLists
from shortlist.draws import Draws, Ints, RoundingGrid
from shortlist.evidence import Wants
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE, AuditHints
from shortlist.parameters import SeriesKind
from shortlist.privacy import Cost
from shortlist.series.kinds import KINDS, KindOfSeries
from shortlist.series.terms import SeriesPromise
from shortlist.series.weekly_run import State


@dataclass(frozen=True)
class GivenGrid:
    """The same few numbers, whatever the noise: so few that all outcomes can be enumerated."""

    grid: RoundingGrid

    def __call__(self, _sd: float, _highest: float) -> RoundingGrid:
        return self.grid


@dataclass(frozen=True, eq=False)
class Histories:
    """Who holds what in each run.

    Attributes:
        users: Codes of users, of each distinct pair of each run, shape (n,).
        items: Codes of items.
        runs: In which run each pair stands, from 1 on.
    """

    users: Ints
    items: Ints
    runs: Ints

    def of_run(self, run: int) -> tuple[Ints, Ints]:
        """The pairs of one run."""
        here = self.runs == run
        return self.users[here], self.items[here]


@dataclass(frozen=True, kw_only=True)
class WholeSeries:
    """All runs of a series, under its one promise: the code that makes them, one after another.

    Args:
        terms: What is fixed of it.
        n_items: How many items there are.
        copies: How many users have the same history, where all but a few have it.
        losses: Before how many of the last runs the state is lost, and only the one of the run
            before is there.
        of_kind: How a run is made, what it tells, and how it goes on after a loss.
    """

    terms: SeriesPromise
    n_items: int = 1
    copies: tuple[int, ...] = (8,)
    losses: int = 0
    of_kind: KindOfSeries

    evidence: ClassVar[type] = Histories
    adjacency: ClassVar[str] = ADD_OR_REMOVE

    @property
    def epsilon(self) -> float:
        return self.terms.promised[0]

    @property
    def delta(self) -> float:
        return self.terms.promised[1]

    @property
    def spent_delta(self) -> float:
        return self.delta

    @property
    def cost(self) -> Cost:
        return self.terms.cost

    @property
    def wants(self) -> Wants:
        return Wants(Histories)

    def audit_hints(self) -> AuditHints:
        return AuditHints(n_items=self.n_items)

    def select(self, evidence: Histories, draws: Draws) -> VisibleLists:
        """Make all runs: what each of them tells."""
        states, told = [State()], []
        for run in range(1, self.terms.runs + 1):
            is_lost = run > self.terms.runs - self.losses
            before = self._recovered(states, draws) if is_lost else states[-1]
            of_run = self.of_kind.run(self.terms, before, *evidence.of_run(run), draws)
            states.append(of_run.made())
            told.append(self._told(states[-1]))
        return VisibleLists(tuple(told))

    def _recovered(self, states: Sequence[State], draws: Draws) -> State:
        *_, older, last = (State(), *states)
        named = last.named_in > 0
        items, runs = last.counted[named].tolist(), last.named_in[named].tolist()
        named_in = dict(zip(items, runs, strict=True))
        return self.of_kind.recovered(self.terms, older, last.runs, named_in, draws)

    def _told(self, state: State) -> frozenset[tuple[Any, ...]]:
        """The list of its last run, and what is no secret of each item that was named.

        That is: in which run, and its noisy sums in all of them.
        """
        named = np.flatnonzero(state.named_in)
        rows = map(tuple, state.sums[named].tolist())
        public = zip(
            state.counted[named].tolist(), state.named_in[named].tolist(), rows, strict=True
        )
        items, *figures = self.of_kind.told(self.terms, state)
        listed = zip(items.tolist(), *(x.tolist() for x in figures), strict=True)
        return frozenset([*public, *listed])


@dataclass(frozen=True, kw_only=True)
class WeeklyGaussian(WholeSeries):
    """A series of lists so far."""

    kind: ClassVar[SeriesKind] = SeriesKind.SO_FAR
    of_kind: KindOfSeries = KINDS[SeriesKind.SO_FAR]


@dataclass(frozen=True, kw_only=True)
class PeriodGaussian(WholeSeries):
    """A series of lists of single periods."""

    kind: ClassVar[SeriesKind] = SeriesKind.PERIOD
    of_kind: KindOfSeries = KINDS[SeriesKind.PERIOD]


SeriesClass = type[WeeklyGaussian] | type[PeriodGaussian]


class OfHistories(Universe):
    """Nobody, or some users who all have the same history; and with each of these one user more."""

    evidence = Histories
    bounded_by_engine = False
    mechanism: WholeSeries

    @property
    def steps_uphill(self) -> int:
        """None of two items, whose laws have many branches."""
        return 0 if self.mechanism.n_items > 1 else super().steps_uphill

    def families(self) -> Iterator[list[Data]]:
        alike = itertools.product(self.mechanism.copies, self._of_many())
        every = range(self._n_histories(self.mechanism.n_items))
        yield [(0,) * len(every), *(tuple(n * (h == of) for h in every) for n, of in alike)]

    def _of_many(self) -> Iterable[int]:
        """The histories that many users may have: of one item, any.

        Of two, all in the last run, the first one in each, or all in each: where few items of a
        user count, she chooses.
        """
        n_items, runs = self.mechanism.n_items, self.mechanism.terms.runs
        n = self._n_histories(n_items)
        if n_items == 1:
            return range(n)
        late = n - 2 ** (n_items * (runs - 1))
        first = sum(1 << run * n_items for run in range(runs)) - 1
        return (late,) if self._quick else (late, first, n - 1)

    def _n_histories(self, n_items: int) -> int:
        return int(2 ** (n_items * self.mechanism.terms.runs)) - 1

    def changes(self, n_items: int) -> list[Data]:
        histories = range(self._n_histories(n_items))
        return [tuple(int(place == of) for place in histories) for of in histories]

    def n_items(self, data: Data) -> int:
        return len(data).bit_length() // self.mechanism.terms.runs

    def permuted(self, data: Data, order: Sequence[int]) -> Data:
        renamed = [0] * len(data)
        for history, n in enumerate(data, start=1):
            runs = self._held(history, len(order))
            bits = (r * len(order) + order.index(i) for r, held in enumerate(runs) for i in held)
            renamed[sum(1 << bit for bit in bits) - 1] = n
        return tuple(renamed)

    def falling(self, data: Data) -> Sequence[int]:
        orders = itertools.permutations(range(self.n_items(data)))
        return max(orders, key=lambda order: self.permuted(data, order))

    def edges_for(self, _family: Sequence[Data]) -> tuple[float, ...]:
        """None: noisy sums are on a grid."""
        return ()

    def evidence_of(self, data: Data) -> Histories:
        each = (history for history, n in enumerate(data, start=1) for _ in range(n))
        rows = [
            (user, item, run)
            for user, history in enumerate(each)
            for run, held in enumerate(self._held(history, self.n_items(data)), start=1)
            for item in held
        ]
        return Histories(*np.array(rows, np.int64).reshape(-1, 3).T)

    def _held(self, history: int, n_items: int) -> list[list[int]]:
        """The items of each run."""
        runs = range(self.mechanism.terms.runs)
        return [[i for i in range(n_items) if history >> r * n_items + i & 1] for r in runs]

    def written(self, data: Data) -> str:
        n_items = self.n_items(data)
        sets = [
            f"{n} of " + " then ".join(_written(held) for held in self._held(history, n_items))
            for history, n in enumerate(data, start=1)
            if n
        ]
        return "(" + ", ".join(sets or ["nobody"]) + ")"


def _written(items: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, items)) + "}"
