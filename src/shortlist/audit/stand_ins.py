"""What stands for noisy values while the audit runs code, and for the values of many samples.

`Columns` stand where an array of values stands in one run. They can be indexed, assigned to,
negated, and added, subtracted, multiplied and divided, with plain numbers and with each other,
elementwise. That says nothing of any sample's values, and does to each sample what it would do to
it alone. All else might: a comparison, a sum, a sort, a conversion, `isinstance`. It ends the run,
and the samples go on one by one, with plain arrays. What asks for `type(values)` is not noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from shortlist.draws import Floats


class Control(BaseException):  # no error, so that no code that is run catches it by chance
    """A run of the code ends here, by the audit's own will and not the code's."""


class Unknown(Control):
    """What the exact instrument cannot tell of a mechanism."""


@dataclass(frozen=True, eq=False, repr=False)
class ValueInCell:
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

    def __neg__(self) -> ValueInCell:
        return ValueInCell(self.passed, not self.negated)

    def __rsub__(self, other: float) -> ValueInCell:
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


_ELEMENTWISE = {np.negative, np.add, np.subtract, np.multiply, np.true_divide}
_NUMBERS = (int, float, np.integer, np.floating)
_KEYS = (int, np.integer, slice, list, np.ndarray)


class Outlived(Control):
    """Values are used in another run than the one that they were drawn for."""


@dataclass
class Run:
    """One run of the code.

    Attributes:
        is_over: Whether it has ended.
    """

    is_over: bool = False


class Columns(NDArrayOperatorsMixin):
    """Values that the samples of a group have drawn.

    Attributes:
        bare: Those of each sample: the values' own axes, and last one of the samples.
    """

    def __init__(self, values: Floats, part: Callable[[], NoReturn], run: Run) -> None:
        """Values.

        Args:
            values: One array of values, or one value, for each sample along the last axis.
            part: It ends the run and parts the samples.
            run: The one that they were drawn for.
        """
        self._values, self._part_samples, self._run = values, part, run

    @property
    def bare(self) -> Floats:
        """The values of each sample; the last axis is that of samples.

        Raises:
            Outlived: Code has kept the values beyond their run.
        """
        if self._run.is_over:
            raise Outlived
        return self._values

    def _part(self) -> NoReturn:
        if self._run.is_over:
            raise Outlived
        self._part_samples()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *given: object, **how: object
    ) -> Columns:
        plain = [x.bare if type(x) is Columns else self._number(x) for x in given]
        if how or method != "__call__" or ufunc not in _ELEMENTWISE:
            self._part()
        return self._like(ufunc(*plain))

    def _like(self, values: Floats) -> Columns:
        return Columns(values, self._part_samples, self._run)

    def _number(self, x: object) -> Any:
        return x if isinstance(x, _NUMBERS) else self._part()

    def __array_function__(
        self, function: object, types: object, given: tuple[object, ...], how: object
    ) -> Columns:
        del types
        if function is not np.empty_like or how or len(given) > 1 or self._is_one:
            self._part()
        return self._like(np.empty_like(self.bare))

    @property
    def _is_one(self) -> bool:
        """Whether a sample has one value, and no array."""
        return self.bare.ndim == 1

    def __len__(self) -> int:
        return self._part() if self._is_one else len(self.bare)

    def __getitem__(self, key: object) -> Columns:
        found = self.bare[self._known(key)]
        return self._like(found.copy() if found.ndim == 1 else found)  # one value is no view

    def __setitem__(self, key: object, value: object) -> None:
        own = value.bare if type(value) is Columns else self._number(value)
        self.bare[self._known(key)] = own

    def _known(self, key: object) -> Any:
        """The key, if it is of the values' first axis and no such value itself."""
        is_key = type(key) is not Columns and isinstance(key, _KEYS)
        return key if is_key and not self._is_one else self._part()

    def __getattr__(self, name: str) -> NoReturn:
        self._part()

    def _parted(self, *_: object, **__: object) -> NoReturn:
        self._part()

    __array__ = __bool__ = __float__ = __int__ = __complex__ = __index__ = _parted
    __hash__ = __repr__ = __str__ = __format__ = __reduce_ex__ = __dir__ = _parted
    __round__ = __trunc__ = __floor__ = __ceil__ = _parted
    __class__ = property(_parted)  # `isinstance` asks for it


def bare(values: NDArray[Any] | Columns) -> NDArray[Any]:
    """The values, a column for each sample that drew them; one column of a plain array."""
    return values.bare if type(values) is Columns else np.asarray(values)[..., None]
