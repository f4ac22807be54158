"""Output laws: the enumerator's law of each mechanism against brute force."""

import math

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.laws import (
    ALL,
    EPSILON,
    OF_COUNTS,
    agree,
    build,
    output_law,
    shown,
)
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.user_sets import unit_weight


@pytest.mark.parametrize("mechanism", ALL + OF_COUNTS)
def test_row_order_and_item_names_change_nothing_but_the_draw(mechanism):
    rows = [(0, 0), (0, 1), (0, 2), (1, 1), (2, 1), (2, 2), (0, 1)]
    mechanism = build(mechanism, k=2)

    def law_of(rows, back):
        users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))

        def run(draws):
            held = Contributions.of_rows(users, items, n_users=3, n_items=3)
            evidence = shown(held, mechanism, draws)
            return tuple(back[i] for i in mechanism.select(evidence, draws).positions.tolist())

        return law(run)

    original = law_of(rows, [0, 1, 2])
    agree(law_of(rows[::-1], [0, 1, 2]), original, 1e-9)
    agree(law_of([(2 - u, (i + 1) % 3) for u, i in rows], [2, 0, 1]), original, 1e-9)


@pytest.mark.parametrize("mechanism", [ALL[0], *exhaustive(*ALL[1:])])  # as in the audit's samples
def test_the_code_draws_from_its_law(mechanism):
    # Frequencies within 4.5 standard errors, and not within that of a law 30 % off.
    mechanism = build(mechanism, k=2)
    data = (frozenset({0, 1}), frozenset({0}), frozenset({0, 1, 2}), frozenset({0, 2}))

    def positions_only(mechanism):
        law = {}
        for outcome, p in output_law(mechanism, data).items():
            law[outcome[:-2]] = law.get(outcome[:-2], 0) + p
        return law

    expected = positions_only(mechanism)
    rows = [(user, item) for user, items in enumerate(data) for item in items]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    held = Contributions.of_rows(users, items, n_users=4, n_items=3)
    draws, n, seen = ExactDraws(SeededBits(20)), 4000, {}
    for _ in range(n):
        selection = mechanism.select(shown(held, mechanism, draws), draws)
        outcome = tuple(selection.positions.tolist())
        seen[outcome] = seen.get(outcome, 0) + 1

    def deviation(law):
        return max(
            abs(seen.get(o, 0) / n - p) / math.sqrt(max(p * (1 - p), 1 / n) / n)
            for o, p in law.items()
        )

    assert seen.keys() <= expected.keys()
    assert deviation(expected) < 4.5
    assert deviation(positions_only(build(type(mechanism), k=2, epsilon=EPSILON * 1.3))) > 4.5


def test_unit_weights_never_exceed_norm_one():
    for size in [*range(1, 2000), 10**6, 2**40, 2**62]:
        weight = unit_weight(size)
        assert size * weight**2 <= 2**64 < size * (weight + 1) ** 2
