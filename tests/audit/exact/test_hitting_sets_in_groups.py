"""Hitting sets of two groups, users in one and in both: private, with the law of each by itself."""

import itertools
from functools import partial

import numpy as np
import pytest

from helpers.audited import broken
from helpers.laws import agree, output_law
from helpers.oracles_of_groups import in_groups
from helpers.wrong_counted_groups import ChargedOnce
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.evidence import GroupedSets
from shortlist.mechanisms import AdaptiveHittingSet, UserPeeling
from shortlist.mechanisms.mechanism import with_coarse_design
from shortlist.mechanisms.wrappers import EachGroup, NoisyReach

PUBLIC = partial(UserPeeling, k=1)
PRIVATE = partial(UserPeeling, k=1, max_items_per_user=2)
# How many users hold each set of pairs: of one item, in the first group, the other, and both.
ONE = [[(0, 0, 0), (1, 1, 0), (2, 1, 0), (1, 1, 1)]]
# Of two items: so many hold the second one, in both groups.
_BOTH = 0b1100 - 1
TWO = [[tuple(n * (place == _BOTH) for place in range(15)) for n in (0, 1, 3)]]


def built(selects, *, groups, kind=EachGroup, delta=0.02):
    def build(epsilon, delta):
        return selects(epsilon=epsilon, delta=delta)

    return kind.of(build, epsilon=2.0, delta=delta, max_groups_per_user=groups)


def with_reach(epsilon, delta):
    asked = {"epsilon": epsilon, "delta": delta}
    return NoisyReach.of(lambda e, d: PUBLIC(epsilon=e, delta=d), k=1, **asked, count_share=0.5)


def adaptive(epsilon, delta):
    mechanism = AdaptiveHittingSet(k=1, epsilon=epsilon, delta=delta, max_items_per_user=2)
    return with_coarse_design(mechanism)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("selects", "delta", "families"),
    [
        (PUBLIC, 0.0, TWO),
        (PRIVATE, 0.2, ONE),
        (with_reach, 0.0, ONE),
        pytest.param(adaptive, 0.2, ONE, marks=pytest.mark.exhaustive),
    ],
)
def test_a_hitting_set_of_each_group_is_private(selects, delta, families, groups):
    mechanism = built(selects, groups=groups, delta=delta)
    assert broken(audit_exactly(mechanism, quick=True, families=families)) == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("groups", [1, 2])
def test_so_it_is_on_all_small_tables(groups):
    mechanism = built(PRIVATE, groups=groups, delta=0.2)
    assert broken(audit_exactly(mechanism, quick=True)) == set()


@pytest.mark.parametrize(
    ("selects", "delta", "families"),
    [(PUBLIC, 0.0, TWO), (PRIVATE, 0.2, ONE), (with_reach, 0.0, ONE)],
)
def test_a_user_in_two_groups_at_the_price_of_one_is_seen(selects, delta, families, monkeypatch):
    charged_once = built(selects, groups=2, kind=ChargedOnce, delta=delta)
    assert broken(audit_exactly(charged_once, quick=True, families=families))
    monkeypatch.setattr(GroupedSets, "bounded", lambda self, *_: self)
    unbounded = built(selects, groups=1, delta=delta)
    assert broken(audit_exactly(unbounded, quick=True, families=families))


# Pair i is of the item i // 2 in the group i % 2.
DATA = [frozenset({0, 1}), frozenset({0, 4}), frozenset({2, 3}), frozenset({3})]
N_PAIRS = 6


def of_group(data, group):
    return [frozenset(p // 2 for p in held if p % 2 == group) for held in data]


def split(data, groups):
    """All ways to take so many groups of each user, with their chances."""
    ways = []
    for held in data:
        own = sorted({pair % 2 for pair in held})
        kept = [*itertools.combinations(own, min(groups, len(own)))]
        ways.append([(frozenset(p for p in held if p % 2 in some), 1 / len(kept)) for some in kept])
    for chosen in itertools.product(*ways):
        yield [held for held, _ in chosen], np.prod([chance for _, chance in chosen])


def by_hand(mechanism, data, groups):
    """Each group by itself, on a table of its own, over all ways to bound the users."""
    total = {}
    for kept, chance in split(data, groups):
        first, second = (
            output_law(mechanism.selection, [held for held in of_group(kept, group) if held])
            for group in (0, 1)
        )
        for (one, p), (other, q) in itertools.product(first.items(), second.items()):
            named = (*one[:-2], *(3 + item for item in other[:-2]))
            total[named] = total.get(named, 0.0) + chance * p * q
    return total


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("selects", "delta", "users"),
    [
        (PUBLIC, 0.0, 4),
        (PRIVATE, 0.2, 4),
        pytest.param(adaptive, 0.2, 2, marks=pytest.mark.exhaustive),
    ],
)
def test_the_law_is_that_of_each_group_by_itself(selects, delta, users, groups):
    """Items that are held in the other group alone change nothing where items are private."""
    mechanism, data = built(selects, groups=groups, delta=delta), DATA[:users]
    evidence = in_groups(mechanism, data, N_PAIRS)
    found = law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))
    agree(found, by_hand(mechanism, data, groups), 1e-9)


def test_the_groups_are_found_in_one_pass_as_one_by_one():
    rng = np.random.default_rng(3)
    data = [frozenset(rng.integers(0, 40, rng.integers(0, 9)).tolist()) for _ in range(200)]
    held = in_groups(None, data, 40)
    for listed in (None, np.array([3, -1, 0])):
        shown = GroupedSets(held.groups, held.parts, listed=listed)
        for group, (own, _) in enumerate(shown.each()):
            alone = shown.within(np.array([group])).items()
            alone = alone if listed is None else alone.among(listed)
            assert own.counts.tolist() == alone.counts.tolist()
            assert own.users_of_size()[1:].tolist() == alone.users_of_size()[1:].tolist()
        assert group == held.n_groups - 1
