"""Two groups, users in one and in both: top-k per group is private, and its mistakes are caught."""

import pytest

from helpers import wrong_groups as wrong
from helpers.audited import broken
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import universe_of
from shortlist.mechanisms import PerGroup

# How many users are in the first group, in the other, and in both.
FAMILIES = [[(0, 0, 0), (1, 1, 0), (0, 0, 1), (2, 1, 0), (3, 3, 0), (0, 0, 2)]]
NOBODY = [[(0, 0, 0)]]
MANY_IN_BOTH = [[(n, m, 1) for n, m in ((0, 0), (1, 1), (4, 4))]]


def built(kind, *, groups=1, delta=0.02, **given):
    """With so little delta that what happens once in ten times is seen."""
    numbers = {"k": 1, "epsilon": 2.0, "max_items_per_user": 2, **given}
    return kind(delta=delta, max_groups_per_user=groups, **numbers)


@pytest.mark.exhaustive
@pytest.mark.parametrize("groups", [1, 2])
def test_the_mechanism_is_private(groups):
    mechanism = built(PerGroup, groups=groups, delta=0.2)
    families = [[(5, 0, 0), (0, 0, 0), (0, 0, 1)]]
    assert broken(audit_exactly(mechanism, quick=True, families=families)) == set()


@pytest.mark.parametrize("kind", [wrong.Known, wrong.OneLook])
@pytest.mark.parametrize(
    ("groups", "families"),
    [
        (2, [FAMILIES[0][:3]]),
        pytest.param(1, FAMILIES, marks=pytest.mark.exhaustive),
        pytest.param(2, FAMILIES, marks=pytest.mark.exhaustive),
    ],
)
def test_what_is_known_need_not_be_found(kind, groups, families):
    mechanism = built(kind, groups=groups)
    assert broken(audit_exactly(mechanism, quick=True, families=families)) == set()


@pytest.mark.parametrize(
    ("kind", "groups"),
    [
        (wrong.ForOneGroup, 2),
        (wrong.BoundedByOthers, 1),
        (wrong.TellsOfGroups, 1),
        (wrong.TellsOfGroups, 2),
        (wrong.NoiseForHeld, 2),
    ],
)
def test_a_mistake_is_caught(kind, groups):
    mechanism = built(kind, groups=groups)
    families = MANY_IN_BOTH if kind is wrong.BoundedByOthers else NOBODY
    assert broken(audit_exactly(mechanism, quick=True, families=families))


@pytest.mark.parametrize("groups", [1, 2])
def test_the_universe_has_users_in_both_groups(groups):
    universe = universe_of(built(PerGroup, groups=groups))
    families = [data for family in universe.families() for data in family]
    assert any(len(data) == 3 and data[2] for data in families)
    assert universe.changes(2) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    evidence = universe.evidence_of((1, 0, 2))
    assert evidence.n_groups == 2
    assert evidence.groups.sizes.tolist() == [1, 2, 2]
    assert evidence.items().sizes.tolist() == [1, 1, 1]
