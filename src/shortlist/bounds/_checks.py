"""Refusals of what no bound speaks about."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from shortlist.draws import Ints
from shortlist.errors import InputError, as_float, is_whole, written

__all__ = [
    "MOST",
    "require_at_least",
    "require_between",
    "require_chance",
    "require_counts",
    "require_whole",
]

MOST = 2**53  # users, items or pairs: floats hold all whole numbers up to it
_LARGEST = 1e100  # products of some such numbers are still floats
_LEAST_CHANCE = 1e-100


def require_whole(**values: int) -> None:
    """Refuse what is not a whole number of at least 1, and of at most 2^53."""
    for name, value in values.items():
        if not (is_whole(value) and value >= 1):
            raise InputError(f"{name}={written(value)}: must be a whole number, 1 or more.")
        if value > MOST:
            raise InputError(f"{name}={as_float(value):g}: must be at most 2^53, as tables are.")


def require_between(low: float, high: float = _LARGEST, **values: float) -> None:
    """Refuse what is not a number above `low` and below `high`."""
    for name, value in values.items():
        if not low < as_float(value) < high:
            rule = f"must be a number above {low:g} and below {high:g}."
            raise InputError(f"{name}={_shown(value)}: {rule}")


def require_at_least(low: float, **values: float) -> None:
    """Refuse what is not a number of at least `low`, and below 1e100."""
    for name, value in values.items():
        if not low <= as_float(value) < _LARGEST:
            rule = f"must be a number, at least {low:g} and below {_LARGEST:g}."
            raise InputError(f"{name}={_shown(value)}: {rule}")


def require_chance(beta: float) -> None:
    """Refuse what is not the chance that a bound fails, or is too small to be shared out."""
    require_between(_LEAST_CHANCE, 1, beta=beta)


def require_counts(counts: ArrayLike) -> Ints:
    """The counts, of whole numbers from 0 to 2^53 each and in all."""
    held = np.asarray(counts)
    if not (np.issubdtype(held.dtype, np.integer) or not held.size) or held.ndim != 1:
        raise InputError("counts: must be whole numbers, an array of one dimension.")
    if held.size and (held.min() < 0 or held.sum(dtype=np.float64) > MOST):
        raise InputError("counts: must be 0 or more each, and at most 2^53 in all.")
    return held.astype(np.int64)


def _shown(value: object) -> str:
    return "inf" if as_float(value) == math.inf else written(value)
