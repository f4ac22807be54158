"""Noisy values of which the enumerator knows only the cell that they fell into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from shortlist.audit.answers.control import Control

__all__ = ["Cell", "Unknown"]


class Unknown(Control):
    """What the exact instrument cannot tell of a mechanism."""


@dataclass(frozen=True, eq=False, repr=False)
class Cell:
    """A value, or the negative of one, that has passed so many edges.

    Code may pass it on, and not decide by it or compute with it: that would be to decide by a
    number which is not the value. What asks for its type, or that of an array of cells, is not
    noticed.

    Attributes:
        passed: The number of edges.
        negated: Whether it is the negative.
    """

    passed: int
    negated: bool = False

    def __neg__(self) -> Cell:
        return Cell(self.passed, not self.negated)

    def __rsub__(self, other: float) -> Cell:
        return self._refuse() if other else -self

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # arrays ask what it can do
            raise AttributeError(name)
        self._refuse()

    def _refuse(self, *_: Any) -> NoReturn:
        raise Unknown(
            "The mechanism computes with a value that it tells. The exact audit knows only in "
            "which cell such a value lies"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse
    __abs__ = __pos__ = __float__ = __int__ = __index__ = __bool__ = _refuse
    __round__ = __floor__ = __ceil__ = __trunc__ = _refuse
    __hash__ = __repr__ = __str__ = __format__ = _refuse
