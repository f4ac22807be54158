"""Rows that are put in order together are as one by one, from the same words."""

import math

import numpy as np
import pytest

from helpers.exactness import Script
from shortlist.audit.samples._sampled_together import NOBODY, order_of_rows
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace, Normal


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("at_least", [None, [2, -9, np.iinfo(np.int64).min, 3]])
@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("shared", [None, Normal(3.0)])
def test_rows_are_as_one_by_one(margin, at_least, k, digits, shared):
    scores, n_rows = np.array([3, 2, 2, 0]), 30
    bounds, above = np.array([0, 1, -1, 2]) << 32, np.array([True, False, True, False])
    noises = [Laplace(1.0), Normal(2.0, 0.5, bounds, above)]
    words = SeededBits(11).words(8 * n_rows).reshape(2, n_rows, 4)
    common = SeededBits(12).words(n_rows).tolist()  # each row's own draw of what its values share
    how = {"digits": digits, "unit": 1.0, "k": k, "shared": shared}
    how["at_least"] = None if at_least is None else np.array(at_least)
    bits = Script(*words.ravel().tolist(), *common)
    rows, columns = order_of_rows(ExactDraws(bits, margin), n_rows, Order(scores, noises, **how))
    is_drawn = shared is not None and (digits is not None or at_least is not None)
    assert bits.read == 8 * n_rows + n_rows * is_drawn
    assert rows.shape == (n_rows, k or 4)
    for i in range(n_rows):
        own = ExactDraws(Script(*words[:, i].ravel().tolist(), common[i]), margin)
        positions, values = own.order(Order(scores, noises, **how))
        assert [*positions, *[NOBODY] * (rows.shape[1] - len(positions))] == rows[i].tolist()
        if digits is not None:
            assert values.tolist() == columns[: len(values), i].tolist()


def test_rows_that_intervals_leave_open_are_put_in_order_one_by_one():
    bits = Script(5, 5, 9, 5, 8, 1)  # of the first row, equal words: the last two decide
    rows, _ = order_of_rows(ExactDraws(bits), 2, Order(np.array([0, 0]), [Laplace(1.0)]))
    assert bits.read == 6
    assert rows.tolist() == [[1, 0], [0, 1]]
