"""The noisy scores of a release."""

from __future__ import annotations

import reprlib
from array import array
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import overload

__all__ = ["Scores"]


@dataclass(frozen=True, repr=False)
class Scores(Sequence[float]):
    """The noisy scores of a release, in the order of its items.

    >>> scores = Scores([12.5, 9.0], unit="noisy weight", noise_sd=2.0)
    >>> scores[0], len(scores), scores.unit, scores.noise_sd
    (12.5, 2, 'noisy weight', 2.0)

    Attributes:
        values: One finite number per item.
        unit: What a score measures, in words.
        noise_sd: The standard deviation of the noise in each score; public.
        shared_sd: The standard deviation of the part of the noise that all scores share, which is
            no part of their differences; public. None if each has noise of its own.
    """

    values: Sequence[float]
    _: KW_ONLY
    unit: str
    noise_sd: float
    shared_sd: float | None = None

    def __post_init__(self) -> None:
        shared = None if self.shared_sd is None else float(self.shared_sd)
        values = array("d", map(float, self.values))
        vars(self).update(values=values, noise_sd=float(self.noise_sd), shared_sd=shared)

    @property
    def heading(self) -> str:
        """What a column of these scores is called: the last word of the unit.

        >>> Scores([12.5], unit="noisy weight", noise_sd=2.0).heading
        'weight'
        """
        return self.unit.rpartition(" ")[2]

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> Scores: ...
    def __getitem__(self, index: int | slice) -> float | Scores:
        if isinstance(index, slice):
            return replace(self, values=self.values[index])
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)

    def __hash__(self) -> int:
        return hash((*self.values, self.unit, self.noise_sd, self.shared_sd))

    def __repr__(self) -> str:
        values = reprlib.repr(list(self.values))
        shared = "" if self.shared_sd is None else f", shared_sd={self.shared_sd!r}"
        return f"Scores({values}, unit={self.unit!r}, noise_sd={self.noise_sd!r}{shared})"
