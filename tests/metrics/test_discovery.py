"""Missing mass and the fit of counts, against their definitions."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.zipfian import falling_counts
from shortlist.metrics import missing_mass, top_k_missing_mass, zipf_fit

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=6)


@given(COUNTS, st.data())
def test_missing_mass_is_the_norm_of_what_is_missed(counts, data):
    named = data.draw(st.sets(st.integers(0, len(counts) - 1)))
    missed = [c for i, c in enumerate(counts) if c > 0 and i not in named]
    total, named, counts = sum(counts) or 1, sorted(named), np.array(counts)
    assert missing_mass(counts, named) == float(Fraction(sum(missed), total))
    assert missing_mass(counts, named, p=0) == len(missed)
    assert missing_mass(counts, named, p=math.inf) == float(Fraction(max([0, *missed]), total))


@given(COUNTS, st.data())
def test_it_is_the_top_k_missing_mass_of_all_items(counts, data):
    named = sorted(data.draw(st.sets(st.integers(0, len(counts) - 1))))
    counts = np.array(counts)
    assert missing_mass(counts, named) == top_k_missing_mass(counts, named, len(counts))


def test_nothing_named_and_nothing_held():
    counts = np.array([3, 0, 1])
    assert [missing_mass(counts, [], p) for p in (0, 1, math.inf)] == [2, 1, 0.75]
    assert [missing_mass(np.zeros(2, int), [], p) for p in (0, 1, math.inf)] == [0, 0, 0]
    assert missing_mass(np.full(300, 200, np.uint8), []) == 1


def test_no_other_norm():
    with pytest.raises(ValueError, match=r"p=2: must be 0, 1 or inf"):
        missing_mass(np.array([1]), [], p=2)


def test_the_counts_passed_in_stay_as_they_are():
    counts = np.array([3, 2])
    missing_mass(counts, [0])
    assert counts.tolist() == [3, 2]


@given(COUNTS.filter(any), st.floats(0.1, 4))
def test_the_fit_is_the_smallest_that_holds(counts, s):
    fit = zipf_fit(np.array(counts), s)
    falling = sorted(counts, reverse=True)
    needed = [count / sum(counts) * r**s for r, count in enumerate(falling, 1)]
    assert fit.s == s
    assert max(needed) * (1 - 1e-14) <= fit.C <= max(needed) * (1 + 1e-11)
    share = [fit.C / r**s for r in range(1, len(falling) + 1)]
    assert all(c / sum(counts) <= bound for c, bound in zip(falling, share, strict=True))


@pytest.mark.parametrize("s", [0.8, 1.2, 2.0])
def test_the_tail_s_is_that_of_generated_counts(s):
    # A flat head, which the tail does not look at.
    counts = np.random.default_rng(1).permutation(falling_counts(10**6, s, flat=5.0))
    assert zipf_fit(counts).s == pytest.approx(s, rel=0.03)


@pytest.mark.parametrize("counts", [[], [0, 0]])
def test_nothing_to_fit(counts):
    with pytest.raises(ValueError, match="nobody holds"):
        zipf_fit(np.array(counts, int))


@pytest.mark.parametrize("counts", [[4], [2, 2, 2], [9, 1, 1, 1, 1, 1]])
def test_no_slope_of_one_count(counts):
    with pytest.raises(ValueError, match="give s"):
        zipf_fit(np.array(counts))
    assert zipf_fit(np.array(counts), s=1.5).C > 0


@pytest.mark.parametrize("positions", [[-1], [2], [0.5], [False]])
def test_positions_are_checked(positions):
    for p in (0, 1, math.inf):
        with pytest.raises(ValueError, match="positions: must be"):
            missing_mass(np.array([3, 2]), positions, p)


@pytest.mark.parametrize("s", [math.nan, math.inf, -math.inf, 1e3, 1e300])
def test_an_s_without_a_c_is_refused(s):
    with pytest.raises(ValueError, match=re.escape(f"s={s!r}: must be a number")):
        zipf_fit(np.array([3, 2, 1]), s)
