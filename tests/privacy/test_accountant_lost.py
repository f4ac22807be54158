"""Mass that is lost on one way of a branch, against exact laws, formulas and planted mistakes."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from helpers.losses import hockey_stick
from shortlist.audit.transcripts.draw_by_draw import audit_by_transcript
from shortlist.mechanisms import AdaptiveTopK
from shortlist.privacy._delta_curves import gaussian_delta
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    LossStage,
    OwnItemsStage,
    ThresholdDelta,
)
from shortlist.privacy.accountant.cost_of_rounds import ItemsInRounds

ROUTE, MUS, LOST = 0.1, (0.3, 0.25), (1e-3, 3e-3)
WAYS = tuple((LossStage(lost), GaussianStage(mu)) for lost, mu in zip(LOST, MUS, strict=True))


def test_alone_it_adds_up_and_of_two_ways_the_larger_counts():
    for epsilon in (0.0, 0.4, 1.0):
        each = [
            lost + Composition(way[1:]).delta(epsilon) for lost, way in zip(LOST, WAYS, strict=True)
        ]
        assert Composition((EitherStage(*WAYS),)).delta(epsilon) == pytest.approx(
            max(each), rel=1e-3
        )
    picks = BoundedRange(0.1, 20)
    inside, beside = (
        Composition((LossStage(1e-3), picks)),
        Composition((picks,), ThresholdDelta(1e-3)),
    )
    assert inside.delta(0.8) == pytest.approx(beside.delta(0.8), rel=1e-6)
    assert inside.lost == pytest.approx(1e-3, rel=1e-12)
    assert Composition((EitherStage(*WAYS),)).lost == pytest.approx(3e-3, rel=1e-12)


def test_what_is_lost_is_lost_at_every_epsilon_and_by_no_lower_bound():
    pure = Composition((EitherStage((LossStage(1e-6), BoundedRange(0.1)), (BoundedRange(0.2),)),))
    assert pure.delta(5.0) == pytest.approx(1e-6)  # far above what each way may lose beside
    assert pure.least_delta(5.0) == 0


def after_route(epsilon, lost, deltas):
    """By the formula: the worst t of a route, then the larger of both ways, each with its loss."""
    worst = 0.0
    for t in np.linspace(0, ROUTE, 400):
        chance = -math.expm1(t - ROUTE) / -math.expm1(-ROUTE)
        value = [
            max(one + of(epsilon - x) for one, of in zip(lost, deltas, strict=True))
            for x in (t, t - ROUTE)
        ]
        worst = max(worst, chance * value[0] + (1 - chance) * value[1])
    return worst


def of_mu(mu):
    return lambda epsilon: gaussian_delta(mu * mu / 2, epsilon)


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.0])
def test_a_route_is_followed_by_the_larger_of_both_ways_with_its_own_loss(epsilon):
    found = Composition((BoundedRange(ROUTE), EitherStage(*WAYS))).delta(epsilon)
    right = after_route(epsilon, LOST, [of_mu(mu) for mu in MUS])
    assert right * (1 - 1e-9) <= found <= right * 1.002


# --- exact laws: a route of two outcomes, then one of two ways that each leave an event out


def laws(shift, lost, epsilons):
    """What comes out on both neighbours: a way, and its answer or, where mass is lost, a name."""
    told = []
    for sign in (1, -1):
        odds = math.exp(sign * shift)
        route = odds / (1 + odds), 1 / (1 + odds)
        law = {}
        for way, p in enumerate(route):
            yes = 1 / (1 + math.exp(-sign * epsilons[way] / 2))
            kept = 1 - lost[way] if sign > 0 else 1.0
            law |= {(way, "yes"): p * kept * yes, (way, "no"): p * kept * (1 - yes)}
            law[way, "name"] = p * (1 - kept)
        told.append(law)
    return told


CASES = list(itertools.product([0.05, 0.4], [(0.0, 0.2), (0.1, 0.01)], [(0.3, 0.3), (1.0, 0.2)]))


def least_spent(shift, lost, epsilons, of=lambda lost: lost):
    stages = (
        BoundedRange(2 * shift),
        EitherStage(
            *((LossStage(of(one)), BoundedRange(e)) for one, e in zip(lost, epsilons, strict=True))
        ),
    )
    return Composition(stages)


def excess(case, **given):
    """By how much exact laws, in both directions, are above what is claimed."""
    claimed, pair = least_spent(*case, **given), laws(*case)
    return max(
        hockey_stick(*both, epsilon) - claimed.delta(epsilon)
        for both in (pair, pair[::-1])
        for epsilon in (0.0, 0.1, 0.3, 0.6)
    )


def test_exact_laws_are_within_it_and_not_if_one_way_forgets_its_loss():
    assert max(map(excess, CASES)) < 1e-9
    assert max(excess(case, of=lambda lost: 0.0 if lost == 0.2 else lost) for case in CASES) > 0.05


# --- users who alone hold some of their items


BOUND, FIRST, MU, THRESHOLDS = 5, 0.25, 0.3, 2e-3


def of_user(lost, share):
    """The stages of a user who alone holds this share of the items, spelt out."""
    rounds = GaussianStage(MU * math.sqrt(1 - FIRST * share))
    return BoundedRange(ROUTE), EitherStage(WAYS[1], (LossStage(share * lost), rounds))


IN_ROUNDS = (
    OwnItemsStage(),
    GaussianStage(MU * math.sqrt(FIRST), on_weights=True),
    GaussianStage(MU * math.sqrt(1 - FIRST)),
)


@pytest.mark.parametrize("lost", [1e-4, THRESHOLDS, 0.05])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_worst_of_all_users_counts_each_with_one_share_on_every_path(lost, epsilon):
    stages = BoundedRange(ROUTE), EitherStage(WAYS[1], IN_ROUNDS)
    whole = Composition(stages, ItemsInRounds(lost, 1.0, BOUND))
    shares = {n / d for d in range(1, BOUND + 1) for n in range(d + 1)}
    each = [Composition(of_user(lost, share)).delta(epsilon) for share in shares]
    assert max(each) * (1 - 1e-4) <= whole.delta(epsilon) <= max(each) * 1.02
    assert whole.lost == pytest.approx(max(lost, LOST[1]), rel=1e-12)
    # Beside the branch, what is lost in rounds would be added to what is lost in the other way.
    beside = replace(whole, stages=(stages[0], EitherStage(WAYS[1], IN_ROUNDS[1:])))
    assert beside.delta(epsilon) >= whole.delta(epsilon) * (1 - 1e-9)
    assert beside.lost == pytest.approx(lost + LOST[1], rel=1e-12)


# --- of the mechanism


GIVEN = {"epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 100}


@pytest.mark.parametrize(
    ("k", "rho", "lost", "threshold"),
    [(10, 0.02723, 0.8484, 25.2854), (100, 0.027013, 0.6125, 25.6278)],
)
def test_rounds_get_what_was_computed_apart(k, rho, lost, threshold):
    # By another program, with fewer kinds of choices: up to 1 % of delta more is lost there.
    mechanism = AdaptiveTopK(k=k, **GIVEN)
    assert mechanism._rounds.rho == pytest.approx(rho, rel=1e-3)
    assert 0.96 * lost < mechanism._rounds.lost / 1e-6 < lost
    assert threshold < mechanism.threshold < 1.002 * threshold


class SavesInAllRounds(AdaptiveTopK):
    """As if users who alone hold items spent no more than in the first round on those of others."""

    _first = 1.0


def test_a_claim_that_later_rounds_hide_less_is_seen_draw_by_draw():
    def wrong(kind):
        found = audit_by_transcript(kind(k=5, **GIVEN), quick=True)
        return [each for each in found if each.verdict.name == "BROKEN"]

    assert not wrong(AdaptiveTopK)
    assert wrong(SavesInAllRounds)
