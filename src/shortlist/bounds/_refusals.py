"""Checks of the arguments of bounds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from shortlist.draws import Ints
from shortlist.errors import InputError, Words, as_float, is_whole

MOST = 2**53  # users, items or pairs: floats hold all whole numbers up to it
_LARGEST = 1e100  # products of some such numbers are still floats
_LEAST_CHANCE = 1e-100


def require_whole(**values: int) -> None:
    """Require whole numbers from 1 to 2^53."""
    for name, value in values.items():
        if not (is_whole(value) and value >= 1):
            raise InputError("must be a whole number, 1 or more", given={name: value})
        if value > MOST:
            raise InputError(
                "must be at most 2^53, as tables are",
                given={name: Words("{value}", value=f"{as_float(value):g}")},
            )


def require_between(low: float, high: float = _LARGEST, **values: float) -> None:
    """Require numbers above `low` and below `high`."""
    for name, value in values.items():
        if not low < as_float(value) < high:
            raise InputError(
                "must be a number above {low} and below {high}",
                given={name: _shown(value)},
                low=f"{low:g}",
                high=f"{high:g}",
            )


def require_at_least(low: float, **values: float) -> None:
    """Require numbers from `low` on, and below 1e100."""
    for name, value in values.items():
        if not low <= as_float(value) < _LARGEST:
            raise InputError(
                "must be a number, at least {low} and below {high}",
                given={name: _shown(value)},
                low=f"{low:g}",
                high=f"{_LARGEST:g}",
            )


def require_chance(beta: float) -> None:
    """Require a probability of failure; a smaller one could not be divided among items."""
    require_between(_LEAST_CHANCE, 1, beta=beta)


def require_counts(counts: ArrayLike) -> Ints:
    """The counts as an array, if each is a whole number from 0 on, and their sum at most 2^53."""
    held = np.asarray(counts)
    if not (np.issubdtype(held.dtype, np.integer) or not held.size) or held.ndim != 1:
        raise InputError("must be whole numbers, an array of one dimension", given={"counts": ...})
    if held.size and (held.min() < 0 or held.sum(dtype=np.float64) > MOST):
        raise InputError("must be 0 or more each, and at most 2^53 in all", given={"counts": ...})
    return held.astype(np.int64)


def _shown(value: object) -> object:
    return math.inf if as_float(value) == math.inf else value
