"""User peeling: its exact law against its definition, its privacy, its mistakes."""

import itertools
import math
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.hitting import contributions, picks_oracle, positions_law
from helpers.laws import agree
from helpers.losses import hockey_stick, largest_log_ratio, neighbours
from helpers.oracles_of_users import discovery_oracle
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import (
    Accounting,
    Selection,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.mechanisms.user_peeling import peel_users
from shortlist.privacy import Approximate, Pure
from shortlist.privacy.calibration import peeling_epsilon_lemma_b1

fixed = settings(derandomize=True, deadline=None, max_examples=100)
SETS = [frozenset(s) for n in range(1, 4) for s in itertools.combinations(range(3), n)]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_user_peeling_of_public_items_is_its_definition(k):
    mechanism = UserPeeling(k=k, epsilon=2.0)
    for size in range(4):
        for data in itertools.combinations_with_replacement(SETS, size):
            oracle = picks_oracle(data, range(3), k, mechanism.local_epsilon)
            agree(positions_law(mechanism, data), oracle, 1e-12)


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_user_peeling_picks_whole_sets_from_what_bounded_ones_discovered(accounting, bound):
    mechanism = UserPeeling(
        k=2, epsilon=2.0, delta=0.2, max_items_per_user=bound, accounting=accounting
    )
    data = [frozenset(s) for s in ({0}, {0, 1}, {0, 1, 2}, {0, 2})]
    kept = [list(itertools.combinations(sorted(s), min(bound, len(s)))) for s in data]
    chance, oracle = 1 / math.prod(map(len, kept)), {}
    for sets in itertools.product(*kept):
        for domain, p in discovery_oracle(sets, mechanism):
            for picked, q in picks_oracle(data, domain, 2, mechanism.local_epsilon).items():
                oracle[picked] = oracle.get(picked, 0) + chance * p * q
    agree(positions_law(mechanism, data), oracle, 1e-8)


@pytest.mark.parametrize("bound", [1, 100])
def test_as_published_halves_are_each_calibrated_to_half_of_the_budget(bound):
    given = {"epsilon": 1.0, "delta": 1e-6, "max_items_per_user": bound}
    halves = UserPeeling(k=20, **given, accounting=Accounting.PUBLISHED)
    half = given | {"epsilon": 0.5, "delta": 5e-7}
    discovery = WeightedGaussian(**half, accounting=Accounting.ZCDP)
    assert halves.local_epsilon == peeling_epsilon_lemma_b1(20, epsilon=0.5, delta=5e-7)
    assert (halves.sigma, halves.threshold) == (discovery.sigma, discovery.threshold)
    assert halves.cost == Approximate(0.5, 5e-7) * 2
    assert UserPeeling(k=20, **given).local_epsilon > halves.local_epsilon


@fixed
@given(
    st.lists(st.frozensets(st.integers(0, 5)), max_size=12),
    st.lists(st.integers(0, 5), unique=True),
    st.randoms(use_true_random=False),
)
def test_counts_and_groups_are_those_of_the_users_not_reached(data, domain, random):
    held = contributions(data, n_items=6)
    unreached = held.unreached(np.array(domain, np.int64))
    order, taken = list(range(len(domain))), set()
    random.shuffle(order)
    for place in order:
        left = [items for items in data if not items & taken]
        expected = [sum(x in items for items in left) for x in domain]
        kept = {p: expected[p] for p in range(len(domain)) if domain[p] not in taken}
        assert [unreached.counts[p] for p in kept] == list(kept.values())
        counts, sizes = unreached.groups()
        assert counts.tolist() == sorted(set(kept.values()), reverse=True)
        for count, size in zip(counts.tolist(), sizes.tolist(), strict=True):
            members = [p for p, held_by in kept.items() if held_by == count]
            assert sorted(unreached.members(count).tolist()) == members
            assert size == len(members)
        unreached.reach(place)
        unreached.leave_out(place)
        taken.add(domain[place])
    assert not len(unreached.groups()[0])


SMALL = list(neighbours(range(3), users=3))


def worst_loss(mechanism, n_items=3, pairs=SMALL):
    """The largest log-ratio between neighbours, either way."""
    worst = 0.0
    for data, more in pairs:
        p, q = positions_law(mechanism, data, n_items), positions_law(mechanism, more, n_items)
        if p.keys() != q.keys():
            return math.inf
        worst = max(worst, largest_log_ratio(p, q), largest_log_ratio(q, p))
    return worst


@pytest.mark.parametrize("k", [1, 2, 3])
def test_user_peeling_of_public_items_is_pure(k):
    assert 0.3 < worst_loss(UserPeeling(k=k, epsilon=1.0)) <= 1 + 1e-12


def renyi(p, q, alpha):
    return math.log(sum(p[o] ** alpha * q[o] ** (1 - alpha) for o in p)) / (alpha - 1)


@pytest.mark.parametrize("k", [1, 2])
def test_user_peeling_is_zcdp_as_its_picks_are(k):
    mechanism = UserPeeling(k=k, epsilon=3.0)
    for data, more in SMALL:
        p, q = positions_law(mechanism, data), positions_law(mechanism, more)
        for alpha in (1.01, 2.0, 10.0):
            worst = max(renyi(p, q, alpha), renyi(q, p, alpha))
            assert worst <= mechanism.cost.rho * alpha * (1 + 1e-9)


class Sharp(UserPeeling):
    """Picks that are 30 % sharper than was paid for."""

    local_epsilon = cached_property(lambda self: 1.3 * self.epsilon / self.k)


class Stops(UserPeeling):
    """Ends where no user is left to reach."""

    def select(self, evidence, draws):
        selection = super().select(evidence, draws)
        unreached, kept = evidence.unreached(np.arange(evidence.n_items)), []
        for position in selection.positions.tolist():
            if unreached.counts.any():
                kept.append(position)
                unreached.reach(position)
        return Selection(np.array(kept, np.int64))


class Forgets(UserPeeling):
    """Charged for one round."""

    @property
    def local_epsilon(self):
        return self.epsilon

    @property
    def cost(self):
        return Pure.bounded_range(self.local_epsilon)


def test_picks_that_are_too_sharp_are_caught():
    far = [
        ((alone,) * 9, (alone,) * 9 + (other,))
        for alone, other in itertools.permutations([frozenset({0}), frozenset({1})])
    ]
    assert worst_loss(UserPeeling(k=1, epsilon=1.0), 2, far) <= 1
    assert worst_loss(Sharp(k=1, epsilon=1.0), 2, far) > 1.25


def test_to_stop_where_no_user_is_left_is_caught():
    assert worst_loss(Stops(k=2, epsilon=1.0)) == math.inf


def test_to_charge_one_round_is_caught():
    assert worst_loss(Forgets(k=2, epsilon=1.0)) > 1.5


def test_private_items_with_a_low_threshold_are_caught():
    one = (frozenset({0}),)
    given = {"k": 1, "epsilon": 1.0, "delta": 0.05, "max_items_per_user": 2}
    p = positions_law(UserPeeling(**given), one, 1)
    assert hockey_stick(p, {(): 1.0}, 1.0) <= 0.05

    class Low(UserPeeling):
        @cached_property
        def _calibrated(self):
            both = super()._calibrated
            return both._replace(discovery=both.discovery._replace(threshold=1.0))

    assert hockey_stick(positions_law(Low(**given), one, 1), {(): 1.0}, 1.0) > 0.05


def test_all_rounds_are_made_though_nobody_is_left():
    held = contributions([frozenset({0})], 5)
    picked = peel_users(held, np.arange(5), 4, 30.0, ExactDraws(SeededBits(1)))
    assert len(set(picked.tolist())) == 4
    assert picked[0] == 0


@pytest.mark.parametrize("delta", [0, 0.0])
def test_private_items_without_delta_are_refused_with_the_remedy(delta):
    for accounting in Accounting:
        given = {"epsilon": 1.0, "delta": delta, "accounting": accounting}
        refusal(lambda: UserPeeling(k=2, max_items_per_user=5, **given), "delta is needed")  # noqa: B023
        assert UserPeeling(k=2, **given).delta == 0


def test_options_without_effect_are_no_parameters():
    given = {"epsilon": 1.0, "delta": 1e-6}
    public, private = UserPeeling(k=2, **given), {**given, "max_items_per_user": 5}
    shares = {"discovery_share", "threshold_share"}
    everything = {*UserPeeling.fields(), *UserPeeling.derived}
    assert public.parameters().keys() == everything - shares
    idle = {Accounting.EXACT: {"threshold_share"}, Accounting.ZCDP: set()}
    for accounting in Accounting:
        told = UserPeeling(k=2, **private, accounting=accounting).parameters()
        assert told.keys() == everything - idle.get(accounting, shares)
        assert told["accounting"] == accounting.value


@pytest.mark.parametrize("accounting", Accounting)
def test_a_share_is_a_parameter_if_and_only_if_it_has_an_effect(accounting):
    given = {"epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 5, "accounting": accounting}
    usual = UserPeeling(k=2, **given)
    for share in ("discovery_share", "threshold_share"):
        other = UserPeeling(k=2, **given, **{share: 0.4})
        noise = [(m.local_epsilon, m.sigma, m.threshold) for m in (usual, other)]
        assert (noise[0] != noise[1]) is (share in usual.parameters())
