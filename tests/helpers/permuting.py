"""Candidates for permute-and-flip."""

import math

import numpy as np
import pytest
from hypothesis import settings

from helpers.exactness import ints
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.slack import Sequences, SlackClasses
from shortlist.draws.reals import ExponentialWeights

fixed = settings(derandomize=True, deadline=None, max_examples=80)
HUGE = 2**62


def classes_of(counts, sizes, epsilon):
    return ExponentialWeights(ints(*counts), ints(*sizes), epsilon, math.inf)


def slack_classes(counts, k, decay):
    return SlackClasses(Sequences(EqualCounts.of(np.array(counts, np.int64)), k), decay)


CANDIDATES = {
    "alone": classes_of([7], [1], 1.0),
    "ties alone": classes_of([7], [3], 1.0),
    "two": classes_of([5, 0], [1, 1], 0.2),
    "three": classes_of([5, 4, 3], [1, 2, 1], 0.7),
    "ties at the top": classes_of([9, 7], [3, 2], 0.3),
    "nearly alike": classes_of([5, 4, 0], [1, 1, 3], 1e-6),
    "hardly ever another": classes_of([5, 4, 0], [1, 2, 5], 50.0),
    "far apart": classes_of([HUGE, HUGE - 3, 0], [1, 1, 1], 0.4),
    "some have nobody left": classes_of([8, 7, 6, 5], [1, 0, 2, 0], 0.5),
    "chances near 1": classes_of([40, 39, 37, 20], [1, 4, 2, 1], 0.01),
    "sequences": slack_classes([6, 5, 5, 3], 2, 0.4),
    "sequences with ties": slack_classes([5, 5, 5, 4, 1], 3, 0.2),
}

each = pytest.mark.parametrize("candidates", CANDIDATES.values(), ids=CANDIDATES)
