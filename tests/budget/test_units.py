"""Amounts of a budget: exact, of every cost that can be charged; and told where none is left."""

import math
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from helpers.budgets import created, plan_of
from helpers.refusals import refusal
from shortlist.budget._balance import Balance, more_questions
from shortlist.budget._budget_terms import BudgetTerms
from shortlist.budget._units import Amount, BasicUnit, PureUnit, ZcdpUnit, unit_for
from shortlist.privacy import ZCDP, Approximate, Gaussian
from shortlist.privacy import Pure as PureCost


def promise(cost, delta=0.0):
    return plan_of(None, cost=cost, delta=delta).guarantee


SMALLEST = 2.0**-1022


@pytest.mark.parametrize(
    "wrong", [math.nan, math.inf, -math.inf, -1e-9, 0.0, -0.0, SMALLEST / 2, 5e-324]
)
def test_a_cost_that_is_no_cost_is_refused(wrong):
    refusal(lambda: Amount.of(wrong, 0.0), "cannot be charged", "ask with another epsilon")
    if wrong:
        refusal(lambda: Amount.of(1.0, wrong), "cannot be charged")


def test_the_smallest_amounts_are_exact():
    assert Amount.of(SMALLEST, SMALLEST) == (Fraction(1, 2**1022), Fraction(1, 2**1022))


class Strange(ZCDP):
    """A cost of another package, which says what it likes."""

    def __init__(self, own):
        super().__init__(1.0)
        object.__setattr__(self, "own", own)

    __slots__ = ("own",)

    @property
    def rho(self):
        return self.own


@pytest.mark.parametrize("rho", [math.nan, -1.0, 0.0, 5e-324])
def test_a_cost_of_others_is_looked_at(rho):
    refusal(lambda: ZcdpUnit().cost(promise(Strange(rho))), "cannot be charged")


@given(st.lists(st.floats(SMALLEST, 1.0), max_size=30))
def test_sums_are_exact(parts):
    total = Amount.nothing()
    for part in parts:
        total = total.plus(Amount.of(part, part if part < 1 else 0.0))
    assert total.first == sum(map(Fraction, parts))
    assert total.delta == sum(Fraction(part) for part in parts if part < 1)


def test_a_tenth_ten_times_is_more_than_one():
    """Of floats 0.1 is above a tenth: what a sum of floats calls 1.0 would overspend."""
    ten, one = Amount.of(0.1, 0.0), Amount.of(1.0, 0.0)
    nine = Amount(9 * ten.first, ten.delta)
    assert sum([0.1] * 10) <= 1.0
    assert not ten.within(one.less(nine))
    assert ten.times_in(one) == 9


def test_a_total_in_zcdp_keeps_what_it_promises():
    for epsilon, delta, share in ((3.0, 1e-6, 0.75), (0.1, 1e-12, 0.5), (20.0, 1e-3, 0.99)):
        total = ZcdpUnit(share).total(epsilon, delta)
        cost = ZCDP(float(total.first), float(total.delta))
        assert cost.delta(epsilon) <= delta
        assert ZCDP(float(total.first) * 1.0001, float(total.delta)).delta(epsilon) > delta
        assert 0 <= total.delta / (Fraction(delta) * Fraction(share)) - 1 <= Fraction(1, 2**39)


@pytest.mark.parametrize("delta", [1e-6, 3e-6, 1e-7, 7e-9])
def test_parts_of_a_delta_fit_however_their_floats_are_rounded(delta):
    total = ZcdpUnit().total(3.0, delta)
    for parts in (1, 3, 10, 30):
        lost = Fraction(delta / parts) * Fraction(0.25)
        assert int(total.delta // lost) == 3 * parts


@pytest.mark.parametrize(
    ("unit", "cost", "delta", "taken"),
    [
        (ZcdpUnit(), PureCost(0.5), 0.0, (0.125, 0.0)),
        (ZcdpUnit(), PureCost.bounded_range(0.5), 0.0, (0.03125, 0.0)),
        (ZcdpUnit(), Gaussian(0.02, 1e-8), 1e-7, (0.02, 1e-8)),
        (ZcdpUnit(), Approximate(0.5, 1e-8), 1e-8, (0.125, 1e-8)),
        (BasicUnit(), Approximate(1 / 128, 1e-8), 1e-8, (1 / 128, 1e-8)),
        (BasicUnit(), PureCost(1 / 128), 0.0, (1 / 128, 0.0)),
        (BasicUnit(), Approximate(1 / 128, 1e-7), 1e-8, (1 / 128, 1e-7)),  # more than it says
        (PureUnit(), PureCost(1 / 128), 0.0, (1 / 128, 0.0)),
    ],
)
def test_every_cost_in_every_unit(unit, cost, delta, taken):
    assert unit.cost(promise(cost, delta=delta)) == Amount.of(*taken)


def test_a_pure_budget_takes_nothing_that_needs_a_delta():
    refusal(lambda: PureUnit().cost(promise(Gaussian(0.001))), "needs a delta", "delta=0")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("zdcp", 1e-6, None), 'must be "zcdp", "basic" or "pure"'),
        (("pure", 1e-6, None), "accounting='pure' goes with delta = 0"),
        (("zcdp", 0.0, None), "goes with a delta above 0"),
        (("basic", 1e-6, 0.5), "only a budget in zCDP"),
        (("zcdp", 1e-6, 1.5), "lost_share=1.5"),
    ],
)
def test_units_that_do_not_go_with_the_rest(asked, said):
    refusal(lambda: unit_for(*asked), said)


def test_zcdp_buys_more_than_adding_up():
    terms = BudgetTerms.of(
        dataset="d", protects="user", adjacency=None, epsilon=3.0, delta=1e-6,
        accounting=None, lost_share=None,
    )  # fmt: skip
    for epsilon, delta, left, in_zcdp, added in more_questions(Balance(terms, Amount.nothing())):
        assert left == in_zcdp > 2 * added
        assert added == min(
            int(Fraction(3.0) / Fraction(epsilon)), int(Fraction(1e-6) / Fraction(delta))
        )
    assert all(row[2] == 0 for row in more_questions(Balance(terms, terms.total)))


def test_terms_are_checked(tmp_path):
    for wrong, said in (
        ({"dataset": ""}, "must be a text of one line"),
        ({"protects": "a\nb"}, "must be a text of one line"),
        ({"epsilon": 0.0}, "must be a number above 0"),
        ({"delta": 1.0}, "must be a number from 0"),
        ({"who": "\x1b"}, "must be a text of one line"),
    ):
        refusal(lambda wrong=wrong: created(tmp_path / "x", **wrong), said)
    assert list(tmp_path.iterdir()) == []


# What a refusal says is left

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
