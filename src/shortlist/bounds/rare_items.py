"""How much every private algorithm misses, because rare items cannot be named.

The bounds hold for every algorithm that is (epsilon, delta)-DP when one user is added or removed,
and that names only items that somebody holds (Dick et al. 2026, Assumption 1).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.bounds._refusals import MOST, require_between, require_counts, require_whole
from shortlist.draws import Floats, Ints
from shortlist.errors import InputError

_MOST = 2**20  # numbers of users looked at for the best bound: each gives one that holds
_ROUNDING = 2.0**-40  # relative: so that a whole number is not reached by rounding


def rare_item_chance(n_users: int, *, epsilon: float, delta: float) -> float:
    """Lemma D.1: the largest probability to name an item that n_users hold.

    delta (e^(n_users epsilon) - 1) / (e^epsilon - 1), at most 1. It holds for each item by itself,
    whatever else the table holds.

    Args:
        n_users: How many users hold the item, at least 1.
        epsilon: Above 0.
        delta: In (0, 1).

    Raises:
        InputError: A number is out of range.

    Source: Dick et al. (2026), Lemma D.1.

    >>> [f"{rare_item_chance(n, epsilon=1.0, delta=1e-6):.1g}" for n in (1, 5, 10, 20)]
    ['1e-06', '9e-05', '0.01', '1']
    """
    require_whole(n_users=n_users)
    _require_private(epsilon, delta)
    return float(_chances(np.array([n_users]), epsilon, delta)[0])


def rare_item_users(*, epsilon: float, delta: float) -> int:
    """Lemma D.1: the most users whose item is named with probability at most 1/2.

    The whole part of ln(1 + (e^epsilon - 1) / (2 delta)) / epsilon; 0 where delta is above 1/2, and
    never more than 2^53.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).

    Raises:
        InputError: A number is out of range.

    Source: Dick et al. (2026), Lemma D.1.

    >>> rare_item_users(epsilon=1.0, delta=1e-6), rare_item_users(epsilon=0.1, delta=1e-6)
    (13, 108)
    """
    _require_private(epsilon, delta)
    grown = _log_expm1(epsilon) - math.log(2 * delta)
    return math.floor(min(float(np.logaddexp(0, grown)) / epsilon, MOST))


def least_missing_mass_of_counts(
    counts: NDArray[np.integer], *, epsilon: float, delta: float
) -> float:
    """The least expected missing mass of any algorithm on this table.

    Each item is missed with probability at least 1 - `rare_item_chance`.

    It reads the counts: for experiments with public or synthetic data.

    Args:
        counts: How many users hold each item, shape (n,).
        epsilon: Above 0.
        delta: In (0, 1).

    Returns:
        At most 1; 0 where there are no pairs.

    Raises:
        InputError: A number is out of range.

    Source: Dick et al. (2026), proof of Theorem 3.5.

    >>> round(least_missing_mass_of_counts(np.array([90, 5, 5]), epsilon=1.0, delta=1e-6), 4)
    0.1
    """
    _require_private(epsilon, delta)
    held = require_counts(counts)
    missed = held * (1 - _chances(held, epsilon, delta))
    return float(missed.sum() / max(1, held.sum()))


def least_missing_mass(
    *,
    C: float,  # noqa: N803 - the name in the definition
    s: float,
    n_pairs: int,
    epsilon: float,
    delta: float,
) -> float:
    """Theorem 3.5: on some (C, s)-Zipfian table, every algorithm misses at least this mass.

    In expectation. On that table each user holds one item, few users hold each item but one, and
    that one has all other users. The table does not depend on the algorithm.

    Args:
        C: At least 1.
        s: Above 0. The paper asks for s > 1.
        n_pairs: N, how many pairs the table has.
        epsilon: Above 0.
        delta: In (0, 1).

    Returns:
        The largest over b of (1 - `rare_item_chance(b)`) (1/N) sum over v <= b of
        (floor((C N/v)^(1/s)) - 1); about C^(1/s) (b/N)^((s-1)/s) s/(s-1).

    Source: Dick et al. (2026), Theorem 3.5.

    >>> round(least_missing_mass(C=1.0, s=1.5, n_pairs=1_000_000, epsilon=1.0, delta=1e-6), 4)
    0.0417
    """
    require_between(0, C=C, s=s)
    if C < 1:
        raise InputError(
            "must be at least 1, so that one item can have all the rest", given={"C": C}
        )
    require_whole(n_pairs=n_pairs)
    held, missed = _rare(epsilon, delta)
    values = np.arange(1, int(held.max(initial=0)) + 1)
    with np.errstate(over="ignore"):
        ranks = (C * n_pairs / values) ** (1 / s) * (1 - _ROUNDING)
    ranks = np.floor(np.minimum(ranks, n_pairs))  # how many items may have so many users, or more
    alone = np.cumsum(ranks)[held - 1] >= n_pairs  # rare items can be all there are
    beside = np.cumsum(np.maximum(ranks - 1, 0))[held - 1] / n_pairs
    return float((missed * np.where(alone, 1.0, beside)).max(initial=0.0))


def least_top_k_missing_mass(*, k: int, n_pairs: int, epsilon: float, delta: float) -> float:
    """Corollary 4.4: on some table, every algorithm has at least this top-k missing mass.

    In expectation. The table has k items: rare ones and, where these cannot have all pairs, one
    with the rest.

    Args:
        k: How many items are asked for.
        n_pairs: N, how many pairs the table has.
        epsilon: Above 0.
        delta: In (0, 1).

    Returns:
        The largest over b of (1 - `rare_item_chance(b)`) (k - 1) b / N, without (k - 1) b / N where
        N <= k b.

    Source: Dick et al. (2026), Corollary 4.4, which has N = k b.

    >>> round(least_top_k_missing_mass(k=100, n_pairs=10_000, epsilon=1.0, delta=1e-6), 4)
    0.1075
    """
    require_whole(k=k, n_pairs=n_pairs)
    held, missed = _rare(epsilon, delta)
    share = np.where(k >= -(-n_pairs // held), 1.0, (k - 1) * (held / n_pairs))
    return float((missed * share).max(initial=0.0))


def least_missed_users(*, k: int, n_users: int, epsilon: float, delta: float) -> float:
    """Corollary 4.6: on some table, every algorithm reaches this many users fewer than it could.

    That is fewer than the best k items reach, in expectation. The table is that of
    `least_top_k_missing_mass`, where each user holds one item.

    Args:
        k: How many items are asked for.
        n_users: How many users the table has.
        epsilon: Above 0.
        delta: In (0, 1).

    Source: Dick et al. (2026), Corollary 4.6, which has n_users = k b.

    >>> round(least_missed_users(k=100, n_users=10_000, epsilon=1.0, delta=1e-6))
    1075
    """
    require_whole(n_users=n_users)
    return n_users * least_top_k_missing_mass(k=k, n_pairs=n_users, epsilon=epsilon, delta=delta)


def _rare(epsilon: float, delta: float) -> tuple[Ints, Floats]:
    """1 .. `rare_item_users` users, and how likely an item of so many is missed at least."""
    held = np.arange(1, min(rare_item_users(epsilon=epsilon, delta=delta), _MOST) + 1)
    return held, 1 - _chances(held, epsilon, delta)


def _chances(counts: Ints, epsilon: float, delta: float) -> Floats:
    """`rare_item_chance` of each; 0 for items that nobody holds."""
    others = np.maximum(counts, 1) - 1
    grown = np.log(np.expm1(-epsilon * (others + 1)) / math.expm1(-epsilon))
    logs = math.log(delta) + (epsilon * others + grown)  # e^(b epsilon) may be no float
    chances: Floats = np.where(counts > 0, np.exp(np.minimum(logs, 0.0)), 0.0)
    return chances


def _log_expm1(x: float) -> float:
    return x + math.log(-math.expm1(-x))


def _require_private(epsilon: float, delta: float) -> None:
    require_between(0, epsilon=epsilon)
    require_between(0, 1, delta=delta)
