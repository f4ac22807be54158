"""What samples tell: each answer in a few views, cut down to what a change of the data can tell.

What is computed from an output loses no more than the output, so each view may be judged by itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.answers.columns import bare
from shortlist.audit.answers.content import flaw_of
from shortlist.mechanisms.mechanism import Selection

__all__ = ["Outcome", "flaw_in", "flawed_outcome", "outcomes_of"]

_PLACES = 4  # of scores that are looked at
_DECIMALS = 6  # of a difference: what is behind is rounding
_FAR = 1e6  # digits behind that are not told by any mechanism of a noise that matters

Outcome = tuple[Hashable, ...]  # of each view, what it shows


def outcomes_of(selection: Selection, class_of: Sequence[int]) -> list[Outcome]:
    """An answer by the class of each of its items; with scores, one for each column of these.

    The first view is of all items, which way a private choice went, and how the best score
    compares. The others are of each place's score alone, how it compares, and its last digits; and
    of the difference of two places' scores, which tells whether they share their noise.
    """
    if flaw := flaw_of(selection, len(class_of)):
        return flawed_outcome(flaw)
    classes = tuple(class_of[i] for i in np.asarray(selection.positions).tolist())
    if selection.scores is None:
        named = classes if selection.ordered else tuple(sorted(classes))
        return [((named, selection.branch),)]
    scores = bare(selection.scores)
    places = np.arange(len(classes))[:, None]
    if not selection.ordered:
        places = np.argsort(-scores, axis=0)
    ranked = np.broadcast_to(np.array(classes, int)[places], scores.shape)
    values = np.take_along_axis(scores, np.broadcast_to(places, scores.shape), axis=0)
    cells = np.floor(values / (selection.noise_sd or 1.0) * 2)
    return [
        ((tuple(row), selection.branch, *cell[:1]), *_of_places(row, cell, value))
        for row, cell, value in zip(*map(_columns, (ranked, cells, values)), strict=True)
    ]


def _columns(array: NDArray[np.generic]) -> list[list[float]]:
    columns: list[list[float]] = array.T.tolist()
    return columns


def _of_places(
    classes: Sequence[float], cells: Sequence[float], values: Sequence[float]
) -> list[Hashable]:
    """Of each place, how its score compares, and its digits; of each two, how they differ."""
    places = list(zip(classes, cells, values, strict=True))[:_PLACES]
    pairs = itertools.combinations(places, 2)
    return [
        *((of, cell) for of, cell, _ in places),
        *((of, *_digits(value)) for of, _, value in places),
        *((one[0], other[0], round(one[2] - other[2], _DECIMALS)) for one, other in pairs),
    ]


def _digits(value: float) -> tuple[Hashable, ...]:
    """How many decimals are told, the last two, and what there is far behind the point."""
    decimals = repr(value).partition(".")[2]
    far = math.fmod(abs(value) * _FAR, 1.0)
    return len(decimals), decimals[-2:], round(far * 1000) % 1000


def flawed_outcome(flaw: str) -> list[Outcome]:
    """What tells nothing but a flaw."""
    return [(_Flaw(flaw),)]


class _Flaw(str):
    """A view that tells a flaw."""

    __slots__ = ()


def flaw_in(outcome: Outcome) -> str | None:
    """The flaw that it tells, if any."""
    return str(outcome[0]) if isinstance(outcome[0], _Flaw) else None
