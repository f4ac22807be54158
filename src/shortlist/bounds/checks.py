"""Refusals of what no bound speaks about."""

from __future__ import annotations

import math
import numbers

from shortlist.errors import InputError, is_whole, written

__all__ = ["require_between", "require_whole"]


def require_whole(**values: int) -> None:
    """Refuse what is not a whole number of at least 1."""
    for name, value in values.items():
        if not (is_whole(value) and value >= 1):
            raise InputError(f"{name}={written(value)}: must be a whole number, 1 or more.")


def require_between(low: float, high: float = math.inf, **values: float) -> None:
    """Refuse what is not a number above `low` and below `high`."""
    for name, value in values.items():
        known = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not (known and low < float(value) < high):
            limit = "" if high == math.inf else f" and below {high:g}"
            raise InputError(f"{name}={written(value)}: must be a number above {low:g}{limit}.")
