"""What a caller means by a number."""

import math
import numbers


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number of any library; True and False are none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def as_float(value: object) -> float:
    """The value as a float; NaN, which no condition holds for, if it is no number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
