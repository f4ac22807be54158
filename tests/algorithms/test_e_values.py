"""E-values by enumeration of all labels: their mean, what is named, and the intervals."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from shortlist.algorithms.e_values import (
    ETest,
    NoisyNumbers,
    Sizes,
    e_values,
    levels,
    quantile_above,
    reach_of_sizes,
)
from shortlist.parameters import Side

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(30)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
SD, HOLDERS_SD = 0.8, 1.5
GROUPS = [(n, m) for n in range(5) for m in range(5) if n + m]


def numbers(scores, holders, step=0.0):
    return NoisyNumbers(np.array(list(scores), float), np.array(list(holders), float), step, step)


def e_test(sizes, *, score_sd=SD, holder_sd=HOLDERS_SD, level=0.1, k=1, n_items=1):
    return ETest.of(
        sizes, score_sd=score_sd, holder_sd=holder_sd, level=level, k=k, n_items=n_items
    )


@pytest.mark.parametrize(
    ("score", "holders", "e_value"),
    [(150, 1000, 4.32111e7), (200, 8000, 29326.2), (250, 20000, 2.54696e6), (100, -50, 346329)],
)
def test_values_that_were_computed_apart(score, holders, e_value):
    test = e_test(
        Sizes(10_000, 10_000, 0),
        score_sd=math.sqrt(28.227165 + 282.271652),
        holder_sd=math.sqrt(1129.086610 + 11290.866097),
        k=100,
        n_items=5000,
    )
    found = test.log_e_values(numbers([score], [holders]), Side.CASES)
    assert math.exp(found[0]) == pytest.approx(e_value, rel=3e-6)


def test_the_same_with_noisy_sizes():
    sizes = Sizes(4020, 15975, reach_of_sizes(20.262698))
    assert sizes.tilt == pytest.approx(0.003552364, rel=1e-6)
    assert sizes.most == pytest.approx(20137.059035, rel=1e-9)
    test = e_test(
        sizes,
        score_sd=math.sqrt(880.879188),
        holder_sd=math.sqrt(12419.952707),
        k=100,
        n_items=5000,
    )
    found = test.log_e_values(numbers([200], [1000]), Side.CASES)
    assert math.exp(found[0]) == pytest.approx(1.68963e6, rel=3e-6)


def mean_of(test, n_cases, n_controls, holders, side, *, rounded=math.floor):
    """Of the e-value of an item that so many users hold, over all labels and the noise.

    Values are rounded down to a multiple of 1/10, and holders up.
    """
    step, sizes = 0.1, test.sizes
    share = sizes.controls / sizes.total
    law = hypergeom(n_cases + n_controls, n_cases, holders)
    mean = 0.0
    for cases in range(max(0, holders - n_controls), min(holders, n_cases) + 1):
        score = share * cases - (1 - share) * (holders - cases)
        score = -score if side is Side.CONTROLS else score
        told = [rounded((score + SD * x) / step) * step for x in NODES]
        held = [math.ceil((holders + HOLDERS_SD * y) / step) * step for y in NODES]
        each = list(itertools.product(told, held))
        found = test.log_e_values(numbers(*zip(*each, strict=True), step=step), side)
        chances = np.outer(WEIGHTS, WEIGHTS).ravel()
        mean += law.pmf(cases) * float(np.exp(found) @ chances)
    return mean


def means(off, side):
    """Of all small numbers of cases, controls and holders, and sizes that are off by no more."""
    for n_cases, n_controls in GROUPS:
        ways = itertools.product({-off, off}, {-off, off})
        for more, fewer in ways:
            sizes = Sizes(max(n_cases + more, 0), max(n_controls + fewer, 0), off)
            if sizes.total == 0:
                continue
            test = e_test(sizes)
            for holders in range(n_cases + n_controls + 1):
                yield mean_of(test, n_cases, n_controls, holders, side)


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(
    "off",
    [
        0,
        pytest.param(1, marks=pytest.mark.exhaustive),
        pytest.param(2, marks=pytest.mark.exhaustive),
    ],
)
def test_the_mean_of_an_e_value_is_at_most_1(off, side):
    assert 0.5 < max(means(off, side)) <= 1


def test_sizes_that_are_off_are_allowed_for():
    test = e_test(Sizes(1, 7, 3))
    assert mean_of(test, 4, 4, 8, Side.CASES) <= 1
    assert mean_of(e_test(Sizes(1, 7, 0)), 4, 4, 8, Side.CASES) > 1


def test_noise_in_the_holders_is_allowed_for():
    """An e-value that took noisy holders for exact ones has a mean above 1."""
    sizes = Sizes(3, 3, 6)  # so that each holder counts
    assert mean_of(e_test(sizes, score_sd=0.1), 3, 3, 1, Side.CASES) <= 1
    loud = e_test(sizes, score_sd=0.1, holder_sd=0.0)
    with_noise = [loud.log_e_values(numbers([0.0], [y * HOLDERS_SD]), Side.CASES) for y in NODES]
    right = e_test(sizes, score_sd=0.1)
    paid = [right.log_e_values(numbers([0.0], [y * HOLDERS_SD]), Side.CASES) for y in NODES]
    ignored, allowed = (float(np.exp(np.ravel(each)) @ WEIGHTS) for each in (with_noise, paid))
    assert ignored > 1 >= allowed


def test_values_that_are_rounded_up_are_caught():
    """To the nearest is half as much too large."""
    test = e_test(Sizes(4, 4, 0), score_sd=SD)
    right, wrong = (mean_of(test, 4, 4, 0, Side.CASES, rounded=r) for r in (math.floor, math.ceil))
    assert right < wrong
    sharp = e_test(Sizes(4, 4, 0), score_sd=0.02)
    nearest = sharp.log_e_values(numbers([0.05], [0]), Side.CASES)
    down = sharp.log_e_values(numbers([0.0], [0]), Side.CASES)
    assert nearest > down


def test_both_sides_look_at_what_is_less_by_a_step():
    test = e_test(Sizes(5, 5, 0))
    above = test.log_e_values(numbers([3.0], [4.0], 0.5), Side.CASES)[0]
    below = test.log_e_values(numbers([-3.5], [4.0], 0.5), Side.CASES)[0]
    both = test.log_e_values(numbers([3.0], [4.0], 0.5), Side.BOTH)[0]
    assert math.exp(both) == pytest.approx((math.exp(above) + math.exp(below)) / 2)


def false_share(related, n_items, level):
    """The false discovery rate of a small study, over all labels: without any noise.

    Six users of each label; one item is held by all cases, if any is related, and the others by
    the same users whatever their labels.
    """
    n, half = 12, 6
    rates = []
    for cases in itertools.combinations(range(n), half):
        held = [set(cases)] * related + [set(range(half))] * (n_items - related)
        scores = [len(users & set(cases)) / 2 - len(users - set(cases)) / 2 for users in held]
        test = e_test(
            Sizes(half, half, 0), score_sd=1e-3, holder_sd=0.0, level=level, n_items=n_items
        )
        told = e_values(test.log_e_values(numbers(scores, map(len, held)), Side.CASES))
        order = np.argsort(-np.array(told), kind="stable").tolist()
        rates_of = levels([told[i] for i in order], n_items=n_items, added=0.0)
        named = [i for i, rate in zip(order, rates_of, strict=True) if rate <= level]
        rates.append(sum(i >= related for i in named) / max(len(named), 1))
    return float(np.mean(rates))


@pytest.mark.parametrize(("related", "n_items"), [(0, 1), (0, 3), (1, 2), (2, 3)])
def test_the_false_discovery_rate_of_all_labels_is_at_most_the_level(related, n_items):
    for level in (0.1, 0.3, 0.45):
        assert false_share(related, n_items, level) <= level * (n_items - related) / n_items


def test_some_is_named_by_chance():
    assert false_share(0, 3, 0.45) > 0


def test_levels_are_those_at_which_an_item_is_named():
    told = [900.0, 500.0, 40.0, 3.0, 0.0]
    found = levels(told, n_items=50, added=0.001)
    for rate in (0.01, 0.05, 0.052, 0.1, 0.3, 0.45, 0.9):
        fits = [r for r in range(1, 6) if told[r - 1] and told[r - 1] >= 50 / ((rate - 0.001) * r)]
        named = max(fits, default=0)
        assert [level <= rate for level in found] == [place < named for place in range(5)]
    assert levels([0.0], n_items=1, added=0.0) == [1.0]


def test_a_level_counts_what_sizes_may_be_off():
    with_it, without = (levels([1e6], n_items=1, added=a)[0] for a in (0.001, 0.0))
    assert with_it > 0.001 > without


@pytest.mark.parametrize("off", [0.0, 40.0])
def test_intervals_hold_the_difference_of_shares(off):
    generator = np.random.default_rng(1)
    n_cases, n_controls, cases, controls = 900, 2100, 300, 450
    truth, runs, inside, noise_sd = cases / n_cases - controls / n_controls, 4000, 0, 9.0
    for _ in range(runs):
        drawn = [n + generator.uniform(-off, off) for n in (n_cases, n_controls)]
        sizes = Sizes(*drawn, off)
        share = sizes.controls / sizes.total
        score = share * cases - (1 - share) * controls + generator.normal(0, noise_sd)
        held = cases + controls + generator.normal(0, 30.0)
        test = e_test(sizes, score_sd=noise_sd, holder_sd=30.0)
        ((_, low, high),) = test.differences(numbers([score], [held]))
        inside += low <= truth <= high
    assert inside / runs > 0.94
    assert off or inside / runs < 0.96


def test_nothing_is_known_of_a_difference_where_there_may_be_no_cases():
    assert e_test(Sizes(10, 500, 20)).differences(numbers([3.0], [5.0])) == [(0.0, -1.0, 1.0)]


def test_quantiles_are_those_of_the_upper_tail():
    assert quantile_above(0.025) == pytest.approx(1.959964)
    assert reach_of_sizes(0.0) == 0.5
