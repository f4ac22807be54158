"""The statistical instrument: the code as it runs, on a few neighbours, a million times.

These have twice as many items as are named, with counts too many to enumerate all that is drawn.
What comes out on two neighbours is counted, and a loss is told that the frequencies certainly show
(`_frequencies`). Nearly all samples are drawn together (`_sampled_together`); some are drawn one by
one, as an answer is, and the event that was chosen is judged on these too.

Each answer is looked at in a few views, cut down to what a change of the data can tell. What is
computed from an output loses no more than the output, so each view may be judged by itself.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.findings import Finding, Verdict, worst_of_each_claim
from shortlist.audit.samples._frequencies import DOUBT, Seen, both_ways
from shortlist.audit.samples._sampled_together import Endless, sample
from shortlist.audit.stand_ins import Outlived, bare
from shortlist.audit.universes import Data, Universe, universe_of
from shortlist.audit.visible_answers import face_of, flaw_of, guarded, listening
from shortlist.draws import Draws, ExactDraws, Floats
from shortlist.draws.random_bits import Bits, SystemBits
from shortlist.mechanisms.mechanism import Mechanism, Selection

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
    if selection.others is not None:
        listed = outcomes_of(selection._replace(others=None), class_of)
        return _beside(listed, selection.others)
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


def _beside(listed: list[Outcome], others: Floats) -> list[Outcome]:
    """The list; after its first view one of each number of others, and one of their signs."""
    rows = _columns(bare(others))
    if len(rows) == 1:  # whole numbers, by which samples part
        rows = rows * len(listed)
    if len(listed) < len(rows):  # without scores it is the same for all samples
        listed = listed * len(rows)
    return [
        (views[0], *enumerate(row), tuple(number > 0 for number in row), *views[1:])
        for views, row in zip(listed, rows, strict=True)
    ]


def _columns(array: NDArray[np.generic]) -> list[list[float]]:
    columns: list[list[float]] = array.T.tolist()
    return columns


def _of_places(
    classes: Sequence[float], cells: Sequence[float], values: Sequence[float]
) -> list[Hashable]:
    """How each place's score compares, its digits, and how each two scores differ."""
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
    """The outcome of an answer of which nothing but its flaw is known."""
    return [(_Flaw(flaw),)]


class _Flaw(str):
    """A view that tells a flaw."""

    __slots__ = ()


def flaw_in(outcome: Outcome) -> str | None:
    """The flaw that it tells, if any."""
    return str(outcome[0]) if isinstance(outcome[0], _Flaw) else None


_SAMPLES, _QUICK = 10**6, 10**4  # of a mechanism
_BRANCHING = 2 * 10**4  # of one whose samples soon differ, so that hardly two share a run
_MOST_NAMED = 4  # items, of which all have their place in a data set
_LENGTH = 60  # of a data set as it is told
_ALONE = 50  # of so many samples one more is drawn by itself


Tally = Counter[Outcome]  # how often each came


@dataclass(frozen=True)
class _Sampler:
    """A mechanism on one data set.

    Attributes:
        universe: Of the mechanism and its data sets.
        data: The data set.
        classes: For each item, the class of those that an answer need not tell apart.
        bits: What samples are drawn from.
    """

    universe: Universe
    data: Data
    classes: tuple[int, ...]
    bits: Bits

    def together(self, n: int) -> Tally:
        return self._noticed(lambda: sample(self._run(), n, self.bits))

    def alone(self, n: int) -> Tally:
        run, draws = self._run(), ExactDraws(self.bits)
        return self._noticed(lambda: Counter(outcome for _ in range(n) for outcome in run(draws)))

    def _noticed(self, draw: Callable[[], Tally]) -> Tally:
        """What is drawn; or only what else the code does, if it does anything else."""
        try:
            with listening() as said:
                answers = draw()
        except Outlived:
            return Counter(flawed_outcome("effect of earlier answers"))
        except Endless:
            return Counter(flawed_outcome("draws without end"))
        return Counter(flawed_outcome(said[0])) if said else answers

    def _run(self) -> Callable[[Draws], list[Outcome]]:
        evidence, select = self.universe.evidence_of(self.data), self.universe.mechanism.select
        classes = [self.classes[item] for item in self.universe.held(self.data)]

        def run(draws: Draws) -> list[Outcome]:
            return guarded(lambda: outcomes_of(select(evidence, draws), classes), flawed_outcome)

        return run

    def written(self) -> str:
        text = self.universe.written(self.data)
        if len(text) < _LENGTH:
            return text
        return f"{text[: _LENGTH - 10]}… ({self.universe.n_items(self.data)} items)"


def audit_by_samples(
    mechanism: Mechanism,
    *,
    quick: bool = False,
    bits: Bits | None = None,
    samples: int | None = None,
    settings: int = 1,
) -> list[Finding]:
    """What samples say of a mechanism's (epsilon, delta).

    Args:
        mechanism: With its parameters.
        quick: With ten thousand samples of a mechanism in place of a million; or of twenty
            thousand, if it is one that is enumerated with fewer branches than it has.
        bits: What they are drawn from; None for the operating system's.
        samples: How many of each data set; None for as many as its share is.
        settings: How many settings of the mechanism share its samples, and the doubt of its row.
    """
    universe = universe_of(mechanism)
    source = SystemBits() if bits is None else bits
    # Twice as many items as are named.
    inputs = list(universe.sampled_pairs(2 * min(universe.most_named, _MOST_NAMED)))
    branching = mechanism.audit_hints().coarse is not None
    in_all = _QUICK if quick else _BRANCHING if branching else _SAMPLES
    n = samples or math.ceil(in_all / (settings * len(inputs) * 2))
    face, doubt = face_of(mechanism), DOUBT / (settings * len(inputs))
    found: list[Finding] = []
    for pair, classes in inputs:
        samplers = [_Sampler(universe, data, classes, source) for data in pair]
        found += _judged(samplers, n, doubt)
        if face_of(mechanism) != face:
            found.append(_flawed(samplers[1], "tells a table later"))
    return worst_of_each_claim(found)


def _judged(samplers: list[_Sampler], n: int, doubt: float) -> Iterator[Finding]:
    """Both ways, in each view of the outcomes.

    An event is chosen on half of the samples, judged on the rest, and on those alone. All of these
    bounds share the doubt.
    """
    chosen_on = [sampler.together(n // 2) for sampler in samplers]
    judged_on = [[sampler.together(n - n // 2) for sampler in samplers]]
    if not any(_flaws(samplers, [chosen_on, *judged_on])):  # by itself, it might never end
        judged_on.append([sampler.alone(n // _ALONE) for sampler in samplers])
    every = [chosen_on, *judged_on]
    drawn = sum(seen.total() for sides in every for seen in sides)
    yield _finding(samplers[0], samplers[1], 0.0, drawn)
    for sampler, flaw in _flaws(samplers, every):
        yield _flawed(sampler, flaw)
    n_views = max(len(outcome) for seen in chosen_on for outcome in seen)
    delta = samplers[0].universe.mechanism.delta
    for view in range(n_views):
        first, *rest = ([_viewed(seen, view) for seen in sides] for sides in every)
        for one, other, loss in both_ways(first, rest, delta, doubt / (4 * n_views)):
            yield _finding(samplers[one], samplers[other], loss, 0)


def _viewed(seen: Tally, view: int) -> Seen:
    """The outcomes as one view shows them; those without that view are None."""
    shown: Seen = Counter()
    for outcome, times in seen.items():
        shown[outcome[view] if view < len(outcome) else None] += times
    return shown


def _flaws(
    samplers: Sequence[_Sampler], every: Sequence[Sequence[Tally]]
) -> Iterator[tuple[_Sampler, str]]:
    found = {
        flaw: sampler
        for sides in every
        for sampler, seen in zip(samplers, sides, strict=True)
        for outcome in seen
        if (flaw := flaw_in(outcome))
    }
    return ((sampler, flaw) for flaw, sampler in found.items())


def _flawed(sampler: _Sampler, flaw: str) -> Finding:
    mechanism, on = sampler.universe.mechanism, sampler.written()
    return Finding.about(mechanism, flaw, Verdict.BROKEN, (on, on), pairs=1)


def _finding(one: _Sampler, other: _Sampler, loss: float, n: int) -> Finding:
    mechanism = one.universe.mechanism
    return Finding.of_samples(
        type(mechanism).__name__,
        repr(mechanism),
        epsilon=mechanism.epsilon,
        delta=mechanism.delta,
        loss=loss,
        pair=(one.written(), other.written()),
        samples=n,
    )
