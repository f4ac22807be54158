"""What holds of every mechanism's cost: it is within what was asked for."""

import math
import re
from fractions import Fraction
from functools import reduce
from numbers import Real
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.enrolled import ALL, PUBLIC, USUAL, build, check, every, evidence
from helpers.exhaustive import exhaustive
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.errors import InputError
from shortlist.evidence import LabelledCounts
from shortlist.privacy import Either

fixed = settings(derandomize=True, deadline=None, max_examples=25)
DELTAS = [1e-290, 1e-100, 1e-12, 1e-6, 1e-3, 0.3]


def having(*names):
    return pytest.mark.parametrize("mechanism", [m for m in ALL if set(names) <= set(m.fields())])


@every
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("k", [1, 371, 1000, 100_000])
def test_without_delta_it_is_pure_or_refused(mechanism, epsilon, k):
    if mechanism.evidence not in PUBLIC or mechanism.evidence is LabelledCounts:
        with pytest.raises(InputError, match="delta is needed"):
            build(mechanism, delta=0.0, epsilon=epsilon, k=k)
    else:
        cost = build(mechanism, delta=0.0, epsilon=epsilon, k=k).cost
        assert cost.delta(epsilon) == 0
        assert cost.parameters()["epsilon"] <= epsilon * (1 + 1e-12)


@pytest.mark.exhaustive
@every
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("delta", DELTAS)
def test_cost_is_within_what_was_asked_for(mechanism, epsilon, delta):
    for k in (1, 7, *([100, 1000] if delta == 1e-6 else [])):  # long rows take their time
        cost = build(mechanism, epsilon=epsilon, delta=delta, k=k).cost
        assert cost.delta(epsilon) <= delta
        if k == 7 and epsilon in (1e-3, 1.0, 50.0):  # searched for, which takes its time
            assert cost.epsilon(delta) <= epsilon * (1 + 1e-9)


@having("k")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_one_item_is_not_spoken_of_as_many(mechanism, delta):
    try:
        told = " ".join(build(mechanism, epsilon=0.1, delta=delta, k=1).explain())
    except InputError:  # with that delta
        return
    assert not re.search(r"\b1 (items|picks|are)\b|\b1 items", told)
    several = " ".join(build(mechanism, epsilon=0.1, delta=delta, k=7).explain())
    assert not re.search(r"(?<![.\d])7 (item|pick|is)\b", several)


@having("threshold_share")
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.9, 1 - 1e-6])
def test_cost_stays_within_whatever_the_threshold_s_share(mechanism, share):
    given = {name: USUAL[name] for name in mechanism.fields() if name in USUAL}
    built = mechanism(**given, threshold_share=share)
    assert built.cost.delta(1.0) <= 1e-6
    assert built.explain()


@having("discovery_share")
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.5, 1 - 1e-6])
def test_cost_stays_within_whatever_the_discovery_s_share(mechanism, share):
    given = {name: USUAL[name] for name in mechanism.fields() if name in USUAL}
    built = mechanism(**given, discovery_share=share)
    assert built.cost.delta(1.0) <= 1e-6
    check(built.select(evidence(mechanism, [90, 40, 0, 7]), ExactDraws(SeededBits(1))), 4, 3)


@every
@settings(fixed, max_examples=5)
@given(epsilon=st.floats(1e-3, 50), log_delta=st.floats(-280, -0.6), k=st.integers(1, 1000))
def test_cost_is_within_any_budget(mechanism, epsilon, log_delta, k):
    delta = 10.0**log_delta
    cost = build(mechanism, epsilon=epsilon, delta=delta, k=k).cost
    assert cost.delta(epsilon) <= delta


@every
@pytest.mark.parametrize("delta", [5e-324, 1e-323, 1e-310, 1e-300])
def test_a_delta_at_the_end_of_the_floats_works_or_is_refused(mechanism, delta):
    try:
        built = build(mechanism, delta=delta)
        cost, parameters = built.cost, built.parameters()
    except InputError as error:
        assert f"delta={delta!r}" in str(error)  # noqa: PT017 - refusing is one of two good ways
        return
    assert cost.delta(1.0) <= delta
    numbers = [value for value in parameters.values() if isinstance(value, Real)]
    assert all(math.isfinite(value) for value in numbers)


@every
@pytest.mark.parametrize(
    "given", [{"epsilon": 1e-9, "delta": 1e-12}, {"epsilon": 1e20}, {"epsilon": 1e160}]
)
def test_an_extreme_epsilon_works_or_is_refused_before_data_is_seen(mechanism, given):
    try:
        built = build(mechanism, **given)
    except InputError:
        return
    assert all(math.isfinite(value) for value in built.cost.parameters().values())
    assert built.cost.delta(built.epsilon) <= built.delta
    check(built.select(evidence(mechanism, [5, 2**18]), ExactDraws(SeededBits(1))), 2)


@every
@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_cost_of_n_copies_is_n_composed_costs(mechanism, n):
    cost = build(mechanism).cost
    product, total = cost * n, reduce(add, [cost] * n)
    if n > 1:  # one is what it is alone
        assert type(product) is type(total)
    for way, many, summed in zip(cost.ways, product.ways, total.ways, strict=True):
        if isinstance(way, Either):  # whose sums choose one of several
            continue
        for name, value in many.parameters().items():
            exact = Fraction(way.parameters()[name]) * n
            assert exact <= Fraction(value) <= exact * (1 + Fraction(1, 2**50))
            assert exact <= Fraction(summed.parameters()[name]) <= exact * (1 + Fraction(n, 2**50))
    assert product.delta(n * 1.0) <= n * 1e-6 * (1 + 1e-12)  # basic composition is no better


@every
@pytest.mark.parametrize("epsilon", [1.0, *exhaustive(0.1)])
def test_less_budget_never_costs_more(mechanism, epsilon):
    cost = build(mechanism, epsilon=epsilon).cost
    more = build(mechanism, epsilon=epsilon * 2).cost
    assert more.delta(epsilon) > USUAL["delta"]
    assert more.epsilon(1e-6) > cost.epsilon(1e-6) * 1.5
