from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.metrics import top_k_l1, top_k_missing_mass

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
def test_both_measures_equal_their_definitions(case):
    counts, answer, k = case
    best = padded(sorted(counts.tolist(), reverse=True)[:k], k)
    held = padded([int(counts[i]) for i in answer], k)
    total = int(counts.sum())
    missing = Fraction(sum(best) - sum(held), total) if total else Fraction(0)
    assert top_k_missing_mass(counts, answer, k) == float(missing)
    assert top_k_l1(counts, answer, k) == sum(abs(b - h) for b, h in zip(best, held, strict=True))


@given(COUNTS, st.integers(1, 5))
def test_the_true_top_k_is_a_best_answer(counts, k):
    counts = np.array(counts)
    every = [p[:k] for p in permutations(range(len(counts)))]
    truth = np.argsort(-counts, kind="stable")[:k]
    assert top_k_missing_mass(counts, truth, k) == 0
    assert top_k_l1(counts, truth, k) == 0
    assert all(0 <= top_k_missing_mass(counts, p, k) <= 1 for p in every)


@given(answers())
def test_the_missing_mass_does_not_depend_on_the_order(case):
    counts, answer, k = case
    backwards = list(reversed(answer))
    assert top_k_missing_mass(counts, answer, k) == top_k_missing_mass(counts, backwards, k)


def test_nothing_named_misses_everything():
    counts = np.array([5, 3, 2])
    assert top_k_missing_mass(counts, [], 2) == pytest.approx(0.8)
    assert top_k_l1(counts, [], 2) == 8


def test_small_integer_types_do_not_overflow():
    counts = np.full(300, 200, np.uint8)
    assert top_k_missing_mass(counts, [], 300) == 1
    assert top_k_l1(counts, [], 300) == 60_000


@pytest.mark.parametrize("answer", [[0, 0], [0, 1, 2]])
def test_what_is_no_answer_is_refused(answer):
    with pytest.raises(ValueError, match="k=2"):
        top_k_missing_mass(np.array([1, 2, 3]), answer, 2)
