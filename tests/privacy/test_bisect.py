"""Bisection ends at the last float that is good."""

import math

from hypothesis import given
from hypothesis import strategies as st

from helpers.costs import fixed
from shortlist.privacy import bisect


@fixed
@given(edge=st.floats(0.001, 0.999))
def test_bisect_returns_the_last_good_float(edge):
    assert bisect(lambda x: x >= edge, bad=0.0, good=1.0) == edge
    assert bisect(lambda x: x <= edge, bad=1.0, good=0.0) == edge


@fixed
@given(edge=st.floats(0.001, 0.999), near=st.floats(-0.1, 1.1) | st.just(0.0) | st.just(1.0))
def test_a_guess_does_not_move_the_answer_of_bisect(edge, near):
    for guess in (near, edge, math.nextafter(edge, 1), edge * (1 + 1e-12), edge * (1 - 1e-12)):
        seen = {0.0: False}

        def holds(x, seen=seen):
            seen[x] = x >= edge
            return seen[x]

        assert bisect(holds, bad=0.0, good=1.0, near=guess) == edge
        assert seen.get(edge, edge == 1.0)
        assert seen[math.nextafter(edge, 0)] is False
        assert bisect(lambda x: x <= edge, bad=1.0, good=0.0, near=guess) == edge
    assert len(seen) < 25
