"""What is left of a budget, and how a refusal tells it."""

from functools import partial

import shortlist as sl
from helpers.budgets import created
from helpers.refusals import refusal

ROWS = {"user": [1, 1, 2, 3], "item": ["a", "b", "a", "a"]}


def asking(budget, *, public=None, **asked):
    source = sl.pairs(ROWS, user="user", item="item", public_items=public, budget=budget)
    return partial(source.top_k, 1, **asked)


def test_a_refusal_shows_what_is_too_large_in_digits_enough(path):
    budget = created(path, epsilon=0.3, delta=0.0)
    ask = asking(budget, public=["a", "b"], epsilon=0.1)
    ask()
    ask()
    refusal(
        ask, "epsilon = 0.09999999999999998 left", "costs epsilon = 0.1.", "worth epsilon = 0.0999"
    )


def test_a_refusal_says_where_only_the_delta_is_too_large(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    ask = asking(budget, epsilon=0.1, delta=1e-6)
    for _ in range(3):
        ask()
    refusal(ask, "delta = 2.5e-07", "Its epsilon would fit: ask with a smaller delta")
