"""The exact law of what a series shows in all its runs, with one user and without; and mistakes."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from flint import arb

from shortlist.audit.exact import law_in_balls
from shortlist.audit.exact._claimed_losses import SHARES, hockey_stick
from shortlist.draws import RoundingGrid
from shortlist.draws.normal_law import normal_quantiles
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.stages import GaussianStage
from shortlist.series import SeriesTerms, State, Week, estimates, recovered
from shortlist.series.weekly_run import ITEMS


def from_to(first, last, step=21):
    """A grid of so many multiples of 2^step units for the enumerator; all below are alike."""
    return lambda _sd, _highest: RoundingGrid(2**step, first, last)


class Right(Week):
    """A run as it is, and all that may be shown after it: what each named item was."""

    @staticmethod
    def going_on(_terms, states, _draws):
        """The state that a run begins with, of those so far."""
        return states[-1]

    @classmethod
    def told_in_all(cls, told):
        """Of what each run shows, what all show together."""
        return told[-1] if cls.going_on is Right.going_on else tuple(told)

    def shown(self, state):
        named = np.flatnonzero(state.named_in)
        told = estimates(self.terms, state)
        rows = map(tuple, state.sums[named].tolist())
        values, sds = told.values.round(6).tolist(), told.sds.round(6).tolist()
        names, runs = told.items.tolist(), state.named_in[named].tolist()
        return frozenset(zip(names, runs, rows, values, sds, strict=True))


def columns(table):
    """The distinct pairs of a table, which is the set of items of each user."""
    pairs = [(user, item) for user, items in enumerate(table) for item in sorted(items)]
    return np.array(pairs, np.int64).reshape(-1, 2).T


def hold(n, *runs):
    """The tables of n users who hold the same in each run."""
    return tuple((held,) * n for held in runs)


def whole_series(terms, tables, draws, kind=Week):
    """The state before the first run and after each."""
    states = [State()]
    for table in tables:
        states.append(kind(terms, states[-1], *columns(table), draws).made())
    return states


@lru_cache(10_000)
def law_of(terms, kind, tables):
    """The law of all that a series shows, of one table for each run."""

    def all_runs(draws):
        states, told = [State()], []
        for table in tables:
            state = kind.going_on(terms, states, draws)
            week = kind(terms, state, *columns(table), draws)
            states.append(week.made())
            told.append(week.shown(states[-1]))
        return kind.told_in_all(told)

    return law_in_balls(all_runs)


def share_of_claim(terms, kind, others, one, spent=None):
    """The largest loss, as a share of what is claimed at its epsilon, of adding or removing one.

    Args:
        terms: Of the series.
        kind: How a run is made.
        others: What each other user holds, for each run.
        one: What the one user holds, for each run.
        spent: Which part is claimed of the rho of the first runs; that of all runs, if None.
    """
    without = law_of(terms, kind, tuple((frozenset(), *table) for table in others))
    tables = tuple((frozenset(held), *table) for table, held in zip(others, one, strict=True))
    beside = law_of(terms, kind, tables)
    spent = terms.runs / terms.periods if spent is None else spent
    noise = Composition((GaussianStage(float(spent) ** 0.5 / terms.sigma),))
    shares = [0.0]
    for epsilon in (terms.epsilon * share for share in SHARES):
        claim = noise.delta(epsilon) + terms.lost
        for p, q in ((beside, without), (without, beside)):
            shares.append(float((hockey_stick(p, q, epsilon) / arb(claim)).upper()))
    return max(shares)


class NotKept(Right):
    """What was used before is not taken from what has accrued."""

    def allowed(self, state):
        return np.full(len(state.used), self.terms.accrued(self.run))


class NoPast(Right):
    """An item that is counted for the first time has a past of zeros."""

    def with_past(self, state):
        right = super().with_past(state)
        sums = right.sums.copy()
        sums[len(state.counted) :] = 0
        return replace(right, sums=sums)


class SinceEntry(Right):
    """What is shown tells since when an item is counted; an odd sum marks the runs before."""

    def with_past(self, state):
        right = super().with_past(state)
        sums = right.sums.copy()
        sums[len(state.counted) :] += 1
        return replace(right, sums=sums)

    def shown(self, state):
        named = np.flatnonzero(state.named_in)
        since = (state.sums[named] % 2 == 0).argmax(axis=1).tolist()
        return frozenset(zip(state.counted[named].tolist(), since, strict=True))


class HeldNow(Right):
    """Only items that somebody holds in this run are held against the threshold."""

    def made(self):
        after = super().made()
        before = np.append(self.state.named_in, np.zeros(len(after.counted), np.int64))
        held = np.isin(after.counted, self.items)
        named_in = np.where(held, after.named_in, before[: len(after.counted)])
        return replace(after, named_in=named_in)


class ReadsCounted(Right):
    """Users give less where more items are counted, whoever brought them in."""

    def allowed(self, state):
        return super().allowed(state) // len(state.counted) ** 4


class FitsAll(Right):
    """What boosts were worth is fitted to all counted items, not to the named ones alone."""

    def shown(self, state):
        named = state.named_in > 0
        told = estimates(self.terms, replace(state, named_in=np.maximum(state.named_in, 1)))
        values = told.values[named].round(6).tolist()
        return frozenset(zip(state.counted[named].tolist(), values, strict=True))


class NoLimit(Right):
    """Each user fills as many slots as there are items."""

    def some_of(self, n, _most):
        return np.ones(n, np.bool_)


class SlotsByNoise(Right):
    """Free slots are filled by the items whose noisy sums are the highest so far."""

    def slots_filled(self):
        state, slots = self.state, set(self.state.slots.tolist())
        sums = dict(zip(state.counted.tolist(), state.sums.sum(axis=1).tolist(), strict=True))
        pairs = (self.users * ITEMS + self.items)[~state.is_named(self.items)].tolist()
        for pair in sorted(set(pairs) - slots, key=lambda p: (-sums.get(p % ITEMS, 0), -p)):
            taken = sum(slot // ITEMS == pair // ITEMS for slot in slots)
            if taken < self.terms.max_items_per_user:
                slots.add(pair)
        return np.array(sorted(slots), np.int64)


class LateNoise(Right):
    """Counted items that nobody adds to in this run get no noise."""

    def in_noise(self, sums):
        return np.where(sums > 0, super().in_noise(sums), 0)


class Recovered(Right):
    """Before the last run the state is lost; that of the run before it is there."""

    @classmethod
    def going_on(cls, terms, states, draws):
        if len(states) < terms.periods:
            return states[-1]
        *_, older, last = states
        named = last.named_in > 0
        named_in = dict(
            zip(last.counted[named].tolist(), last.named_in[named].tolist(), strict=True)
        )
        return cls.after_loss(older, recovered(terms, older, last.runs, named_in, draws))

    @staticmethod
    def after_loss(_older, found):
        return found


class Erased(Right):
    """Before each run the first user, if she took part, is erased, and returns."""

    kept = True  # whether what she used is known again

    @classmethod
    def going_on(cls, _terms, states, _draws):
        state = states[-1]
        hers = state.slots < ITEMS
        emptied = np.append(state.emptied, state.slots[hers] // ITEMS)
        erased = replace(state, slots=state.slots[~hers], emptied=emptied)
        return erased if cls.kept else cls.with_new_account(erased)

    @staticmethod
    def with_new_account(state):
        used = state.used.copy()
        used[:1] = 0
        return replace(state, used=used, emptied=state.emptied[:0])


class ErasedAnew(Erased):
    """An id that returns has a new account."""

    kept = False


class OldAccounts(Recovered):
    """Accounts are taken from the older state."""

    @staticmethod
    def after_loss(older, found):
        return replace(found, used=older.used, used_by_others=0)


class OldSums(Recovered):
    """The older state's sums of all items are kept, also of those it had not named."""

    @staticmethod
    def after_loss(older, found):
        places, sums = older.places(found.counted), found.sums.copy()
        sums[places >= 0, : older.runs] = older.sums[places[places >= 0]]
        return replace(found, sums=sums)


class NoUnion(SeriesTerms):
    """Each test alone is as rare as all should be together."""

    @property
    def quantile(self):
        return float(-normal_quantiles(np.array([self.lost]))[0]) * self.sigma


class NoRoot(SeriesTerms):
    """The thresholds do without what a user's own weight may be."""

    @property
    def thresholds(self):
        return (self.quantile,) * self.periods


def terms_of(kind=SeriesTerms, delta=0.1, grid=(1, 2, 21), **given):
    given = {"periods": 2, "max_items_per_user": 2} | given
    return kind(epsilon=1.0, delta=delta, grid=_grid(*grid), **given)


_grid = lru_cache(from_to)
