"""What else gives a list in every period under one promise: each names items, and ranks them.

Noise of the two that count each pair once is of NumPy: nobody's list is made by them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import toeplitz
from scipy.special import ndtr

from bench.accuracy.series_histories import History, ranks
from bench.common.cells import BOUND, DELTA
from bench.common.seeds import draws_of
from shortlist.draws import Floats, Ints
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import AdaptiveGaussian, WeightedGaussian
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease
from shortlist.series import SeriesTerms, State, Week, estimates

__all__ = ["Listed", "at_the_end", "in_a_series", "split", "square_root", "tree"]


@dataclass(frozen=True)
class Listed:
    """What all lists of a history name.

    Attributes:
        named_in: The period that names each item, from 1 on; 0 where none does, shape (n_items,).
        scores: What the named ones are ranked by at the end, shape (n_items,).
        periods: How many there are.
    """

    named_in: Ints
    scores: Floats
    periods: int

    @property
    def by_period(self) -> Ints:
        """How many are named by the end of each period, shape (periods,)."""
        return np.cumsum(np.bincount(self.named_in, minlength=self.periods + 1)[1:])

    def missed(self, counts: Ints, k: int) -> float:
        """Of what the k best items hold, the share that the k first of the last list do not."""
        named = np.flatnonzero(self.named_in)
        first = named[np.argsort(-self.scores[named], kind="stable")[:k]]
        return 1 - counts[first].sum() / np.sort(counts)[-k:].sum()


def in_a_series(history: History, terms: SeriesTerms, run: int) -> Listed:
    """A series, by the code that ships."""
    draws, state = draws_of(history.table, history.way, terms, run), State()
    for users, items in history.tables(terms.periods):
        state = Week(terms, state, users, items, draws).made()
    named_in, scores = (np.zeros(history.n_items, dtype) for dtype in (np.int64, np.float64))
    named_in[state.counted] = state.named_in
    told = estimates(terms, state)
    scores[told.items] = told.values
    return Listed(named_in, scores, terms.periods)


@dataclass(frozen=True, kw_only=True)
class _OneOfSeveral(AdaptiveGaussian):
    """One of so many domains that are calibrated together: as noise and thresholds of a series."""

    releases: int

    @cached_property
    def _release(self) -> RoundsRelease:
        terms = _once(self.epsilon)
        return RoundsRelease(terms.sigma * math.sqrt(self.releases), terms.lost / self.releases)


def _once(epsilon: float) -> SeriesTerms:
    """How noise and thresholds share delta."""
    return SeriesTerms(epsilon=epsilon, delta=DELTA, periods=1, max_items_per_user=BOUND)


def split(history: History, terms: SeriesTerms, run: int) -> Listed:
    """A domain of the table as it is in every period, each with its part of the budget.

    Its list is all that any of them has named, by the sum of their scores.
    """
    mechanism = _OneOfSeveral(
        epsilon=terms.epsilon, delta=DELTA, max_items_per_user=BOUND, releases=terms.periods
    )
    draws = draws_of("split", history.table, history.way, terms, run)
    named_in, scores = (np.zeros(history.n_items, dtype) for dtype in (np.int64, np.float64))
    for period, pairs in enumerate(history.tables(terms.periods), start=1):
        if not len(pairs[0]):
            continue
        picked = mechanism.select(_sets(history, *pairs), draws)
        named_in[picked.positions[named_in[picked.positions] == 0]] = period
        scores[picked.positions] += picked.scores
    return Listed(named_in, scores, terms.periods)


def _sets(history: History, users: Ints, items: Ints) -> Contributions:
    codes = users.astype(np.uint32), items.astype(np.uint32)
    return Contributions.of_rows(*codes, n_users=history.n_users, n_items=history.n_items)


_AtTheEnd = type[WeightedGaussian] | type[AdaptiveGaussian]


def at_the_end(kind: _AtTheEnd) -> Callable[[History, SeriesTerms, int], Listed]:
    """One list of the last table, with the whole budget: nothing is named before."""

    def listed(history: History, terms: SeriesTerms, run: int) -> Listed:
        mechanism = kind(epsilon=terms.epsilon, delta=DELTA, max_items_per_user=BOUND)
        draws = draws_of(kind.__name__, history.table, history.way, terms.epsilon, run)
        sets = _sets(history, history.users, history.items).bounded(BOUND, draws)
        picked = mechanism.select(sets.shown_as(mechanism.wants), draws)
        named_in, scores = (np.zeros(history.n_items, dtype) for dtype in (np.int64, np.float64))
        named_in[picked.positions], scores[picked.positions] = terms.periods, picked.scores
        return Listed(named_in, scores, terms.periods)

    return listed


def tree(history: History, terms: SeriesTerms, run: int) -> Listed:
    """Sums over dyadic spans of periods, each in noise: the shape of DP-SQLP (2023)."""
    n = terms.periods
    levels = n.bit_length()
    ends = np.arange(1, n + 1)[:, None]
    spans = [
        (ends >> level & 1 == 1) & ((ends >> level) - 1 == np.arange(math.ceil(n / 2**level)))
        for level in range(levels)  # one of 2^level periods is in a sum where its bit is set
    ]
    return _counted_once(history, terms, np.hstack(spans) * math.sqrt(levels), run, "tree")


def square_root(history: History, terms: SeriesTerms, run: int) -> Listed:
    """Noise by the square root of the matrix that adds up periods: Henzinger et al. (2023)."""
    steps = np.arange(terms.periods)
    column = np.cumprod(np.append(1.0, 1 - 0.5 / steps[1:]))
    noise = np.tril(toeplitz(column)) * math.sqrt((column**2).sum())
    return _counted_once(history, terms, noise, run, "square root")


def _counted_once(
    history: History, terms: SeriesTerms, mixed: Floats, run: int, label: str
) -> Listed:
    """Each pair counts in the period in which it comes, unless its item was named by then.

    The j-th item of a user has a weight in proportion to 1/√j, so that all that may count have 1
    together. Each sum so far is held against what the items of one user alone hardly ever reach.

    Args:
        history: Who holds what from when on.
        terms: The noise at sensitivity 1, and what may be lost.
        mixed: What independent noise is multiplied by, shape (periods, n).
        run: Of which other noise is.
        label: What it is.
    """
    rng = np.random.default_rng([run, *label.encode()])
    noise = mixed @ rng.standard_normal((mixed.shape[1], history.n_items)) * terms.sigma
    weights = 1 / np.sqrt(np.arange(1, BOUND + 1) * (1 / np.arange(1, BOUND + 1)).sum())
    sds = np.sqrt((mixed**2).sum(axis=1)) * terms.sigma
    bars = _bars(sds, weights, terms.lost / terms.periods)
    weeks = history.weeks(terms.periods)
    order = np.lexsort((rng.random(len(weeks)), history.users, weeks))
    users, items, weeks = history.users[order], history.items[order], weeks[order]
    ends = np.searchsorted(weeks, range(1, terms.periods + 1), side="right")
    taken, sums = np.zeros(history.n_users, np.int64), np.zeros(history.n_items)
    named_in, start = np.zeros(history.n_items, np.int64), 0
    for period, end in enumerate(ends.tolist(), start=1):
        new = start + np.flatnonzero(named_in[items[start:end]] == 0)
        places = taken[users[new]] + ranks(users[new])
        fits = places < BOUND
        np.add.at(sums, items[new[fits]], weights[places[fits]])
        taken += np.bincount(users[new[fits]], minlength=len(taken))
        reached = (sums + noise[period - 1] >= bars[period - 1]) & (sums > 0) & (named_in == 0)
        named_in[reached], start = period, end
    return Listed(named_in, sums + noise[-1], terms.periods)


def _bars(sds: Floats, weights: Floats, lost: float) -> Floats:
    """For each standard deviation: what items of these weights reach with that chance in all."""
    low, high = np.zeros(len(sds)), 40 * sds + 1
    for _ in range(60):
        middle = (low + high) / 2
        rare = ndtr((weights - middle[:, None]) / sds[:, None]).sum(axis=1) <= lost
        low, high = np.where(rare, low, middle), np.where(rare, middle, high)
    return high
