"""One run of a series: from the state before it and the table as it is, to the state after it.

Proof note: `docs/proofs/series.md`. A state is private but for the items named, in which run each
was, and their noisy sums in all runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.algorithms.rounding_grids import FARTHEST, UNIT_OF_WEIGHTS
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.noise import Normal
from shortlist.errors import InputError
from shortlist.series.terms import SeriesPromise, SeriesTerms, windows

_FITS = 2  # of what boosts were worth: more change little
_LEAST_WORTH = 1 / 50
ITEMS = 2**32  # codes of items are below: a pair is one number


def _nothing() -> Ints:
    return np.empty(0, np.int64)


def places_among(codes: Ints, items: Ints) -> Ints:
    """Where each of the items stands among codes, none twice; -1 where it does not."""
    places = np.full(max(codes.max(initial=-1), items.max(initial=-1)) + 1, -1, np.int64)
    places[codes] = np.arange(len(codes))
    found: Ints = places[items]
    return found


def slots_of_items(slots: Ints, coded: Callable[[Ints], Ints]) -> Ints:
    """The same slots under other codes of items, rising."""
    users, items = users_and_items(slots)
    return np.sort(users * ITEMS + coded(items))


def users_and_items(pairs: Ints) -> tuple[Ints, Ints]:
    """The codes of pairs user * 2^32 + item."""
    return pairs >> 32, pairs & (ITEMS - 1)


@dataclass(frozen=True)
class State:
    """What is kept from one run to the next, under codes that stay the same for the whole series.

    Attributes:
        runs: How many were made.
        counted: The codes of the items that ever took a slot of anybody, in the order in which
            they did, shape (n,). None ever leaves.
        sums: The noisy sums of each in each run, in units of weights, shape (n, runs).
        named_in: The run that named it, from 1 on; 0 where none has, shape (n,).
        used: The sum of squares that each user has added, by the user's code.
        slots: Pairs user * 2^32 + item that took a slot, rising.
        emptied: Codes of users, once for each of their slots whose item was forgotten.
        used_by_others: What counts as added by each user beyond `used`, also by those to come.
    """

    runs: int = 0
    counted: Ints = field(default_factory=_nothing)
    sums: Ints = field(default_factory=lambda: np.empty((0, 0), np.int64))
    named_in: Ints = field(default_factory=_nothing)
    used: Ints = field(default_factory=_nothing)
    slots: Ints = field(default_factory=_nothing)
    emptied: Ints = field(default_factory=_nothing)
    used_by_others: int = 0

    def places(self, items: Ints) -> Ints:
        """Where each of these codes stands among the counted ones; -1 where it does not."""
        return places_among(self.counted, items)

    def is_named(self, items: Ints) -> NDArray[np.bool_]:
        """Whether each of these codes was named."""
        named = np.zeros(max(self.counted.max(initial=-1), items.max(initial=-1)) + 1, np.bool_)
        named[self.counted[self.named_in > 0]] = True
        found: NDArray[np.bool_] = named[items]
        return found


class Estimates(NamedTuple):
    """What the noisy sums tell of the named items: weights, to rank them by.

    Attributes:
        items: Their codes.
        values: An estimate of each, shape (n,).
        sds: The standard deviation of its noise, shape (n,).
    """

    items: Ints
    values: Floats
    sds: Floats


@dataclass(frozen=True)
class RunOfSeries(ABC):
    """A run that is about to be made, of a series of either kind.

    Attributes:
        terms: What is fixed of the series.
        state: That after the run before.
        users: Codes of users, one for each distinct pair of the table, shape (n,).
        items: Codes of items, below 2^32, shape (n,).
        draws: The only source of randomness.
    """

    terms: SeriesPromise
    state: State
    users: Ints
    items: Ints
    draws: Draws

    def __post_init__(self) -> None:
        if self.state.runs >= self.terms.runs:
            raise InputError("no run of this series is left")

    @property
    def run(self) -> int:
        """Its number, from 1 on."""
        return self.state.runs + 1

    @cached_property
    def pairs(self) -> Ints:
        """Pairs user * 2^32 + item, rising, shape (n,)."""
        return merged(self.users * ITEMS + self.items)

    @abstractmethod
    def made(self) -> State:
        """The state after the run."""

    def accounts(self) -> Ints:
        """What each user has used before the run, of all who have come by now."""
        used, highest = self.state.used, int(self.users.max(initial=-1))
        new = np.full(max(highest + 1 - len(used), 0), self.state.used_by_others, np.int64)
        return np.append(used, new)

    def allowed(self, state: State) -> Ints:
        """What each user may add in this run, as a sum of squares."""
        return self.terms.accrued(self.run) - state.used

    def some_of(self, n: int, most: int) -> NDArray[np.bool_]:
        """Which of n to take, of more than may be: each subset as likely, by a shuffle's start."""
        places = np.arange(n)
        for place, ahead in enumerate(self.draws.integer(n - np.arange(most)).tolist()):
            places[[place, place + ahead]] = places[[place + ahead, place]]
        taken = np.zeros(n, np.bool_)
        taken[places[:most]] = True
        return taken

    def in_noise(self, sums: Ints) -> Ints:
        """The sums in noise, in units of weights."""
        return _in_noise(self.terms, sums, self.draws)


@dataclass(frozen=True)
class Week(RunOfSeries):
    """A run of a series of lists so far.

    Attributes:
        terms: What is fixed of the series.
    """

    terms: SeriesTerms

    def made(self) -> State:
        filled = self.slots_filled()
        before = self.with_past(replace(self.state, slots=filled))
        before = replace(before, used=self.accounts())
        added, used = self.weights(before)
        noisy = self.in_noise(added)
        sums = np.column_stack([before.sums, noisy])
        reached = self.reached(sums) & (before.named_in == 0)
        named_in = np.where(reached, self.run, before.named_in)
        return replace(before, runs=self.run, sums=sums, named_in=named_in, used=used)

    def slots_filled(self) -> Ints:
        """All slots after each user has filled those left, by items at random.

        The choice reads the user's own items, what was named, and coins: a subset of each size is
        drawn whatever the order in which the rows stand.
        """
        slots, pairs = self.state.slots, self.pairs
        _, items = users_and_items(pairs)
        new = pairs[~self.state.is_named(items) & ~are_among(pairs, slots)]
        users, starts, held = np.unique(new >> 32, return_index=True, return_counts=True)
        filled = np.append(slots >> 32, self.state.emptied)
        taken = np.bincount(filled, minlength=int(users.max(initial=-1)) + 1)[users]
        left = self.terms.max_items_per_user - taken
        fits = np.repeat(held <= left, held)
        for place in np.flatnonzero(held > left).tolist():
            start, end = starts[place], starts[place] + held[place]
            fits[start:end] = self.some_of(int(held[place]), int(left[place]))
        return merged(slots, new[fits]) if len(new) else slots

    def with_past(self, state: State) -> State:
        """The state with a past of noise alone for each item counted for the first time.

        What reads the item's sums cannot tell since when it is counted.
        """
        _, items = users_and_items(state.slots)
        is_new = np.zeros(max(items.max(initial=-1), state.counted.max(initial=-1)) + 1, np.bool_)
        is_new[items] = True
        is_new[state.counted] = False
        new = np.flatnonzero(is_new)
        past = [self.in_noise(np.zeros(len(new), np.int64)) for _ in range(state.runs)]
        columns = np.column_stack([np.empty((len(new), 0), np.int64), *past])
        return replace(
            state,
            counted=np.append(state.counted, new),
            sums=np.vstack([state.sums, columns]),
            named_in=np.append(state.named_in, np.zeros(len(new), np.int64)),
        )

    def weights(self, state: State) -> tuple[Ints, Ints]:
        """What all users add to each counted item, and what each of them has used by then.

        Everything is rounded down, and used is what the whole-numbered weights really add up to.
        """
        users, items = users_and_items(self.pairs)
        gives = are_among(self.pairs, state.slots) | state.is_named(items)
        users, places = users[gives], state.places(items[gives])
        added, used = np.zeros(len(state.counted), np.int64), state.used.copy()
        boosts, least = boosts_of(self.terms, state), self.terms.least_total(self.run)
        kernels.spend(users, places, boosts, self.allowed(state), least, added, used)
        return added, used

    def reached(self, sums: Ints) -> NDArray[np.bool_]:
        """Whether any window that ends with this run reaches its bar, of each counted item."""
        reached = np.zeros(len(sums), np.bool_)
        for length, total in _sums_over(sums, self.terms.windows(self.run)):
            reached |= total >= self.terms.bar(self.run, length)
        return reached


def recovered(
    terms: SeriesTerms, older: State, runs: int, named_in: Mapping[int, int], draws: Draws
) -> State:
    """The state to go on from where the last one is lost, and only an older one is there, if any.

    Every account, also of users to come, is set to all that has accrued. Of the older state only
    the sums of items that it had named are kept; where sums are missing there is noise alone, so
    that estimates are lower. All slots, and all that is not named, begin anew.

    Args:
        terms: What is fixed of the series.
        older: A state of this series after any earlier run.
        runs: How many runs were answered.
        named_in: The run that named each item, by its code, as the answers told it.
        draws: The only source of randomness.
    """
    items = np.array(sorted(named_in), np.int64)
    noise = [_in_noise(terms, np.zeros(len(items), np.int64), draws) for _ in range(runs)]
    sums = np.column_stack([np.empty((len(items), 0), np.int64), *noise])
    kept = older.is_named(items)
    sums[kept, : older.runs] = older.sums[older.places(items[kept])]
    runs_named = np.array([named_in[item] for item in items.tolist()], np.int64)
    used = terms.accrued(runs)
    return State(runs, items, sums, named_in=runs_named, used_by_others=used)


def _in_noise(terms: SeriesPromise, sums: Ints, draws: Draws) -> Ints:
    """What is below the grid stays far below."""
    grid, noise = terms.rounding, Normal(terms.sigma)
    multiples = draws.rounded_down(sums, noise, grid, unit=UNIT_OF_WEIGHTS)
    return np.where(multiples < grid.lowest, -FARTHEST, multiples * grid.step)


def merged(*parts: Ints) -> Ints:
    """All numbers, rising: at once where each part rises."""
    return np.sort(np.concatenate(parts), kind="stable")  # which looks for parts that rise


def are_among(rising: Ints, among: Ints) -> NDArray[np.bool_]:
    """Whether each of these rising numbers is one of the others, which rise, too."""
    found = np.empty(len(rising), np.bool_)
    kernels.mark(rising, among, found)
    return found


def sums_by(places: Ints, values: Ints, n: int) -> Ints:
    """The sum of the values at each of n places."""
    sums = np.zeros(n, np.int64)
    np.add.at(sums, places, values)
    return sums


def _sums_over(sums: Ints, lengths: Sequence[int]) -> Iterator[tuple[int, Ints]]:
    """The sum of each row over each window, from short to long, that ends with the last column."""
    total, runs, done = np.zeros(len(sums), np.int64), sums.shape[1], 0
    for length in lengths:
        total = total + sums[:, runs - length : runs - done].sum(axis=1)
        done = length
        yield length, total


def boosts_of(terms: SeriesTerms, state: State, runs: int | None = None) -> Ints:
    """The square of each counted item's boost after so many runs, or all; shape (n_counted,).

    A table over the item's own noisy sums tells it, so that the same sums give the same bits.
    Before any run all have the largest.
    """
    runs = state.runs if runs is None else runs
    best = np.full(len(state.counted), 0 if runs else len(terms.boosts) - 1)
    for length, total in _sums_over(state.sums[:, :runs], windows(runs)):
        steps = terms.steps(runs, length)
        best = np.maximum(best, np.searchsorted(steps, total, side="right") - 1)
    named = (state.named_in > 0) & (state.named_in <= runs)
    return np.where(named, terms.boost_when_named, terms.boosts[best])


def estimates(terms: SeriesTerms, state: State) -> Estimates:
    """By least squares, of all runs: also of those in which nobody had counted the item yet.

    A sum that began when the item was first counted would tell when that was. Where users move
    weight to other items, a boost is worth less: what it was worth to an item in each run is
    estimated from all other named items together.
    """
    named = _in_public_order(state, np.flatnonzero(state.named_in))
    of_named = replace(
        state,
        counted=state.counted[named],
        sums=state.sums[named],
        named_in=state.named_in[named],
    )
    sums = np.asarray(of_named.sums.T * UNIT_OF_WEIGHTS, np.float64)
    squares = [boosts_of(terms, of_named, run) for run in range(state.runs)]
    boosts: Floats = np.sqrt(np.array(squares, np.float64).reshape(sums.shape) * UNIT_OF_WEIGHTS)
    weights = boosts
    for _ in range(_FITS):
        weights = _worth(terms, boosts, np.maximum(_fitted(sums, weights), 0), sums)
    sds = terms.sigma / np.sqrt((weights**2).sum(axis=0))
    return Estimates(of_named.counted, _fitted(sums, weights), sds)


def _in_public_order(state: State, named: Ints) -> Ints:
    """The places of named items by their noisy sums: a sum of floats hangs on the order of items.

    In the state they stand as users brought them in.
    """
    order = np.lexsort((state.named_in[named], *state.sums[named].T))
    in_order: Ints = named[order]
    return in_order


def _fitted(sums: Floats, weights: Floats) -> Floats:
    """By what the weights must be multiplied to be nearest to the sums, column by column."""
    fitted: Floats = (weights * sums).sum(axis=0) / (weights**2).sum(axis=0)
    return fitted


def _worth(terms: SeriesTerms, boosts: Floats, values: Floats, sums: Floats) -> Floats:
    """What boosts were worth, run by run: near what they are where the sums tell little.

    To each item by the others alone: where few are named, its own noise would choose the runs that
    speak for it, and its estimate would be off by up to twice the standard deviation.
    """
    expected, noise = boosts * values, terms.sigma**2
    products, squares = _of_others(expected * sums), _of_others(expected**2)
    worth: Floats = boosts * np.maximum((products + noise) / (squares + noise), _LEAST_WORTH)
    return worth


def _of_others(each: Floats) -> Floats:
    """Of each run the sum over all items but one, for each item."""
    others: Floats = each.sum(axis=1, keepdims=True) - each
    return others
