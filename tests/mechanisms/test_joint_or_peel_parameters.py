"""The parameters of the default for counts, and what it costs."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.exactness import between
from shortlist.mechanisms import Accounting, JointOrPeel, Peeling, PermuteAndFlip
from shortlist.privacy import Either, Pure

fixed = settings(derandomize=True, deadline=None, max_examples=25)

PARAMETERS = st.fixed_dictionaries(
    {
        "k": st.integers(4, 2000),
        "epsilon": between(1e-6, 50),
        "delta": st.just(0.0) | between(1e-290, 0.3),
        "choice_share": st.floats(1e-6, 1 - 1e-6) | st.sampled_from([0.05, 1e-6, 1 - 1e-6]),
    }
)


@fixed
@given(given=PARAMETERS)
def test_epsilon_is_split_and_the_slope_rounded_towards_privacy(given):
    mechanism = JointOrPeel(**given)
    choice, joint = Fraction(mechanism.choice_epsilon), Fraction(mechanism.joint_epsilon)
    assert choice + joint <= Fraction(mechanism.epsilon)
    larger = math.nextafter(mechanism.joint_epsilon, math.inf)
    assert choice + Fraction(larger) > Fraction(mechanism.epsilon)
    assert Fraction(mechanism.slope) * joint / 2 <= choice
    assert Fraction(math.nextafter(mechanism.slope, math.inf)) * joint / 2 > choice


@fixed
@given(given=PARAMETERS, accounting=st.sampled_from([Accounting.EXACT, Accounting.ZCDP]))
def test_the_cost_is_within_what_was_asked_for_and_covers_both_ways(given, accounting):
    mechanism = JointOrPeel(**given, accounting=accounting)
    cost = mechanism.cost
    assert cost.delta(mechanism.epsilon) <= mechanism.delta
    choice = Pure(mechanism.choice_epsilon)
    pure = Pure if accounting is Accounting.EXACT else Pure.bounded_range
    ways = [pure(mechanism.joint_epsilon)]
    if not mechanism.one_shot:
        ways.append(Pure.bounded_range(mechanism.local_epsilon) * mechanism.k)
    by_rho = cost.ways[0]
    kept = by_rho._alternatives if isinstance(by_rho, Either) else (by_rho,)
    assert all(any(other.covers(choice + way) for other in kept) for way in ways)
    assert set(kept) <= {choice + way for way in ways}


@fixed
@given(given=PARAMETERS)
def test_noise_is_drawn_once_unless_a_delta_makes_up_for_it(given):
    mechanism = JointOrPeel(**given)
    pure = mechanism.joint_epsilon / mechanism.k
    if mechanism.one_shot:
        assert mechanism.k * Fraction(mechanism.local_epsilon) <= Fraction(mechanism.joint_epsilon)
        assert math.isclose(mechanism.local_epsilon, pure, rel_tol=1e-15)
        assert mechanism.cost.delta(mechanism.epsilon) == 0
    else:
        assert mechanism.delta > 0
        assert mechanism.local_epsilon > 1.1 * pure * (1 - 1e-12)
        more = Pure.bounded_range(mechanism.local_epsilon * (1 + 1e-6)) * mechanism.k
        assert (Pure(mechanism.choice_epsilon) + more).delta(mechanism.epsilon) > mechanism.delta
    text = " ".join(mechanism.explain())
    name = "xponential noise" if mechanism.one_shot else "the exponential mechanism"
    assert name in text
    assert "visited in random order" in text


@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3])
def test_one_item_is_named_with_all_of_epsilon_and_without_a_choice(delta, accounting):
    mechanism = JointOrPeel(k=1, epsilon=0.7, delta=delta, accounting=accounting)
    assert mechanism.choice_epsilon == 0
    assert not {"choice_share", "choice_epsilon", "switch_at"} & mechanism.parameters().keys()
    if accounting is Accounting.EXACT:
        assert mechanism.cost == PermuteAndFlip(k=1, epsilon=0.7).cost
        assert mechanism.local_epsilon == 0.7
    else:
        peeling = Peeling(k=1, epsilon=0.7, delta=delta, accounting=accounting)
        assert mechanism.cost == peeling.cost
        assert mechanism.local_epsilon == peeling.local_epsilon


@pytest.mark.parametrize("k", [2, 3])
def test_few_items_are_worth_no_choice_unless_a_threshold_is_given(k):
    for delta in (0.0, 1e-6):
        usual = {"k": k, "epsilon": 1.0, "delta": delta}
        assert JointOrPeel(**usual).joint_epsilon == 1.0
        assert JointOrPeel(**usual, threshold=3).joint_epsilon == 0.95
        assert JointOrPeel(**usual).one_shot


@pytest.mark.parametrize("k", [50, 1000])
def test_many_picks_make_use_of_a_delta(k):
    assert not JointOrPeel(k=k, epsilon=1.0, delta=1e-6).one_shot
    assert JointOrPeel(k=k, epsilon=1.0).one_shot


def test_for_one_release_of_many_all_is_of_bounded_range():
    given = {"k": 20, "epsilon": 1.0, "accounting": Accounting.ZCDP}
    assert JointOrPeel(**given).cost.rho == 0.05**2 / 2 + 0.95**2 / 8
    text = " ".join(JointOrPeel(**given, delta=1e-6).explain())
    assert "picked as a whole" in text
    assert "by the exponential mechanism" in text


def test_the_threshold_has_a_default():
    assert JointOrPeel(k=20, epsilon=1.0).switch_at == 7
    assert JointOrPeel(k=25, epsilon=1.0, delta=1e-6).switch_at == 1
    assert JointOrPeel(k=4, epsilon=1.0, delta=1e-9).switch_at == -1  # it buys little
    assert JointOrPeel(k=3, epsilon=1.0, threshold=-7.5).switch_at == -7.5


@pytest.mark.parametrize("n", [2, 3, 10])
def test_costs_compose(n):
    for k, delta in ((20, 1e-6), (4, 0.0), (200, 1e-9)):
        cost = JointOrPeel(k=k, epsilon=0.5, delta=delta).cost.ways[0]
        many = cost * n
        ways = cost._alternatives if isinstance(cost, Either) else (cost,)
        assert len(ways) == 2 or delta == 0
        if delta == 0:
            assert many.delta(0.5 * n) == 0
        for taken in itertools.combinations_with_replacement(ways, n):  # in whatever order
            total = sum(taken[1:], taken[0])
            assert many.epsilon(1e-6) >= total.epsilon(1e-6) * (1 - 1e-9)
