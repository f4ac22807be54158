"""What an answer tells, and what is wrong with one whatever the data are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.answers.cells import Cell
from shortlist.audit.answers.columns import Columns
from shortlist.audit.answers.control import Control
from shortlist.mechanisms.base import Selection

__all__ = ["Told", "flaw_of", "flawed", "guarded", "told_by"]

T = TypeVar("T")


class Told(NamedTuple):
    """All that a selection tells.

    Attributes:
        positions: The items in their order; rising, if they are a set.
        ordered: Whether their order means anything.
        scores: Their scores as cells, which are edges passed and whether the negative was told; or
            digit by digit if no draw told them; None, if untold.
        digits: To which the scores were rounded; None, if untold.
        noise_sd: Of the scores.
        branch: Which way a private choice went.
        flaw: What is wrong with the answer, which is then all that is told; None, if nothing is.
    """

    positions: tuple[int, ...]
    ordered: bool
    scores: tuple[tuple[int, bool] | str, ...] | None = None
    digits: tuple[int, ...] | None = None
    noise_sd: float | None = None
    branch: str | None = None
    flaw: str | None = None

    def relabelled(self, order: Sequence[int]) -> Told:
        """The same where item i is called order[i]."""
        return self._replace(positions=tuple(order[i] for i in self.positions)).without_order()

    def without_order(self) -> Told:
        """The same with rising positions, each with its score, if they are a set."""
        if self.ordered:
            return self
        if self.scores is None:
            return self._replace(positions=tuple(sorted(self.positions)))
        rising = sorted(zip(self.positions, self.scores, strict=True), key=str)
        return self._replace(
            positions=tuple(item for item, _ in rising), scores=tuple(score for _, score in rising)
        )


def told_by(select: Callable[[Any], Selection], draws: Any, n_items: int) -> Told:  # noqa: ANN401
    """What is told by draws that tell cells, of as many items as the evidence knows."""

    def tell() -> Told:
        selection = select(draws)
        if flaw := flaw_of(selection, n_items):
            return flawed(flaw)
        positions, scores, ordered, sd, branch = selection
        told = Told(tuple(np.asarray(positions).tolist()), bool(ordered), branch=branch)
        if scores is not None:
            known, sd = tuple(map(_known, scores)), None if sd is None else float(sd)
            told = told._replace(scores=known, digits=tuple(draws.digits), noise_sd=sd)
        return told.without_order()

    return guarded(tell, flawed)


def guarded(tell: Callable[[], T], otherwise: Callable[[str], T]) -> T:
    """What is told; an exception is an answer too, an exit as well, and tells of which class it is.

    Not so an interrupt: whether the code raises it or the user does, nobody can tell.
    """
    try:
        return tell()
    except (Control, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever code may raise
        return otherwise(f"raises {type(error).__name__}")


def flaw_of(selection: Any, n_items: int) -> str | None:  # noqa: ANN401 - whatever code returns
    """What is wrong with an answer about as many items, whatever the data are."""
    if not isinstance(selection, Selection):
        return "no selection"
    if not isinstance(selection.branch, str | None):
        return "a branch without a name"
    positions = np.asarray(selection.positions)
    flaw = _flaw_of_positions(positions, n_items)
    if flaw is not None or selection.scores is None:
        return flaw
    shape, finite = _shape_of(selection.scores)
    if shape != (len(positions),):
        return "scores of other items"
    is_known = finite and math.isfinite(selection.noise_sd or 0.0)
    return None if is_known else "scores that are no numbers"


def _flaw_of_positions(positions: NDArray[Any], n_items: int) -> str | None:
    if positions.ndim != 1 or (positions.dtype.kind not in "iu" and positions.size):
        return "no positions"
    if ((positions < 0) | (positions >= n_items)).any():
        return "unknown items"
    return "repeated items" if len(np.unique(positions)) < len(positions) else None


def _shape_of(scores: Any) -> tuple[tuple[int, ...], bool]:  # noqa: ANN401 - whatever code returns
    """The shape of one answer's scores, and whether they are finite."""
    if type(scores) is Columns:
        return scores.bare.shape[:-1], bool(np.isfinite(scores.bare).all())
    told = np.asarray(scores)
    return told.shape, all(type(x) is Cell or math.isfinite(x) for x in told.ravel().tolist())


def flawed(flaw: str) -> Told:
    """An answer that tells its flaw, and nothing else."""
    return Told((), ordered=True, flaw=flaw)


def _known(score: Any) -> tuple[int, bool] | str:  # noqa: ANN401 - a cell, or a number
    return (score.passed, score.negated) if type(score) is Cell else float(score).hex()
