"""What a selection shows: its answer, what is wrong with one, and whatever it does beside."""

from __future__ import annotations

import logging
import math
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cached_property
from threading import get_ident
from typing import Any, NamedTuple, Protocol, TypeVar
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.stand_ins import Columns, Control, ValueInCell
from shortlist.draws import Draws, Floats
from shortlist.mechanisms.mechanism import Mechanism, Selection

T = TypeVar("T")
_COMPILING = "shortlist.kernels"  # what it logs is said once, whatever the data are


class DrawsOfCells(Draws, Protocol):
    """Draws whose noisy values are cells.

    Attributes:
        digits: To which values were rounded so far.
    """

    digits: list[int]


class VisibleAnswer(NamedTuple):
    """All of a selection that whoever gets it can see.

    Attributes:
        positions: The items in their order; rising, if they are a set.
        ordered: Whether their order means anything.
        scores: Their scores: of one that was drawn, how many edges it has passed, and whether its
            negative is given; of another, all of its digits. None, if there are none.
        digits: To which the scores were rounded; None, if there are none.
        noise_sd: Of the scores.
        branch: Which way a private choice went.
        shared_sd: Of the part of the scores' noise that all share.
        others: Noisy numbers of what is not in the list, and of users, as the scores.
        score_step: What 1 of the scores is in the unit that is released.
        cap: Of amounts, which was chosen.
        flaw: What is wrong with the answer, of which nothing else is then known; None, if nothing.
    """

    positions: tuple[int, ...]
    ordered: bool
    scores: tuple[tuple[int, bool] | str, ...] | None = None
    digits: tuple[int, ...] | None = None
    noise_sd: float | None = None
    branch: str | None = None
    shared_sd: float | None = None
    others: tuple[tuple[int, bool] | str, ...] | None = None
    score_step: float | None = None
    cap: float | None = None
    flaw: str | None = None

    def relabelled(self, order: Sequence[int]) -> VisibleAnswer:
        """The same answer where item i is called order[i]."""
        positions = tuple([order[i] for i in self.positions])
        return VisibleAnswer(positions, *self[1:]).without_order()

    def without_order(self) -> VisibleAnswer:
        """The same answer with rising positions, each with its score, if they are a set."""
        if self.ordered:
            return self
        if self.scores is None:
            return self._replace(positions=tuple(sorted(self.positions)))
        rising = sorted(zip(self.positions, self.scores, strict=True), key=str)
        return self._replace(
            positions=tuple(item for item, _ in rising), scores=tuple(score for _, score in rising)
        )


class VisibleLists(NamedTuple):
    """All that the runs of a series tell.

    Attributes:
        runs: Of each run the rows that it tells, in any order: an item and figures.
        flaw: What is wrong, of which nothing else is then known; None, if nothing.
    """

    runs: tuple[frozenset[tuple[Any, ...]], ...]
    flaw: str | None = None

    def relabelled(self, order: Sequence[int]) -> VisibleLists:
        """The same lists where item i is called order[i]."""
        told = (frozenset((order[i], *more) for i, *more in rows) for rows in self.runs)
        return self._replace(runs=tuple(told))


Answer = VisibleAnswer | VisibleLists


def answer_of(
    select: Callable[[DrawsOfCells], Selection | VisibleLists], draws: DrawsOfCells, n_items: int
) -> Answer:
    """The answer of a selection by draws whose values are cells, about so many items."""

    def answer() -> Answer:
        selection = select(draws)
        if isinstance(selection, VisibleLists):
            return selection
        if flaw := flaw_of(selection, n_items):
            return flawed(flaw)
        positions, scores, ordered, sd, branch, shared, others, users, step, _, cap = selection
        named = VisibleAnswer(
            tuple(np.asarray(positions).tolist()), bool(ordered), branch=branch, cap=cap
        )
        if others is not None or users is not None:
            told = tuple(map(_known, [*_or_none(others), *_or_none(users)]))
            named = named._replace(others=told, digits=tuple(draws.digits))
        if scores is not None:
            sd, shared = (None if x is None else float(x) for x in (sd, shared))
            named = named._replace(
                scores=tuple(map(_known, scores)),
                digits=tuple(draws.digits),
                noise_sd=sd,
                shared_sd=shared,
                score_step=float(step),
            )
        return named.without_order()

    return guarded(answer, flawed)


def _or_none(numbers: Floats | None) -> Sequence[Any]:
    return () if numbers is None else numbers  # type: ignore[return-value]  # an array is gone through, too


def guarded(answer: Callable[[], T], otherwise: Callable[[str], T]) -> T:
    """The answer; an exception is one too, an exit as well, and shows of which class it is.

    Not so an interrupt: whether the code raises it or the user does, nobody can tell.
    """
    try:
        return answer()
    except (Control, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever code may raise
        return otherwise(f"raises {type(error).__name__}")


def flaw_of(selection: Any, n_items: int) -> str | None:
    """What is wrong with an answer about so many items, whatever the data are; None if nothing."""
    if not isinstance(selection, Selection) or selection.associations is not None:
        return "no selection"  # or what only follows from one
    if not isinstance(selection.branch, str | None):
        return "a branch without a name"
    positions = np.asarray(selection.positions)
    flaw = _flaw_of_positions(positions, n_items)
    for name, numbers in (("others", selection.others), ("users", selection.users)):
        if flaw is None and numbers is not None and not _shape_of(numbers)[1]:
            return f"{name} that are no numbers"
    if flaw is not None or selection.scores is None:
        return flaw
    shape, finite = _shape_of(selection.scores)
    if shape != (len(positions),):
        return "scores of other items"
    sds = (selection.noise_sd or 0.0, selection.shared_sd or 0.0)
    return None if finite and all(map(math.isfinite, sds)) else "scores that are no numbers"


def _flaw_of_positions(positions: NDArray[Any], n_items: int) -> str | None:
    if positions.ndim != 1 or (positions.dtype.kind not in "iu" and positions.size):
        return "no positions"
    named = set(positions.tolist())  # of few items, which arrays take longer for
    if named and not (min(named) >= 0 and max(named) < n_items):
        return "unknown items"
    return "repeated items" if len(named) < len(positions) else None


def _shape_of(scores: Any) -> tuple[tuple[int, ...], bool]:
    if type(scores) is Columns:
        return scores.bare.shape[:-1], bool(np.isfinite(scores.bare).all())
    plain = np.asarray(scores)
    return plain.shape, all(
        type(x) is ValueInCell or math.isfinite(x) for x in plain.ravel().tolist()
    )


def flawed(flaw: str) -> VisibleAnswer:
    """An answer of which nothing but its flaw is known."""
    return VisibleAnswer((), ordered=True, flaw=flaw)


def _known(score: Any) -> tuple[int, bool] | str:
    return (score.passed, score.negated) if type(score) is ValueInCell else float(score).hex()


@contextmanager
def listening() -> Iterator[list[str]]:
    """What code says that runs meanwhile: whether it warns, prints or logs; nothing is passed on.

    Told is what it writes to `sys.stdout` and `sys.stderr`, and to logs at levels that are on.
    """
    said: list[str] = []
    stderr, handle = sys.stderr, logging.Logger.handle
    streams = (_Stream(stream, said) for stream in (sys.stdout, stderr))

    def logged(logger: logging.Logger, record: logging.LogRecord) -> None:
        if logger.name != _COMPILING:
            said.append("logs")
            return
        with redirect_stderr(stderr):
            handle(logger, record)

    with (
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(next(streams)),
        redirect_stderr(next(streams)),
        mock.patch.object(logging.Logger, "handle", logged),
    ):
        warnings.simplefilter("always")
        yield said
        said += ["warns"] * bool(warned)


class _Stream:
    """In the place of a stream; what other threads write, such as a clock, goes through."""

    def __init__(self, through: Any, said: list[str]) -> None:
        self._through, self._said, self._thread = through, said, get_ident()

    def write(self, text: str) -> int:
        if get_ident() != self._thread:
            return int(self._through.write(text))
        self._said.append("prints")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._through, name)


def face_of(mechanism: object) -> Hashable:
    """All that it says of itself: no answer may change it. What is cached is left out."""
    return guarded(lambda: _face(mechanism), lambda flaw: flaw)


def _face(mechanism: object) -> Hashable:
    said = _said(mechanism) if isinstance(mechanism, Mechanism) else ()
    cached = {
        name
        for kind in type(mechanism).__mro__
        for name, value in vars(kind).items()
        if isinstance(value, cached_property)
    }
    own = {name: value for name, value in vars(mechanism).items() if name not in cached}
    parts = [_face(part) for part in own.values() if isinstance(part, Mechanism)]
    return repr(mechanism), repr(said), repr(own), tuple(parts)


def _said(mechanism: Mechanism) -> tuple[object, ...]:
    return (
        mechanism.parameters(),
        mechanism.explain(),
        mechanism.wants,
        mechanism.assumes,
        mechanism.adjacency,
        mechanism.spent_delta,
    )
