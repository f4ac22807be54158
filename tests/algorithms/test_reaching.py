"""Picks by users reached anew, of items of which some are worth more, against their definition."""

import itertools

import numpy as np
import pytest

from helpers.hitting import contributions, picks_oracle
from helpers.laws import agree
from shortlist.algorithms.reaching import pick_by_reach
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

SETS = [frozenset(s) for n in range(1, 4) for s in itertools.combinations(range(3), n)]
WORTH = {0: 1.0, 1: 8.0, 2: 2.5}


def picks_law(data, domain, k, epsilon, worth):
    held, each = contributions(data, 3), np.array([worth[x] for x in domain])

    def run(draws):
        places = pick_by_reach(held, np.array(domain, np.int64), each, k, epsilon, draws)
        return tuple(domain[place] for place in places)

    return law(run)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("domain", [(0, 1, 2), (0, 2), ()])
def test_picks_have_the_law_of_their_definition(k, domain):
    for data in itertools.combinations_with_replacement(SETS, 2):
        oracle = picks_oracle(data, domain, k, 0.7, WORTH)
        agree(picks_law(data, domain, k, 0.7, WORTH), oracle, 1e-12)


def test_worth_left_out_or_another_epsilon_is_another_law():
    data, oracle = SETS[:4], picks_oracle(SETS[:4], (0, 1, 2), 2, 0.7, WORTH)
    for epsilon, worth in ((0.7, dict.fromkeys(range(3), 1.0)), (0.91, WORTH)):
        found = picks_law(data, (0, 1, 2), 2, epsilon, worth)
        assert max(abs(found[told] - p) for told, p in oracle.items()) > 0.01


def test_few_far_ahead_are_picked_before_thousands():
    data = [frozenset({user % 3}) for user in range(300)] + [
        frozenset({3 + n}) for n in range(4000)
    ]
    held, domain = contributions(data, 4003), np.arange(4003)
    picks = pick_by_reach(held, domain, np.ones(4003), 5, 2.0, ExactDraws(SeededBits(1)))
    assert sorted(picks[:3].tolist()) == [0, 1, 2]
    assert len(set(picks.tolist())) == 5
