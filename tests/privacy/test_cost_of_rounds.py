"""What rounds of noisy weights cost, and the thresholds that hold for every size of a user."""

import math
from fractions import Fraction

import pytest
from scipy.special import ndtr

from shortlist.errors import InputError
from shortlist.mechanisms import (
    Accounting,
    AdaptiveGaussian,
    AdaptiveHittingSet,
    ItemsThenPairs,
)
from shortlist.privacy.accountant import Composition, GaussianStage, ItemsInRounds
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, Schedule, fitted, limits_of

SCHEDULE = Schedule(
    parts=(3, 4, 5, 6),
    floor=Fraction(4, 25),
    losses=(0.05 / 13, 0.15 / 13, 0.45 / 13, 0.95),
    cap=3.0,
    raised=0.04,
)
# With it, of the noise, of all thresholds, and of the largest weight of a user of most items.
GIVEN = {
    (1.0, 1e-5, 100): (3.7306, [56.356, 35.987, 26.742, 19.721], 0.3),
    (1.0, 1e-6, 100): (4.2247, [67.452, 43.174, 32.174, 24.023], 0.3),
    (0.1, 1e-5, 10): (30.7496, [436.384, 276.910, 204.478, 147.858], 0.94868),
    (3.0, 1e-5, 10): (1.39059, [19.996, 12.976, 9.762, 7.229], 0.65753),
}


def curve(epsilon, mu):
    if mu == 0:
        return 0.0
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def made(epsilon, delta, bound, **given):
    return AdaptiveGaussian(epsilon=epsilon, delta=delta, max_items_per_user=bound, **given)


@pytest.mark.parametrize("setting", GIVEN)
def test_thresholds_where_what_is_lost_is_what_the_noise_leaves(setting):
    epsilon, delta, bound = setting
    sigma, thresholds, cap = GIVEN[setting]
    mechanism = made(*setting)
    assert mechanism.sigma == pytest.approx(sigma, rel=2e-5)
    kept = 3 / 18 + 15 / 18 * 0.16
    assert SCHEDULE.kept == pytest.approx(kept, rel=1e-12)
    lost = delta - curve(epsilon, math.sqrt(1 - kept) / mechanism.sigma)
    limits = limits_of(SCHEDULE, RoundsRelease(mechanism.sigma, lost), bound)
    assert limits.thresholds == pytest.approx(thresholds, rel=3e-5, abs=5e-4)
    assert limits.caps[-1] == pytest.approx(cap, rel=2e-5)
    # Users who share nothing need less than all of delta for the noise: so thresholds are lower.
    release = fitted(lambda r: r.composition(SCHEDULE, bound), epsilon=epsilon, delta=delta)
    lower = limits_of(SCHEDULE, release, bound).thresholds
    assert all(a < b for a, b in zip(lower, limits.thresholds, strict=True))
    assert lower[-1] > limits.thresholds[-1] * 0.995


@pytest.mark.parametrize("setting", GIVEN)
def test_what_one_user_alone_holds_is_found_in_all_rounds_together_with_what_is_lost(setting):
    mechanism = made(*setting)
    schedule, limits = mechanism.search.schedule, mechanism.search.limits
    for block, d in enumerate(limits.first):
        chance = 0.0
        for r, threshold in enumerate(limits.thresholds):
            so_far = schedule.so_far(r + 1)
            later = so_far - schedule.parts[0]
            mean = (schedule.parts[0] / math.sqrt(d) + later * limits.caps[block]) / so_far
            sd = mechanism.sigma * math.sqrt(schedule.whole / so_far)
            chance += d * ndtr((mean - threshold) / sd)
        assert chance <= mechanism._release.lost


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("delta", [0.3, 0.02, 1e-6])
@pytest.mark.parametrize("bound", [1, 2, 7, 100])
def test_no_user_costs_more_and_delta_is_used_up(epsilon, delta, bound):
    mechanism = made(epsilon, delta, bound)
    sigma, lost = mechanism._release
    shares = [0.0, *(n / d for d in range(1, bound + 1) for n in range(1, d + 1))]
    kept = mechanism.search.schedule.kept
    users = [
        nu * lost + curve(epsilon, math.sqrt(1 - kept * nu) / sigma) if nu < 1 else lost
        for nu in shares
    ]
    spent = mechanism.cost.delta(epsilon)
    assert max(users) <= spent * (1 + 1e-9) <= delta * (1 + 1e-9)
    assert spent >= 0.995 * delta


@pytest.mark.parametrize("setting", [*GIVEN, (2.0, 0.2, 3)])
def test_an_item_of_one_user_alone_passes_some_threshold_with_what_is_lost_at_most(setting):
    mechanism = made(*setting)
    search = mechanism.search
    parts, whole = search.schedule.parts, search.schedule.whole
    for d in range(1, setting[2] + 1):
        even = 1 / math.sqrt(d)
        cap = next(
            c for first, c in reversed(list(zip(*search.limits[1:], strict=True))) if first <= d
        )
        passed = 0.0
        for r, threshold in enumerate(mechanism.thresholds):
            so_far = sum(parts[: r + 1])
            mean = (parts[0] * even + (so_far - parts[0]) * cap) / so_far
            noise = mechanism.sigma * math.sqrt(whole / so_far)
            passed += d * ndtr((mean - threshold) / noise)
        assert passed <= mechanism._release.lost
    assert passed >= 0.1 * mechanism._release.lost


def test_what_is_lost_is_added_and_not_taken_for_a_coin():
    mu, own_items = 0.3, ItemsInRounds(0.01, 0.3, 5)
    composition = Composition((GaussianStage(mu, on_weights=True),), own_items)
    for epsilon in (0.0, 0.5, 1.0):
        users = [(n / d) for d in range(1, 6) for n in range(1, d)]
        some = [nu * 0.01 + curve(epsilon, mu * math.sqrt(1 - 0.3 * nu)) for nu in users]
        worst = max(*some, 0.01, curve(epsilon, mu))
        assert worst <= composition.delta(epsilon) <= worst * 1.03


@pytest.mark.parametrize(
    ("mechanism", "of_rounds", "lost_in_picks"),
    [
        (AdaptiveHittingSet(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=10), 0.95, 0.05e-6),
        (ItemsThenPairs(k=20, epsilon=1.0, delta=1e-6, most_items=10), 0.15, 0.0),
    ],
    ids=["AdaptiveHittingSet", "ItemsThenPairs"],
)
def test_before_picks_items_of_ones_own_save_the_first_round_alone(
    mechanism, of_rounds, lost_in_picks
):
    """The claim of the proof notes, by the share of the first round as they have it."""
    schedule, lost = mechanism.design.schedule, mechanism._release.lost
    first = of_rounds * schedule.parts[0] / schedule.whole
    for nu in (0.0, 0.1, 0.5, 1.0):
        mu = math.sqrt(2 * mechanism.rho * (1 - first * nu))
        claimed = lost_in_picks + nu * lost + curve(1.0, mu)
        assert claimed <= mechanism.cost.delta(1.0) * (1 + 1e-6)
        assert claimed <= 1e-6 * (1 + 1e-6)


def test_in_zcdp_the_thresholds_have_their_own_share():
    mechanism = made(1.0, 1e-6, 100, accounting=Accounting.ZCDP)
    assert mechanism._release.lost == 0.5e-6
    assert mechanism.cost.delta(1.0) <= 1e-6
    assert mechanism.threshold > made(1.0, 1e-6, 100).threshold


@pytest.mark.parametrize("rounds", [1, 11])
def test_rounds_are_few(rounds):
    with pytest.raises(InputError, match=r"rounds=.*from 2 to 10"):
        made(1.0, 1e-6, 100, rounds=rounds)


@pytest.mark.parametrize(
    ("epsilon", "rounds"), [(2.0908e-11, 4), (6.17e-12, 2), (1.21e-10, 10), (1e-11, 4)]
)
def test_what_would_wrap_around_is_refused_where_it_is_made(epsilon, rounds):
    with pytest.raises(InputError, match="no noise can be calibrated"):
        made(epsilon, 1e-12, 100, rounds=rounds)


@pytest.mark.parametrize("given", [{"bound": 0}, {"kept": 5.0}, {"kept": math.nan}, {"delta": 1.0}])
def test_what_is_lost_in_rounds_has_a_range(given):
    with pytest.raises(InputError):
        ItemsInRounds(**{"delta": 0.1, "kept": 0.3, "bound": 5} | given)
