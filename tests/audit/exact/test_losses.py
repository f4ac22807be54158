"""Losses between two laws: balls decide what floats leave open."""

import numpy as np
import pytest
from flint import arb, ctx

from shortlist.audit.exact._claimed_losses import DeltaClaim, EpsilonClaim, Laws, RhoClaim
from shortlist.audit.exact._laws_of_data_sets import law_of
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import OneShotLaplace, PermuteAndFlip


def test_balls_decide_what_floats_leave_open():
    exact, more = EpsilonClaim(2.0), EpsilonClaim(2.0 - 1e-14)
    mechanism = PermuteAndFlip(k=1, epsilon=2.0)
    with ctx.workprec(200):
        p, q = (law_of(mechanism, PublicCounts(np.array(c))) for c in ((6, 6), (6, 7)))
        sides = Laws([p, q]).sides([0], [1])
        assert exact.losses(sides).low[0] <= 2.0 <= exact.losses(sides).high[0]
        low, high = exact.loss(p, q)
        assert abs(high - 2) < 1e-50
        assert low > more.limit


@pytest.mark.parametrize(
    "claim", [EpsilonClaim(1.0), DeltaClaim(0.3, 0.1), RhoClaim(1.5, 0.1), RhoClaim(1.5, 0.1, 0.02)]
)
def test_floats_confine_the_balls(claim):
    mechanism = OneShotLaplace(k=2, epsilon=1.0)
    with ctx.workprec(200):
        p, q = (law_of(mechanism, PublicCounts(np.array(c))) for c in ((3, 1, 0), (3, 2, 1)))
        losses = claim.losses(Laws([p, q]).sides([0], [1]))
        low, high = claim.loss(p, q)
        assert losses.low[0] <= low
        assert high <= losses.high[0]
        assert losses.high[0] - losses.low[0] < 0.02


def test_what_floats_cannot_hold_is_left_to_balls():
    with ctx.workprec(200):
        p, q = {0: arb(1), 1: arb("1e-400")}, {0: arb(1)}
        assert not Laws([p, q]).sides([0], [1]).largest_log_ratio().high[0] < 1


def test_a_cut_that_takes_away_what_is_lost_leaves_the_rest():
    # Two outcomes: one of mass 0.1 on one side only. Without it nothing is lost.
    with ctx.workprec(200):
        p, q = {0: arb(0.9), 1: arb(0.1)}, {0: arb(1)}
        whole = RhoClaim(2.0, 0.1).loss(p, q)
        assert whole[1] > 1e6
        low, high = RhoClaim(2.0, 0.1, 0.1000001).loss(p, q)
        assert low < high < 0.1
        assert RhoClaim(2.0, 0.1, 0.05).loss(p, q)[0] <= RhoClaim(2.0, 0.1, 0.05).loss(p, q)[1]
        assert not RhoClaim(2.0, 0.1, 0.05).loss(p, q)[1] < 10
