"""Losses between two laws: balls decide what floats leave open."""

import numpy as np
import pytest
from flint import arb, ctx

from shortlist.audit.exact._claimed_losses import (
    ORDERS,
    DeltaClaim,
    EpsilonClaim,
    Laws,
    RhoClaim,
)
from shortlist.audit.exact._laws_of_data_sets import law_of
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import OneShotLaplace, PermuteAndFlip


def test_balls_decide_what_floats_leave_open():
    exact, more = EpsilonClaim(2.0), EpsilonClaim(2.0 - 1e-14)
    mechanism = PermuteAndFlip(k=1, epsilon=2.0)
    with ctx.workprec(200):
        p, q = (law_of(mechanism, PublicCounts(np.array(c))) for c in ((6, 6), (6, 7)))
        sides = Laws([p, q]).sides([0], [1])
        assert 2.0 <= exact.most(sides)[0] < 2.0 + 1e-9
        low, high, _ = exact.loss(p, q)
        assert abs(high - 2) < 1e-50
        assert low > more.limit


@pytest.mark.parametrize(
    "claim", [EpsilonClaim(1.0), DeltaClaim(0.3, 0.1), RhoClaim(0.1), RhoClaim(0.1, 0.02)]
)
def test_floats_are_no_less_than_the_balls(claim):
    mechanism = OneShotLaplace(k=2, epsilon=1.0)
    with ctx.workprec(200):
        p, q = (law_of(mechanism, PublicCounts(np.array(c))) for c in ((3, 1, 0), (3, 2, 1)))
        (most,) = claim.most(Laws([p, q]).sides([0], [1]))
        low, high, _ = claim.loss(p, q)
        assert low <= high <= most
        assert most - low < 0.02


def test_what_floats_cannot_hold_is_left_to_balls():
    with ctx.workprec(200):
        p, q = {0: arb(1), 1: arb("1e-400")}, {0: arb(1)}
        assert not Laws([p, q]).sides([0], [1]).largest_log_ratio()[0] < 1


def test_a_cut_that_takes_away_what_is_lost_leaves_the_rest():
    # Two outcomes: one of mass 0.1 on one side only. Without it nothing is lost.
    with ctx.workprec(200):
        p, q = {0: arb(0.9), 1: arb(0.1)}, {0: arb(1)}
        assert RhoClaim(0.1, orders=(2.0,)).loss(p, q).high > 1e6
        low, high, _ = RhoClaim(0.1, 0.1000001, (2.0,)).loss(p, q)
        assert low < high < 0.1
        low, high, _ = RhoClaim(0.1, 0.05, (2.0,)).loss(p, q)
        assert low <= high
        assert not high < 10


def test_of_all_orders_the_worst_is_told():
    with ctx.workprec(200):
        p, q = {0: arb(0.6), 1: arb(0.4)}, {0: arb(0.4), 1: arb(0.6)}
        each = [RhoClaim(0.1, orders=(alpha,)).loss(p, q).high for alpha in ORDERS]
        worst = RhoClaim(0.1).loss(p, q)
        assert float(worst.high) == max(map(float, each))
        assert worst.claim.loss(p, q).high.overlaps(worst.high)
