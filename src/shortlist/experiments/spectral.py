"""Rank centrality without noise, and how fast its walk forgets where it began."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from shortlist.algorithms.random_walk import GRID, Walk, is_connected, on_grid
from shortlist.draws import Floats
from shortlist.errors import InputError
from shortlist.evidence import Outcomes
from shortlist.experiments.comparisons import require_outcomes

if TYPE_CHECKING:
    from scipy.sparse import csc_array

# After so many steps of the walk, its equations are solved instead.
_STEPS = 2000
# How far from 1 a row may sum.
_WHOLE = 1e-9
# So many rows stay in the cache while all others pass.
_BLOCK = 16


def spectral_scores(outcomes: Outcomes) -> Floats:
    """Each item's share of the time of a walk from losers to winners, shape (n_items,).

    One step of the walk changes the shares by at most (n + 16) 2^-50 + m 2^-56 in ℓ1 norm, proven,
    for m items, of which each was compared with at most n others; so their error is at most that
    over 1 less the `ergodicity_coefficient`. The degree makes no difference. Where several items,
    or groups of them, never lost to the rest, the shares are one answer of many.

    Raises:
        InputError: These are no outcomes, or do not link all items; or no shares were found that
            are near enough.

    >>> pair = Outcomes(np.array([0]), np.array([1]), np.array([4]), np.array([3]), 2)
    >>> spectral_scores(pair).tolist()
    [0.75, 0.25]
    """
    require_outcomes(outcomes)
    if not is_connected(outcomes):
        raise InputError("no chain of comparisons links some of the items with the others")
    walk = Walk.of(outcomes, _degree(outcomes, None))
    tolerance = 4 * walk.rounding
    whole = walk.stationary(tolerance=tolerance, steps=_STEPS)
    if walk.residual(whole) > tolerance:
        whole = on_grid(_solved(walk))
        if walk.residual(whole) > tolerance:
            raise InputError("no shares were found that one step changes so little")
    return whole.astype(np.float64) * GRID


def _solved(walk: Walk) -> Floats:
    """The solution of its equations, of which one says that the shares make one whole."""
    from scipy.sparse import diags_array, vstack
    from scipy.sparse.linalg import splu

    n = len(walk.leaving)
    balance = (diags_array(walk.leaving) - walk.into).tocsr()
    equations: csc_array = vstack([balance[:-1], np.ones((1, n))], format="csc")
    whole = np.zeros(n)
    whole[-1] = 1.0
    try:
        factors = splu(equations)
    except RuntimeError:  # they are singular
        return np.full(n, 1 / n)
    shares = factors.solve(whole)
    shares -= factors.solve(equations @ shares - whole)
    positive: Floats = np.maximum(shares, 0)
    return positive


def transition_matrix(outcomes: Outcomes, degree: int | None = None) -> Floats:
    """The walk's transition matrix, dense: row i has the probabilities of the steps from item i.

    Args:
        outcomes: Comparisons.
        degree: With how many others an item was compared at most, or more; None for exactly that.

    Raises:
        InputError: These are no outcomes, or the degree is less.

    >>> pair = Outcomes(np.array([0]), np.array([1]), np.array([4]), np.array([3]), 2)
    >>> transition_matrix(pair)
    array([[0.75, 0.25],
           [0.75, 0.25]])
    """
    require_outcomes(outcomes)
    walk = Walk.of(outcomes, _degree(outcomes, degree))
    matrix: Floats = walk.into.T.toarray()
    np.fill_diagonal(matrix, 1 - walk.leaving)
    return matrix


def _degree(outcomes: Outcomes, degree: int | None) -> int:
    most = max(int(outcomes.degrees.max(initial=0)), 1)
    if degree is not None and degree < most:
        raise InputError(
            "an item was compared with {most} others",
            "give {most} or more",
            given={"degree": degree},
            most=most,
        )
    return most if degree is None else degree


def ergodicity_coefficient(transitions: Floats) -> float:
    """By which factor one step brings any two distributions nearer: τ₁ (Ipsen & Selee 2011).

    Half the largest ℓ1 distance between two rows. A few rows at a time are compared with all
    others, on every core; no more memory is needed than the matrix takes.

    Args:
        transitions: A row-stochastic matrix, shape (n, n).

    Raises:
        InputError: It is no such matrix.

    >>> ergodicity_coefficient(np.array([[0.5, 0.5], [0.25, 0.75]]))
    0.25
    """
    from shortlist import kernels

    rows = _distributions(transitions)
    distances = np.zeros(len(rows))

    def compare(first: int) -> None:
        kernels.farthest(rows, first, min(first + _BLOCK, len(rows)), distances)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compare, range(0, len(rows), _BLOCK)))
    return min(float(distances.max(initial=0.0)) / 2, 1.0)  # rounding may go beyond


def _distributions(transitions: Floats) -> Floats:
    """The rows, as the kernel takes them."""
    try:
        rows: Floats = np.require(transitions, np.float64, ["C", "W"])
    except (TypeError, ValueError) as error:
        raise InputError("must be a matrix of numbers", given={"transitions": ...}) from error
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1]:
        raise InputError(
            "must be a square matrix, and its shape is {shape}",
            given={"transitions": ...},
            shape=rows.shape,
        )
    sums = rows.sum(axis=1)
    if not ((rows >= 0).all() and (np.abs(sums - 1) <= _WHOLE).all()):  # nor NaN
        raise InputError(
            "each row must be 0 or more everywhere, and sum to 1", given={"transitions": ...}
        )
    return rows
