"""The noisy scores of a release."""

from __future__ import annotations

import reprlib
from array import array
from collections.abc import Iterable, Sequence
from typing import overload

__all__ = ["Scores"]


class Scores(Sequence[float]):
    """The noisy scores of a release, in the order of its items.

    >>> scores = Scores([12.5, 9.0], unit="noisy weight", noise_sd=2.0)
    >>> scores[0], len(scores), scores.unit, scores.noise_sd
    (12.5, 2, 'noisy weight', 2.0)

    Args:
        values: One finite number per item.
        unit: What a score measures, in words.
        noise_sd: The standard deviation of the noise in each score; public.
        shared_sd: The standard deviation of the part of the noise that all scores share; public.
            None if each has noise of its own.
    """

    __slots__ = ("_noise_sd", "_shared_sd", "_unit", "_values")

    def __init__(
        self,
        values: Iterable[float],
        *,
        unit: str,
        noise_sd: float,
        shared_sd: float | None = None,
    ) -> None:
        self._values = array("d", map(float, values))
        self._unit = unit
        self._noise_sd = float(noise_sd)
        self._shared_sd = None if shared_sd is None else float(shared_sd)

    @property
    def unit(self) -> str:
        """What a score measures, in words."""
        return self._unit

    @property
    def heading(self) -> str:
        """What a column of these scores is called: the last word of the unit.

        >>> Scores([12.5], unit="noisy weight", noise_sd=2.0).heading
        'weight'
        """
        return self._unit.rpartition(" ")[2]

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise in each score."""
        return self._noise_sd

    @property
    def shared_sd(self) -> float | None:
        """The standard deviation of the part of the noise that all scores share; None if none is.

        It is no part of their differences.
        """
        return self._shared_sd

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> Scores: ...
    def __getitem__(self, index: int | slice) -> float | Scores:
        if isinstance(index, slice):
            return Scores(
                self._values[index],
                unit=self._unit,
                noise_sd=self._noise_sd,
                shared_sd=self._shared_sd,
            )
        return self._values[index]

    def __len__(self) -> int:
        return len(self._values)

    def _state(self) -> tuple[object, ...]:
        return self._values, self._unit, self._noise_sd, self._shared_sd

    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, Scores) else NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self._values), *self._state()[1:]))

    def __repr__(self) -> str:
        values = reprlib.repr(list(self._values))
        shared = "" if self._shared_sd is None else f", shared_sd={self._shared_sd!r}"
        return f"Scores({values}, unit={self._unit!r}, noise_sd={self._noise_sd!r}{shared})"
