"""Policies whose histograms one user can move too far, and mechanisms that build on them."""

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from shortlist.algorithms.policies import shuffled, users_shuffled
from shortlist.draws.reals import LaplaceCDF, NormalCDF
from shortlist.mechanisms import PolicyGaussian, PolicyGreedy, Selection
from shortlist.privacy.accountant.policy_coin import UnitCoin

# --- histograms: of lists of items, for users in turn, none above the cutoff


def even_fill(data, users, cutoff, n_items):
    """Wrong: what is left of a user's 1 is spread evenly, and items of small gaps are filled."""
    weights = np.zeros(n_items)
    for user in users:
        items = sorted(data[user], key=lambda item: cutoff - weights[item])
        left = 1.0
        for place, item in enumerate(items):
            step = min(cutoff - weights[item], math.sqrt(left / (len(items) - place)))
            weights[item] += step
            left = max(left - step**2, 0.0)
    return weights


def fill_then_spread(data, users, cutoff, n_items):
    """Wrong: items are filled one by one while 1 lasts; what is left of it is spread evenly."""
    weights = np.zeros(n_items)
    for user in users:
        items = sorted(data[user], key=lambda item: cutoff - weights[item])
        left = 1.0
        while items and (gap := cutoff - weights[items[0]]) ** 2 <= left:
            weights[items.pop(0)] = cutoff
            left -= gap**2
        for item in items:
            weights[item] = min(weights[item] + math.sqrt(left / len(items)), cutoff)
    return weights


def fractional_fill(data, users, cutoff, n_items, ranks=None):
    """Published, and wrong: a user spends 1 in all on the items in turn, each up to the cutoff."""
    weights, ranks = [Fraction(0)] * n_items, range(n_items) if ranks is None else ranks
    for user in users:
        left = Fraction(1)
        for item in sorted(data[user], key=lambda item: ranks[item]):
            step = min(left, cutoff - weights[item])
            weights[item] += step
            left -= step
    return weights


# --- mechanisms


class FillThenSpread(PolicyGaussian):
    """Policy Gaussian by a policy that is not contractive, with noise for one that is."""

    def select(self, evidence, draws):
        held = evidence.bounded(self.max_items_per_user, draws)
        users = users_shuffled(held, draws)
        weights = fill_then_spread(_sets(held), users, self.cutoff, held.n_items)
        items, unit = np.flatnonzero(weights), self.grid.unit
        gaps = np.round((weights[items] - self.threshold) / unit).astype(np.int64)
        return Selection(items[draws.coin(NormalCDF(gaps, self.sigma, unit))], ordered=False)


class FractionalCutoff(PolicyGreedy):
    """Policy Greedy as published: the cutoff is not rounded up."""

    cutoff = cached_property(lambda self: max(self.threshold + self.alpha / self.epsilon, 1.0))

    def select(self, evidence, draws):
        users, ranks = users_shuffled(evidence, draws), shuffled(evidence.n_items, draws)
        cutoff, one = Fraction(self.cutoff), 2**30
        weights = fractional_fill(_sets(evidence), users, cutoff, evidence.n_items, ranks)
        items = np.flatnonzero(weights)
        gaps = np.array([round((weights[item] - 1) * one) for item in items], np.int64)
        named = draws.coin(LaplaceCDF(gaps, self.epsilon / one, self.delta))
        return Selection(items[named], ordered=False)


class SteepCoin(PolicyGreedy):
    """The chances of two units and more grow as if epsilon were larger."""

    _coin = cached_property(lambda self: UnitCoin(1.3 * self.epsilon, self.delta))


class EagerCoin(PolicyGreedy):
    """An item of one unit is named too often, and all others as they should be."""

    _coin = cached_property(lambda self: _Eager(self.epsilon, self.delta))


class _Eager(UnitCoin):
    @cached_property
    def numerators(self):
        nobody, one, *more = self._climb()
        return nobody, one * 3 // 2, *more


def _sets(held):
    ranges = zip(held.starts.tolist(), held.sizes.tolist(), strict=True)
    return [held.items[start : start + size].tolist() for start, size in ranges]


# --- one order in the place of all: what the proofs hold for, and where less is averaged away


class InTurn:
    """Draws that leave every order as it is."""

    def __init__(self, draws):
        self.coin = draws.coin

    def integer(self, bounds):
        return np.zeros(len(bounds), np.int64)


class GreedyInTurn(PolicyGreedy):
    """The right one."""

    def select(self, evidence, draws):
        return super().select(evidence, InTurn(draws))


class FractionalInTurn(FractionalCutoff):
    def select(self, evidence, draws):
        return super().select(evidence, InTurn(draws))
