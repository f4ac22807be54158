"""What follows from the terms of a series, by values that were computed apart."""

import math

import pytest

from shortlist.errors import InputError
from shortlist.series import SeriesTerms
from shortlist.series.terms import WHOLE, windows


def terms(epsilon, delta, periods, bound=100):
    return SeriesTerms(epsilon=epsilon, delta=delta, periods=periods, max_items_per_user=bound)


@pytest.mark.parametrize(
    ("given", "sigma", "tests", "first", "last"),
    [
        ((1.0, 1e-5, 52), 3.844187, 301, 24.424436, 25.285761),
        ((1.0, 1e-5, 12), 3.844187, 45, 23.418806, 24.130130),
        ((0.3, 1e-5, 52), 11.642714, 301, 73.691845, 74.553169),
        ((0.3, 1e-5, 12), 11.642714, 45, 70.341839, 71.053164),
        ((1.0, 1e-6, 52, 10), 4.328541, 301, 27.484354, 28.345680),
        ((3.0, 1e-6, 365), 1.576254, 3139, 11.087072, 12.034730),
    ],
)
def test_noise_and_thresholds(given, sigma, tests, first, last):
    made = terms(*given)
    assert (made.sigma, made.tests) == (pytest.approx(sigma, abs=1e-6), tests)
    assert made.thresholds[0] == pytest.approx(first, abs=2e-6)
    assert made.thresholds[-1] == pytest.approx(last, abs=2e-6)


def test_boosts_fall_as_half_a_bell():
    assert terms(1.0, 1e-5, 52).boosts[[0, 192, -1]].tolist() == [2656, 451970, 1156055]


def test_who_has_little_to_give_to_saves_until_the_last_run():
    year = terms(1.0, 1e-5, 52)
    assert [year.least_total(run) for run in (1, 51, 52)] == [104857, 104857, 1]


def test_tests_of_one_user_are_rare_together():
    made = terms(1.0, 1e-5, 12)
    each = math.erfc(made.quantile / made.sigma / math.sqrt(2)) / 2
    assert 0.999999 < 100 * made.tests * each / made.lost < 1


def test_bars_and_accounts_are_rounded_towards_privacy():
    made = terms(1.0, 1e-5, 12)
    assert made.bar(3, 2) >= 2**20 * math.sqrt(2) * (math.sqrt(3 / 12) + made.quantile)
    assert [made.accrued(run) * 12 <= WHOLE * run for run in range(13)] == [True] * 13
    assert made.accrued(12) == WHOLE
    assert made.cost.rho >= 1 / (2 * made.sigma**2) * (1 - 1e-12)


def test_windows_are_powers_of_two_and_all():
    assert [list(windows(run)) for run in (0, 1, 2, 3, 8)] == [
        [], [1], [1, 2], [1, 2, 3], [1, 2, 4, 8]
    ]  # fmt: skip


@pytest.mark.parametrize("periods", [0, 501, 1.5, True])
def test_periods_are_whole_and_not_too_many(periods):
    with pytest.raises(InputError, match="must be a whole number from 1 to 500"):
        terms(1.0, 1e-5, periods)


def test_an_epsilon_whose_noise_is_beyond_whole_numbers_is_refused():
    with pytest.raises(InputError, match="takes more noise than whole numbers hold"):
        terms(1e-7, 1e-9, 2)
