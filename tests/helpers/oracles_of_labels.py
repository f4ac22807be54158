"""The law of associations with a label by its definition, on tables of few users and two items.

A table is a tuple of users, each a label, True for a case, and the set of items held.
"""

import itertools
import math
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.special import ndtr

from helpers.oracles_of_cells import of_cells
from helpers.oracles_of_counts import peeling_oracle
from helpers.small import Small
from shortlist.draws.noise import Normal
from shortlist.evidence import LabelledCounts
from shortlist.parameters import Side

N_ITEMS = 2
EDGES = (0.5,)
SETS = [frozenset(), frozenset({0}), frozenset({0, 1})]
USERS = [(label, items) for label in (True, False) for items in SETS]
TABLES = [
    (),
    ((True, SETS[1]),),
    ((True, SETS[2]), (False, SETS[0])),
    ((True, SETS[1]), (False, SETS[2])),
    ((True, SETS[1]),) * 12,
]


def labelled(_mechanism, users, n_items=N_ITEMS, _draws=None):
    """What the mechanism is shown of a table."""

    def held(wanted):
        sets = [items for label, items in users if label is wanted]
        return np.array([sum(i in items for items in sets) for i in range(n_items)], np.int64)

    n_cases = sum(label for label, _ in users)
    return LabelledCounts(held(True), held(False), n_cases, len(users) - n_cases)


SMALL = Small(N_ITEMS, [(users, (*users, one)) for users in TABLES[:3] for one in USERS], labelled)


def build(kind, *, k=None, epsilon=2.0, **options):
    """A mechanism that draws few sizes."""
    made = kind(k=k or 1, n_items=N_ITEMS, epsilon=epsilon, delta=0.2, fdr=0.1, **options)
    return replace(made, design=made.design.coarse)


def law_of_sizes(mechanism, evidence):
    """Both sizes with their chance: the nearest whole numbers, from 0 to the highest."""
    sizes = evidence.n_cases, evidence.n_controls
    if mechanism.size_sd is None:
        return {(mechanism.cases, mechanism.controls): 1.0}
    highest = mechanism.design.highest

    def chance(n, drawn):
        ends = (drawn - 0.5 if drawn else -math.inf, drawn + 0.5 if drawn < highest else math.inf)
        low, high = (ndtr((end - n) / mechanism.size_sd) for end in ends)
        return high - low

    each = range(highest + 1)
    return {h: math.prod(map(chance, sizes, h)) for h in itertools.product(each, each)}


def law_of_picks(mechanism, scores, widest):
    """The items that are looked at, in the order picked."""
    rate, k = mechanism.local_epsilon / widest, mechanism.k
    if mechanism.side is not Side.BOTH:
        sign = 1 if mechanism.side is Side.CASES else -1
        return peeling_oracle([sign * s for s in scores], k, rate)
    law = Counter()
    for first, p in peeling_oracle(scores, k - k // 2, rate).items():
        left = [i for i in range(len(scores)) if i not in first]
        behind = peeling_oracle([-scores[i] for i in left], k // 2, rate) if k // 2 else {(): 1.0}
        for places, q in behind.items():
            law[(*first, *(left[i] for i in places))] += p * q
    return law


def law_of_values(numbers, own, shared):
    """In which cells numbers in noise are, of which a part is the same for all."""
    moves, weights = np.polynomial.hermite_e.hermegauss(60)
    moves = moves * shared if shared else [0.0]
    weights = weights / weights.sum() if shared else [1.0]
    law = Counter()
    for move, weight in zip(moves, weights, strict=True):
        chances = [of_cells(Normal(own), [e - x - move for e in EDGES]) for x in numbers]
        for cells in itertools.product(range(len(EDGES) + 1), repeat=len(numbers)):
            inside = (each[cell] for each, cell in zip(chances, cells, strict=True))
            law[cells] += weight * math.prod(inside)
    return law


_law_of_values = cache(law_of_values)


def law_of_labels(mechanism, users):
    """Sizes, picks, and the cells of values and holders."""
    evidence, law = labelled(mechanism, users), Counter()
    sign = -1 if mechanism.side is Side.CONTROLS else 1
    held = (evidence.cases + evidence.controls).tolist()
    for sizes, p in law_of_sizes(mechanism, evidence).items():
        cases, controls = sizes if sum(sizes) else (1, 1)
        widest = max(cases, controls)
        scores = (evidence.cases * controls - evidence.controls * cases).tolist()
        score_noise = [part * widest for part in reversed(mechanism._score_noise)]
        for picked, q in law_of_picks(mechanism, scores, widest).items():
            of_scores = _law_of_values(tuple(sign * scores[i] - 0.5 for i in picked), *score_noise)
            of_held = _law_of_values(
                tuple(held[i] + 0.5 for i in picked), *reversed(mechanism._holder_noise)
            )
            for (told, r), (holders, s) in itertools.product(of_scores.items(), of_held.items()):
                law[picked, sizes, told, holders] += p * q * r * s
    return dict(law)
