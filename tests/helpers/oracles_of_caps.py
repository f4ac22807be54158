"""A cap chosen privately, by its definition: of users who spent 2 on one item, or 1 on several."""

import math
from collections import Counter
from functools import partial

import numpy as np

from helpers.oracles_of_counts import peeling_oracle
from helpers.small import TWO_ITEMS, Small
from shortlist.evidence import AmountsAtCaps, PublicCounts, UserAmounts
from shortlist.mechanisms import Peeling

CAPS, MOST = (1.0, 2.0), 2
DATA = [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})]


def spent(held):
    """What a user spent on each item held."""
    return MOST if len(held) == 1 else 1


def shown(mechanism, data, n_items, _draws):
    rows = [(user, item, spent(held)) for user, held in enumerate(data) for item in sorted(held)]
    columns = np.array(rows, np.int64).reshape(-1, 3).T.copy()
    held = UserAmounts.of_rows(*columns, n_items=n_items, most=MOST)
    parts = mechanism.wants.caps

    def at(place):
        sets = held.capped(parts[place]).sets
        return PublicCounts(sets.counts, unit=sets.unit)

    return AmountsAtCaps(partial(held.above, parts), at)


def law(mechanism, data):
    """The cap, by who is above it and what it costs in noise; and then picks in units of it."""
    selects, found = mechanism.selection, Counter()
    lost = [
        sum(min(len(held), mechanism.whole) for held in data if spent(held) > cap) / mechanism.whole
        + mechanism._noise * math.log(cap / CAPS[0])
        for cap in CAPS
    ]
    odds = [math.exp(-mechanism.choice_epsilon * (each - min(lost))) for each in lost]
    for cap, p in zip(CAPS, odds, strict=True):
        sums = [
            sum(min(spent(held), cap) for held in data if item in held) / cap for item in range(2)
        ]
        for picked, q in peeling_oracle(sums, selects.k, selects.local_epsilon).items():
            found[cap, picked] += p * q / sum(odds)
    return dict(found)


def build(kind, *, k, epsilon=2.0):
    """One user above a cap counts in whole, and noise weighs about as much as a user."""
    return kind.of(
        lambda epsilon, delta: Peeling(k=k, epsilon=epsilon, delta=delta),
        count_share=0.5,
        k=k,
        epsilon=epsilon,
        delta=0.2,
        caps=CAPS,
        whole=1,
        noise_weight=0.3,
    )


SMALL = Small(2, TWO_ITEMS.pairs, shown)
