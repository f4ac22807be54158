"""Runs of `JointOrPeel` and of its two ways on real histograms, at full budget and at less."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy.stats import laplace, logistic

from bench.common import real
from bench.common.cells import EPSILONS
from bench.common.seeds import draws_of
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences
from shortlist.algorithms.slack import SlackClasses
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import JointOrPeel, OneShotExponential, Peeling
from shortlist.mechanisms.joint_permute_and_flip import draw_flipped
from shortlist.mechanisms.peeling import peel_groups

__all__ = ["DELTAS", "GROUPED", "SHARES", "SIZES", "Cell", "Errors", "Setting", "all_cells"]

DELTAS = (1e-6, 0.0)
SHARES = (0.03, 0.05, 0.1, 0.15)
GROUPED = {"twitter_airline_tokens_by_airline": 6, "reddit_title_tokens_by_subreddit": 6}
SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 200)


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
        whole: The errors of the way as a whole, with the rest of the budget.
        rest: Those of the way one by one.
        log_w: The logarithm of the normaliser that the choice looks at.
        slope: One over the scale of the noise on it.
        ceiling: From which on the whole is drawn again.
        by_odds: Whether the noise is logistic; else it is Laplace's.
    """

    whole: Errors
    rest: Errors
    log_w: float
    slope: float
    ceiling: float
    by_odds: bool

    def chance(self, threshold: float) -> float:
        """Of the way one by one."""
        if self.by_odds:
            return float(logistic.cdf(self.slope * (self.log_w - threshold)))
        ends = np.array([threshold, max(threshold, self.ceiling)])
        least, most = laplace.cdf(self.slope * (self.log_w - ends))
        return float(least - most)

    def errors(self, threshold: float) -> Errors:
        """Those of the mechanism with that threshold."""
        return self.whole.or_else(self.rest, self.chance(threshold))


@cache
def _mechanism(k: int, epsilon: float, delta: float) -> JointOrPeel:
    return JointOrPeel(k=k, epsilon=epsilon, delta=delta)


@dataclass(frozen=True)
class Cell:
    """A histogram, a budget and a k, with errors.

    Attributes:
        histogram: Its name.
        delta: Of the budget.
        epsilon: Of the budget.
        k: How many items.
        ways: Of each mechanism by itself, at full budget.
        settings: By the choice's share of epsilon, the default's too; empty where there is no
            choice.
        alone: Of the mechanism where there is no choice.
    """

    histogram: str
    delta: float
    epsilon: float
    k: int
    ways: dict[str, Errors]
    settings: dict[float, Setting]
    alone: Errors | None = None

    def chosen(self, share: float | None = None, threshold: float | None = None) -> Errors:
        """Of `JointOrPeel` as it is, or with another share or threshold."""
        if self.alone is not None:
            return self.alone
        default = _mechanism(self.k, self.epsilon, self.delta)
        setting = self.settings[default.share if share is None else share]
        return setting.errors(default.switch_at if threshold is None else threshold)


@dataclass(frozen=True)
class _Runs:
    """Runs on one histogram.

    Attributes:
        groups: The counts, falling, so that all answers are found at the beginning.
        k: How many items.
        n: How many runs.
        draws: What they draw from.
    """

    groups: EqualCounts
    k: int
    n: int
    draws: Draws

    def whole(self, epsilon: float) -> Errors:
        """Of JOINT by permute-and-flip."""
        classes = SlackClasses.of(Sequences(self.groups, self.k), epsilon / 2)
        return self.errors(lambda: draw_flipped(classes, self.draws))

    def once(self, epsilon: float) -> Errors:
        """Of exponential noise, drawn once."""
        evidence = PublicCounts(self.groups.counts)
        made = OneShotExponential(k=self.k, epsilon=epsilon)
        return self.errors(lambda: made.select(evidence, self.draws).positions)

    def peeled(self, local_epsilon: float) -> Errors:
        """Of picks by the exponential mechanism."""
        return self.errors(lambda: peel_groups(self.groups, self.k, local_epsilon, self.draws))

    def of_rest(self, both: JointOrPeel) -> Errors:
        """Of the way of `both` that names items one by one."""
        return self.once(both.joint_epsilon) if both.one_shot else self.peeled(both.local_epsilon)

    def errors(self, answer: Callable[[], Ints]) -> Errors:
        """The errors of answers, which are positions in the counts."""
        counts = self.groups.counts
        gaps = [counts[: self.k] - counts[answer()] for _ in range(self.n)]
        return Errors(np.abs(gaps).sum(axis=1), np.full(self.n, 1 / self.n))

    def setting(self, both: JointOrPeel, whole: Errors) -> Setting:
        """Both ways, and what the choice looks at."""
        near = both.competition(self.groups)
        if near.weights is None:
            return Setting(whole, whole, -math.inf, both.slope, math.inf, not both.one_shot)
        log_w = near.weights.log_sum()[0] + near.weights.shift
        ceiling = both.ceiling(near)
        return Setting(whole, self.of_rest(both), log_w, both.slope, ceiling, not both.one_shot)


def all_cells(runs: int) -> Iterator[Cell]:
    """Every histogram with every k, epsilon and delta."""
    for name, counts in _histograms().items():
        groups = EqualCounts.of(np.sort(counts)[::-1].copy())
        for epsilon, k in product(EPSILONS, SIZES):
            yield from _cells(name, epsilon, _Runs(groups, k, runs, draws_of(name, epsilon, k)))
        print(f"{name}: {len(counts):,} items, {runs} runs done.")


def _histograms() -> dict[str, Ints]:
    """Of all files, and of the largest groups of users."""
    parts = ((name, real.grouped(name, most)) for name, most in GROUPED.items())
    of_groups = {f"{name}: {group}": held for name, g in parts for group, held in g.items()}
    return real.histograms(of_tables=True) | of_groups


def _cells(name: str, epsilon: float, runs: _Runs) -> Iterator[Cell]:
    """A cell for each delta, of which two ways make no use."""
    asked = {"k": runs.k, "epsilon": epsilon}
    ways = {"as a whole": runs.whole(epsilon), "noise once": runs.once(epsilon)}
    wholes = {share: runs.whole(epsilon * (1 - share)) for share in SHARES}
    for delta in DELTAS:
        default, known = _mechanism(runs.k, epsilon, delta), dict(ways)
        every = {share: JointOrPeel(delta=delta, choice_share=share, **asked) for share in SHARES}
        every[default.share] = default
        if default.share not in wholes:
            wholes[default.share] = runs.whole(default.joint_epsilon)
        if delta:
            known["peeling"] = runs.peeled(Peeling(delta=delta, **asked).local_epsilon)
        if not default.chooses:
            yield Cell(name, delta, epsilon, runs.k, known, {}, runs.of_rest(default))
            continue
        settings = {share: runs.setting(both, wholes[share]) for share, both in every.items()}
        yield Cell(name, delta, epsilon, runs.k, known, settings)
