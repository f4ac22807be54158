"""One run of a series of lists of single periods: which items of its rows may be shown.

Proof note: `docs/proofs/series.md`, on lists of a period. Of a run nothing is kept but what each
user has used, and what was named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.rounding_grids import UNIT_OF_WEIGHTS
from shortlist.draws import Draws, Ints
from shortlist.series.period_terms import PeriodTerms
from shortlist.series.weekly_run import Estimates, RunOfSeries, State, sums_by


@dataclass(frozen=True)
class PeriodRun(RunOfSeries):
    """A run of a series of lists of single periods, on the rows of its period.

    In the state, only named items are counted, and only the sums of its last run mean anything.

    Attributes:
        terms: What is fixed of the series.
    """

    terms: PeriodTerms

    def made(self) -> State:
        gives = self.giving()
        users, items = self.users[gives], self.items[gives]
        new = np.setdiff1d(items, self.state.counted)
        before = replace(
            self.state, counted=np.append(self.state.counted, new), used=self.accounts()
        )
        added, used = self.weights(before, users, items)
        noisy = self.in_noise(added)
        named = self.named(noisy)
        return self.naming(before, noisy, named, used)

    def giving(self) -> NDArray[np.bool_]:
        """Of each pair, whether the user gives to the item: all named ones, and some of the others.

        The choice reads the user's own items, what was named, and coins.
        """
        order = np.lexsort((self.items, self.users))
        others = order[~self.state.is_named(self.items[order])]
        _, starts, held = np.unique(self.users[others], return_index=True, return_counts=True)
        most = self.terms.max_items_per_user
        gives = np.ones(len(self.users), np.bool_)
        for place in np.flatnonzero(held > most).tolist():
            mine = others[starts[place] : starts[place] + held[place]]
            gives[mine] = self.some_of(len(mine), most)
        return gives

    def weights(self, before: State, users: Ints, items: Ints) -> tuple[Ints, Ints]:
        """What all users add to each item, and what each of them has used by then.

        Each spends half of what is left, alike on all that she gives to. All is rounded down, and
        used is what the whole-numbered weights really add up to.
        """
        numbers = np.bincount(users, minlength=len(before.used))
        squares = self.allowed(before)[users] // 2 // numbers[users]
        weights = np.sqrt(squares.astype(np.float64)).astype(np.int64)  # of at most 2^40: exact
        used = before.used + sums_by(users, weights * weights, len(before.used))
        return sums_by(before.places(items), weights, len(before.counted)), used

    def named(self, noisy: Ints) -> NDArray[np.bool_]:
        """Which of the items were named, by now: those before stand first, and the new ones."""
        named: NDArray[np.bool_] = noisy >= self.terms.bar
        named[: len(self.state.counted)] = True
        return named

    def naming(self, before: State, noisy: Ints, named: NDArray[np.bool_], used: Ints) -> State:
        """The state after the run: of all else nothing is kept."""
        n_new = int(named.sum()) - len(self.state.counted)
        sums = np.zeros((int(named.sum()), self.run), np.int64)
        sums[:, -1] = noisy[named]
        return replace(
            before,
            runs=self.run,
            counted=before.counted[named],
            sums=sums,
            named_in=np.append(self.state.named_in, np.full(n_new, self.run)),
            used=used,
        )


def of_period(terms: PeriodTerms, state: State) -> Estimates:
    """The items of the last run's period: those that it named, and earlier ones above the bar."""
    sums = state.sums[:, -1] if state.runs else np.zeros(0, np.int64)
    shown = np.flatnonzero((state.named_in == state.runs) | (sums >= terms.bar_when_named))
    values = (sums[shown] * UNIT_OF_WEIGHTS).astype(np.float64)
    return Estimates(state.counted[shown], values, np.full(len(shown), terms.sigma))


def recovered_of_period(
    terms: PeriodTerms, _older: State, runs: int, named_in: Mapping[int, int], _draws: Draws
) -> State:
    """The state to go on from where the last one is lost: every account counts as used up so far.

    Args:
        terms: What is fixed of the series.
        runs: How many runs were answered.
        named_in: The run that named each item, by its code, as the answers told it.
    """
    items = np.array(sorted(named_in), np.int64)
    return State(
        runs,
        items,
        np.zeros((len(items), runs), np.int64),
        named_in=np.array([named_in[item] for item in items.tolist()], np.int64),
        used_by_others=terms.accrued(runs),
    )
