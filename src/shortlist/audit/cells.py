"""Told values of which the enumerator knows only the cell that they fell into."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any, NoReturn

from shortlist.errors import InputError

__all__ = ["Cell"]


@dataclass(frozen=True, eq=False)
class Cell:
    """A value, or the negative of one, that has passed so many edges.

    Code may pass it on, and not decide by it or compute with it: that would be to decide by a
    number which is not the value.

    Attributes:
        passed: The number of edges.
        negated: Whether it is the negative.
    """

    passed: int
    negated: bool = False

    def __neg__(self) -> Cell:
        return Cell(self.passed, not self.negated)

    def __rsub__(self, other: float) -> Cell:
        return -self if other == 0 else self._refuse()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number):
            self._refuse()
        return isinstance(other, Cell) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.passed, self.negated))

    def _refuse(self, *_: Any) -> NoReturn:  # noqa: ANN401 - whatever it is compared with
        raise InputError(
            "The mechanism computes with a value that it tells. The exact audit knows only in "
            "which cell such a value lies; audit it by samples: statistical=True."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __abs__ = __float__ = __int__ = __bool__ = __round__ = _refuse
