"""The largest value of many cases, of which one bounds another: most are never looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["largest_of_blocks"]


def largest_of_blocks(
    falling: Sequence[float],
    rising: Sequence[float],
    value_of: Callable[[float, float], float],
    *,
    tolerance: float = 0.0,
) -> float:
    """At least the largest value of all cases, and hardly more.

    The value grows with both numbers of a case, of which one falls along the list and the other
    rises. So a block of cases is bounded by the largest of each; if that is larger than what was
    found, it is halved.

    Args:
        falling: The first number of each case.
        rising: The second.
        value_of: The value of a case.
        tolerance: What a worst case between the ends may be overestimated by, relatively.
    """
    size = len(falling)
    ends = best = max(value_of(falling[place], rising[place]) for place in {0, size - 1})
    blocks = [(1, size - 2)] if size > 2 else []
    covered = best
    while blocks:
        first, last = blocks.pop()
        bound = value_of(falling[first], rising[last])
        if first == last:
            best = max(best, bound)
        elif ends < best < bound <= best * (1 + tolerance):
            covered = max(covered, bound)
        elif bound > best:
            middle = (first + last) // 2
            blocks += [(first, middle), (middle + 1, last)]
    return max(best, covered)
