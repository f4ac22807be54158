"""Runs of `JointOrPeel` and of its two ways on real histograms, at full budget and at less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.stats import laplace

from bench.common import real
from bench.common.cells import EPSILONS, SIZES
from bench.common.seeds import draws_of
from shortlist.algorithms.grouping import Groups
from shortlist.algorithms.slack import SlackWeights
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Joint, JointOrPeel, Mechanism, Peeling, PermuteAndFlip
from shortlist.mechanisms.peeling import peel

__all__ = ["DELTAS", "SHARES", "Cell", "Errors", "Setting", "all_cells"]

DELTAS = (1e-6, 0.0)
SHARES = tuple(sorted({JointOrPeel.choice_share, 0.03, 0.05, 0.07, 0.1}))


@dataclass(frozen=True)
class Errors:
    """ℓ1 errors of runs, each with a weight; the weights sum to 1."""

    values: Ints
    weights: Floats

    def or_else(self, other: Errors, chance: float) -> Errors:
        """The errors of what is the other with that chance, and this one if not."""
        weights = np.append((1 - chance) * self.weights, chance * other.weights)
        return Errors(np.append(self.values, other.values), weights)

    @property
    def median(self) -> float:
        """The middle one."""
        return float(np.quantile(self.values, 0.5, weights=self.weights, method="inverted_cdf"))

    @property
    def mean(self) -> float:
        """On average."""
        return float(self.values @ self.weights)


@dataclass(frozen=True)
class Setting:
    """Both ways of `JointOrPeel` with some share of epsilon for the choice.

    What the mechanism does with any threshold is a mixture of both, and its odds are known.

    Attributes:
        joint: The errors of JOINT with the rest of the budget.
        other: Those of the other way.
        log_z: The logarithm of JOINT's normaliser.
        slope: One over the scale of the noise on it.
    """

    joint: Errors
    other: Errors
    log_z: float
    slope: float

    def chance(self, threshold: float) -> float:
        """Of the other way."""
        return float(laplace.cdf(self.slope * (self.log_z - threshold)))

    def errors(self, threshold: float) -> Errors:
        """Those of the mechanism with that threshold."""
        return self.joint.or_else(self.other, self.chance(threshold))


@dataclass(frozen=True)
class Cell:
    """A histogram, a budget and a k, with errors.

    Attributes:
        histogram: Its name.
        delta: Of the budget.
        epsilon: Of the budget.
        k: How many items.
        joint: Of JOINT at full budget.
        other: Of peeling at full budget, or of permute-and-flip where delta is 0.
        settings: By the choice's share of epsilon.
    """

    histogram: str
    delta: float
    epsilon: float
    k: int
    joint: Errors
    other: Errors
    settings: dict[float, Setting]

    @property
    def chosen(self) -> Errors:
        """Of `JointOrPeel` as it is."""
        default = JointOrPeel(k=self.k, epsilon=self.epsilon, delta=self.delta)
        return self.settings[default.choice_share].errors(default.switch_at)


@dataclass(frozen=True)
class _Runs:
    """Runs on one histogram.

    Attributes:
        falling: The counts, so that all answers are found at the beginning.
        k: How many items.
        n: How many runs.
        draws: What they draw from.
    """

    falling: Ints
    k: int
    n: int
    draws: Draws

    def of(self, mechanism: Mechanism) -> Errors:
        """The errors of a mechanism."""
        evidence = PublicCounts(self.falling)
        return self.errors(lambda: mechanism.select(evidence, self.draws).positions)

    def of_rest(self, both: JointOrPeel) -> Errors:
        """The errors of `both` when it has chosen not to take JOINT."""
        if both.flips:
            return self.of(PermuteAndFlip(k=self.k, epsilon=both.joint_epsilon))
        return self.errors(lambda: peel(self.falling, self.k, both.local_epsilon, self.draws))

    def errors(self, answer: Callable[[], Ints]) -> Errors:
        """The errors of answers, which are positions in the counts."""
        best = self.falling[: self.k]
        gaps = [best - self.falling[answer()] for _ in range(self.n)]
        return Errors(np.abs(gaps).sum(axis=1), np.full(self.n, 1 / self.n))

    def log_z(self, epsilon: float) -> float:
        """The logarithm of JOINT's normaliser."""
        weights = SlackWeights.of(Groups.of(self.falling), self.k, epsilon / 2)
        return weights.log_sum()[0] + weights.shift


def all_cells(runs: int) -> Iterator[Cell]:
    """Every histogram with every k, epsilon and delta."""
    for name, counts in real.histograms(of_tables=True).items():
        falling = np.sort(counts)[::-1].copy()
        for epsilon, k in product(EPSILONS, SIZES):
            yield from _cells(name, epsilon, _Runs(falling, k, runs, draws_of(name, epsilon, k)))
        print(f"{name}: {len(counts):,} items, {runs} runs done.")


def _cells(name: str, epsilon: float, runs: _Runs) -> Iterator[Cell]:
    """A cell for each delta, of which JOINT makes no use."""
    asked = {"k": runs.k, "epsilon": epsilon}
    joint = runs.of(Joint(**asked))
    rests = {share: JointOrPeel(choice_share=share, **asked).joint_epsilon for share in SHARES}
    joints = {share: runs.of(Joint(k=runs.k, epsilon=rest)) for share, rest in rests.items()}
    logs = {share: runs.log_z(rest) for share, rest in rests.items()}
    for delta in DELTAS:
        every = {share: JointOrPeel(delta=delta, choice_share=share, **asked) for share in SHARES}
        settings = {
            share: Setting(joints[share], runs.of_rest(both), logs[share], both.slope)
            for share, both in every.items()
        }
        other = runs.of(Peeling(delta=delta, **asked) if delta else PermuteAndFlip(**asked))
        yield Cell(name, delta, epsilon, runs.k, joint, other, settings)
