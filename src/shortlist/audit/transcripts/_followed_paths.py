"""One path: a run of a mechanism, written down draw by draw, and the same run on the neighbour."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.transcripts._asked_draws import (
    Asked,
    Dealt,
    Flipped,
    Noisy,
    Picked,
    Tossed,
    is_known,
)
from shortlist.audit.transcripts._spent import Differs, Spent, Unfollowed
from shortlist.audit.transcripts._tables_with_a_user import TableWithUser
from shortlist.draws import UNIT, Draws, ExactDraws, Floats, Ints, Order, Ordered, RoundingGrid
from shortlist.draws.contract import Candidates, Noise, Reals
from shortlist.draws.noise import Normal
from shortlist.draws.random_bits import SeededBits
from shortlist.draws.reals import ExponentialWeights, NormalCDF
from shortlist.mechanisms.mechanism import Mechanism, Selection

_Drawn = TypeVar("_Drawn")
Steered = Callable[[int, Asked, Any], Any]
"""Given the number of a call, what it asks and what was drawn: what it is told."""


class _Written(Draws):
    """Draws that know what each call asks for, in the words of `Asked`.

    Attributes:
        own: How many items the user alone holds.
    """

    own: int

    @abstractmethod
    def _answer(self, asked: Asked, draw: Callable[[Draws], _Drawn]) -> _Drawn:
        """Answer a call; `draw` asks other draws for it."""

    def coin(self, chances: Reals) -> NDArray[np.bool_]:
        """Note a coin of normal noise as that noise, held against a bound."""
        asked: Asked
        if isinstance(chances, NormalCDF):
            gaps = _natural(chances.gaps, chances.unit)
            noise = Normal(chances.sd)
            asked = Noisy(gaps, [noise], bounds=np.zeros(len(gaps)), told=False)
        else:
            asked = Tossed(chances.approximate()[0].copy())
        return self._answer(asked, lambda draws: draws.coin(chances))

    def choices(self, weights: Reals, n: int) -> Ints:
        asked = Picked(_kept(weights), n, self.own)
        return self._answer(asked, lambda draws: draws.choices(weights, n))

    def permute_and_flip(self, candidates: Candidates) -> int:
        asked = Flipped(_kept(candidates))
        return self._answer(asked, lambda draws: draws.permute_and_flip(candidates))

    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        asked = Dealt(np.array(bounds, np.int64))
        return self._answer(asked, lambda draws: draws.integer(bounds))

    def order(self, asked: Order) -> Ordered:
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
        return self._answer(written, lambda draws: draws.order(asked))

    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        ends = grid.lowest, grid.highest
        asked = Noisy(_natural(scores, unit), [noise], step=grid.step * unit, ends=ends)
        return self._answer(asked, lambda draws: draws.rounded_down(scores, noise, grid, unit=unit))


@dataclass
class Recorder(_Written):
    """Draws that are written down.

    Attributes:
        plain: What draws.
        steered: What calls are told; what was drawn, if None.
        own: How many items the user alone holds.
        asked: What the calls asked, in order.
        outcomes: What each was told.
    """

    plain: Draws
    steered: Steered | None = None
    own: int = 0
    asked: list[Asked] = field(default_factory=list)
    outcomes: list[Any] = field(default_factory=list)

    def _answer(self, asked: Asked, draw: Callable[[Draws], _Drawn]) -> _Drawn:
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
        reached: Whether each of these calls picks one of several items that the user raises.
        shared: For each of these calls, its number in the run with the user, and how many items
            both tables have in it; of noise whose bounds only the mechanism knows.
    """

    recorded: Recorder
    own: int
    ties: bool = False
    spent: list[Spent] = field(default_factory=list)
    laws: list[tuple[object, ...]] = field(default_factory=list)
    reached: list[bool] = field(default_factory=list)
    shared: dict[int, int] = field(default_factory=dict)
    _sds: set[float] = field(default_factory=set)
    _first: tuple[int, int] = (0, 0)
    _at: int = 0

    def _answer(self, asked: Asked, draw: Callable[[Draws], _Drawn]) -> _Drawn:  # noqa: ARG002
        if self.ties and _is_of_items(asked):
            raise Unfollowed("picks among items that may tie are left to other tables")
        mine, outcome = self._next(asked)
        self.spent.append(mine.spent(asked))
        self.reached.append(_reaches(mine, asked, outcome))
        # Noise of one scale may be on scores that are bounded otherwise in another look, so that
        # its law counts with how many calls for noise came before it.
        self.laws.append((*mine.law, len(self.shared)) if isinstance(mine, Noisy) else mine.law)
        if isinstance(mine, Noisy) and isinstance(asked, Noisy):
            self._look_at(mine, asked)
        answer: _Drawn = mine.answer(outcome, asked)
        return answer

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
        """The share that others hold, of the user's items that the first noise is on."""
        moved, own = self._first
        return moved / (moved + own) if own else 1.0

    def _next(self, asked: Asked) -> tuple[Asked, Any]:
        """The like call of the other run, past what the user's rows alone are dealt."""
        calls = self.recorded.asked
        while self._at < len(calls) and type(calls[self._at]) is not type(asked):
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
    return np.multiply(scores, unit, dtype=np.float64)


def _reaches(mine: Asked, theirs: Asked, outcome: Any) -> bool:
    if isinstance(mine, Picked) and isinstance(theirs, Picked):
        return not mine.is_of_ways and mine.reaches(outcome, theirs)
    return False


def _is_of_items(asked: Asked) -> bool:
    """Whether it names an item by how many hold it."""
    return isinstance(asked, Flipped) or (isinstance(asked, Picked) and not asked.is_of_ways)


def _kept(weights: object) -> ExponentialWeights:
    """A copy of the weights: what the mechanism has left changes with every pick.

    Raises:
        Unfollowed: It is another kind of weights.
    """
    if not isinstance(weights, ExponentialWeights):
        raise Unfollowed(f"a draw by {type(weights).__name__} is left to the exact laws")
    return replace(
        weights, counts=weights.counts.copy(), multiplicities=weights.multiplicities.copy()
    )


@dataclass(frozen=True)
class Path:
    """What one path spends, call by call.

    Attributes:
        table: On which table.
        way: That of private choices, and the seed of all else.
        spent: By each call that both neighbours make.
        laws: What must not depend on the data in each of these calls.
        reached: Whether each of these picks an item that the user raises, and leaves another.
        wrong: What is otherwise on the neighbour, so that no cost covers it; "" if nothing is.
        left: Why it was not followed to the end; "" if it was.
        own: Of each call for noise, by its number, from the first on that is about items of the
            user alone: how many items of both tables come before them.
        kept: How many items of the user alone each of these calls is about.
        decided_later: Whether the mechanism itself decides what comes of some of that noise.
        noise: How often normal noise is asked for.
        picks: How many other draws are, for which a cost needs a stage.
        shared: The share of the user's items, of those that count, that others hold, too.
        ways: How many ways private choices have: of the one with most.
    """

    table: TableWithUser
    way: int
    spent: tuple[Spent, ...]
    laws: tuple[tuple[object, ...], ...]
    reached: tuple[bool, ...] = ()
    wrong: str = ""
    left: str = ""
    own: dict[int, int] = field(default_factory=dict)
    kept: tuple[int, ...] = ()
    decided_later: bool = False
    noise: int = 0
    picks: int = 0
    shared: float = 1.0
    ways: int = 1

    @property
    def after_reaching(self) -> tuple[Spent, ...]:
        """By the calls after the user was reached; none, where it never was."""
        return self.spent[self.reached.index(True) + 1 :] if True in self.reached else ()

    @property
    def total(self) -> Spent:
        return sum(self.spent, Spent())


def path_of(mechanism: Mechanism, table: TableWithUser, way: int) -> Path:
    """The losses along one path; the way is that of private choices, and the seed of all else."""
    each_way = EachWayInTurn(way)
    recorder = Recorder(ExactDraws(SeededBits(way)), each_way, table.own)
    replayer = Replayer(recorder, table.own, table.ties)
    wrong, left = "", ""
    selections: list[Selection] = []
    for draws, with_user in ((recorder, True), (replayer, False)):
        try:
            selections.append(mechanism.select(table.evidence(with_user), draws))
        except Unfollowed as reason:
            left = left or str(reason)
        except Differs as difference:
            wrong = str(difference)
        except Exception as error:  # noqa: BLE001 - whatever it is, an answer of its own
            wrong = f"raises {type(error).__name__}"
            break
    if len(selections) == 2 and not wrong:
        wrong, left = _compared(replayer, *selections, ties=table.ties or table.own > 0)
    noisy = {i: call for i, call in enumerate(recorder.asked) if isinstance(call, Noisy)}
    kept = {i: len(noisy[i].scores) - n for i, n in replayer.shared.items()}
    first = min((i for i, n in kept.items() if n), default=len(recorder.asked))
    own = {i: n for i, n in replayer.shared.items() if i >= first}
    return Path(
        table,
        way,
        tuple(replayer.spent),
        tuple(replayer.laws),
        tuple(replayer.reached),
        wrong=wrong,
        left=left,
        own=own,
        kept=tuple(kept[i] for i in own),
        decided_later=any(noisy[i].step is not None and kept[i] for i in own),
        noise=sum(call.noise for call in recorder.asked),
        picks=sum(call.picks for call in recorder.asked),
        shared=replayer.share(),
        ways=each_way.ways,
    )


def _compared(
    replayer: Replayer, mine: Selection, theirs: Selection, *, ties: bool
) -> tuple[str, str]:
    """What is wrong, and why the path was left: answers have to follow from the draws."""
    try:
        replayer.end()
    except Differs as difference:
        return str(difference), ""
    if not np.array_equal(mine.positions, theirs.positions):
        other = "other items are named on the neighbour"
        return ("", other) if ties else (f"{other}, of the same draws", "")
    told = mine._replace(positions=None), theirs._replace(positions=None)  # type: ignore[arg-type]
    same = all(_equal(*both) for both in zip(*told, strict=True))
    return "" if same else "tells more than it draws", ""


def _equal(one: object, other: object) -> bool:
    if isinstance(one, float | np.ndarray) and isinstance(other, float | np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return one is None if other is None else one == other


class EachWayInTurn:
    """Private choices between few ways take each of these in turn.

    Attributes:
        ways: How many there were, of the choice with most.
    """

    def __init__(self, way: int) -> None:
        self._way, self.ways = way, 1

    def __call__(self, number: int, asked: Asked, outcome: Any) -> Any:
        if isinstance(asked, Picked) and asked.weights.ways is not None:
            order = np.argsort(asked.weights.ways)
            self.ways = max(self.ways, len(order))
            return order[[(self._way + number) % len(order)]]
        if isinstance(asked, Tossed) and len(outcome) == 1:
            self.ways = max(self.ways, 2)
            return np.array([self._way % 2 == 0])
        return outcome
