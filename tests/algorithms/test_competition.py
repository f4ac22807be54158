"""From which slack on so many sequences compete: found as by looking at every slack."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shortlist.algorithms.competition import Competition
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences

HUGE = 2**62


def of(counts, k, floor, decay=0.5):
    return Competition(Sequences(EqualCounts.of(np.array(counts, np.int64)), k), decay, floor)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("floor", [0.5, 1, 2, 3])
def test_the_first_slack_is_that_of_the_definition(k, floor):
    for counts in itertools.combinations_with_replacement((9, 5, 4, 0), 4):
        best = sorted(counts, reverse=True)
        slacks = sorted(
            max(best[r] - count for r, count in enumerate(items))
            for items in itertools.permutations(counts, k)
        )
        enough = [t for t in slacks if sum(s <= t for s in slacks) >= math.exp(floor)]
        assert of(counts, k, floor).starts == (enough[0] if enough else None)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    counts=st.lists(
        st.sampled_from([0, 3, 10**6, HUGE - 5, HUGE]) | st.integers(0, 99), min_size=2
    ),
    floor=st.integers(1, 12),
)
@example(counts=[HUGE, 0], floor=1)
@example(counts=[0] * 12, floor=2)
def test_it_is_a_jump_to_enough_sequences(counts, floor):
    k = min(3, len(counts))
    found, every = of(counts, k, floor), Sequences(EqualCounts.of(np.array(counts, np.int64)), k)
    if found.starts is None:
        assert every.at_most(every.largest) < math.exp(floor)
        assert found.weights is None
    else:
        assert every.at_most(found.starts) > math.exp(floor)
        assert found.starts == 0 or every.at_most(found.starts - 1) < math.exp(floor)
        assert found.weights.starts[0] == found.starts


def test_whole_numbers_decide_where_floats_do_not():
    # 20 sequences, and a floor that floats cannot tell from ln 20 by their margin.
    for ulps in (-3, 3):
        floor = math.log(20) + ulps * math.ulp(3.0)
        found = of([4] * 5, 2, floor)
        assert (found.starts is None) == (ulps > 0)
        assert found.every.log_at_most(0)[0] == pytest.approx(floor, rel=1e-14)


def test_what_lies_beyond_the_pieces_is_negligible_beside_those_that_compete():
    for counts in (np.arange(300) * 1000, np.arange(300), np.append(10**9, np.zeros(300))):
        found = of(counts, 20, 19, decay=0.05)
        values, errors = found.weights.approximate()
        assert errors.sum() < 1e-9 * values.sum()
