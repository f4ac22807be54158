"""A run of a mechanism, written down draw by draw, and the same run on the neighbour."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.transcripts._asked import (
    Asked,
    Dealt,
    Flipped,
    Noisy,
    Picked,
    Tossed,
    is_known,
)
from shortlist.audit.transcripts._spent import Differs, Spent, Unfollowed
from shortlist.draws import UNIT, Draws, Floats, Ints, Order, Ordered, RoundingGrid
from shortlist.draws.contract import Candidates, Noise, Reals
from shortlist.draws.noise import Normal
from shortlist.draws.reals import ExponentialWeights, NormalCDF

__all__ = ["Recorder", "Replayer", "Steered"]

Steered = Callable[[int, Asked, Any], Any]
"""Given the number of a call, what it asks and what was drawn: what it is told."""


class _Written(Draws):
    """Draws that know what each call asks for, in the words of `Asked`."""

    @abstractmethod
    def _answer(self, asked: Asked, draw: Callable[[Draws], Any]) -> Any:
        """What the call is told; `draw` asks others for it."""

    def coin(self, chances: Reals) -> NDArray[np.bool_]:
        """As `Draws.coin`: a coin of normal noise is that noise, held against a bound."""
        asked: Asked
        if isinstance(chances, NormalCDF):
            gaps = _natural(chances.gaps, chances.unit)
            noise = Normal(chances.sd)
            asked = Noisy(gaps, [noise], bounds=np.zeros(len(gaps)), told=False)
        else:
            asked = Tossed(chances.approximate()[0].copy())
        return self._answer(asked, lambda draws: draws.coin(chances))  # type: ignore[no-any-return]

    def choices(self, weights: Reals, n: int) -> Ints:
        """As `Draws.choices`."""
        asked = Picked(_kept(weights), n)
        return self._answer(asked, lambda draws: draws.choices(weights, n))  # type: ignore[no-any-return]

    def permute_and_flip(self, candidates: Candidates) -> int:
        """As `Draws.permute_and_flip`."""
        asked = Flipped(_kept(candidates))
        return self._answer(asked, lambda draws: draws.permute_and_flip(candidates))  # type: ignore[no-any-return]

    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        """As `Draws.integer`."""
        asked = Dealt(np.array(bounds, np.int64))
        return self._answer(asked, lambda draws: draws.integer(bounds))  # type: ignore[no-any-return]

    def order(self, asked: Order) -> Ordered:
        """As `Draws.order`."""
        if asked.radius is not None:
            raise Unfollowed("noise of all items is stretched by one factor")
        written = Noisy(
            _natural(asked.scores, asked.unit),
            asked.noises,
            shared=asked.shared,
            bounds=None if asked.at_least is None else _natural(asked.at_least, asked.unit),
            k=asked.k,
            told=asked.digits is not None,
        )
        return self._answer(written, lambda draws: draws.order(asked))  # type: ignore[no-any-return]

    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        """As `Draws.rounded_down`."""
        ends = grid.lowest, grid.highest
        asked = Noisy(_natural(scores, unit), [noise], step=grid.step * unit, ends=ends)
        return self._answer(  # type: ignore[no-any-return]
            asked, lambda draws: draws.rounded_down(scores, noise, grid, unit=unit)
        )


@dataclass
class Recorder(_Written):
    """Draws that are written down.

    Attributes:
        plain: What draws.
        steered: What calls are told; what was drawn, if None.
        asked: What the calls asked, in order.
        outcomes: What each was told.
    """

    plain: Draws
    steered: Steered | None = None
    asked: list[Asked] = field(default_factory=list)
    outcomes: list[Any] = field(default_factory=list)

    def _answer(self, asked: Asked, draw: Callable[[Draws], Any]) -> Any:
        outcome = draw(self.plain)
        if self.steered is not None:
            outcome = self.steered(len(self.asked), asked, outcome)
        self.asked.append(asked)
        self.outcomes.append(outcome)
        return outcome


@dataclass
class Replayer(_Written):
    """Draws on the table without the user, which end as those that were written down.

    Attributes:
        recorded: The run on the table with the user.
        own: How many items the user alone holds.
        ties: Whether a user may make counts equal, so that picks cannot be followed item by item.
        spent: What each call of both runs spends.
        laws: The law of each of these calls.
        shared: For each of these calls, its number in the run with the user, and how many items
            both tables have in it; of noise whose bounds only the mechanism knows.
    """

    recorded: Recorder
    own: int
    ties: bool = False
    spent: list[Spent] = field(default_factory=list)
    laws: list[tuple[object, ...]] = field(default_factory=list)
    shared: dict[int, int] = field(default_factory=dict)
    _sds: set[float] = field(default_factory=set)
    _first: tuple[int, int] = (0, 0)
    _at: int = 0

    def _answer(self, asked: Asked, draw: Callable[[Draws], Any]) -> Any:  # noqa: ARG002
        if self.ties and _is_of_items(asked):
            raise Unfollowed("picks among items that may tie are left to other tables")
        mine, outcome = self._next(asked)
        self.spent.append(mine.spent(asked, self.own))
        # Noise of one scale may be on scores that are bounded otherwise in another look, so that
        # its law counts with how many calls for noise came before it.
        self.laws.append((*mine.law, len(self.shared)) if isinstance(mine, Noisy) else mine.law)
        if isinstance(mine, Noisy) and isinstance(asked, Noisy):
            self._look_at(mine, asked)
        return mine.answer(outcome, asked, self.own)

    def _look_at(self, mine: Noisy, theirs: Noisy) -> None:
        """Remember which noise was drawn, and how much of what the user holds others hold, too."""
        n = len(theirs.scores)
        self.shared[self._at - 1] = n
        for noise in mine.noises:
            if is_known(noise) and noise.sd not in self._sds:  # type: ignore[attr-defined]
                raise Differs("noise is conditioned on a draw that was not made")
            if isinstance(noise, Normal):
                self._sds.add(noise.sd)
        if self._first == (0, 0):
            moved = int(np.count_nonzero(mine.scores[:n] != theirs.scores))
            self._first = moved, len(mine.scores) - n

    def share(self) -> float:
        """What share of the user's items, of those that the first noise is on, others hold, too."""
        moved, own = self._first
        return moved / (moved + own) if own else 1.0

    def _next(self, asked: Asked) -> tuple[Asked, Any]:
        """The call of the other run; what the user's rows alone are dealt is passed over."""
        calls = self.recorded.asked
        while self._at < len(calls) and not _is_like(calls[self._at], asked):
            self._pass_over()
        if self._at == len(calls):
            raise Differs("it draws more often without the user")
        self._at += 1
        return calls[self._at - 1], self.recorded.outcomes[self._at - 1]

    def _pass_over(self) -> None:
        if not isinstance(self.recorded.asked[self._at], Dealt):
            raise Differs("it draws something else without the user")
        self._at += 1

    def end(self) -> None:
        """Nothing more is asked.

        Raises:
            Differs: The other run drew more than the user's rows need.
        """
        while self._at < len(self.recorded.asked):
            self._pass_over()


def _natural(scores: Ints, unit: float) -> Floats:
    """Scores in natural units."""
    return np.multiply(scores, unit, dtype=np.float64)


def _is_of_items(asked: Asked) -> bool:
    """Whether it names an item by how many hold it."""
    return isinstance(asked, Flipped) or (isinstance(asked, Picked) and not asked.is_of_ways)


def _is_like(mine: Asked, theirs: Asked) -> bool:
    return type(mine) is type(theirs)


def _kept(weights: object) -> ExponentialWeights:
    """As it is now: what the mechanism has left changes with every pick.

    Raises:
        Unfollowed: It is another kind of weights.
    """
    if not isinstance(weights, ExponentialWeights):
        raise Unfollowed(f"a draw by {type(weights).__name__} is left to the exact laws")
    return replace(
        weights, counts=weights.counts.copy(), multiplicities=weights.multiplicities.copy()
    )
