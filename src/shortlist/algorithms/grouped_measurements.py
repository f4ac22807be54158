"""The best of known items in each of known groups: noisy counts, and again of what is still open.

All that is decided here follows from noisy counts that were released, and from how common the items
are in all groups together, which was released before. Proof note: `docs/proofs/per-group.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from shortlist.algorithms.clipped_counts import ClippedCounts, Measured, sd_of_counts
from shortlist.algorithms.rounding_grids import GridOfCounts, fine_grid
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence import UserSets
from shortlist.privacy import round_down

_OPEN = 2.0  # standard deviations from the last place that is still named
_SPREAD = 0.5  # of an item's count in a group, as a share of what its group and it let expect
_MOVED = 2.0  # standard deviations, at most, that a count is moved towards what is expected
_ALONE = 4.0  # standard deviations, for a count of a group of which nothing else is seen
_NOISE_WEIGHT = 0.3  # of the noise beside what clipping leaves out: errors of either kind
_HELD = 1.5  # standard deviations above 0, of what is known of a count, to be named
_LEAST = 1e-9  # of a precision or a scale that others are divided by


class RankedGroups(NamedTuple):
    """The best of each group, the groups in their order, as they were released.

    Attributes:
        groups: The place of the group of each, shape (n,).
        items: The place of the item of each.
        counts: Its noisy count; of users who hold many of the items it holds a part.
        sds: The standard deviation of the noise in each.
    """

    groups: Ints
    items: Ints
    counts: Floats
    sds: Floats


class _MeanCounts(NamedTuple):
    """What was measured so far of items in groups, shape (n,) each.

    Attributes:
        counts: The mean of the noisy counts, by precision.
        sds: The standard deviation of the noise in it.
    """

    counts: Floats
    sds: Floats

    def at(self, places: Ints) -> _MeanCounts:
        """What they say of some."""
        return _MeanCounts(self.counts[places], self.sds[places])

    def and_then(self, places: Ints, counts: Floats, sd: float) -> None:
        """Add a measurement of some."""
        before = self.at(places)
        share = before.sds**2 / (before.sds**2 + sd**2)
        self.counts[places] += share * (counts - before.counts)
        self.sds[places] = np.sqrt(share) * sd


@dataclass(frozen=True)
class GroupedMeasurements:
    """Noisy measurements of counts in all groups at once, each of what those before left open.

    Attributes:
        k: How many items of each group are wanted.
        shares: The parts of the zCDP that the measurements get: all together 1.
        bounds: The squared norms of one user's part to choose from.
        epsilon: The range of the choice, of which there is one for each measurement.
        most_groups: In how many groups one user is at most.
        seen: By how many standard deviations all counts of a group together must be above 0, for
            the popularity of its items to count.
        grid: What noisy counts are rounded down to, given the standard deviation of the noise.
    """

    k: int
    shares: tuple[Fraction, ...]
    bounds: tuple[int, ...]
    epsilon: float
    most_groups: int
    seen: float
    grid: GridOfCounts = fine_grid

    def best(self, held: UserSets, popularity: Floats, rho: float, draws: Draws) -> RankedGroups:
        """At most k items of each group.

        Args:
            held: Users' whole sets in at most `most_groups` groups: item i of group g has the place
                g · n_items + i. The order of items is public, and breaks ties.
            popularity: About how common each item is in all groups, up to a factor; above 0.
            rho: The zCDP of all measurements.
            draws: The exact draws.
        """
        if not held.n_items:
            return RankedGroups(*(np.empty(0, t) for t in (np.int64, np.int64, float, float)))
        width = len(popularity)
        sizes = np.full(held.n_items // width, width)
        first, *others = (round_down(Fraction(rho) * share) for share in self.shares)
        counts, sd = self._measured(held, sizes, first, draws)
        means = _MeanCounts(counts, np.full(len(counts), sd))
        expected = _expected(counts, popularity, self.seen * sd).ravel()
        values, places = _moved(means, expected), np.arange(held.n_items)
        for rho_of_next in others:
            last = self._last(values, width)[places // width]
            still = np.abs(values[places] - last) <= _OPEN * means.sds[places]
            held, places = held.among(np.flatnonzero(still)), places[still]
            sizes = np.bincount(places // width, minlength=1)
            means.and_then(places, *self._measured(held, sizes, rho_of_next, draws))
            values[places] = _moved(means.at(places), expected[places])
        return self._named(values, means, expected, width)

    def _measured(self, held: UserSets, sizes: Ints, rho: float, draws: Draws) -> Measured:
        """Noisy counts of what is open.

        Args:
            held: Users' sets of what is open.
            sizes: How much that is in each group.
            rho: The zCDP.
            draws: The exact draws.
        """
        clipped = ClippedCounts(held, self.grid, _NOISE_WEIGHT, self._most(sizes))
        sds = [sd_of_counts(bound, rho) for bound in self.bounds]
        return clipped.measured(self.bounds, sds, self.epsilon, draws)

    def _most(self, sizes: Ints) -> int:
        """How many of the open items one user can hold: all those of as many groups."""
        return int(np.sort(sizes)[-self.most_groups :].sum())

    def _last(self, values: Floats, width: int) -> Floats:
        """The k-th largest value of each group, or the smallest of fewer; shape (n_groups,)."""
        k = min(self.k, width)
        last: Floats = np.partition(values.reshape(-1, width), -k, axis=1)[:, -k]
        return last

    def _named(
        self, values: Floats, means: _MeanCounts, expected: Floats, width: int
    ) -> RankedGroups:
        """The k best of each group by these values, best first, but for those hardly above 0."""
        last = np.repeat(self._last(values, width), width)
        places = np.flatnonzero(values >= last)  # with those equal to the last
        places = places[np.lexsort((places, -values[places], places // width))]
        groups = places // width
        rank = np.arange(len(groups)) - np.searchsorted(groups, groups)
        places = places[rank < self.k]
        known = _known_to(means.at(places), expected[places])
        places = places[values[places] > _HELD * known]
        return RankedGroups(*np.divmod(places, width), *means.at(places))


def _expected(counts: Floats, popularity: Floats, least: float) -> Floats:
    """Each item's count in a group, were all groups alike but for their sizes.

    A group's size is the factor by which the popularity of all items fits its counts best; 0 where
    these are above 0 by less than so much.

    Args:
        counts: Noisy counts of the items in each group, one group after another.
        popularity: Of the items.
        least: So much, for an item alone.
    """
    norm = float(popularity @ popularity)
    sizes = counts.reshape(-1, len(popularity)) @ popularity / norm
    sizes[sizes <= least / math.sqrt(norm)] = 0.0
    expected: Floats = np.outer(sizes, popularity)
    return expected


def _moved(means: _MeanCounts, expected: Floats) -> Floats:
    """The counts, moved towards what is expected as far as their noise is large beside it.

    No count is moved by more than a few standard deviations of its noise, so that an item that is
    common in one group alone stands out: a limited translation rule (Efron & Morris 1972). Where
    nothing was seen of a group, its items keep what clearly exceeds the noise.
    """
    away, variances = means.counts - expected, means.sds**2
    share = variances / np.maximum(variances + (_SPREAD * expected) ** 2, _LEAST)
    limit = np.where(expected > 0, _MOVED, _ALONE) * means.sds
    moved: Floats = means.counts - np.clip(share * away, -limit, limit)
    return moved


def _known_to(means: _MeanCounts, expected: Floats) -> Floats:
    """How far off a value may be: less than either the noise or what groups differ by."""
    variances, spreads = means.sds**2, (_SPREAD * expected) ** 2
    known: Floats = np.sqrt(variances * spreads / np.maximum(variances + spreads, _LEAST))
    return known
