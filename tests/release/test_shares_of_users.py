"""Counts as shares of users: an interval of two noisy numbers holds as often as it says."""

import math

import numpy as np
import pytest

from shortlist.draws.noise import Laplace, Normal
from shortlist.draws.reach import REACH
from shortlist.release._shares_of_users import NoisyShares, Share, in_percent, shares_of_stated

RUNS = 4_000
ERROR = math.sqrt(0.05 * 0.95 / RUNS)
TRUE = [(0, 900), (1, 40), (300, 900), (899, 900), (900, 900), (5, 8), (0, 0), (30, 10**6)]


def drawn(law, scale, size, rng):
    return rng.normal(0, scale, size) if law == "Normal" else rng.laplace(0, scale, size)


def often(count, users, *, law, scale, shared, interval, wrong=1.0):
    """How often the interval of simulated numbers holds the true share."""
    rng = np.random.default_rng(7)
    common = rng.normal(0, shared, RUNS) if shared else 0.0
    c = np.rint(count + common + wrong * drawn(law, scale, RUNS, rng))
    n = np.rint(users + common + wrong * drawn(law, scale, RUNS, rng))
    low, high = np.array([(each.low, each.high) for each in interval(c, n)]).T
    share = count / users if users else 0.5
    return ((low <= share) & (share <= high)).mean()


def noisy(law, scale, shared):
    noise = Normal(scale) if law == "Normal" else Laplace(scale)
    return NoisyShares(own_sd=noise.rounded_sd, shared_sd=shared, law=law).of


CASES = [("Normal", 4.0, 0.0), ("Normal", 3.0, 9.0), ("Laplace", 3.0, 0.0), ("Laplace", 0.2, 0.0)]


@pytest.mark.parametrize(("law", "scale", "shared"), CASES)
@pytest.mark.parametrize(("count", "users"), TRUE)
def test_an_interval_holds_as_often_as_it_says(law, scale, shared, count, users):
    given = {"law": law, "scale": scale, "shared": shared}
    assert often(count, users, **given, interval=noisy(law, scale, shared)) > 0.95 - 4 * ERROR


@pytest.mark.parametrize(("law", "scale"), [("Normal", 4.0), ("Laplace", 3.0)])
def test_noise_of_another_scale_is_seen(law, scale):
    given = {"law": law, "scale": scale, "shared": 0.0}
    assert often(300, 900, **given, interval=noisy(law, scale, 0.0), wrong=1.3) < 0.95 - 4 * ERROR


def test_so_is_the_noise_of_the_users_if_it_is_forgotten():
    def stated(counts, users):
        return shares_of_stated(counts, users, far=math.floor(1.96 * 4 + 0.5))

    given = {"law": "Normal", "scale": 4.0, "shared": 0.0}
    assert often(899, 900, **given, interval=stated) < 0.9


def test_what_both_share_makes_a_large_share_surer():
    apart, alike = (
        NoisyShares(own_sd=own, shared_sd=shared, law="Normal").of([800.0], [900.0])[0]
        for own, shared in ((10.0, 0.0), (6.0, 8.0))
    )
    assert alike.high - alike.low < 0.7 * (apart.high - apart.low)


@pytest.mark.parametrize("s", np.linspace(0, 1, 41))
def test_laplace_noise_of_two_numbers_reaches_no_farther(s):
    """P(|X - s Y| > t) in closed form, where X and Y have the scale 1."""
    t = REACH["Laplace"] * math.sqrt(2 * (1 + s * s))
    if s == 1:
        beyond = (1 + t / 2) * math.exp(-t)
    else:
        beyond = (math.exp(-t) - s * s * math.exp(-t / s) if s else math.exp(-t)) / (1 - s * s)
    assert beyond <= 0.05 * (1 + 1e-9)


def test_few_users_beside_the_noise_tell_nothing():
    of = NoisyShares(own_sd=50.0, shared_sd=0.0, law="Normal").of
    assert of([3.0, -20.0], [10.0, -60.0]) == [Share(0.3, 0.0, 1.0), Share(0.5, 0.0, 1.0)]
    assert of([], []) == []
    far = [2.0**63, -(2.0**63)]
    assert [each.low <= each.high for each in of(far, far[::-1])] == [True, True]


def test_a_stated_number_is_exact():
    shares = shares_of_stated([-4.0, 50.0, 120.0], [100.0] * 3, far=10.0)
    assert shares == [Share(0.0, 0.0, 0.06), Share(0.5, 0.4, 0.6), Share(1.0, 1.0, 1.0)]
    assert in_percent(shares) == ["0%, 0% to 6%", "50%, 40% to 60%", "100%, 100% to 100%"]


def test_ends_are_rounded_outwards():
    share = Share(0.123456, 0.118849, 0.128051)
    assert in_percent([share]) == ["12.3%, 11.8% to 12.9%"]
