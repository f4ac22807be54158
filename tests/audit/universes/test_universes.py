"""Small universes: each shows what its data sets say."""

import itertools

from shortlist.audit.universes import universe_of
from shortlist.mechanisms import PolicyGreedy, SpectralRanking


def test_users_sets_are_what_a_data_set_says():
    universe = universe_of(PolicyGreedy(epsilon=1.0, delta=0.1))
    data = (0, 1, 0, 0, 2, 0, 0)  # one user holds {1}, two hold {0, 2}
    assert universe.n_items(data) == 3
    assert universe.evidence_of(data).counts.tolist() == [2, 1, 2]
    swapped = universe.permuted(data, (1, 0, 2))
    assert universe.evidence_of(swapped).counts.tolist() == [1, 2, 2]
    assert universe.written(swapped) == "(1 of {0}, 2 of {1, 2})"
    orders = list(itertools.permutations(range(3)))
    every = {universe.permuted(data, order) for order in orders}
    assert len(every) == 3
    assert len({universe.permuted(each, universe.falling(each)) for each in every}) == 1
    more = {universe.changed(data, change) for change in universe.changes(3)}
    assert len(more) == 7
    assert all(universe.evidence_of(each).sizes.sum() in (6, 7, 8) for each in more)


def test_outcomes_are_those_of_every_pair():
    universe = universe_of(SpectralRanking(k=1, epsilon=1.0, max_comparisons_per_user=2))
    evidence = universe.evidence_of(((1, 0), (2, 2), (3, 1)))
    assert list(zip(evidence.first, evidence.second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert (evidence.times.tolist(), evidence.wins.tolist()) == ([1, 2, 3], [0, 2, 1])
    assert universe.changed(((1, 0), (2, 2), (3, 1)), (0, 1, 0)) is None
    assert {sum(map(abs, change)) for change in universe.changes(3)} == {1, 2}
    assert len(universe.changes(3)) == 12
