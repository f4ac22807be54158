"""One path through a mechanism, on a table and on its neighbour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist.audit.transcripts._asked import Asked, Noisy, Picked, Tossed
from shortlist.audit.transcripts._recording import Recorder, Replayer
from shortlist.audit.transcripts._spent import Differs, Spent, Unfollowed
from shortlist.audit.transcripts._tables import Table
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms.mechanism import Mechanism, Selection

__all__ = ["Path", "Ways", "path_of"]


@dataclass(frozen=True)
class Path:
    """What one path spends, call by call.

    Attributes:
        table: On which table.
        spent: By each call that both neighbours make.
        laws: What must not depend on the data in each of these calls.
        wrong: What is otherwise on the neighbour, so that no cost covers it; "" if nothing is.
        left: Why it was not followed to the end; "" if it was.
        own: Of each call for noise on items of the user alone, by its number: how many items of
            both tables come before them.
        kept: How many items of the user alone each of these calls is about.
        decided_later: Whether the mechanism itself decides what comes of some of that noise.
        noise: How often normal noise is asked for.
        picks: How many other draws are, for which a cost needs a stage.
        shared: The share of the user's items, of those that count, that others hold, too.
    """

    table: Table
    spent: tuple[Spent, ...]
    laws: tuple[tuple[object, ...], ...]
    wrong: str = ""
    left: str = ""
    own: dict[int, int] = field(default_factory=dict)
    kept: tuple[int, ...] = ()
    decided_later: bool = False
    noise: int = 0
    picks: int = 0
    shared: float = 1.0

    @property
    def total(self) -> Spent:
        """Of all calls."""
        return sum(self.spent, Spent())


def path_of(mechanism: Mechanism, table: Table, way: int) -> Path:
    """The losses along one path.

    Args:
        mechanism: That selects.
        table: With a user, and without.
        way: Which of few ways a private choice takes, and the seed of all else.
    """
    recorder = Recorder(ExactDraws(SeededBits(way)), Ways(way))
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
    own, asked = _own(replayer), recorder.asked
    return Path(
        table,
        tuple(replayer.spent),
        tuple(replayer.laws),
        wrong=wrong,
        left=left,
        own=own,
        kept=tuple(_length(asked[number]) - n for number, n in own.items()),
        decided_later=any(_is_rounded(asked[number]) for number in own),
        noise=sum(call.noise for call in asked),
        picks=sum(call.picks for call in asked),
        shared=replayer.share(),
    )


def _compared(
    replayer: Replayer, mine: Selection, theirs: Selection, *, ties: bool
) -> tuple[str, str]:
    """What is wrong, and why it was left: what is told has to follow from what was drawn."""
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


def _is_rounded(asked: Asked) -> bool:
    return isinstance(asked, Noisy) and asked.step is not None


def _length(asked: Asked) -> int:
    return len(asked.scores) if isinstance(asked, Noisy) else 0


def _own(replayer: Replayer) -> dict[int, int]:
    asked = replayer.recorded.asked
    return {
        number: n
        for number, n in replayer.shared.items()
        if isinstance(call := asked[number], Noisy) and len(call.scores) > n
    }


class Ways:
    """Private choices between few ways take each of these in turn."""

    def __init__(self, way: int) -> None:
        self._way = way

    def __call__(self, number: int, asked: Asked, outcome: Any) -> Any:
        """The outcome, or another of a choice between ways."""
        if isinstance(asked, Picked) and asked.weights.ways is not None:
            order = np.argsort(asked.weights.ways)
            return order[[(self._way + number) % len(order)]]
        if isinstance(asked, Tossed) and len(outcome) == 1:
            return np.array([self._way % 2 == 0])
        return outcome
