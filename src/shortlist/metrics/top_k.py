"""How good a top-k is, in the papers' measures.

They read private data: for experiments only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.metrics._positions import Positions, positions_of, require_k


@dataclass(frozen=True)
class Places:
    """What should be in each of k places, and what is; both 0 where there is nothing.

    Attributes:
        best: The k largest counts, falling, shape (k,).
        held: The counts of the answer's items in its order, shape (k,).
    """

    best: NDArray[np.int64]
    held: NDArray[np.int64]

    @classmethod
    def of(
        cls, counts: NDArray[np.integer], positions: Positions, best: NDArray[np.int64]
    ) -> Places:
        """The places of an answer.

        Args:
            counts: How many users hold each item, shape (n,).
            positions: The items of the answer, as positions in `counts`, best first.
            best: From `largest`.

        Raises:
            ValueError: A position is no item's, or there twice, or there are more than k.
        """
        k, answer = len(best), positions_of(positions, len(counts))
        if len(answer) > k or len(np.unique(answer)) < len(answer):
            raise ValueError(f"an answer for k={k} has at most {k} items, and none of them twice.")
        held = np.zeros(k, np.int64)
        held[: len(answer)] = np.asarray(counts)[answer]
        return cls(best, held)

    @property
    def shortfall(self) -> int:
        """How much less the answer holds than the true top k."""
        return int(self.best.sum() - self.held.sum())

    @property
    def l1(self) -> int:
        """The sum of the differences."""
        return int(np.abs(self.best - self.held).sum())

    @property
    def linf(self) -> int:
        """The largest difference."""
        return int(np.abs(self.best - self.held).max())

    @property
    def relative(self) -> int:
        """How far the least of the answer falls short of the k-th largest count."""
        return int(self.best[-1] - self.held.min())


def largest(counts: NDArray[np.integer], k: int) -> NDArray[np.int64]:
    """The k largest counts, falling, and 0 for those that are missing; shape (k,).

    Raises:
        ValueError: k is not a whole number of at least 1.
    """
    require_k(k)
    found = np.asarray(counts, np.int64)
    found = found if len(found) <= k else np.partition(found, -k)[-k:]
    best = np.zeros(k, np.int64)
    best[: len(found)] = np.sort(found)[::-1]
    return best


def top_k_missing_mass(counts: NDArray[np.integer], positions: Positions, k: int) -> float:
    """MM^k: how much less the answer holds than the true top k, as a share of all pairs.

    (sum of the k largest counts - sum of the answer's counts) / sum of all counts. The order of the
    answer does not matter, and a place that is not filled counts as an item that nobody holds.

    Args:
        counts: How many users hold each item, shape (n,).
        positions: The items of the answer, as positions in `counts`, none twice: at most k.
        k: How many items were asked for, at least 1; if there are fewer, the rest of the places
            count 0.

    Returns:
        Between 0 (a true top k) and 1. Where there are no pairs: 0.

    Raises:
        ValueError: A position is no item's, or there twice, or k is out of range.

    Source: Dick et al. (2026), Definition 4.1.

    >>> top_k_missing_mass(np.array([6, 3, 1]), [0, 2], k=2)
    0.2
    """
    total = int(np.sum(counts, dtype=np.int64))
    shortfall = _places(counts, positions, k).shortfall
    return shortfall / total if total else 0.0


def top_k_l1(counts: NDArray[np.integer], positions: Positions, k: int) -> int:
    """How far the answer's counts are from those of the true top k, place by place.

    The sum over the places i of `abs(i-th largest count - count of the answer's item i)`: the order
    of the answer matters, and a place that is not filled counts in full.

    Args: as `top_k_missing_mass`; `positions` best first.

    Returns:
        0 for a true top k in its order, in users.

    Source: Gillenwater et al. (2022), Section 2; Dick et al. (2026), Appendix F.2.

    >>> top_k_l1(np.array([6, 3, 1]), [2, 0], k=2)
    8
    """
    return _places(counts, positions, k).l1


def one_shot_laplace_success(counts: NDArray[np.integer], *, scale: float) -> float:
    """A lower bound of the chance that one-shot Laplace noise leaves all counts in their order.

    And so of the chance that it names the true top k, whatever k. With m counts and the smallest
    gap Δ between two that follow each other, max(0, 1 - (m-1)(2 scale + Δ) e^(-Δ/scale)/(4 scale)).

    Args:
        counts: How many users hold each item, shape (m,).
        scale: Of the noise, such as `OneShotLaplace(...).scale`.

    Returns:
        Between 0 and 1; 0 where two counts are equal and there are more than two.

    Source: Qiao et al. (2021), Theorem 2.3.

    >>> round(one_shot_laplace_success(np.array([900, 100, 400]), scale=50.0), 4)
    0.9901
    """
    if len(counts) < 2:
        return 1.0
    gap = float(np.diff(np.sort(np.asarray(counts, np.int64))).min()) / scale
    return max(0.0, 1 - (len(counts) - 1) * (2 + gap) * math.exp(-gap) / 4)


def top_k_linf(counts: NDArray[np.integer], positions: Positions, k: int) -> int:
    """How far the answer's counts are from those of the true top k, at the worst place.

    The largest, over the places i, of `abs(i-th largest count - count of the answer's item i)`.

    Args: as `top_k_missing_mass`; `positions` best first.

    Returns:
        0 for a true top k in its order, in users.

    Source: Gillenwater et al. (2022), Section 5.

    >>> top_k_linf(np.array([6, 3, 1]), [2, 0], k=2)
    5
    """
    return _places(counts, positions, k).linf


def top_k_relative(counts: NDArray[np.integer], positions: Positions, k: int) -> int:
    """How far the answer's least count falls short of the k-th largest.

    The largest, over the places i, of k-th largest count - count of the answer's item i: the order
    of the answer does not matter, and a place that is not filled counts as an item that nobody
    holds.

    Args: as `top_k_missing_mass`.

    Returns:
        0 for a true top k in any order, in users.

    Source: Gillenwater et al. (2022), Section 5.

    >>> top_k_relative(np.array([6, 3, 1]), [2, 0], k=2)
    2
    """
    return _places(counts, positions, k).relative


def _places(counts: NDArray[np.integer], positions: Positions, k: int) -> Places:
    return Places.of(counts, positions, largest(counts, k))
