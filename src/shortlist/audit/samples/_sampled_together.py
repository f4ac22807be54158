"""Many samples at once: those that have drawn the same so far share one run of the code.

`sample(run, n, bits)` begins with one group of all samples. Every draw is made for all samples of a
group in one call, by `ExactDraws` on repeated input. Where they drew different things, the group
parts, and `run` is begun anew for each part, by a script of what was drawn so far. A group of one
goes on with `ExactDraws` as they are. So samples are independent, with their law, of code that
draws nothing but by the operations of `Draws`.

Noisy values are different for nearly all samples. Code is given them as `Columns`, so that
code that passes values on, or shifts and scales them, does it for all samples at once. Code that
does anything else with a value parts its group into single samples, which are given plain arrays.

What groups do not run is the end of `ExactDraws.order`: its quick look at thousands of items, and
how values whose intervals are disjoint are put in order: here for many rows together. The others
are put in order one by one, as they always are.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from shortlist.audit.stand_ins import Columns, Control, Run
from shortlist.draws import (
    UNIT,
    Candidates,
    Draws,
    ExactDraws,
    Floats,
    Ints,
    Noise,
    Order,
    Ordered,
    Reals,
    RoundingGrid,
)
from shortlist.draws.exact_draws import first_accepted
from shortlist.draws.noisy_values import NoisyValues
from shortlist.draws.random_bits import Bits
from shortlist.draws.uniform import SharedDraw

if TYPE_CHECKING:
    from flint import arb

NOBODY = -1  # in the place of an item, where other rows have more items


class Drawn(NamedTuple):
    """What some samples drew.

    Attributes:
        rows: A row of each sample, shape (n_rows, width): whole numbers, or coins.
        columns: The noisy values of each: a column, shape (height, n_rows).
    """

    rows: NDArray[Any]
    columns: Floats


def order_of_rows(draws: ExactDraws, n_rows: int, asked: Order) -> Drawn:
    """What so many calls of `Draws.order` return: positions as rows, and values as columns.

    Of what is asked without a factor that all noise of a row shares.
    """
    n = len(asked.scores)
    values = _values_of(draws, n_rows, asked)
    reached = np.ones(n * n_rows, np.bool_)
    if asked.at_least is not None:
        reached = values.reach(np.tile(asked.at_least, n_rows))
    rows = values.sorted_rows(reached.reshape(n_rows, n))[:, : asked.k]
    if asked.digits is None:
        return Drawn(rows, np.empty((0, n_rows)))
    columns = np.full(rows.shape, np.nan)
    named = rows != NOBODY
    columns[named] = values.rounded((rows + n * np.arange(n_rows)[:, None])[named], asked.digits)
    return Drawn(rows, columns.T)


def _values_of(draws: ExactDraws, n_rows: int, asked: Order) -> _NoisyRows:
    n = len(asked.scores) * n_rows
    return _NoisyRows(
        np.tile(asked.scores, n_rows),
        [_repeated(noise, n_rows) for noise in asked.noises],
        [draws.bits.words(n) for _ in asked.noises],
        draws.bits,
        unit=asked.unit,
        shared=None if asked.shared is None else SharedDraw(asked.shared, draws.bits, n, n_rows),
        margin=draws.margin,
    )


def _repeated(noise: Noise, times: int) -> Noise:
    known: Any = noise
    arrays = {
        field.name: np.tile(value, times)
        for field in dataclasses.fields(known)
        if isinstance(value := getattr(known, field.name), np.ndarray)
    }
    repeated: Noise = dataclasses.replace(known, **arrays)
    return repeated


class _NoisyRows(NoisyValues):
    """The values of rows of as many items each, one row after another."""

    def sorted_rows(self, reached: NDArray[np.bool_]) -> Ints:
        """The items that are `reached`, best first, then `NOBODY`; both of shape (n_rows, n)."""
        rows, settled = self._where_disjoint(reached)
        n = reached.shape[1]
        for row in np.flatnonzero(~settled).tolist():
            found = self.sorted(row * n + np.flatnonzero(reached[row])) - row * n
            rows[row, : len(found)] = found
        return rows

    def _where_disjoint(self, reached: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
        """Put rows in order by their intervals, and say for which rows these are disjoint."""
        ends = self._interval(self._scores - self._scores.max(initial=-(2**62)), slice(None))
        low, high = (np.where(reached, end.reshape(reached.shape), -np.inf) for end in ends)
        rows = np.lexsort((-low, ~reached))
        low, high = (np.take_along_axis(end, rows, axis=1) for end in (low, high))
        ahead = np.maximum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
        places, n_reached = np.arange(reached.shape[1]), reached.sum(axis=1)[:, None]
        apart = (ahead[:, 1:] < low[:, :-1]) | (places[1:] >= n_reached)
        return np.where(places < n_reached, rows, NOBODY), apart.all(axis=1)


_CHUNK = 2**16  # samples of a group, at first: they bound the memory
_MOST_DRAWS = 10**4  # of a run; each parting leaves smaller groups, so that runs are bounded too

Outcome = TypeVar("Outcome", bound=Hashable)


class _Drawing(NamedTuple):
    """What the samples of a group drew.

    Attributes:
        row: What is the same for all.
        columns: Values of which each has a column of its own.
    """

    row: NDArray[Any]
    columns: Floats


class _SampleGroup(NamedTuple):
    """Samples that have drawn the same so far.

    Attributes:
        size: How many.
        script: What they drew.
    """

    size: int
    script: tuple[_Drawing, ...] = ()


class _Parted(Control):
    """The samples of a group drew different things.

    Attributes:
        groups: Those that drew the same.
    """

    def __init__(self, groups: list[_SampleGroup]) -> None:
        super().__init__()
        self.groups = groups


class Endless(Control):
    """A run draws without end."""


def sample(
    run: Callable[[Draws], Sequence[Outcome]], n: int, bits: Bits, margin: float = 0.0
) -> Counter[Outcome]:
    """How often each outcome comes out of `n` independent runs.

    Args:
        run: From draws to the outcome, in a list; or to one for each column of noisy values.
        n: How many samples.
        bits: What they are drawn from.
        margin: As for `ExactDraws`.

    Raises:
        Outlived: A run uses values that another has drawn.
        Endless: A run makes more draws than any mechanism does.
    """
    outcomes: Counter[Outcome] = Counter()
    groups = [_SampleGroup(min(_CHUNK, n - start)) for start in range(0, n, _CHUNK)]
    while groups:
        group, its_run = groups.pop(), Run()
        try:
            drawn = Counter(run(_Together(group, bits, margin, its_run)))
        except _Parted as parted:
            groups += parted.groups
        else:
            for outcome, times in drawn.items():
                outcomes[outcome] += times * group.size // drawn.total()
        finally:
            its_run.is_over = True
    if outcomes.total() != n:
        raise ArithmeticError("the samples do not add up")
    return outcomes


class _Together(Draws):
    """The draws of a group: those of its script, then new ones, as long as all draw the same."""

    def __init__(self, group: _SampleGroup, bits: Bits, margin: float, run: Run) -> None:
        self._exact, self._run, self._answers_left = ExactDraws(bits, margin), run, _MOST_DRAWS
        self._size, self._script = group.size, list(group.script)
        self._left = len(self._script)

    @property
    def _is_alone(self) -> bool:
        """Whether one sample goes on by itself; asked at each draw, of which no run makes many."""
        self._answers_left -= 1
        if not self._answers_left:
            raise Endless
        return self._size == 1 and not self._left

    def coin(self, chances: Reals) -> NDArray[np.bool_]:
        if self._is_alone:
            return self._exact.coin(chances)
        return self._same(lambda: self._exact.coin(_RepeatedReals(chances, self._size)))

    def choices(self, weights: Reals, n: int) -> Ints:
        if self._is_alone:
            return self._exact.choices(weights, n)
        return self._same(lambda: self._exact.choices(weights, n * self._size))

    def permute_and_flip(self, candidates: Candidates) -> int:
        """Let the group part at each of the coins and choices."""
        return first_accepted(candidates, self)

    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        if self._is_alone:
            return self._exact.integer(bounds)
        return self._same(lambda: self._exact.integer(np.tile(bounds, self._size)))

    def order(self, asked: Order) -> Ordered:
        """As `Draws.order`, but that values come in columns, unless a sample is alone.

        With a factor that all noise of a sample shares, samples go on alone.
        """
        if self._is_alone:
            return self._exact.order(asked)
        if asked.radius is not None and not self._left:
            self._part_all()
        return self._ordered(lambda: order_of_rows(self._exact, self._size, asked))

    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        if self._is_alone:
            return self._exact.rounded_down(scores, noise, grid, unit=unit)
        tiled = np.tile(scores, self._size)
        return self._same(lambda: self._exact.rounded_down(tiled, noise, grid, unit=unit))

    def _ordered(self, draw: Callable[[], Drawn]) -> Ordered:
        """Draw, or take the next of the script, with a column of values for each sample."""
        row, columns = self._next(draw)
        positions = row[row != NOBODY]
        values = columns[: len(positions)].copy()
        if self._size == 1:
            return Ordered(positions, values[:, 0])
        return Ordered(positions, cast("Floats", Columns(values, self._part_all, self._run)))

    def _part_all(self) -> NoReturn:
        raise _Parted([_part(self._script, [sample]) for sample in range(self._size)])

    def _same(self, draw: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        none = np.empty((0, self._size))
        return self._next(lambda: Drawn(draw().reshape(self._size, -1), none)).row.copy()

    def _next(self, draw: Callable[[], Drawn]) -> _Drawing:
        """The next of the script; at its end, a new draw."""
        if not self._left:
            self._script.append(self._agreed(draw()))
            self._left = 1
        self._left -= 1
        return self._script[len(self._script) - 1 - self._left]

    def _agreed(self, drawn: Drawn) -> _Drawing:
        """Keep what was drawn, if it is the same for all samples; else part them."""
        alike = _alike(drawn.rows)
        if len(alike) == 1:
            return _Drawing(drawn.rows[0], drawn.columns)
        raise _Parted(
            [
                _part([*self._script, _Drawing(drawn.rows[samples[0]], drawn.columns)], samples)
                for samples in alike
            ]
        )


def _alike(rows: NDArray[Any]) -> list[list[int]]:
    """The numbers of the rows, those of equal rows together."""
    width = rows.shape[1] * rows.itemsize
    if not width:
        return [list(range(len(rows)))]
    found: dict[bytes, list[int]] = {}
    texts = np.ascontiguousarray(rows).view(f"V{width}").ravel()
    for number, text in enumerate(texts.tolist()):
        found.setdefault(text, []).append(number)
    return list(found.values())


def _part(script: Sequence[_Drawing], samples: list[int]) -> _SampleGroup:
    own = tuple(_Drawing(row, columns[:, samples]) for row, columns in script)
    return _SampleGroup(len(samples), own)


@dataclass(frozen=True)
class _RepeatedReals:
    """The same numbers again and again."""

    reals: Reals
    times: int

    def __len__(self) -> int:
        return len(self.reals) * self.times

    def approximate(self) -> tuple[Floats, Floats]:
        values, errors = self.reals.approximate()
        return np.tile(values, self.times), np.tile(errors, self.times)

    def ball(self, i: int) -> arb:
        return self.reals.ball(i % len(self.reals))
