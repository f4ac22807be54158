"""Counts of a list beside the number of all users, which is one count more: private, or seen."""

import pytest

from helpers.audited import broken
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import universe_of
from shortlist.mechanisms import CountEach
from shortlist.parameters import ShareOfUsers

COUNTED = CountEach(n_items=3, epsilon=1.0, share_of_users=ShareOfUsers.COUNTED)
# The number of users, and of those who hold each item.
FEW = [[(0, 0, 0, 0), (3, 1, 1, 0)]]


def test_a_user_is_always_one_of_all():
    universe = universe_of(COUNTED, quick=True)
    assert {change[0] for change in universe.changes(3)} == {1}
    assert (1, 0, 0) in universe.changes(3)
    shown = universe.evidence_of((5, 2, 1))
    assert (shown.users, shown.counts.tolist()) == (5, [2, 1])


def test_counts_and_users_are_private():
    assert broken(audit_exactly(COUNTED, quick=True, families=FEW)) == set()


def test_a_number_of_users_that_nobody_pays_for_is_seen(monkeypatch):
    """Planted: the noise is that of the list alone."""
    monkeypatch.setattr(CountEach, "_changed", property(lambda self: self.n_items))
    cheap = CountEach(n_items=3, epsilon=1.0, share_of_users=ShareOfUsers.COUNTED)
    assert broken(audit_exactly(cheap, quick=True, families=FEW))


@pytest.mark.parametrize("n_items", [1, 2])
def test_a_change_is_within_a_bound_and_the_user_is_not_counted_in_it(n_items):
    bounded = CountEach(
        n_items=2, epsilon=1.0, max_items_per_user=1, share_of_users=ShareOfUsers.COUNTED
    )
    changes = universe_of(bounded, quick=True).changes(n_items + 1)
    assert len(changes) == n_items + 1
    assert max(map(sum, changes)) == 2
