from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.metrics import top_k_l1, top_k_linf, top_k_missing_mass, top_k_relative

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=5)


@st.composite
def answers(draw):
    counts = draw(COUNTS)
    k = draw(st.integers(1, 7))
    order = draw(st.permutations(range(len(counts))))
    length = draw(st.integers(0, min(k, len(counts))))
    return np.array(counts), order[:length], k


def padded(values, k):
    return [*values, *[0] * (k - len(values))]


@given(answers())
def test_the_measures_equal_their_definitions(case):
    counts, answer, k = case
    best = padded(sorted(counts.tolist(), reverse=True)[:k], k)
    held = padded([int(counts[i]) for i in answer], k)
    total = int(counts.sum())
    missing = Fraction(sum(best) - sum(held), total) if total else Fraction(0)
    assert top_k_missing_mass(counts, answer, k) == float(missing)
    gaps = [abs(b - h) for b, h in zip(best, held, strict=True)]
    assert top_k_l1(counts, answer, k) == sum(gaps)
    assert top_k_linf(counts, answer, k) == max(gaps)
    assert top_k_relative(counts, answer, k) == max(best[-1] - h for h in held)


@given(COUNTS, st.integers(1, 5))
def test_the_true_top_k_is_a_best_answer(counts, k):
    counts = np.array(counts)
    every = [p[:k] for p in permutations(range(len(counts)))]
    truth = np.argsort(-counts, kind="stable")[:k]
    for measure in (top_k_missing_mass, top_k_l1, top_k_linf, top_k_relative):
        assert measure(counts, truth, k) == 0
        assert all(measure(counts, p, k) >= 0 for p in every)
    assert all(top_k_missing_mass(counts, p, k) <= 1 for p in every)


@given(answers())
def test_missing_mass_and_relative_error_do_not_depend_on_the_order(case):
    counts, answer, k = case
    backwards = list(reversed(answer))
    for measure in (top_k_missing_mass, top_k_relative):
        assert measure(counts, answer, k) == measure(counts, backwards, k)


@given(answers())
def test_the_largest_gap_is_between_the_relative_error_and_the_sum(case):
    assert top_k_relative(*case) <= top_k_linf(*case) <= top_k_l1(*case)


def test_nothing_named_misses_everything():
    counts = np.array([5, 3, 2])
    assert top_k_missing_mass(counts, [], 2) == pytest.approx(0.8)
    assert top_k_l1(counts, [], 2) == 8
    assert top_k_linf(counts, [], 2) == 5
    assert top_k_relative(counts, [], 2) == 3


def test_small_integer_types_do_not_overflow():
    counts = np.full(300, 200, np.uint8)
    assert top_k_missing_mass(counts, [], 300) == 1
    assert top_k_l1(counts, [], 300) == 60_000


@pytest.mark.parametrize("answer", [[0, 0], [0, 1, 2]])
@pytest.mark.parametrize("measure", [top_k_missing_mass, top_k_l1, top_k_linf, top_k_relative])
def test_what_is_no_answer_is_refused(measure, answer):
    with pytest.raises(ValueError, match="k=2"):
        measure(np.array([1, 2, 3]), answer, 2)


@pytest.mark.parametrize("measure", [top_k_l1, top_k_linf, top_k_missing_mass, top_k_relative])
def test_positions_and_k_are_checked(measure):
    counts = np.array([1, 2, 3])
    for answer in ([0, -3], [3], [1.0], [True], np.array([[1]])):
        with pytest.raises(ValueError, match="positions: must be"):
            measure(counts, answer, 2)
    for k in (0, -1, 2.5, True, "2"):
        with pytest.raises(ValueError, match=f"k={k!r}: must be a whole number"):
            measure(counts, [], k)
