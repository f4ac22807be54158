"""Engines that keep light items to themselves: in memory, and with the mistakes this invites."""

from dataclasses import dataclass, replace

import numpy as np

from shortlist.evidence import ItemsBelowThreshold, WeighedItems, WeightedHistogram
from shortlist.evidence.contributions import Contributions


@dataclass
class KeptBack(ItemsBelowThreshold):
    """Light items in memory, by rank in an order of their own; `asked` is what was fetched."""

    items: WeighedItems
    below: int

    def __post_init__(self):
        self.n = len(self.items.positions)
        self.asked = []

    def fetch(self, ranks):
        assert len(set(ranks.tolist())) == len(ranks)
        assert ((ranks >= 0) & (ranks < self.n)).all()
        self.asked.append(len(ranks))
        return self.items.at(ranks[::-1])  # the order is the engine's choice


def keeping_back(evidence, below):
    """The same histogram, of which an engine shows what weighs at least so much."""
    at = np.flatnonzero((evidence.weights > 0) & (evidence.weights < below))[::-1]
    light = WeighedItems(at, evidence.weights[at], evidence.counts[at])
    shown, counts = evidence.weights.copy(), evidence.counts.copy()
    shown[at], counts[at] = 0, -1  # nobody may look at these
    return replace(evidence, weights=shown, counts=counts, below_threshold=KeptBack(light, below))


def sets_keeping_back(below, asked):
    """Users' sets of which light items are kept back: what weighs less, whatever is wanted.

    What is wanted is noted in `asked`.
    """

    class Sets(Contributions):
        def bounded(self, max_items_per_user, draws):
            return Sets(**vars(super().bounded(max_items_per_user, draws)))

        def weigh(self, show_from=None) -> WeightedHistogram:
            asked.append(show_from)
            return keeping_back(super().weigh(show_from), below)

    return Sets
