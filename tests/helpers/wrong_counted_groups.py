"""Selection in each group of a histogram with one mistake each."""

import numpy as np

from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import Selection
from shortlist.mechanisms.wrappers import EachGroup


class ChargedOnce(EachGroup):
    """As if a user were in one group."""

    cost = property(lambda self: self.selection.cost)

    @classmethod
    def of(cls, build, *, epsilon, delta, max_groups_per_user):
        return cls(
            selection=build(epsilon, delta),
            epsilon=epsilon,
            delta=delta,
            max_groups_per_user=max_groups_per_user,
        )


class ChangedAsAdded(EachGroup):
    """As if a user who is changed stayed in the same groups."""

    times = property(lambda self: self.max_groups_per_user)


class NamesAny(EachGroup):
    """In a private group, an item of its own is always named, as if everybody knew these."""

    names_private_items = True

    def select(self, evidence, draws):
        """Groups that anybody is in, with what would be right for public items."""
        told = [np.empty(0, np.int64)]
        for start, each in evidence.each():
            told.append(start + self.selection.select(PublicCounts(each.counts), draws).positions)
        return Selection(np.concatenate(told))
