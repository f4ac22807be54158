"""How much the weighted Gaussian mechanism misses at most, alone or with picks after it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from shortlist.bounds._refusals import (
    require_at_least,
    require_between,
    require_chance,
    require_whole,
)
from shortlist.draws import UNIT

_LARGE = 300.0  # a logarithm: what is larger makes a bound say nothing
_ROUNDING = 2.0**-40  # relative: so that a whole power is not rounded below itself


@dataclass(frozen=True, kw_only=True)
class WeightedGaussianBounds:
    """Upper bounds for the discovery of items by noisy weights, on every table of this size.

    Each holds with probability at least 1 - beta over the bounding of users' sets and the noise.
    All follow from one number, `missed_count`: with that probability, every item that more users
    hold is named.

    Args:
        n_pairs: N, how many (user, item) pairs the table has.
        largest_set: The most items that a user holds, before bounding, or an upper bound of it
            such as `zipf_largest_set`.
        sigma: The standard deviation of the noise, such as `WeightedGaussian(...).sigma`.
        threshold: The least noisy weight to be named; at least 1, since with less the mechanism
            is not private at any delta up to 1/2.
        max_items_per_user: The most items of one user that count.

    Raises:
        InputError: A number is out of range.

    Source: Dick et al. (2026), Appendix C. Where our constants come from, and where they fix the
    published proofs: `docs/bounds.md`.

    >>> from shortlist.mechanisms import WeightedGaussian
    >>> mechanism = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=1)
    >>> bounds = WeightedGaussianBounds(
    ...     n_pairs=10**6, largest_set=1, sigma=mechanism.sigma, threshold=mechanism.threshold,
    ...     max_items_per_user=1)
    >>> bounds.missed_count(beta=0.05), round(bounds.missing_mass(C=0.4, s=1.5, beta=0.05), 3)
    (41, 0.043)
    """

    n_pairs: int
    largest_set: int
    sigma: float
    threshold: float
    max_items_per_user: int

    def __post_init__(self) -> None:
        require_whole(
            n_pairs=self.n_pairs,
            largest_set=self.largest_set,
            max_items_per_user=self.max_items_per_user,
        )
        require_between(0, sigma=self.sigma)
        require_at_least(1, threshold=self.threshold)

    def missed_count(self, *, beta: float) -> int:
        """The most users of an item that may be missed: all items with more users are named.

        Theorem 3.6 in users. For any table.

        Args:
            beta: The chance that it fails, in (1e-100, 1).
        """
        require_chance(beta)
        return self._missed_count(beta, self.n_pairs / self.threshold)

    def missing_mass_linf(self, *, beta: float) -> float:
        """Theorem 3.6: the share of all pairs that belong to the most frequent item missed.

        For any table. It bounds `metrics.missing_mass(..., p=inf)`.

        Args:
            beta: The chance that it fails, in (1e-100, 1).
        """
        return self.missed_count(beta=beta) / self.n_pairs

    def missing_mass(self, *, C: float, s: float, beta: float) -> float:  # noqa: N803
        """Theorem 3.3: the share of all pairs whose items are missed.

        For tables that are (C, s)-Zipfian: the r-th largest count is at most n_pairs C / r^s.
        With t = `missed_count` (of such a table): C^(1/s) (t/N)^((s-1)/s) times at most s/(s-1).

        Args:
            C: Above 0; such as `metrics.zipf_fit` finds on public data.
            s: Above 0. The paper asks for s > 1, below which the bound falls with n_pairs no more.
            beta: The chance that it fails, in (1e-100, 1).

        Returns:
            At most 1, which says nothing.
        """
        require_chance(beta)
        require_between(0, C=C, s=s)
        heavy = _exp((math.log(C) + math.log(self.n_pairs / self.threshold)) / s)
        count = self._missed_count(beta, min(heavy, self.n_pairs / self.threshold))
        # The sum over ranks r of min(t/N, C/r^s) as an integral: of t/N up to rank (CN/t)^(1/s),
        # and from there of C/r^s up to rank (CN)^(1/s), beyond which no item is held.
        flat = _exp((math.log(C) + (s - 1) * math.log(count / self.n_pairs)) / s)
        stretch = math.log(count) / s
        tail = stretch if s == 1 else math.expm1(min((1 - s) * stretch, _LARGE)) / (1 - s)
        return min(1.0, flat * (1 + tail))

    def top_k_missing_mass(
        self, *, k: int, n_items: int, local_epsilon: float, beta: float
    ) -> float:
        """Theorem 4.3: the top-k missing mass, where k picks by counts follow the discovery.

        For any table. It bounds `metrics.top_k_missing_mass`.

        Args:
            k: How many items are picked.
            n_items: M, how many different items the table has, or more.
            local_epsilon: Of each pick, an exponential mechanism of weights exp(local_epsilon
                count), such as `WeightedGaussianPeeling(...).local_epsilon`.
            beta: The chance that it fails, in (1e-100, 1).

        Returns:
            At most 1, which says nothing.
        """
        certain, chance, missed = self._lost(k, n_items, local_epsilon, beta)
        lost = k * missed + certain + chance
        return min(1.0, lost / self.n_pairs)

    def hits(
        self, *, k: int, optimum: float, n_items: int, local_epsilon: float, beta: float
    ) -> float:
        """Theorem 4.5: how many users are reached at least, where k picks follow the discovery.

        For any table. It bounds `metrics.hits` from below. It holds for Algorithm 4 of the paper:
        each pick is an exponential mechanism on the number of users that hold the item and none
        picked before.

        Args:
            k: How many items are picked.
            optimum: How many users the best k items of the table reach, or fewer.
            n_items: M, how many different items the table has, or more.
            local_epsilon: Of each pick, of weights exp(local_epsilon users).
            beta: The chance that it fails, in (1e-100, 1).

        Returns:
            At least 0, which says nothing.
        """
        require_at_least(0, optimum=optimum)
        certain, chance, missed = self._lost(k, n_items, local_epsilon, beta)
        within_reach = optimum - k * missed - certain
        return max(0.0, (1 - (1 - 1 / k) ** k) * within_reach - chance)

    def _lost(
        self, k: int, n_items: int, local_epsilon: float, beta: float
    ) -> tuple[float, float, int]:
        """The two parts of what picks lose, and `missed_count`; each fails with half of beta."""
        require_chance(beta)
        half = beta / 2
        picks = _lost_by_picks(k, n_items, local_epsilon, half)
        return *picks, self._missed_count(half, self.n_pairs / self.threshold)

    def _missed_count(self, beta: float, heavy: float) -> int:
        """`missed_count` if at most `heavy` items have more users than the threshold."""
        failure = beta / max(1.0, heavy)  # of each of these items
        largest_kept = min(self.max_items_per_user, self.largest_set)
        weight = 1 / math.sqrt(largest_kept) - UNIT  # of a user, at least; it is rounded down
        share = largest_kept / self.largest_set  # of an item's users that are left, in expectation
        count = self._weight_missed(failure, weight, sampled=share < 1) / weight / share
        return min(math.floor(count), self.n_pairs)

    def _weight_missed(self, failure: float, weight: float, *, sampled: bool) -> float:
        """The expected weight with which an item is missed with at most this probability."""
        threshold = self.threshold + UNIT
        if not sampled:
            return threshold + max(0.0, -self.sigma * NormalDist().inv_cdf(failure))
        # Chernoff, for users left and noise together: (x - T)² = 2 log (weight x + sigma²)
        log = -math.log(failure)
        square = log * (2 * threshold * weight + log * weight**2 + 2 * self.sigma**2)
        return threshold + log * weight + math.sqrt(square)


def zipf_largest_set(*, C: float, s: float, n_pairs: int) -> int:  # noqa: N803
    """Lemma 3.1: the most items of a user in a (C, s)-Zipfian table, (C N)^(1/s).

    Source: Dick et al. (2026), Lemma 3.1.

    >>> zipf_largest_set(C=1.0, s=1.5, n_pairs=1_000_000)
    10000
    """
    require_between(0, C=C, s=s)
    require_whole(n_pairs=n_pairs)
    log = (math.log(C) + math.log(n_pairs)) / s
    return n_pairs if log > math.log(n_pairs) else math.floor(math.exp(log) * (1 + _ROUNDING))


def _lost_by_picks(k: int, n_items: int, local_epsilon: float, beta: float) -> tuple[float, float]:
    """How far k picks together fall short of the best items left, in two parts that add up.

    One pick of at most M items falls short by t or more with probability at most
    M exp(-local_epsilon t), whatever was picked before. So it falls short by at most ln(M) plus a
    standard exponential, both divided by local_epsilon. The first part is k times ln(M); the second
    is a quantile of the sum of k exponentials.
    """
    require_whole(k=k, n_items=n_items)
    require_between(0, local_epsilon=local_epsilon)
    from scipy.special import gammainccinv

    return k * math.log(n_items) / local_epsilon, float(gammainccinv(k, beta)) / local_epsilon


def _exp(log: float) -> float:
    return math.exp(min(log, _LARGE))
