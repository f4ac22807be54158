"""Numbers rounded towards more privacy, and searches that end on the safe side."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction


def bisect(
    holds: Callable[[float], bool], *, bad: float, good: float, near: float | None = None
) -> float:
    """Find the point nearest to `bad` at which `holds` is true, by bisection to the last bit.

    `holds(good)` must be true. The answer is always a point where `holds` was seen to be true.

    Args:
        holds: What is asked of each point.
        bad: The end where it does not hold.
        good: The end where it holds.
        near: A guess at the answer; it saves calls of `holds` and decides nothing.
    """
    if near is not None and min(bad, good) <= near <= max(bad, good):
        bad, good = _around(holds, near, bad=bad, good=good)
    while True:
        middle = (bad + good) / 2
        if middle in (bad, good):
            return good
        if holds(middle):
            good = middle
        else:
            bad = middle


def _around(
    holds: Callable[[float], bool], near: float, *, bad: float, good: float
) -> tuple[float, float]:
    """Ends that enclose the change, found by growing steps from `near`."""
    held = holds(near)
    end = bad if held else good
    ends = {held: near, not held: end}
    step = math.copysign(2 * math.ulp(near), end - near)
    while abs(step) < abs(end - ends[held]):
        probe = ends[held] + step
        if holds(probe) is not held:
            ends[not held] = probe
            break
        ends[held] = probe
        step *= 8
    return ends[False], ends[True]


def round_up(value: Fraction) -> float:
    """The smallest float that is not less than `value`; infinity beyond the floats."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """The largest float that is not more than `value`."""
    return -round_up(-value)


def largest_of_blocks(
    falling: Sequence[float],
    rising: Sequence[float],
    value_of: Callable[[float, float], float],
    *,
    tolerance: float = 0.0,
) -> float:
    """At least the largest value of all cases, and hardly more.

    A case has two numbers, and its value grows with both; along the list the first falls and the
    second rises. So the largest first number and the largest second one bound a block of cases. A
    block whose bound is above all values so far is halved, and most cases are never computed.

    Args:
        falling: The first number of each case.
        rising: The second number of each case.
        value_of: The value of a case.
        tolerance: How much too large the result may be, relatively, if no end is the worst case.
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


def blocks_up_to(bound: int, *, alone: int, part: int) -> tuple[list[int], list[int]]:
    """The first and the last number of each block of 1 .. bound.

    Args:
        bound: The last number.
        alone: Numbers up to this one are blocks by themselves.
        part: A later block goes from n to n + n // part.
    """
    firsts, lasts, first = [], [], 1
    while first <= bound:
        last = first if first <= alone else min(bound, first + first // part)
        firsts.append(first)
        lasts.append(last)
        first = last + 1
    return firsts, lasts
