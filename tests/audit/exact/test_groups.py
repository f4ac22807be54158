"""Two groups, users in one and in both: top-k per group is private, and its mistakes are caught."""

import pytest

from helpers import wrong_groups as wrong
from helpers.audited import broken
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.findings import Verdict
from shortlist.audit.transcripts.draw_by_draw import audit_by_transcript
from shortlist.audit.universes import universe_of
from shortlist.mechanisms import PerGroup
from shortlist.parameters import GroupItems

# How many users are in the first group, in the other, and in both.
FAMILIES = [[(0, 0, 0), (1, 1, 0), (0, 0, 1), (2, 1, 0), (3, 3, 0), (0, 0, 2)]]
NOBODY = [[(0, 0, 0)]]
NEARLY_NAMED = [[(4, 4, 0)]]
OWN = {"group_items": GroupItems.OWN}
UNKNOWN = {"group_items": GroupItems.UNKNOWN}
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


@pytest.mark.parametrize(
    ("epsilon", "delta", "families"),
    [
        (2.0, 0.2, NOBODY),
        *(
            pytest.param(epsilon, delta, families, marks=pytest.mark.exhaustive)
            for epsilon, delta in ((2.0, 0.02), (0.5, 0.2))
            for families in (FAMILIES, NEARLY_NAMED)
        ),
    ],
)
def test_it_is_private_that_items_are_said_to_be_the_groups_own(epsilon, delta, families):
    """Both pairs are of one item, so that what is said is untrue."""
    mechanism = built(PerGroup, **OWN, epsilon=epsilon, delta=delta)
    assert broken(audit_exactly(mechanism, quick=True, families=families)) == set()


@pytest.mark.exhaustive
def test_a_user_whose_pairs_are_clipped_in_each_group_is_caught():
    mechanism = built(wrong.PairsApart, **OWN, epsilon=0.5, delta=0.2)
    assert broken(audit_exactly(mechanism, quick=True, families=NEARLY_NAMED))
    real = built(wrong.PairsApart, **OWN, k=10, epsilon=1.0, delta=1e-6, max_items_per_user=16)
    assert Verdict.BROKEN in {found.verdict for found in audit_by_transcript(real, quick=True)}


@pytest.mark.exhaustive
def test_it_is_private_to_choose_whose_items_are():
    mechanism = built(PerGroup, **UNKNOWN, delta=0.2)
    assert broken(audit_exactly(mechanism, quick=True, families=NOBODY)) == set()


@pytest.mark.exhaustive
def test_a_user_who_counts_in_whole_for_each_pair_in_the_choice_is_caught():
    given = {"k": 10, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 16}
    for kind, caught in ((wrong.LoudChoice, False), (wrong.WholeInChoice, True)):
        found = audit_by_transcript(built(kind, **UNKNOWN, **given), quick=True)
        assert (Verdict.BROKEN in {finding.verdict for finding in found}) is caught


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
