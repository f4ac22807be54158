"""Series of lists of single periods: all that is shown, for their exact law; and mistakes."""

from dataclasses import replace

import numpy as np

from helpers.weeks import terms_of
from shortlist.draws.normal_law import normal_quantiles
from shortlist.series.period_run import PeriodRun, recovered_of_period
from shortlist.series.period_terms import PeriodTerms


class Right(PeriodRun):
    """A run as it is, and all that may be shown after it: also of what it does not list."""

    @staticmethod
    def going_on(_terms, states, _draws):
        """The state that a run begins with, of those so far."""
        return states[-1]

    @staticmethod
    def told_in_all(told):
        return tuple(told)

    def shown(self, state):
        """What each named item was, and its sum in this run."""
        rows = (state.counted.tolist(), state.named_in.tolist(), state.sums[:, -1].tolist())
        return frozenset(zip(*rows, strict=True))


class NotKept(Right):
    """What was used before is not taken from what has accrued."""

    def allowed(self, state):
        return np.full(len(state.used), self.terms.accrued(self.run))


class HeldNow(Right):
    """Named items that nobody holds in this run get no noise."""

    def in_noise(self, sums):
        return np.where(sums > 0, super().in_noise(sums), 0)


class NoLimit(Right):
    """Any number of items of a user count."""

    def some_of(self, n, _most):
        return np.ones(n, np.bool_)


class ByRows(Right):
    """Of each user the items count that the fewest others hold in this run."""

    def giving(self):
        held = np.bincount(self.items)[self.items]
        gives = self.state.is_named(self.items)
        for user in np.unique(self.users):
            mine = np.flatnonzero((self.users == user) & ~gives)
            gives[mine[np.argsort(held[mine], kind="stable")][: self.terms.max_items_per_user]] = 1
        return gives


class Recovered(Right):
    """Before each run the state is lost."""

    @classmethod
    def going_on(cls, terms, states, draws):
        if len(states) == 1:
            return states[0]
        last = states[-1]
        named_in = dict(zip(last.counted.tolist(), last.named_in.tolist(), strict=True))
        found = recovered_of_period(terms, states[0], last.runs, named_in, draws)
        return cls.after_loss(states[0], found)

    @staticmethod
    def after_loss(_older, found):
        return found


class NewAccounts(Recovered):
    """After a loss everybody begins anew."""

    @staticmethod
    def after_loss(_older, found):
        return replace(found, used_by_others=0)


class NoUnion(PeriodTerms):
    """Each test alone is as rare as all should be together."""

    @property
    def threshold(self):
        return 1 - float(normal_quantiles(np.array([self.lost]))[0]) * self.sigma


class NoWeight(PeriodTerms):
    """The threshold does without what a user's own weights may be."""

    @property
    def threshold(self):
        chance = self.lost / (self.periods * self.max_items_per_user)
        return -float(normal_quantiles(np.array([chance]))[0]) * self.sigma


def period_terms(kind=PeriodTerms, **given):
    return terms_of(kind, **given)
