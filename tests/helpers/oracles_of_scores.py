"""The laws of mechanisms on scores, by those of counts in units of what one user moves apart.

A table is a tuple of scores. Two are neighbours if the doubles themselves differ by no more than
was stated, exactly, and the way that was stated.
"""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np

from helpers.oracles_of_cells import of_cells, picked_with_cells
from helpers.oracles_of_counts import (
    joint,
    joint_or_peel,
    joint_permute_and_flip,
    one_by_one,
    peeling_oracle,
    permute_and_flip,
)
from helpers.oracles_one_shot import exponential_law, laplace_law
from helpers.small import Small
from shortlist.evidence import PublicCounts, PublicScores
from shortlist.mechanisms import (
    Extreme,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    OneShotExponential,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
)
from shortlist.parameters import Direction

STEPS, COARSE = 1024, 8
STATED = {"sensitivity": 0.3, "direction": Direction.ANY}
TABLES = [(0.0, 0.1), (-0.31, 0.3, 0.0), (0.7, 1.0, 0.7), (5.0, -0.1, 5.1)]


def below(score, step):
    """Whole steps, by fractions."""
    return math.floor(Fraction(score) / step)


def counts_of_scores(mechanism, scores):
    """As numbers of users: finely, and in eighths."""
    spread = mechanism.direction.spread
    step = Fraction(mechanism.sensitivity) / STEPS
    whole = [below(score, step) for score in scores]
    if mechanism.extreme is Extreme.SMALLEST:
        whole = [-n for n in whole]
    eighth = STEPS * spread // COARSE
    return [n / (STEPS * spread) for n in whole], [n // eighth / COARSE for n in whole]


LAWS = {
    Peeling: lambda m, fine, _: peeling_oracle(fine, m.k, m.local_epsilon),
    PermuteAndFlip: lambda m, fine, _: one_by_one(
        partial(permute_and_flip, m.epsilon / m.k), fine, m.k
    ),
    OneShotExponential: lambda m, fine, _: exponential_law(fine, m.k / m.epsilon, m.k),
    OneShotLaplace: lambda m, fine, _: {
        named: p for (named, _), p in laplace_law(fine, m.k / m.epsilon, m.k).items()
    },
    Joint: lambda m, _, coarse: joint(m.epsilon, coarse, m.k),
    JointPermuteAndFlip: lambda m, _, coarse: joint_permute_and_flip(m.epsilon, coarse, m.k),
    JointOrPeel: lambda m, fine, coarse: joint_or_peel(m, fine, m.k, coarse, 1 / COARSE),
}
"""By the mechanism, and what counts are finely and coarsely."""


def law_of_scores(mechanism, scores):
    inner = mechanism.selection
    return LAWS[type(inner)](inner, *counts_of_scores(mechanism, scores))


def moves_of(stated):
    """Parts of the sensitivity by which one user moves a score."""
    return (0, Fraction(1, 3), 1) if stated["direction"] is Direction.ONE else (-1, 0, 1)


def moved(score, by):
    """A double that is no further away than that, as near to it as there is."""
    other = float(Fraction(score) + Fraction(by))
    if abs(Fraction(other) - Fraction(score)) > abs(by):
        other = float(np.nextafter(other, score))
    return other


def neighbours_of_scores(stated, tables=TABLES):
    """Pairs of tables of which one has a user more."""
    for scores in tables:
        for parts in itertools.product(moves_of(stated), repeat=len(scores)):
            steps = [part * Fraction(stated["sensitivity"]) for part in parts]
            yield scores, tuple(moved(x, by) for x, by in zip(scores, steps, strict=True))


def shown_scores(mechanism, scores, _n_items=None, _draws=None):
    return PublicScores(np.array(scores), mechanism.sensitivity, mechanism.direction)


def peeling(k, epsilon, delta):
    return Peeling(k=k, epsilon=epsilon, delta=delta)


def build_of_scores(kind, *, k=None, epsilon=2.0):
    """Peeled by scores that move both ways."""
    k = k or 1
    return kind.of(partial(peeling, k), k=k, epsilon=epsilon, delta=0.2, **STATED)


SMALL = Small(2, list(neighbours_of_scores(STATED, TABLES[:2])), shown_scores)

# --- noisy scores, given counts in steps

EDGES = (0.50005, 2.50005)


def shown_steps(_mechanism, scores, _n_items, _draws):
    """Scores in units of the sensitivity, as steps."""
    return PublicCounts(np.array([below(x, Fraction(1, STEPS)) for x in scores]), unit=1 / STEPS)


def build_noisy(kind, *, k, epsilon=2.0):
    given = {"k": k, "epsilon": epsilon, "delta": 0.2, "count_share": 0.5}
    stated = {"sensitivity": 2.0, "direction": Direction.ONE}
    return kind.of(partial(peeling, k), **given, **stated)


def peeled_with_scores(mechanism, scores):
    """Peeled items, each with its noisy score: which cell it is in."""
    way, found = mechanism._best, {}
    moves, weights = np.polynomial.hermite_e.hermegauss(60)
    moves = moves * way.shared.sd if way.shared else [0.0]
    weights = weights / weights.sum() if way.shared else [1.0]
    for move, weight in zip(moves, weights, strict=True):
        chances = [of_cells(way.noise, [e - score - move for e in EDGES]) for score in scores]
        for told, p in picked_with_cells(mechanism, scores, chances):
            found[told] = found.get(told, 0.0) + weight * p
    return found


NOISY = Small(
    2,
    [
        (scores, tuple(x + y for x, y in zip(scores, some, strict=True)))
        for scores in ((0.0, 0.5), (1.0, -1.25))
        for some in itertools.product((0.0, 0.5, 1.0), repeat=2)
    ],
    shown_steps,
)
