"""Output laws of the policy mechanisms: against brute force, and their privacy, all exactly."""

import itertools
import math
from functools import cached_property

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.laws import agree
from helpers.losses import hockey_stick, neighbours
from helpers.oracles_of_policies import gaussian_oracle, greedy_oracle
from helpers.wrong_policies import EagerCoin, SteepCoin
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import PolicyGaussian, PolicyGreedy
from shortlist.mechanisms.mechanism import Accounting

EPSILON, DELTA = 2.0, 0.2  # so large that even one user is sometimes named
EPSILONS = [0.0, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5]


class NearCutoff(PolicyGaussian):
    """Any cutoff is private: with this one, few users fill an item."""

    cutoff = cached_property(lambda _: 1.4)


def gaussian(kind=NearCutoff, *, epsilon=EPSILON, delta=DELTA, bound=2):
    return kind(epsilon=epsilon, delta=delta, max_items_per_user=bound)


def greedy(kind=PolicyGreedy, *, epsilon=EPSILON, delta=DELTA, **options):
    return kind(epsilon=epsilon, delta=delta, alpha=1, **options)


def published(*, epsilon=EPSILON, delta=DELTA):
    return greedy(epsilon=epsilon, delta=delta, accounting=Accounting.PUBLISHED)


POLICIES = {"gaussian": gaussian, "greedy": greedy, "greedy as published": published}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
either_greedy = pytest.mark.parametrize("policy", [greedy, published])


def held_by(rows, n_users, n_items):
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)


def rows_of(data):
    return [(user, item) for user, items in enumerate(data) for item in sorted(items)]


def output_law(mechanism, data, n_items=3, known=()):
    held = held_by(rows_of(data), len(data), n_items)
    if known:
        held = held.with_public(np.array(sorted(known)))
    return law(lambda draws: frozenset(mechanism.select(held, draws).positions.tolist()))


# --- the definitions


DATA = [
    (),
    ({0},),
    ({0, 1, 2},),
    ({0, 1}, {0, 1}),
    ({0, 1}, {0}, {0}),
    ({0}, {0}, {0}, {0}),
    ({0, 1, 2}, {0, 1}, {0}),
    ({0, 1, 2}, {0, 1, 2}, {1, 2}),
    ({0}, {0, 1}, {0, 2}, {0}),
]


@pytest.mark.parametrize("data", DATA)
def test_policy_gaussian_is_the_descent_in_random_order_with_noise(data):
    mechanism = gaussian()
    agree(output_law(mechanism, data), gaussian_oracle(mechanism, data), 1e-7)


def test_policy_gaussian_s_oracle_tells_the_cutoff_and_the_order():
    data = ({0}, {0, 1}, {0, 2}, {0})
    seen = output_law(gaussian(), data)
    for other in (gaussian(PolicyGaussian), gaussian(bound=1)):
        oracle = gaussian_oracle(other, data)
        assert max(abs(seen[o] - oracle.get(o, 0)) for o in seen) > 0.01


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("epsilon", "delta", "cutoff"), [(EPSILON, DELTA, 2), (1.0, 0.1, 4)])
@either_greedy
def test_policy_greedy_is_one_unit_each_in_random_order_and_a_coin(
    policy, data, epsilon, delta, cutoff
):
    mechanism = policy(epsilon=epsilon, delta=delta)
    assert mechanism.cutoff == cutoff
    agree(output_law(mechanism, data), greedy_oracle(mechanism, data), 1e-12)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("known", [{1}, {0, 2}])
@either_greedy
def test_known_items_come_first_and_begin_with_units_of_nobody(policy, known, data):
    mechanism = policy(epsilon=1.0, delta=0.001)
    assert mechanism.head_start == (2 if policy is greedy else 0)
    seen = output_law(mechanism, data, known=known)
    agree(seen, greedy_oracle(mechanism, data, known), 1e-12)
    if policy is greedy:
        for other in (set(), {0, 1, 2} - known):
            oracle = greedy_oracle(mechanism, data, other)
            assert max(abs(seen.get(o, 0) - oracle.get(o, 0)) for o in seen | oracle) > 0.003


def test_a_known_item_to_which_nobody_gives_a_unit_is_hardly_ever_named():
    for epsilon, delta in itertools.product((0.1, 1.0, 8.0), (1e-9, 1e-3, 0.05)):
        mechanism = PolicyGreedy(epsilon=epsilon, delta=delta)
        assert mechanism.head_start < mechanism.cutoff
        named = output_law(mechanism, (), known={0})
        assert named.get(frozenset({0}), 0) < 0.01
        assert (mechanism.head_start > 0) == (delta < 0.01)


@pytest.mark.parametrize("kind", [SteepCoin, EagerCoin])
def test_policy_greedy_s_oracle_tells_the_chances(kind):
    wrong, data = greedy(kind), ({0}, {0, 1}, {0, 2}, {0})
    seen, oracle = output_law(wrong, data), greedy_oracle(wrong, data)
    assert max(abs(seen[o] - oracle.get(o, 0)) for o in seen) > 0.01


@pytest.mark.parametrize("data", DATA)
def test_the_accountings_of_policy_greedy_are_not_one(data):
    exact, noisy = (output_law(policy(), data) for policy in (greedy, published))
    crowded = any(sum(item in held for held in data) > 1 for item in range(3))
    apart = max(abs(exact.get(o, 0) - noisy.get(o, 0)) for o in exact | noisy)
    assert apart > 0.001 if crowded else apart < 1e-12


# --- privacy


def worst_excess(mechanism, pairs, claimed=None, n_items=3, epsilons=EPSILONS):
    """The largest amount by which some delta exceeds what the cost says, over both directions."""
    laws, claimed = {}, claimed or mechanism

    def output(data):
        if data not in laws:
            laws[data] = output_law(mechanism, data, n_items)
        return laws[data]

    return max(
        hockey_stick(p, q, epsilon) - claimed.cost.delta(epsilon)
        for data, more in pairs
        for p, q in itertools.permutations([output(data), output(more)])
        for epsilon in epsilons
    )


SMALL = list(neighbours(range(3), users=3))
FEW_ITEMS = list(neighbours(range(2), users=4))


@pytest.mark.exhaustive
@every_policy
def test_privacy_of_all_small_neighbours(policy):
    mechanism = policy()
    assert worst_excess(mechanism, SMALL) < 1e-9
    assert worst_excess(mechanism, FEW_ITEMS, n_items=2) < 1e-9


def crowds(*sizes):
    """One user more of a single item that so many hold."""
    same = frozenset({0})
    return [((same,) * n, (same,) * (n + 1)) for n in sizes]


@either_greedy
def test_policy_greedy_uses_its_delta_up(policy):
    assert abs(worst_excess(policy(), crowds(0), epsilons=[EPSILON])) < 1e-12


def test_the_coin_uses_its_delta_up_however_many_hold_the_item_and_noise_does_not():
    def unused(policy, n):
        mechanism = policy(epsilon=1.0, delta=0.01)
        assert n < mechanism.cutoff
        return -worst_excess(mechanism, crowds(n), n_items=1, epsilons=[1.0])

    assert all(abs(unused(greedy, n)) < 1e-12 for n in range(5))
    assert unused(published, 0) < 1e-12
    assert all(unused(published, n) > 0.009 for n in range(1, 5))


class LowThreshold(NearCutoff):
    threshold = cached_property(lambda _: gaussian().threshold / 1.3)


class Quiet(PolicyGaussian):
    """Noise that is too small, with the right threshold."""

    threshold = cached_property(lambda self: self.right.threshold)
    sigma = cached_property(lambda self: self.right.sigma / 1.3)
    right = property(lambda self: PolicyGaussian(**{n: getattr(self, n) for n in self.fields()}))


def test_a_threshold_that_is_too_low_is_caught():
    alone = [((), (frozenset({0}),)), ((), (frozenset({0, 1}),))]
    assert worst_excess(gaussian(LowThreshold), alone) > 0.01
    for policy in (greedy, published):
        loose = policy(delta=1.3 * DELTA)
        assert worst_excess(loose, alone, claimed=policy(), epsilons=[EPSILON]) > 0.01


@pytest.mark.parametrize(
    ("kind", "users", "caught"),
    [
        (PolicyGreedy, range(5), False),
        (SteepCoin, range(1), False),  # one unit is named as it should be
        (SteepCoin, range(1, 2), True),
        (SteepCoin, range(2, 3), True),
        (EagerCoin, range(1), True),
        (EagerCoin, range(2, 5), False),
    ],
)
def test_a_coin_that_is_too_quick_is_caught(kind, users, caught):
    mechanism = greedy(kind, epsilon=1.0, delta=0.05)
    excess = worst_excess(mechanism, crowds(*users), n_items=1, epsilons=[1.0])
    assert excess > 0.01 if caught else excess < 1e-12


@pytest.mark.parametrize(("kind", "caught"), [(PolicyGaussian, False), (Quiet, True)])
def test_gaussian_noise_that_is_too_small_is_caught(kind, caught):
    mechanism = gaussian(kind, epsilon=1.0, delta=0.05, bound=1)
    pairs = crowds(2, 3, 4, 5)
    assert mechanism.cutoff > 6 > mechanism.threshold
    excess = worst_excess(mechanism, pairs, n_items=1, epsilons=np.linspace(0, 1, 11))
    assert bool(excess > 0.01) is caught
    assert caught or excess <= 0


@pytest.mark.parametrize(("factor", "caught"), [(1.0, False), (1.3, True)])
def test_laplace_noise_that_is_too_small_is_caught(factor, caught):
    # The chances as stated, but of two and more units as if by noise of a smaller scale.
    claimed = published(epsilon=1.0, delta=0.01)
    mechanism = published(epsilon=factor, delta=0.01)
    assert mechanism.cutoff >= 4
    excess = worst_excess(mechanism, crowds(3), claimed, n_items=1, epsilons=[1.0])
    assert bool(excess > 0.01) is caught
    assert caught or excess <= 0


# --- what the law may not depend on


@every_policy
def test_row_order_and_item_names_change_nothing_but_the_draw(policy):
    mechanism = policy()
    rows = [(0, 0), (0, 1), (0, 2), (1, 1), (2, 1), (2, 2), (0, 1)]

    def law_of(rows, back):
        held = held_by(rows, 3, 3)
        named = law(lambda draws: tuple(sorted(mechanism.select(held, draws).positions.tolist())))
        return {frozenset(back[i] for i in outcome): p for outcome, p in named.items()}

    original = law_of(rows, [0, 1, 2])
    agree(law_of(rows[::-1], [0, 1, 2]), original, 1e-12)
    agree(law_of([(2 - u, (i + 1) % 3) for u, i in rows], [2, 0, 1]), original, 1e-12)


@pytest.mark.parametrize("policy", [greedy, *exhaustive(gaussian, published)])
def test_the_code_draws_from_its_law(policy):
    mechanism = policy()
    # Frequencies within 4.5 standard errors, and not within that of a law 30 % off.
    data = ({0, 1}, {0}, {0, 1, 2}, {0, 2})
    held, draws, n, seen = held_by(rows_of(data), 4, 3), ExactDraws(SeededBits(21)), 4000, {}
    for _ in range(n):
        outcome = frozenset(mechanism.select(held, draws).positions.tolist())
        seen[outcome] = seen.get(outcome, 0) + 1

    def deviation(law):
        return max(
            abs(seen.get(o, 0) / n - p) / math.sqrt(max(p * (1 - p), 1 / n) / n)
            for o, p in law.items()
        )

    assert deviation(output_law(mechanism, data)) < 4.5
    assert deviation(output_law(policy(epsilon=2.6), data)) > 4.5
