"""Told values of many samples at once: what code may do to all of them alike, and what parts them.

`Columns` stand where an array of values stands in one run. They can be indexed, assigned to,
negated, and added, subtracted, multiplied and divided, with plain numbers and with each other,
elementwise. That says nothing of any sample's values, and does to each sample what it would do to
it alone. All else might: a comparison, a sum, a sort, a conversion, `isinstance`. It ends the run,
and the samples go on one by one, with plain arrays. What asks for `type(values)` is not noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from shortlist.reals import Floats

__all__ = ["Columns", "bare"]

_ELEMENTWISE = {np.negative, np.add, np.subtract, np.multiply, np.true_divide}
_NUMBERS = (int, float, np.integer, np.floating)
_KEYS = (int, np.integer, slice, list, np.ndarray)


class Columns(NDArrayOperatorsMixin):
    """Values that were told to the samples of a group.

    Attributes:
        bare: Those of each sample: the values' own axes, and last one of the samples.
    """

    def __init__(self, bare: Floats, part: Callable[[], NoReturn]) -> None:
        """Values.

        Args:
            bare: One array of values, or one value, for each sample along the last axis.
            part: It ends the run and parts the samples.
        """
        self.bare, self._part = bare, part

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *given: object, **how: object
    ) -> Columns:
        plain = [x.bare if type(x) is Columns else self._number(x) for x in given]
        if how or method != "__call__" or ufunc not in _ELEMENTWISE:
            self._part()
        return Columns(ufunc(*plain), self._part)

    def _number(self, x: object) -> Any:  # noqa: ANN401 - one of `_NUMBERS`
        return x if isinstance(x, _NUMBERS) else self._part()

    def __array_function__(
        self, function: object, types: object, given: tuple[object, ...], how: object
    ) -> Columns:
        del types
        if function is not np.empty_like or how or len(given) > 1 or self._is_one:
            self._part()
        return Columns(np.empty_like(self.bare), self._part)

    @property
    def _is_one(self) -> bool:
        """Whether a sample has one value, and no array."""
        return self.bare.ndim == 1

    def __len__(self) -> int:
        return self._part() if self._is_one else len(self.bare)

    def __getitem__(self, key: object) -> Columns:
        found = self.bare[self._known(key)]
        return Columns(
            found.copy() if found.ndim == 1 else found, self._part
        )  # one value is no view

    def __setitem__(self, key: object, value: object) -> None:
        own = value.bare if type(value) is Columns else self._number(value)
        self.bare[self._known(key)] = own

    def _known(self, key: object) -> Any:  # noqa: ANN401 - one of `_KEYS`
        """The key, if it is of the values' first axis and no told value."""
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
    """The values, a column for each sample that they were told to; one column of a plain array."""
    return values.bare if type(values) is Columns else np.asarray(values)[..., None]
