"""The noisy scores of a release, and how far from them the values without noise may be."""

from __future__ import annotations

import math
import reprlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, overload

from shortlist.draws.reach import LEAST_SD, REACH, reach_of_rounded

if TYPE_CHECKING:
    from shortlist.draws import Floats

REACHED = "noisy number of users reached"
"""The unit of what items of a hitting set reach first: these add up."""

AMOUNTS = "noisy amount"
"""The unit of sums of what users spent."""
STATED = "noisy score"
"""The unit of scores that whoever asked has computed: no numbers of users."""

_DIGITS = 700  # more than lie between the largest double and a hundredth of the smallest
_MOST = 2.0**63 - 1024  # the largest double that fits into 64 bits with a sign


@dataclass(frozen=True, repr=False)
class Scores(Sequence[float]):
    """The noisy scores of a release, in the order of its items.

    >>> scores = Scores([12.5, 9.0], unit="noisy weight", noise_sd=2.0)
    >>> scores[0], len(scores), scores.unit, scores.noise_sd
    (12.5, 2, 'noisy weight', 2.0)

    Attributes:
        values: One finite number per item; of numbers of users, none beyond 64 bits: noise that
            large says nothing, and the type of their column follows from the unit alone.
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
        if self._are_users:
            import numpy as np

            values = array("d", np.clip(values, -_MOST, _MOST).tobytes())
        vars(self).update(values=values, noise_sd=float(self.noise_sd), shared_sd=shared)

    @property
    def heading(self) -> str:
        """What a column of these scores is called: what the unit says, but for "noisy".

        >>> Scores([12.5], unit="noisy clipped count", noise_sd=2.0).heading
        'clipped_count'
        """
        return "clipped_count" if self.are_clipped else self.unit.rpartition(" ")[2]

    @property
    def are_weights(self) -> bool:
        """Whether they say only which item is ahead of which, and are no number of anything."""
        return self.unit == "noisy weight"

    @property
    def are_clipped(self) -> bool:
        """Whether they are numbers of users that some users add less than 1 to, or nothing."""
        return self.unit == "noisy clipped count"

    @property
    def are_stated(self) -> bool:
        """Whether they are scores that whoever asked has computed."""
        return self.unit == STATED

    @property
    def are_amounts(self) -> bool:
        """Whether they are sums of what users spent, in the unit of that."""
        return self.unit == AMOUNTS

    @property
    def _are_users(self) -> bool:
        return self.unit in ("noisy count", REACHED)

    @property
    def are_whole(self) -> bool:
        """Whether each is a whole number of users.

        Numbers of users are, but for those in files of version 0.2.
        """
        return self._are_users and all(map(float.is_integer, self.values))

    def users(self, *, beyond: float) -> list[int]:
        """Whole numbers of users so far beyond each score: up from below it, down from above it."""
        import numpy as np

        ends = np.asarray(self.values) + beyond
        whole = np.ceil(ends) if beyond < 0 else np.floor(ends)
        return whole_users(np.maximum(whole, 0))

    def ends(self, *, beyond: float) -> list[float]:
        """Ends of intervals: whole numbers of users; scores and amounts of few digits.

        These are rounded outwards, by less than a hundredth of the noise.

        >>> Scores([1130.0], unit=AMOUNTS, noise_sd=565.6).ends(beyond=2396.563964101294)
        [3527.0]
        """
        if not (self.are_stated or self.are_amounts):
            return list(self.users(beyond=beyond))
        ends = [_rounded(score + beyond, self.noise_sd, up=beyond > 0) for score in self.values]
        return [max(end, 0.0) for end in ends] if self.are_amounts else ends

    def reach(self, law: str) -> float:
        """How far noise of that law, "Normal" or "Laplace", reaches in 95 of 100 cases, rounded up.

        >>> Scores([12.0], unit="noisy count", noise_sd=2.0).reach("Normal")
        4.0
        """
        whole, far = reach_of_rounded(law, self.noise_sd), REACH[law] * self.noise_sd
        if self.are_clipped:
            return max(whole, far)  # some are rounded to whole numbers, others to finer ones
        return whole if self.are_whole else far

    def together(self, law: str) -> tuple[int, int, int]:
        """The sum, of whole numbers with noise of their own, and the ends of its interval.

        The noise of a sum is nearer to normal noise than that of each, and reaches less far. A sum
        of none is exactly 0.

        >>> Scores([], unit=REACHED, noise_sd=5.0).together("Normal")
        (0, 0, 0)
        """
        if not len(self):
            return 0, 0, 0
        sd = self.noise_sd * math.sqrt(len(self))
        whole = replace(self, values=[math.fsum(self)], noise_sd=sd)
        far = whole.reach(law)
        return whole.users(beyond=0.0)[0], whole.users(beyond=-far)[0], whole.users(beyond=far)[0]

    @property
    def own_sd(self) -> float:
        """The standard deviation of the noise that each score has alone, rounded up."""
        shared = self.shared_sd or 0.0
        return max(math.sqrt(max(self.noise_sd**2 - shared**2, 0.0)), LEAST_SD)

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


def _rounded(end: float, noise_sd: float, *, up: bool) -> float:
    """An end with the digits down to a hundredth of the noise, or a finer one."""
    if not (math.isfinite(end) and math.isfinite(noise_sd)):
        return end
    exactly = Context(prec=_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    digit = Decimal(1).scaleb(Decimal(noise_sd).adjusted() - 2, exactly)
    return float(Decimal(end).quantize(digit, context=exactly))


def whole_users(numbers: Sequence[float] | Floats) -> list[int]:
    """Whole numbers of users, within 64 bits: noise beyond says nothing."""
    import numpy as np

    whole: list[int] = np.clip(numbers, -_MOST, _MOST).astype(np.int64).tolist()
    return whole


def law_of_counts(parameters: Mapping[str, object]) -> str | None:
    """The law of the noise of counts that chose no items, "Normal" or "Laplace".

    None where there are none, or where they have a floor: then the noise of the scores, if there
    are any, chose the items, too, and an interval around a score would not hold as often for the
    items that were chosen.
    """
    inner: object = parameters
    while isinstance(inner, Mapping):
        if "min_users" in inner:
            return None
        if inner.keys() & {"count_share", "count_noise"}:
            return "Normal" if inner.get("count_noise") in (None, "Normal") else "Laplace"
        inner = inner.get("selection")  # around which it is
    return None
