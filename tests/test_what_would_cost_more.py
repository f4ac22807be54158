"""What would cost more than it says, or do nothing, is refused where it is made."""

from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.mechanisms import Peeling, WeightedGaussian
from shortlist.mechanisms.wrappers import NoisyCounts
from shortlist.privacy import ZCDP, Composed, Pure
from shortlist.privacy.accountant import BoundedRange, Composition, EitherStage, ItemsByThreshold
from shortlist.privacy.combined_costs import Sum

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


@pytest.mark.parametrize(
    "parts",
    [
        (Pure(1.0), Pure(1.0)),
        (Composed(Composition((BoundedRange(0.1),)), Pure(0.1), epsilon=1.0), ZCDP(0.1)),
    ],
)
def test_a_sum_is_of_parts_of_different_kinds(parts):
    refusal(lambda: Sum(*parts), "add costs, as in a + b")
    assert (parts[0] + parts[1]).delta(1.0) >= parts[0].delta(1.0)


def test_counts_are_of_no_more_items_than_they_are_accounted_for():
    refusal(
        lambda: NoisyCounts.of(
            lambda e, d: Peeling(k=50, epsilon=e, delta=d), k=49, count_share=0.3, **BUDGET
        ),
        "more items",
    )
    refusal(
        lambda: NoisyCounts.of(
            lambda e, d: WeightedGaussian(epsilon=e, delta=d, max_items_per_user=2),
            k=1,
            count_share=0.3,
            **BUDGET,
        ),
        "more items",
    )


def test_an_option_that_nothing_depends_on_is_refused():
    rows = pl.DataFrame({"user": [1], "item": ["a"]})
    source = sl.pairs(rows, user="user", item="item")
    idle = partial(WeightedGaussian, threshold_share=0.2)
    refusal(lambda: source.plan(sl.Domain(), mechanism=idle, **BUDGET), "threshold_share=0.2: has")


def test_stages_that_would_take_for_ever_are_refused():
    way = (BoundedRange(0.1),)
    refusal(lambda: Composition((EitherStage(way, way),) * 5), "more than 4 branches")
    refusal(lambda: ItemsByThreshold((), 10**100), "from 1 to 2^32")
