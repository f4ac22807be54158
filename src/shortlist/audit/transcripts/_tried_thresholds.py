"""How likely it is that an item which one user alone holds is named, as the code decides it.

Where noise is rounded down to a grid, only the code knows which noisy value is enough. So that
value is found by trying: the same path again and again, with another outcome for one item. Nothing
is believed of thresholds, nor of how noise of several rounds is averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shortlist.audit.transcripts._asked_draws import Asked, Noisy, tail
from shortlist.audit.transcripts._followed_paths import EachWayInTurn, Path, Recorder
from shortlist.audit.transcripts._spent import Unfollowed
from shortlist.draws import ExactDraws
from shortlist.draws.noise import Normal
from shortlist.draws.random_bits import SeededBits
from shortlist.mechanisms.mechanism import Mechanism

__all__ = ["chance_of_own"]

_FAR = 40  # standard deviations that are tried
_NEAR = 2.0  # standard deviations: what a round needs more where another had less
_PLACES, _APART = 9, 0.5  # noisy values that are tried, in standard deviations
_SAME = 1e-3  # weights that differ by less are the same
_MOVED = 0.25  # of a standard deviation, to see how much a round counts in a later one


class _Round(NamedTuple):
    """Noise on the item in one call.

    Attributes:
        call: Its number.
        sd: Of the noise.
        step: Of the grid.
    """

    call: int
    sd: float
    step: float


@dataclass
class _Trial:
    """One path, of which the noisy values of one item of the user are chosen.

    Attributes:
        mechanism: That selects.
        path: The path.
        way: As that of the path.
        chosen: The noisy value of the item in some calls, in steps; elsewhere, it is out of reach.
    """

    mechanism: Mechanism
    path: Path
    way: int
    chosen: dict[int, int] = field(default_factory=dict)

    def asked(self, call: int = -1, value: int = 0) -> tuple[list[Asked], Any]:
        """Run again, with another noisy value of the item in one call, unless that is -1.

        Returns:
            What is asked; and what comes of it: how much is asked about, and what is selected.
        """
        chosen = {**self.chosen, call: value}
        recorder = Recorder(ExactDraws(SeededBits(self.way)), partial(self._steered, chosen))
        selected = self.mechanism.select(self.path.table.evidence(True), recorder)
        lengths = [len(a.scores) for a in recorder.asked if isinstance(a, Noisy)]
        return recorder.asked, (lengths, np.sort(selected.positions).tolist())

    def _steered(self, chosen: dict[int, int], number: int, asked: Asked, outcome: Any) -> Any:
        outcome = EachWayInTurn(self.way)(number, asked, outcome)
        if not isinstance(asked, Noisy):
            return outcome
        place = self.path.own.get(number, len(asked.scores))
        if _is_of_coins(asked):  # which would name the item by chance
            return outcome & (np.arange(len(outcome)) < place)
        if asked.step is None or place >= len(asked.scores):
            return outcome
        here = _round_of(number, asked)
        told = outcome.copy()
        told[place:] = -math.ceil(_FAR * here.sd / here.step)
        told[place] = chosen.get(number, told[place])
        return told

    def least(self, here: _Round, near: int | None = None) -> int | None:
        """The least noisy value, in steps, of which something comes; None if nothing does.

        Args:
            here: The round.
            near: One that is enough, or a little less.
        """
        far = math.ceil(_FAR * here.sd / here.step)
        low, high = -far, far + math.ceil(1 / here.step)
        _, without = self.asked(here.call, low)
        if near is not None:
            if self.asked(here.call, near)[1] != without:
                return near
            low, high = near, near + math.ceil(_NEAR * here.sd / here.step)
        if self.asked(here.call, high)[1] == without:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self.asked(here.call, middle)[1] == without:
                low = middle
            else:
                high = middle
        return high


def chance_of_own(mechanism: Mechanism, path: Path, way: int) -> float:
    """The chance that one of the user's own items is named, at most, in all calls together.

    Each item is taken to be the only one in reach, and its noisy value in each round to be the one,
    of some below what is enough, that leaves it the largest weight in the next. The path is one on
    a table of which the user holds nothing but own items.
    """
    trial = _Trial(mechanism, path, way)
    chance, before = 0.0, list[_Round]()
    calls = list(path.own.items())
    for (call, place), (following, _) in zip(calls, [*calls[1:], calls[-1]], strict=True):
        asked, _ = trial.asked()
        written = asked[call]
        if not isinstance(written, Noisy) or written.step is None:
            continue
        here = _round_of(call, written)
        enough = trial.least(here)
        if enough is None:  # it is another search, of other items
            continue
        chance += (len(written.scores) - place) * _chance(trial, here, enough, before)
        trial.chosen[call] = _leaving_most(trial, here, enough, following)
        before.append(here)
    return chance + _of_coins(trial, before)


def _leaving_most(trial: _Trial, here: _Round, enough: int, following: int) -> int:
    """The noisy value that is not enough and leaves the item the largest weight in another call."""
    values = [enough - 1 - n * math.ceil(_APART * here.sd / here.step) for n in range(_PLACES)]
    scores = np.array([_score_at(trial, following, here.call, value) for value in values])
    if _is_of_coins(_noisy(trial.asked()[0][following])):  # which counts the noisy value itself
        scores -= np.median(np.diff(scores) / np.diff(values)) * np.array(values)
    return values[int(np.argmax(scores > scores.max() - _SAME))]


def _score_at(trial: _Trial, number: int, call: int, value: int) -> float:
    """The item's score in one call, where it has another noisy value in an earlier one."""
    asked, _ = trial.asked(call, value)
    return float(_noisy(asked[number]).scores[trial.path.own[number]])


def _noisy(asked: Asked) -> Noisy:
    if not isinstance(asked, Noisy):
        raise Unfollowed("another draw was made where the item's noise was chosen")
    return asked


def _round_of(call: int, asked: Noisy) -> _Round:
    (noise,) = asked.noises
    sd = noise.sd if isinstance(noise, Normal) else math.inf
    return _Round(call, sd, asked.step or math.inf)


def _is_of_coins(asked: Noisy) -> bool:
    return asked.bounds is not None and not asked.told and asked.k is None


def _chance(trial: _Trial, here: _Round, enough: int, before: list[_Round]) -> float:
    """That all noise so far brings the item to what is enough in this round.

    How much an earlier round counts is seen by how much more this one needs, where that had less.
    """
    asked, _ = trial.asked()
    distance = enough * here.step - _score(trial, asked, here)
    variance = here.sd**2
    for earlier in before:
        kept, moved = trial.chosen[earlier.call], math.ceil(_MOVED * earlier.sd / earlier.step)
        trial.chosen[earlier.call] = kept - moved
        more = trial.least(here, enough)
        trial.chosen[earlier.call] = kept
        counts = ((more or enough) - enough) * here.step / (moved * earlier.step)
        distance += counts * (kept * earlier.step - _score(trial, asked, earlier))
        variance += (counts * earlier.sd) ** 2
    return float(tail(np.array([distance / math.sqrt(variance)]))[0])


def _score(trial: _Trial, asked: list[Asked], at: _Round) -> float:
    return float(_noisy(asked[at.call]).scores[trial.path.own[at.call]])


def _of_coins(trial: _Trial, before: list[_Round]) -> float:
    """The chance in a last round that is held against its bound by a coin."""
    asked, _ = trial.asked()
    calls = [
        (number, call)
        for number in trial.path.own
        if isinstance(call := asked[number], Noisy) and _is_of_coins(call)
    ]
    return sum(_of_coin(trial, number, call, before) for number, call in calls)


def _of_coin(trial: _Trial, number: int, call: Noisy, before: list[_Round]) -> float:
    """The chance that noise so far and that of the coin bring any own item to the bound."""
    place, (noise,) = trial.path.own[number], call.noises
    asked, _ = trial.asked()
    distance, variance = -float(call.scores[place]), noise.sd**2  # type: ignore[attr-defined]
    for earlier in before:
        kept, moved = trial.chosen[earlier.call], math.ceil(_MOVED * earlier.sd / earlier.step)
        lower = [_score_at(trial, number, earlier.call, kept - n * moved) for n in range(4)]
        counts = -float(np.median(np.diff(lower))) / (moved * earlier.step)
        distance += counts * (kept * earlier.step - _score(trial, asked, earlier))
        variance += (counts * earlier.sd) ** 2
    chance = float(tail(np.array([distance / math.sqrt(variance)]))[0])
    return (len(call.scores) - place) * chance
