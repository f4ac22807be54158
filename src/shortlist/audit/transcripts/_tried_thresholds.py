"""How likely it is that an item which one user alone holds is named, as the code decides it.

Where noise is rounded down to a grid, only the code knows which noisy value is enough. So that
value is found by trying: the same path again and again, with another outcome for one item. Nothing
is believed of thresholds, nor of how noise of several rounds is averaged.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
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

_FAR = 40  # standard deviations that are tried
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

    @property
    def lowest(self) -> int:
        """A noisy value that is out of reach."""
        return -self.steps(_FAR)

    @property
    def highest(self) -> int:
        """A noisy value that is more than enough."""
        return self.steps(_FAR) + math.ceil(1 / self.step)

    def steps(self, sds: float) -> int:
        return math.ceil(sds * self.sd / self.step)


class _TriedRun(NamedTuple):
    """One run along the path.

    Attributes:
        asked: What is asked of each draw.
        lengths: How much each call for noise is about.
        selected: The positions.
    """

    asked: list[Asked]
    lengths: list[int]
    selected: list[int]

    def ends_as(self, other: _TriedRun) -> bool:
        return (self.lengths, self.selected) == (other.lengths, other.selected)

    def asked_like(self, call: int, other: _TriedRun) -> int:
        """How much a call is about, if it is for noise of the same law; -1 if it is not."""
        mine, theirs = self.asked[call : call + 1], other.asked[call : call + 1]
        noisy = [each for each in (*mine, *theirs) if isinstance(each, Noisy)]
        same = len(noisy) == 2 and noisy[0].law == noisy[1].law
        return len(noisy[0].scores) if same else -1


@dataclass
class _Trial:
    """One path, of which the noisy values of one item of the user are chosen.

    Attributes:
        mechanism: That selects.
        path: The path.
        chosen: The noisy value of the item in some calls, in steps; elsewhere, it is out of reach.
    """

    mechanism: Mechanism
    path: Path
    chosen: dict[int, int] = field(default_factory=dict)
    _runs: dict[frozenset[tuple[int, int]], _TriedRun] = field(default_factory=dict)

    def run(self, other: dict[int, int] | None = None) -> _TriedRun:
        """Go along the path, with other noisy values of the item in some calls."""
        chosen = {**self.chosen, **(other or {})}
        key = frozenset(chosen.items())
        if key not in self._runs:
            self._runs[key] = self._anew(chosen)
        return self._runs[key]

    def _anew(self, chosen: dict[int, int]) -> _TriedRun:
        draws = ExactDraws(SeededBits(self.path.way))
        recorder = Recorder(draws, partial(self._steered, chosen))
        selected = self.mechanism.select(self.path.table.evidence(True), recorder)
        lengths = [len(a.scores) for a in recorder.asked if isinstance(a, Noisy)]
        return _TriedRun(recorder.asked, lengths, np.sort(selected.positions).tolist())

    def _steered(self, chosen: dict[int, int], number: int, asked: Asked, outcome: Any) -> Any:
        outcome = EachWayInTurn(self.path.way)(number, asked, outcome)
        if not isinstance(asked, Noisy):
            return outcome
        place = self.path.own.get(number, len(asked.scores))
        if _is_of_coins(asked):  # which would name the item by chance
            return outcome & (np.arange(len(outcome)) < place)
        if asked.step is None or place >= len(asked.scores):
            return outcome
        here = _round_of(number, asked)
        told = outcome.copy()
        told[place:] = here.lowest
        told[place] = chosen.get(number, told[place])
        return told

    def noisy(self, call: int, other: dict[int, int] | None = None) -> Noisy:
        asked = self.run(other).asked[call]
        if not isinstance(asked, Noisy):
            raise Unfollowed("another draw was made where the item's noise was chosen")
        return asked

    def is_asked(self, call: int, other: dict[int, int] | None = None) -> bool:
        """Whether a call is about the item: it may be found, or dropped, or of another search."""
        asked = self.run(other).asked[call]
        return isinstance(asked, Noisy) and self.path.own[call] < len(asked.scores)

    def score(self, call: int, other: dict[int, int] | None = None) -> float:
        """The item's score in a call, without noise: 0 where it has none."""
        if not self.is_asked(call, other):
            return 0.0
        return float(self.noisy(call, other).scores[self.path.own[call]])

    def least(self, here: _Round, near: int | None = None) -> int | None:
        """The least noisy value, in steps, that names the item; None if nothing does.

        Args:
            here: The round.
            near: A guess, around which it is looked for first.
        """
        low, high = here.lowest, here.highest
        is_enough = partial(self.is_enough, here)
        if near is not None:
            low, high = _around(is_enough, min(max(near, low + 1), high - 1), low, high)
        if not is_enough(high):
            return None
        return low + 1 + bisect_left(range(low + 1, high), True, key=is_enough)

    def is_enough(self, here: _Round, value: int) -> bool:
        """Whether something comes of it, and the item does not merely stay."""
        run = self.run({here.call: value})
        return not run.ends_as(self.run()) and not self._stays(here, run)

    def _stays(self, here: _Round, run: _TriedRun) -> bool:
        """Whether the next round asks for more than if the item were dropped here, or named."""
        dropped, named = self.run(), self.run({here.call: here.highest})
        n, *others = (each.asked_like(here.call + 1, dropped) for each in (run, dropped, named))
        return n > max(others)


def _around(is_enough: Callable[[int], bool], near: int, low: int, high: int) -> tuple[int, int]:
    """What is not enough and what may be, as near to a guess as twice as far each time finds."""
    apart, sign = 1, -1 if is_enough(near) else 1
    while low < near + sign * apart < high and is_enough(near + sign * apart) is (sign < 0):
        apart *= 2
    inner, outer = near + sign * (apart // 2), near + sign * apart
    return (max(outer, low), inner) if sign < 0 else (inner, min(outer, high))


def chance_of_own(mechanism: Mechanism, path: Path, guesses: dict[int, int]) -> float:
    """The chance that one of the user's own items is named, at most, in all calls together.

    Each item is taken to be the only one in reach, and its noisy value in each round to be the one,
    of some below what is enough, that leaves it the largest weight in the next. The path is one on
    a table of which the user holds nothing but own items.

    Args:
        mechanism: That selects.
        path: The path.
        guesses: In each call, what was enough on other paths; what is enough on this one is added.
    """
    trial = _Trial(mechanism, path)
    chance, own, before = 0.0, 0, list[_Round]()
    for call, place in path.own.items():
        if not trial.is_asked(call):
            continue
        asked = trial.noisy(call)
        own = max(own, len(asked.scores) - place)  # all others may be dropped by now
        if _is_of_coins(asked):
            effects = [(earlier, _effect_on_score(trial, call, earlier)) for earlier in before]
            chance += own * _chance(trial, -float(asked.scores[place]), asked, effects)
            continue
        if asked.step is None:
            continue
        here = _round_of(call, asked)
        enough = trial.least(here, guesses.get(call))
        if enough is None:  # it is another search, of other items
            continue
        guesses[call] = enough
        distance = enough * here.step - trial.score(call)
        effects = [(earlier, _effect_on_need(trial, here, enough, earlier)) for earlier in before]
        chance += own * _chance(trial, distance, asked, effects)
        trial.chosen[call] = _leaving_most(trial, here, enough)
        before.append(here)
    return chance


def _chance(
    trial: _Trial, distance: float, asked: Noisy, effects: Iterable[tuple[_Round, float]]
) -> float:
    """That all noise so far brings the item so far, given how much earlier rounds' noise counts."""
    variance = _sd(asked) ** 2
    for earlier, counts in effects:
        noise = trial.chosen[earlier.call] * earlier.step - trial.score(earlier.call)
        distance += counts * noise
        variance += (counts * earlier.sd) ** 2
    return float(tail(np.array([distance / math.sqrt(variance)]))[0])


def _effect_on_need(trial: _Trial, here: _Round, enough: int, earlier: _Round) -> float:
    """How much more this round needs, where an earlier one had less."""
    kept, moved = trial.chosen[earlier.call], earlier.steps(_MOVED)
    trial.chosen[earlier.call] = kept - moved
    more: int | None = enough
    if not trial.is_enough(here, enough):
        # As much more as the other had less, if both rounds count alike.
        more = trial.least(here, enough + round(moved * earlier.step / here.step))
    trial.chosen[earlier.call] = kept
    return ((enough if more is None else more) - enough) * here.step / (moved * earlier.step)


def _effect_on_score(trial: _Trial, number: int, earlier: _Round) -> float:
    """How much lower the score of a coin is, where an earlier round had less."""
    kept, moved = trial.chosen[earlier.call], earlier.steps(_MOVED)
    lower = [trial.score(number, {earlier.call: kept - n * moved}) for n in range(4)]
    return -float(np.median(np.diff(lower))) / (moved * earlier.step)


def _leaving_most(trial: _Trial, here: _Round, enough: int) -> int:
    """The noisy value that is not enough and leaves the item the largest weight in the next call.

    That is the next of those that are about the item, where it just stays.
    """
    values = [enough - 1 - n * here.steps(_APART) for n in range(_PLACES)]
    later = [call for call in trial.path.own if call > here.call]
    following = next((call for call in later if trial.is_asked(call, {here.call: values[0]})), None)
    if following is None:
        return values[0]
    values = [value for value in values if trial.is_asked(following, {here.call: value})]
    if _is_of_coins(trial.noisy(following)):  # whose scores count the noisy value itself
        scores = np.array([trial.score(following, {here.call: value}) for value in values])
        scores -= np.median(np.diff(scores) / np.diff(values)) * np.array(values)
        return values[int(np.argmax(scores > scores.max() - _SAME))]
    best, most = values[0], -math.inf
    for value in values:
        score = trial.score(following, {here.call: value})
        if score < most - _SAME:
            break
        if score > most + _SAME:
            best, most = value, score
    return best


def _round_of(call: int, asked: Noisy) -> _Round:
    return _Round(call, _sd(asked), asked.step or math.inf)


def _sd(asked: Noisy) -> float:
    (noise,) = asked.noises
    return noise.sd if isinstance(noise, Normal) else math.inf


def _is_of_coins(asked: Noisy) -> bool:
    return asked.bounds is not None and not asked.told and asked.k is None
