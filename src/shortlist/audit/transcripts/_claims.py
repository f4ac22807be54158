"""What a cost claims, stage by stage, beside what paths through the mechanism spend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from shortlist.audit.transcripts._accountant import certain_delta
from shortlist.audit.transcripts._spent import Spent
from shortlist.privacy import Cost
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    PureStage,
    Stage,
)
from shortlist.privacy.accountant.chosen import AfterChoice
from shortlist.privacy.accountant.rounds import NovelInRounds
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import Pure
from shortlist.privacy.either import Either

__all__ = ["Claimed", "Part", "ways_of"]

_ROUNDING = 1 + 1e-6  # of sums of floats, and of weights that are rounded down
_COVERED = 0.25, 0.5, 1.0, 1.5, 2.0, 3.0  # standard deviations of a loss, at which picks are seen


class Part(NamedTuple):
    """One part of a claim.

    Attributes:
        name: What it is about.
        limit: What is claimed.
        spent: What a path spends.
    """

    name: str
    limit: float
    spent: float

    @property
    def share(self) -> float:
        """Of the limit; infinite where something is spent that is not claimed."""
        if self.spent <= 0:
            return 0.0
        return self.spent / self.limit if self.limit > 0 else math.inf

    @property
    def holds(self) -> bool:
        """Whether no more is spent than claimed."""
        return self.share <= _ROUNDING


@dataclass(frozen=True)
class Claimed:
    """The stages of one way through a mechanism.

    Attributes:
        on_weights: The sum of squared sensitivities over variances, of noise on weights, of which
            items that one user alone holds take their part.
        squares: The same of all other normal noise.
        ranges: Of exponential mechanisms.
        pures: Of draws of which only the largest loss is known.
        kept: The least share of the squared norm that the user's own items take from others.
    """

    on_weights: float = 0.0
    squares: float = 0.0
    ranges: tuple[float, ...] = ()
    pures: tuple[float, ...] = ()
    kept: float = 1.0

    def and_then(self, stage: Stage) -> Iterator[Claimed]:
        """This and one stage more, by each of its ways."""
        match stage:
            case EitherStage():
                for way in (stage.first, stage.second):
                    yield from _after(self, way)
            case GaussianStage():
                if stage.on_weights:
                    yield replace(self, on_weights=self.on_weights + stage.mu**2)
                else:
                    yield replace(self, squares=self.squares + stage.mu**2)
            case BoundedRange():
                yield replace(self, ranges=self.ranges + (stage.epsilon,) * stage.times)
            case PureStage():
                yield replace(self, pures=self.pures + (stage.epsilon,) * stage.times)

    def parts(self, spent: Spent, shared: float) -> list[Part]:
        """What is claimed of each kind of draw, for a user who shares so much of what is held."""
        noise = self.on_weights * (1 - self.kept * (1 - shared)) + self.squares
        parts = [Part("noise", noise, spent.squares)]
        if self.ranges or self.pures:
            parts += list(_one_by_one("pick", (*self.ranges, *self.pures), self._picks(spent)))
        elif spent.ranges:
            parts.append(self._covered_by_noise(spent, noise - spent.squares))
        return parts

    @staticmethod
    def _picks(spent: Spent) -> tuple[float, ...]:
        return (*spent.ranges, *spent.pures)

    @staticmethod
    def _covered_by_noise(spent: Spent, left: float) -> Part:
        """Picks that are claimed to lose no more than the noise that is left, at any epsilon."""
        sd = math.sqrt(max(left, 0.0))
        picks, noise = Spent(ranges=spent.ranges), Spent(squares=max(left, 0.0))
        at = [times * sd for times in _COVERED]
        worst = max(at, key=lambda e: _ratio(certain_delta(picks, e), certain_delta(noise, e)))
        return Part("beside noise", certain_delta(noise, worst), certain_delta(picks, worst))

    def most(self, shared: float, lost: float) -> Spent:
        """All that is claimed, as if it were spent."""
        noise = self.on_weights * shared + self.squares
        return Spent(noise, self.ranges, self.pures, lost)


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0 else math.inf if one > 0 else 0.0


def _one_by_one(name: str, claimed: Iterable[float], spent: Iterable[float]) -> Iterator[Part]:
    """The largest beside the largest, and so on: each draw needs a stage of its own."""
    limits, losses = sorted(claimed, reverse=True), sorted(spent, reverse=True)
    yield Part(f"number of {name}s", float(len(limits)), float(len(losses)))
    worst = [
        Part(f"range of a {name}", limit, loss) for limit, loss in zip(limits, losses, strict=False)
    ]
    if worst:
        yield max(worst, key=lambda part: part.share)


def ways_of(cost: Cost) -> list[Claimed]:
    """The ways through a mechanism whose cost knows its stages; none, where it does not."""
    if isinstance(cost, Pure | Either) or not isinstance(cost, Composed):
        return []
    composition = cost.composition
    choice = (composition.choice,) if isinstance(composition, AfterChoice) else ()
    start = Claimed(ranges=choice, kept=_kept(composition))
    return list(_after(start, composition.stages))


def _kept(composition: Composition) -> float:
    unnamed = composition.unnamed
    return unnamed.kept if isinstance(unnamed, NovelInRounds) else 1.0


def _after(claimed: Claimed, stages: Iterable[Stage]) -> Iterator[Claimed]:
    """All ways through some stages more."""
    ways = [claimed]
    for stage in stages:
        ways = [after for way in ways for after in way.and_then(stage)]
    yield from ways
