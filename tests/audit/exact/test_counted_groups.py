"""Histograms in two groups, users in one and in both: an answer of each is private, and mistakes
are caught."""

from functools import partial

import pytest

from helpers import wrong_counted_groups as wrong
from helpers.audited import broken
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import universe_of
from shortlist.mechanisms import LimitedDomain, OneShotExponential, Peeling
from shortlist.mechanisms.mechanism import Adjacency
from shortlist.mechanisms.wrappers import EachGroup, NoisyCounts


def built(kind, selects, *, groups, delta=0.02, count_share=None):
    """Around one that selects, for each group's part; with counts, if there is a share for them."""

    def selection(epsilon, delta):
        given = {"epsilon": epsilon, "delta": delta}
        fields = getattr(selects, "func", selects).fields()
        return selects(**{name: given[name] for name in given if name in fields})

    def with_counts(epsilon, delta):
        given = {"epsilon": epsilon, "delta": delta, "count_share": count_share}
        return NoisyCounts.of(selection, k=1, max_items_per_user=None, **given)

    build = selection if count_share is None else with_counts
    return kind.of(build, epsilon=2.0, delta=delta, max_groups_per_user=groups)


PRIVATE = partial(LimitedDomain, k=1)
PUBLIC = partial(Peeling, k=1)
CHANGED = partial(OneShotExponential, k=1, neighbours=Adjacency.GENERAL)


@pytest.mark.parametrize("groups", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
@pytest.mark.parametrize(
    ("selects", "delta"),
    [
        (PRIVATE, 0.2),
        (partial(LimitedDomain, k=2, max_items_per_user=1), 0.02),
        (PUBLIC, 0.02),
        (CHANGED, 0.0),
    ],
)
def test_an_answer_of_each_group_is_private(selects, delta, groups):
    mechanism = built(EachGroup, selects, groups=groups, delta=delta)
    assert broken(audit_exactly(mechanism, quick=True)) == set()


FEW = [[(0, 0), (1, 0), (1, 1), (2, 1)]]


@pytest.mark.parametrize(
    ("selects", "groups", "delta"), [(PUBLIC, 1, 0.02), (PUBLIC, 2, 0.02), (CHANGED, 1, 0.0)]
)
def test_so_it_is_with_counts(selects, groups, delta):
    mechanism = built(EachGroup, selects, groups=groups, delta=delta, count_share=0.9)
    assert broken(audit_exactly(mechanism, quick=True, families=FEW)) == set()


@pytest.mark.parametrize(
    ("kind", "selects", "groups", "delta"),
    [
        (wrong.ChargedOnce, PRIVATE, 2, 0.02),
        (wrong.ChargedOnce, PUBLIC, 2, 0.02),
        (wrong.NamesAny, PUBLIC, 1, 0.02),
    ],
)
def test_a_mistake_is_caught(kind, selects, groups, delta):
    mechanism = built(kind, selects, groups=groups, delta=delta)
    assert broken(audit_exactly(mechanism, quick=True))


def test_a_user_who_is_changed_is_in_other_groups_then():
    """Selections alone would not show it: one item more, and one less, cost half of a change."""
    mechanism = built(wrong.ChangedAsAdded, CHANGED, groups=1, delta=0.0, count_share=0.9)
    assert broken(audit_exactly(mechanism, quick=True, families=FEW))


def test_the_universe_has_users_in_one_group_and_in_both():
    one, both = (universe_of(built(EachGroup, PRIVATE, groups=groups)) for groups in (1, 2))
    assert one.changes(3) == [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1)]
    assert set(both.changes(3)) - set(one.changes(3)) == {(0, 1, 1), (1, 1, 0), (1, 1, 1)}
    evidence = both.evidence_of((4, 0, 2))
    assert (evidence.counts.tolist(), evidence.ends.tolist()) == ([4, 2], [2])
    families = [data for family in both.families() for data in family]
    assert {(0, 1, 0), (1, 0), (0, 1), (1, 0, 0, 1)} <= set(families)
