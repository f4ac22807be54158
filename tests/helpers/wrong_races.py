"""Races with the mistakes that a race invites: tests must catch each."""

from unittest import mock

import numpy as np

from shortlist.algorithms.race import Race
from shortlist.algorithms.thinning import BinomialWeights
from shortlist.mechanisms import ThresholdTopK, threshold_top_k


class Stale(Race):
    """How many fall into the next page is drawn ahead, and kept when a random access comes."""

    kept = None

    def _advance(self, _):
        width = -(-self._unreached // 2)
        if self.kept is None:
            self.kept = self._count(width)
        found = min(self.kept, self._hidden.left)
        places = self._draws.integer(self._hidden.left - np.arange(found))
        ids = [self._hidden.take(place) for place in places.tolist()]
        self._unreached -= width
        self._keep(ids, self._unreached + self._draws.integer(np.full(found, width)))
        if self._unreached:
            self.kept = self._count(-(-self._unreached // 2))

    def _count(self, width):
        hidden = self._hidden.left
        if hidden == 0 or width == self._unreached:
            return hidden
        return BinomialWeights(hidden, width, self._unreached).draw(self._draws)


class Forgetful(Race):
    """Draws numbers again that no sorted access has told yet."""

    def random_access(self, ids):
        asked = ids.tolist()
        again = [i for i in asked if i in self._drawn and i not in self._in_order]
        if self._unreached:
            self._waiting = sorted(w for w in self._waiting if w[1] not in again)
            self._keep(again, self._draws.integer(np.full(len(again), self._unreached)))
        return super().random_access(ids)


class Repeating(Race):
    """Lets the pages draw ids that a random access drew."""

    def random_access(self, ids):
        asked = ids.tolist()
        new = [i for i in asked if i not in self._drawn]
        self._keep(new, self._draws.integer(np.full(len(new), self._unreached)))
        return self._bits_of(asked)


class Everywhere(Race):
    """Random accesses know nothing of the race."""

    def random_access(self, ids):
        self._unreached, before = 4, self._unreached
        answer = super().random_access(ids)
        self._unreached = before
        return answer


class StaleTopK(ThresholdTopK):
    def select(self, evidence, draws):
        with mock.patch.object(threshold_top_k, "Race", Stale):
            return super().select(evidence, draws)
