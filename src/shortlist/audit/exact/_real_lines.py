"""Functions on the real line, a formula on each panel, that can be multiplied and integrated.

All numbers are balls: what is computed with a function encloses what is true of it.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cmp_to_key, reduce
from typing import Any

from flint import arb, arb_poly

PRECISION = 200  # bits of the balls

Function = list[Any]  # a formula for each panel, of the line's kind; None where it is 0


class RealLine(ABC):
    """The panels of a real line, on which the noisy values of some items have their densities.

    Attributes:
        middles: A point inside of each panel.
        tail: At most so much of the mass of any of the densities lies on no panel.
    """

    middles: list[arb]
    tail: arb

    @abstractmethod
    def density(self, item: int) -> Function:
        """The density of an item's noisy value."""

    @abstractmethod
    def constant(self, value: arb) -> Any:
        """The formula of a constant."""

    @abstractmethod
    def plus(self, panel: Any, value: arb) -> Any:
        """A formula plus a constant."""

    @abstractmethod
    def product(self, one: Any, other: Any) -> Any:
        """Of two formulas on the same panel."""

    @abstractmethod
    def integral(self, panel: int, formula: Any) -> tuple[Any, arb]:
        """The integral from the panel's left end: a formula, and the number at the right end."""

    def where(self, function: Function, kept: Sequence[bool]) -> Function:
        return [f if keep else None for f, keep in zip(function, kept, strict=True)]

    def times(self, *functions: Function) -> Function:

        def both(one: Any, other: Any) -> Any:
            return None if one is None or other is None else self.product(one, other)

        return [reduce(both, formulas) for formulas in zip(*functions, strict=True)]

    def cumulative(self, function: Function, start: arb) -> tuple[Function, arb]:
        """`start` plus the integral from the left end, to each point and of all."""
        sums: Function = []
        for i, formula in enumerate(function):
            if formula is None:
                sums.append(self.constant(start))
                continue
            inside, whole = self.integral(i, formula)
            sums.append(self.plus(inside, start))
            start = start + whole
        return sums, start


class PolynomialLine(RealLine):
    """Panels with a polynomial each, of u from -1 at the left end to 1 at the right one."""

    def __init__(self, breaks: Sequence[arb], tail: arb) -> None:
        self.middles = [(a + b) / 2 for a, b in itertools.pairwise(breaks)]
        self.halves = [(b - a) / 2 for a, b in itertools.pairwise(breaks)]
        self.tail = tail

    def constant(self, value: arb) -> arb_poly:
        return arb_poly([value])

    def plus(self, panel: arb_poly, value: arb) -> arb_poly:
        return panel + value

    def product(self, one: arb_poly, other: arb_poly) -> arb_poly:
        return one * other

    def integral(self, panel: int, formula: arb_poly) -> tuple[arb_poly, arb]:
        primitive = formula.integral() * self.halves[panel]
        start = primitive(-1)
        return primitive - start, primitive(1) - start


def breaks_of(points: Sequence[arb]) -> list[arb]:
    """The points in rising order, each once: equal ones are the same object, or exact.

    Raises:
        ArithmeticError: Two are too near to be told apart at this precision.
    """
    rising: list[arb] = []
    for point in sorted(points, key=cmp_to_key(_compare)):
        if not rising or point > rising[-1]:
            rising.append(point)
        elif point is not rising[-1] and not (point - rising[-1]).is_zero():
            raise ArithmeticError("two breaks of a density cannot be told apart")
    return rising


def _compare(one: arb, other: arb) -> int:
    return int(one > other) - int(one < other)
