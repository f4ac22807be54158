"""An enumerator in the place of `Draws`: the exact output law of code as it runs.

`law_in_balls(run)` calls `run(draws)` again and again. Each time a different branch is taken at the
last draw that still has one; when all branches of all draws were taken, the outcomes with their
probabilities are the output law, enclosed in balls. Nothing is sampled. `order`, whose noise is
continuous, branches over the orders it can return (`_order_laws`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from shortlist.algorithms.slack import SlackClasses
from shortlist.audit.exact._order_laws import OrderLaw, order_and_cell_law
from shortlist.audit.exact._real_lines import PRECISION
from shortlist.audit.stand_ins import Control, Unknown
from shortlist.draws import (
    UNIT,
    Candidates,
    Draws,
    Ints,
    Noise,
    Order,
    Ordered,
    Reals,
    RoundingGrid,
)
from shortlist.draws.noise import Normal
from shortlist.draws.reals import ExponentialWeights, NormalCDF
from shortlist.draws.uniform import precision

_MOST_DRAWS = 10**4  # of a run
_MOST_MULTIPLES = 100
_MOST_KNOWN = 20_000  # laws of draws
_NEGLIGIBLE = 1e-30  # of a branch that floats do without
_NEAR = 2.0**-44  # to 1 are all branches together: tails add to each that has many orders

Outcome = TypeVar("Outcome", bound=Hashable)
Options = Sequence[tuple[Any, arb]]


class Forgotten(Control):
    """Code drew other things than before, though all that it drew was the same."""


def law_in_balls(
    run: Callable[[Any], Outcome],
    edges: Sequence[float] = (),
    *,
    negligible: float = 0.0,
    enumerator: type[Enumerator] | None = None,
) -> dict[Outcome, arb]:
    """The probability of each outcome of `run`, which must return something hashable.

    Args:
        run: What is enumerated, given its draws.
        edges: The values that `order` returns are the number of edges that the value has passed.
        negligible: Branches that are certainly less likely are left out.
        enumerator: The kind of draws that it is given.

    Raises:
        Forgotten: By the same draws, `run` goes on to others: it depends on more than its draws.
    """
    outcomes: dict[Outcome, arb] = {}
    branch: Enumerator | None = (enumerator or Enumerator)(edges, negligible)
    with precision(PRECISION):
        while branch is not None:
            outcome = run(branch)
            branch.end()
            outcomes[outcome] = outcomes.get(outcome, arb(0)) + branch.probability
            branch = branch.next()
        if not (abs(sum(outcomes.values(), arb(0)) - 1) - _NEAR) < 0:
            raise ArithmeticError("the branches do not add up to 1")
    return outcomes


def law(run: Callable[[Draws], Outcome], edges: Sequence[float] = ()) -> dict[Outcome, float]:
    """The law by the middles of its balls, without branches of hardly any probability."""
    balls = law_in_balls(run, edges, negligible=_NEGLIGIBLE)
    return {outcome: float(p) for outcome, p in balls.items()}


class _AllAlike(Sequence[tuple[int, arb]]):
    """So many branches of the same probability, which are not listed."""

    def __init__(self, n: int) -> None:
        self._n, self._p = n, arb(1) / n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        return i, self._p


class Enumerator(Draws):
    """Draws of which one branch is taken each, by a script.

    Attributes:
        probability: Of the branches taken so far.
        digits: To which values were rounded so far.
    """

    def __init__(
        self,
        edges: Sequence[float] = (),
        negligible: float = 0.0,
        script: Sequence[int] = (),
        options: Sequence[Options] = (),
        asked: Sequence[Hashable] = (),
    ) -> None:
        """Begin with the first branch of every draw, or as a script says.

        Args:
            edges: As for `law_in_balls`.
            negligible: As for `law_in_balls`.
            script: Which branch of each draw to take; then the first ones.
            options: The branches of these draws.
            asked: Which these draws are.
        """
        self._edges, self._negligible = tuple(edges), negligible
        self._script, self._options, self._depth = list(script), list(options), 0
        self._asked = list(asked)
        self.probability = arb(1)
        self.digits: list[int] = []

    def next(self) -> Self | None:
        """The enumerator of the next branch, or None after the last.

        Up to where it differs the code draws the same, so that these branches are known.
        """
        taken = [*self._script, *[0] * (len(self._options) - len(self._script))]
        while taken and taken[-1] + 1 == len(self._options[len(taken) - 1]):
            taken.pop()
        if not taken:
            return None
        script, n = [*taken[:-1], taken[-1] + 1], len(taken)
        known = self._options[:n], self._asked[:n]
        return type(self)(self._edges, self._negligible, script, *known)

    def end(self) -> None:
        """The run is over.

        Raises:
            Forgotten: It did without draws that it had made before.
        """
        if self._depth < len(self._script):
            raise Forgotten

    def _branch(self, asked: Hashable, options: Callable[[], Iterable[tuple[Any, arb]]]) -> Any:
        """Branch over (value, probability); what cannot be is no branch."""
        return self._taken(asked, lambda: [o for o in options() if not self._is_left_out(o[1])])

    def _taken(self, asked: Hashable, options: Callable[[], Options]) -> Any:
        if self._depth == _MOST_DRAWS:
            raise Unknown("The mechanism draws without end")
        if self._depth == len(self._options):
            self._options.append(options())
            self._asked.append(asked)
        if self._asked[self._depth] != asked:
            raise Forgotten
        left = self._options[self._depth]
        value, p = left[self._script[self._depth] if self._depth < len(self._script) else 0]
        self._depth += 1
        if len(left) > 1 or not self._negligible:
            self.probability *= p
        return value

    def _is_left_out(self, p: arb) -> bool:
        return bool(p.is_zero() or p < self._negligible)

    def coin(self, chances: Reals) -> NDArray[np.bool_]:

        def sides(i: int) -> Options:
            p = chances.ball(i)
            return [(True, p), (False, 1 - p)]

        tosses = [self._branch("coin", partial(sides, i)) for i in range(len(chances))]
        return np.array(tosses, np.bool_)

    def choices(self, weights: Reals, n: int) -> Ints:

        def places() -> Options:
            masses = [weights.ball(i) for i in range(len(weights))]
            total = sum(masses, arb(0))
            return [(i, mass / total) for i, mass in enumerate(masses)]

        drawn = [self._branch(("choice", len(weights)), places) for _ in range(n)]
        return np.array(drawn, np.int64)

    def permute_and_flip(self, candidates: Candidates) -> int:
        asked = "permute and flip", len(candidates)
        return int(self._branch(asked, lambda: list(enumerate(_law_of_first(candidates)))))

    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        draws = [self._taken(bound, partial(_AllAlike, bound)) for bound in bounds.tolist()]
        return np.array(draws, np.int64)

    def order(self, asked: Order) -> Ordered:
        """Return numbers of edges in place of values."""
        if asked.digits is not None:
            self.digits.append(asked.digits)
        edges = () if asked.digits is None else self._edges
        positions, cells = self._branch(
            ("order", len(asked.scores), asked.digits), lambda: _orders(asked, edges).items()
        )
        return Ordered(np.array(positions, np.int64), self.values(cells))

    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        """Enumerate normal noise on a coarse grid, and no other."""
        if not isinstance(noise, Normal) or noise.bounds is not None or noise.weight != 1:
            raise Unknown("The exact audit knows the rounded values of normal noise alone")
        if grid.highest - grid.lowest > _MOST_MULTIPLES:
            raise Unknown("Noisy values are rounded to more numbers than can be enumerated")
        multiples = [
            self._branch("multiple", partial(_multiples, score, noise.sd, grid, unit))
            for score in scores.tolist()
        ]
        return np.array(multiples, np.int64)

    def __getattr__(self, name: str) -> NoReturn:
        raise Unknown(
            f"The mechanism draws by more than the operations of Draws, from draws.{name}"
        )

    def values(self, passed: Sequence[int]) -> NDArray[Any]:
        """What stands for values that have passed so many edges: these numbers."""
        return np.array(passed, np.float64)


@lru_cache(_MOST_KNOWN)
def _multiples(score: int, sd: float, grid: RoundingGrid, unit: float) -> Options:
    starts = np.arange(grid.lowest, grid.highest + 1) * grid.step
    above = NormalCDF(score - starts, sd, unit)
    reached = [arb(1), *(above.ball(i) for i in range(len(above))), arb(0)]
    chances = [more - less for more, less in itertools.pairwise(reached)]
    return list(enumerate(chances, start=grid.lowest - 1))


_KNOWN: dict[Hashable, OrderLaw] = {}


def _fields(noise: Noise | None) -> list[Any]:
    return [] if noise is None else [type(noise), *vars(noise).values()]


def _orders(asked: Order, edges: tuple[float, ...]) -> OrderLaw:
    if len(asked.scores) and asked.at_least is None and not edges:  # where only differences decide
        asked = replace(asked, scores=asked.scores - asked.scores.min())
    fields = [x for noise in asked.noises for x in _fields(noise)]
    parts = [asked.scores, *fields, asked.at_least, asked.k, edges, asked.unit, asked.radius]
    parts += _fields(asked.shared)
    key = tuple(tuple(x.tolist()) if isinstance(x, np.ndarray) else x for x in parts)
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        try:
            _KNOWN[key] = order_and_cell_law(asked, edges)
        except (TypeError, ArithmeticError) as error:
            raise Unknown(f"The exact audit cannot tell the law of noisy values: {error}") from None
    return _KNOWN[key]


def _law_of_first(candidates: Candidates) -> list[arb]:
    """The chance of each class, by an integral over the time of the first accepted arrival.

    An item that is accepted with chance p has not come by the time 1 - z with probability
    1 - p + p z, so that the integrand is a polynomial.
    """
    if isinstance(candidates, ExponentialWeights):
        candidates = dataclasses.replace(candidates, at_most=np.inf)
    if isinstance(candidates, SlackClasses):
        candidates = candidates.every()
    shift = arb(candidates.shift).exp()
    chances = [candidates.chance(i).ball(0) for i in range(len(candidates))]
    sizes = [int((candidates.ball(i) * shift / p).unique_fmpz()) for i, p in enumerate(chances)]
    masses = []
    for i, p in enumerate(chances):
        waiting = arb_poly([1])
        for j, q in enumerate(chances):
            waiting *= arb_poly([1 - q, q]) ** (sizes[j] - (i == j) if sizes[j] else 0)
        masses.append(sizes[i] * p * waiting.integral()(arb(1)) if sizes[i] else arb(0))
    return masses
