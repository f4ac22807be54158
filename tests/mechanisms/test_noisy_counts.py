"""Noisy counts beside a selection: their cost, and how little noise pays for them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.exactness import between
from helpers.noisy_counts import HUGE, build, cells, every, evidence, scaled, scaled_way, squared_mu
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.noise import Laplace
from shortlist.evidence import PrivateCounts, WeightedHistogram
from shortlist.mechanisms import Adjacency, Peeling
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.privacy import ZCDP, Approximate, Composed, Pure, round_up
from shortlist.privacy.accountant import Composition, GaussianStage, PureStage
from shortlist.privacy.composed import composition_of

fixed = settings(derandomize=True, deadline=None, max_examples=5)
WEIGHTED = ["discover, then rank", "weighted gaussian peeling"]
PRIVATE = [*WEIGHTED, "limited domain", "limited domain, bounded"]


# --- the cost


def changed(mechanism):
    """How many counts one user is in, at most, as everybody knows."""
    bound = mechanism.max_items_per_user
    general = mechanism.adjacency == Adjacency.GENERAL.value
    if bound is None or general or mechanism.evidence is WeightedHistogram:
        return mechanism.k
    return min(bound, mechanism.k)


def gaussian_curve(rho, epsilon):
    """The least delta of normal noise of that rho, exactly: Balle & Wang (2018), Theorem 8."""
    mu, root = (2 * arb(rho)).sqrt(), arb(2).sqrt()
    upper, lower = ((epsilon / mu + sign * mu / 2) / root for sign in (-1, 1))
    return (upper.erfc() - epsilon.exp() * lower.erfc()) / 2


def fits(mechanism, factor=1.0):
    """Whether any known way of accounting allows the noise times a factor."""
    way, selection = scaled_way(mechanism._best, factor), mechanism.selection
    before, n, noise = selection.cost, changed(mechanism), way.noise
    if isinstance(mechanism.cost, Composed):
        stages = composition_of(before)
        mu = math.sqrt(0 if isinstance(noise, Laplace) else squared_mu(way, k=mechanism.k, m=n))
        stage = PureStage(1 / noise.scale, n) if isinstance(noise, Laplace) else GaussianStage(mu)
        whole = Composition((*stages.stages, stage), stages.own_items)
        return whole.delta(mechanism.epsilon) <= mechanism.delta * (1 + 1e-9)
    if isinstance(noise, Laplace):
        total = before + Pure(round_up(1 / Fraction(noise.scale))) * n
        alone = Fraction(selection.epsilon) + n / Fraction(noise.scale)
        added_up = mechanism.delta > 0 and alone <= Fraction(mechanism.epsilon)
        return added_up or total.delta(mechanism.epsilon) <= mechanism.delta
    rho = round_up(squared_mu(way, k=mechanism.k, m=n) / 2)
    together = not isinstance(before, Approximate)
    if together and (before + ZCDP(rho)).delta(mechanism.epsilon) <= mechanism.delta:
        return True
    with ctx.workprec(1500):
        left = arb(mechanism.epsilon) - arb(selection.epsilon)
        return gaussian_curve(rho, left) <= arb(mechanism.delta) - arb(selection.spent_delta)


SHARES = st.floats(0.01, 0.99) | st.sampled_from([1e-6, 0.1, 0.5, 1 - 1e-6])


@every
@fixed
@given(
    k=st.integers(1, 60),
    epsilon=between(1e-3, 20),
    delta=st.just(0.0) | between(1e-290, 0.3),
    count_share=SHARES,
    bound=st.none() | st.integers(1, 60),
)
@example(k=1, epsilon=1.0, delta=1e-6, count_share=0.5, bound=None)
@example(k=100, epsilon=1.0, delta=1e-6, count_share=0.5, bound=1)
@example(k=100, epsilon=0.1, delta=0.01, count_share=0.1, bound=None)
def test_the_cost_is_within_what_was_asked_for_and_the_noise_no_larger(
    kind, k, epsilon, delta, count_share, bound
):
    if kind in PRIVATE:  # weights at next to no delta take long: they have a test of their own
        delta = max(delta, 1e-60 if kind in WEIGHTED else 1e-280)
    if kind == "discover, then rank":  # long rows take their time
        k = min(k, 30)
    if kind in WEIGHTED:  # noise beyond what weights can reach is refused
        count_share = min(max(count_share, 0.01), 0.99)
    mechanism = build(kind, k=k, epsilon=epsilon, delta=delta, count_share=count_share, bound=bound)
    assert mechanism.cost.delta(mechanism.epsilon) <= mechanism.delta
    assert fits(mechanism)
    # A tiny share of delta may be less than what the accountant leaves.
    spent = mechanism.cost.delta(mechanism.epsilon)
    nearly_all = isinstance(mechanism.cost, Composed) and spent >= 0.99 * mechanism.delta
    assert nearly_all or not fits(mechanism, 0.7)
    before = mechanism.selection
    assert Fraction(before.epsilon) + Fraction(epsilon * count_share) <= Fraction(epsilon)
    assert Fraction(before.delta) <= Fraction(mechanism.delta)


def require_within_reach(kind, *, epsilon, delta, **given):
    mechanism = build(kind, epsilon=epsilon, delta=delta, **given)
    assert mechanism.cost.delta(epsilon) <= mechanism.delta <= delta
    assert mechanism.count_sd > 0
    assert all(sentence.endswith(".") for sentence in mechanism.explain())


@pytest.mark.exhaustive
@every
@pytest.mark.parametrize("epsilon", [1e-4, 100.0])
@pytest.mark.parametrize("delta", [0.0, 1e-280, 0.3])
def test_every_usual_budget_is_within_reach(kind, epsilon, delta):
    if kind in PRIVATE and delta == 0:
        refusal(lambda: build(kind, epsilon=epsilon, delta=delta), "delta is needed")
        return
    for count_share in (0.1, 0.5) if kind in WEIGHTED else (1e-6, 1 - 1e-6):
        for k in (1, 200) if delta == 0.3 else (1, 30):  # long rows take their time
            # And so does one item that is discovered at next to no delta: once, and below.
            dear = kind == "discover, then rank" and delta == 1e-280 and k == 1
            if not dear or (epsilon, count_share) == (1e-4, 0.1):
                given = {"k": k, "epsilon": epsilon, "delta": delta}
                require_within_reach(kind, **given, count_share=count_share)


@pytest.mark.exhaustive
@pytest.mark.parametrize("count_share", [0.1, 0.5])
def test_so_is_one_discovered_item_at_a_tiny_delta(count_share):
    given = {"k": 1, "epsilon": 100.0, "delta": 1e-100}
    require_within_reach("discover, then rank", **given, count_share=count_share)


@every
def test_the_noise_chosen_is_the_least_of_all_ways(kind):
    for k, epsilon, count_share in ((1, 1.0, 0.1), (10, 0.2, 0.5), (300, 4.0, 0.2)):
        mechanism = build(kind, k=k, epsilon=epsilon, count_share=count_share)
        ways = list(mechanism._ways())
        assert isinstance(ways[0].noise, Laplace)
        assert mechanism.count_sd == min(way.of_each.rounded_sd for way in ways)
        assert mechanism.cost == min(ways, key=lambda way: way.of_each.rounded_sd).cost
        for way in ways:
            assert way.cost.delta(mechanism.epsilon) <= mechanism.delta


@every
def test_the_noise_is_chosen_by_public_parameters(kind):
    told = []
    for counts in ([], [5], [HUGE, 0, 7], list(range(100))):
        mechanism = build(kind, k=4, epsilon=0.2, count_share=0.5)
        selection = mechanism.select(evidence(mechanism, counts), ExactDraws(SeededBits(1)))
        told.append((selection.noise_sd, mechanism.count_noise, str(mechanism.parameters())))
    assert len(set(told)) == 1


def test_without_delta_the_noise_is_laplace_s():
    for k in (1, 10, 1000):
        mechanism = build("peeling", k=k, delta=0.0)
        assert mechanism.count_noise == "Laplace"
        left = mechanism.epsilon - mechanism.selection.epsilon
        assert math.isclose(mechanism._best.noise.scale, k / left, rel_tol=1e-9)


def test_with_a_delta_many_counts_get_normal_noise_and_one_laplace_s():
    assert build("peeling", k=1).count_noise == "Laplace"
    assert build("peeling", k=100).count_noise == "Normal"
    assert build("joint", k=100, bound=1).count_noise == "Laplace"


# --- what one user can change


@pytest.mark.parametrize("kind", ["peeling", "joint or peel", "limited domain", "one-shot laplace"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_a_bound_on_users_lowers_the_noise(kind, epsilon):
    sd = {
        bound: build(kind, k=20, epsilon=epsilon, bound=bound).count_sd
        for bound in (None, 1, 5, 20, 1000)
    }
    assert sd[1] < sd[5] < sd[20]
    assert sd[20] == sd[1000] == sd[None]


@pytest.mark.parametrize(
    "kind", ["one-shot laplace, general", "discover, then rank", "weighted gaussian peeling"]
)
def test_a_bound_that_does_not_hold_of_the_counts_changes_nothing(kind):
    # Users that exchange items are in twice as many counts; counts beside weights are of all items.
    assert build(kind, k=20, bound=1).count_sd == build(kind, k=20).count_sd


@pytest.mark.parametrize("kind", ["peeling", "limited domain", "one-shot laplace"])
def test_evidence_that_is_bounded_more_loosely_is_refused(kind):
    mechanism, draws = build(kind, bound=2), ExactDraws(SeededBits(1))
    for bound, said in ((3, "bounded at 3"), (None, "not bounded")):
        seen = evidence(mechanism, [9, 8, 7], bound)
        refusal(lambda seen=seen: mechanism.select(seen, draws), "max_items_per_user=2", said)
    for bound in (1, 2):
        assert mechanism.select(evidence(mechanism, [9, 8, 7], bound), draws) is not None


def laws_of_one_count(noise, n):
    """Of one released count of n users, and of n + 1."""
    chances = cells(noise)
    return [{shift + i: p for i, p in chances.items()} for shift in (n, n + 1)]


@pytest.mark.parametrize("factor", [1.0, 0.7])
def test_the_released_integer_is_as_private_as_its_noise_and_less_is_caught(factor):
    laplace = build("peeling", k=1, epsilon=2.0, delta=0.0, count_share=0.5)
    left = laplace.epsilon - laplace.selection.epsilon
    p, q = laws_of_one_count(scaled(laplace._best.noise, factor), 5)
    ratio = max(abs(math.log(p[i] / q[i])) for i in p.keys() & q.keys())
    assert bool(ratio <= left * (1 + 1e-9)) is (factor == 1.0)
    # Of normal noise, within what is left of epsilon and delta by basic composition.
    normal = build("gamma", k=1, epsilon=2.0, delta=0.2, count_share=0.5)
    assert normal.count_noise == "Normal"
    left = normal.epsilon - normal.selection.epsilon
    p, q = laws_of_one_count(scaled(normal._best.noise, factor), 5)
    excess = sum(max(0.0, q[i] - math.exp(left) * p.get(i, 0.0)) for i in q)
    assert bool(excess <= normal.delta) is (factor == 1.0)


# --- as a value


@every
def test_it_is_a_frozen_value_and_says_what_selects(kind):
    one, same, other = build(kind), build(kind), build(kind, count_share=0.4)
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    parameters = one.parameters()
    assert parameters["selection"]["name"] == type(one.selection).__name__
    assert parameters["count_sd"] == one.count_sd
    assert parameters["count_share"] == 0.3
    assert one.score_unit == "noisy count"
    with pytest.raises(AttributeError):
        one.k = 4


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, "0.5", True])
def test_shares_are_proper(value):
    selection = Peeling(k=3, epsilon=0.5)
    refusal(
        lambda: NoisyCounts(selection=selection, k=3, epsilon=1.0, delta=0.0, count_share=value),
        f"count_share={value!r}",
    )


def test_a_selection_that_leaves_nothing_is_refused():
    for spent in (1.0, 2.0):
        refusal(
            lambda e=spent: NoisyCounts(
                selection=Peeling(k=3, epsilon=e), k=3, epsilon=1.0, delta=0.0, count_share=0.5
            ),
            "epsilon=1.0",
        )


def test_private_counts_get_noise_too():
    mechanism = build("limited domain", epsilon=5.0)
    assert mechanism.evidence is PrivateCounts
    seen = evidence(mechanism, [10**6, 0, 3, 2 * 10**6])
    selection = mechanism.select(seen, ExactDraws(SeededBits(1)))
    assert selection.positions.tolist() == [3, 0]
    assert np.abs(selection.scores - [2 * 10**6, 10**6]).max() < 12 * mechanism.count_sd
