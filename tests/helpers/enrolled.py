"""Every mechanism that is listed, and evidence for each."""

import inspect
from functools import lru_cache
from numbers import Real

import numpy as np
import pytest

from helpers.views import Listed
from shortlist import mechanisms
from shortlist.evidence import (
    GroupedSets,
    LabelledCounts,
    Outcomes,
    PairsOfItems,
    PrivateCounts,
    PublicCounts,
    UserGroups,
    WeightedHistogram,
    Wins,
)
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.user_sets import UserSets
from shortlist.evidence.view import View
from shortlist.mechanisms import AddedNoise, Mechanism, OneShotLaplace, Selection

LISTED = [getattr(mechanisms, name) for name in mechanisms.__all__]

ALL = [
    listed
    for listed in LISTED
    if isinstance(listed, type) and issubclass(listed, Mechanism) and not inspect.isabstract(listed)
]

BOUNDS = {"max_items_per_user": 10, "max_comparisons_per_user": 10}
USUAL = {"k": 3, "n_items": 1000, "epsilon": 1.0, "delta": 1e-6, "fdr": 0.1, **BOUNDS}
# Evidence whose items everybody knows.
PUBLIC = (LabelledCounts, PublicCounts, Outcomes, View, Wins)
every = pytest.mark.parametrize("mechanism", ALL)


def within_theorem(mechanism, given):
    """One-shot Laplace noise has a theorem with a delta up to epsilon = 0.2 only; beyond, pure.

    Where the noise of a sublinear top-k is not Gumbel's, it is pure.
    """
    if given.get("noise") in (AddedNoise.LAPLACE, AddedNoise.EXPONENTIAL):
        return given | {"delta": 0.0}
    epsilon, delta = given["epsilon"], given["delta"]
    numbers = all(isinstance(x, Real) for x in (epsilon, delta))
    if mechanism is not OneShotLaplace or not numbers or not 0 < delta < 1:
        return given
    return given if epsilon <= 0.2 and delta <= 0.05 else given | {"delta": 0.0}


def build(mechanism, **given):
    given = within_theorem(mechanism, USUAL | given)
    return mechanism(**{name: given[name] for name in mechanism.fields() if name in given})


@lru_cache
def one_item_each(counts):
    """Users who hold one item each."""
    items = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    users = np.arange(len(items), dtype=np.uint32)
    return Contributions.of_rows(users, items, n_users=len(users), n_items=len(counts))


@lru_cache
def in_one_group(counts):
    """The same users, in the only group."""
    n = len(counts)
    groups, items = np.zeros(n, np.uint32), np.arange(n, dtype=np.uint32)
    return GroupedSets.of_pairs(one_item_each(counts), groups, items, 1, n)


def evidence(mechanism, counts, weights=None, bound=10):
    if mechanism.evidence is UserGroups:
        return in_one_group(tuple(counts))
    if issubclass(mechanism.evidence, UserSets | PairsOfItems):
        held = one_item_each(tuple(counts))
        return PairsOfItems(held) if mechanism.evidence is PairsOfItems else held
    counts = np.array(counts, np.int64)
    if mechanism.evidence is View:
        return Listed(counts)
    if mechanism.evidence is Outcomes:
        return outcomes(counts[:60], bound)
    if mechanism.evidence in (PublicCounts, PrivateCounts, Wins, LabelledCounts):
        return shown_counts(mechanism.evidence, counts, bound)
    weights = counts * 2**32 if weights is None else np.array(weights, np.int64)
    return WeightedHistogram(weights, counts, bound)


def shown_counts(kind, counts, bound):
    if kind is not LabelledCounts:
        return kind(counts, bound)
    counts = counts >> (30 if counts.max(initial=0) > 2**32 else 0)  # as many as a table can hold
    return LabelledCounts(counts, np.zeros_like(counts), int(counts.max(initial=0)), 1000)


def outcomes(counts, bound, times=2**40):
    """Comparisons of every pair, won in proportion to the counts."""
    first, second = np.triu_indices(len(counts), 1)
    odds = (counts[first] + 1.0) / (counts[first] + counts[second] + 2.0)
    wins = np.rint(odds * times).astype(np.int64)
    return Outcomes(first, second, np.full(len(first), times), wins, len(counts), bound)


def check(selection, n, k=None):
    """A selection names no item twice, and has a finite score for each or none."""
    assert isinstance(selection, Selection)
    positions = selection.positions.tolist()
    assert len(set(positions)) == len(positions) <= (n if k is None else min(k, n))
    assert all(0 <= position < n for position in positions)
    if selection.scores is not None:
        assert selection.scores.shape == selection.positions.shape
        assert np.isfinite(selection.scores).all()
        assert selection.noise_sd > 0
