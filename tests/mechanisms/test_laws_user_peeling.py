"""User peeling: its exact law against its definition, its privacy, its mistakes."""

import itertools
import math
from functools import cache, cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.hitting import contributions, picks_oracle, positions_law
from helpers.laws import agree
from helpers.losses import hockey_stick, largest_log_ratio, neighbours
from helpers.oracles_of_users import discovery_oracle
from helpers.refusals import refusal
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import UnreachedRows
from shortlist.mechanisms import (
    Accounting,
    Selection,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.mechanisms.adaptive_hitting_set import pick_by_reach
from shortlist.mechanisms.peeling import picks_epsilon
from shortlist.mechanisms.user_peeling import peel_users
from shortlist.privacy import Approximate, Pure
from shortlist.privacy.accountant import BoundedRange
from shortlist.privacy.accountant.picks_by_reach import reach_curve
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


@pytest.mark.parametrize(
    ("k", "epsilon", "delta"), [(20, 1.0, 1e-6), (200, 0.1, 1e-5), (10**5, 3.0, 1e-8)]
)
def test_many_picks_of_public_items_are_paid_for_until_a_user_is_reached(k, epsilon, delta):
    given = {"k": k, "epsilon": epsilon, "delta": delta}
    mechanism = UserPeeling(**given)
    assert mechanism.local_epsilon > 1.1 * picks_epsilon(Accounting.EXACT, **given)
    assert 0.999 * delta < mechanism.cost.delta(epsilon) <= delta

    def of_these_picks(local_epsilon):
        """Their worst case, without the detour by normal noise."""
        epsilons, deltas = reach_curve(BoundedRange(local_epsilon, k), delta / 100)
        return np.interp(math.exp(epsilon), np.exp(epsilons), deltas, right=0.0)

    assert of_these_picks(mechanism.local_epsilon) <= delta
    assert of_these_picks(1.03 * mechanism.local_epsilon) > delta


def test_without_a_delta_each_pick_may_tell_as_much_of_a_user_who_is_never_reached():
    """All items but two are the user's, so that a pick of either of the two is a large loss."""
    mechanism, n = UserPeeling(k=2, epsilon=4.0), 100
    data = (), (frozenset(range(2, n)),)
    without, with_user = (
        picks_oracle(d, range(n), mechanism.k, mechanism.local_epsilon)[0, 1] for d in data
    )
    assert 0.96 * mechanism.epsilon < math.log(without / with_user) <= mechanism.epsilon
    assert mechanism.local_epsilon == 2.0


@cache
def largest_delta(local_epsilon):
    """Of five picks among as many items, at any neighbours of a few; the mechanism is `LARGE`."""
    worst, items = 0.0, range(5)
    for most in (1, 2, 4):
        user = frozenset(range(most))
        for times in (-2, -1, 0, 1):
            ahead = items[:most] if times > 0 else items[most:]
            others = [frozenset({item}) for item in ahead for _ in range(abs(times))]
            both = (picks_oracle(d, items, 5, local_epsilon) for d in (others, [*others, user]))
            p, q = both
            worst = max(worst, hockey_stick(p, q, 0.1), hockey_stick(q, p, 0.1))
    return worst


LARGE = {"k": 5, "epsilon": 0.1, "delta": 0.1}  # with so few items, there is a little to gain


def test_no_user_changes_what_is_paid_until_reached_by_more_than_delta():
    mechanism = UserPeeling(**LARGE)
    assert mechanism.local_epsilon > 1.2 * picks_epsilon(Accounting.EXACT, **LARGE)
    assert 0.085 < largest_delta(mechanism.local_epsilon) <= 0.1
    held = [frozenset({0, 1}), frozenset({3})]
    agree(
        positions_law(mechanism, held, 5),
        picks_oracle(held, range(5), 5, mechanism.local_epsilon),
        1e-12,
    )


def test_a_price_that_stops_too_early_and_a_wrong_scale_are_caught():
    as_of_half = UserPeeling(**LARGE | {"k": 2}).local_epsilon
    assert largest_delta(as_of_half) > 0.105
    assert largest_delta(1.3 * UserPeeling(**LARGE).local_epsilon) > 0.115


class NextReaches(UnreachedRows):
    """A pick reaches those who hold the item after it."""

    def reach(self, place):
        super().reach((place + 1) % len(self.counts))


def test_users_who_are_reached_by_what_they_do_not_hold_are_caught():
    data, local_epsilon = [frozenset({0, 1}), frozenset({2})], 1.0

    def picks(kind):
        def run(draws):
            held = contributions(data, 3)
            unreached = held.unreached
            object.__setattr__(held, "unreached", lambda d: kind(**vars(unreached(d))))
            worth = np.ones(3)
            return tuple(pick_by_reach(held, np.arange(3), worth, 3, local_epsilon, draws))

        return law(run)

    oracle = picks_oracle(data, range(3), 3, local_epsilon)
    agree(picks(UnreachedRows), oracle, 1e-12)
    assert max(abs(picks(NextReaches)[picked] - oracle[picked]) for picked in oracle) > 0.02


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
