"""What holds of every mechanism's answers, whatever the counts."""

import math

import numpy as np
import pytest

from helpers.enrolled import ALL, BOUNDS, PUBLIC, build, check, every, evidence
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.errors import InputError
from shortlist.evidence import (
    LabelledCounts,
    Outcomes,
    PairsOfItems,
    UserGroups,
    WeightedHistogram,
)
from shortlist.evidence.user_sets import UserSets


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (m, name)
        for m in ALL
        if not issubclass(m.evidence, UserSets | UserGroups)  # which is bounded in `select`
        for name in m.fields()
        if name in BOUNDS
    ],
)
def test_looser_evidence_is_refused_and_tighter_is_welcome(mechanism, name):
    built = build(mechanism)
    with pytest.raises(InputError, match=rf"{name}=10: .* bounded at 11"):
        built.select(evidence(mechanism, [5, 6], bound=11), ExactDraws(SeededBits(1)))
    for bound in (1, 9, 10):
        check(built.select(evidence(mechanism, [5, 6], bound=bound), ExactDraws(SeededBits(1))), 2)
    if mechanism.evidence is not WeightedHistogram:  # which is always bounded
        with pytest.raises(InputError, match=rf"{name}=10: .* not bounded"):
            built.select(evidence(mechanism, [5, 6], bound=None), ExactDraws(SeededBits(1)))
        unbounded = build(mechanism, **{name: None})
        for bound in (1, 10**6, None):
            seen = evidence(mechanism, [5, 6], bound=bound)
            check(unbounded.select(seen, ExactDraws(SeededBits(1))), 2)


ONE_BY_ONE = [m for m in ALL if m.evidence is not PairsOfItems]  # the others' positions are pairs
of_items = pytest.mark.parametrize("mechanism", ONE_BY_ONE)

TABLES = [
    [],
    [7],
    [10**6],
    [1000] * 300,
    [0] * 50,
    [0, 0, 5000, 0],
    list(range(700)),
]


@of_items
def test_no_item_is_given_twice(mechanism):
    limited = "k" in mechanism.fields()
    for k, epsilon in [(1, 0.01), (2, 1.0), (1000, 30.0)]:
        built = build(mechanism, k=k, epsilon=epsilon)
        for counts in TABLES:
            selection = built.select(evidence(mechanism, counts), ExactDraws(SeededBits(2)))
            check(selection, len(counts), k if limited else None)


@pytest.mark.parametrize(
    "mechanism", [m for m in ONE_BY_ONE if not issubclass(m.evidence, UserSets | UserGroups)]
)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 100.0])
def test_huge_counts(mechanism, epsilon):
    counts = [2**62 - 1, 2**62 - 1, 2**62 - 2, 2**61, 1, 1, 0]
    weights = [2**62 - 1, 2**62 - 1, 2**61, 2**60, 2**32, 0, 0]
    built = build(mechanism, k=5, epsilon=epsilon)
    limit = 5 if "k" in mechanism.fields() else None
    selection = built.select(evidence(mechanism, counts, weights), ExactDraws(SeededBits(3)))
    check(selection, len(counts), limit)
    if epsilon >= 1:
        assert {0, 1} <= set(selection.positions[:3].tolist())


@pytest.mark.parametrize(
    "mechanism", [m for m in ONE_BY_ONE if not (m.evidence in PUBLIC or m.question.keeps_order)]
)
def test_an_item_that_nobody_holds_is_never_named(mechanism):
    counts, weights = [10**5, 50, 0, 3], [10**5 << 32, 0, 0, 0]
    for seed in range(20):
        built = build(mechanism, epsilon=20.0, delta=0.3, k=4)
        selection = built.select(evidence(mechanism, counts, weights), ExactDraws(SeededBits(seed)))
        weighed = mechanism.evidence is WeightedHistogram
        assert set(selection.positions.tolist()) <= ({0} if weighed else {0, 1, 3})


@of_items
def test_the_common_items_are_found(mechanism):
    built = build(mechanism, epsilon=20.0)
    counts = [0, 10_000, 1, 30_000, 20_000]
    selection = built.select(evidence(mechanism, counts), ExactDraws(SeededBits(4)))
    positions = selection.positions.tolist()
    in_order = "k" in mechanism.fields() and not getattr(mechanism, "names_sets", False)
    assert selection.ordered is in_order
    best_first = sorted(positions, key=counts.__getitem__, reverse=True)
    named = [3, 4, 1, *([2, 0] if mechanism.question.keeps_order else [])]
    assert (positions if selection.ordered else best_first) == named
    others = Outcomes, LabelledCounts  # whose scores are no counts
    if selection.scores is not None and mechanism.evidence not in others:
        expected = np.array(counts)[positions]
        assert np.abs(selection.scores - expected).max() < 6 * selection.noise_sd
        assert mechanism.score_unit


@every
@pytest.mark.parametrize("counts", [[9, 800, 0, 700, 3], [40, 0, 30, 20]])
def test_selecting_repeats_from_the_same_bits_and_changes_nothing(mechanism, counts):
    built, seen = build(mechanism), evidence(mechanism, counts)
    kept = [name for name in vars(seen) if not name.startswith("n_")]  # a view counts accesses
    before = {name: np.copy(getattr(seen, name)) for name in kept}
    bits = [SeededBits(5), SeededBits(5), SeededBits(5)]
    draws = [
        ExactDraws(bits[0]),
        ExactDraws(bits[1]),
        ExactDraws(bits[2], math.inf),
    ]  # the last is forced slow
    one, *others = (built.select(seen, each) for each in draws)
    for other in others:
        assert one.positions.tolist() == other.positions.tolist()
        assert (one.scores is None) == (other.scores is None)
        assert one.scores is None or one.scores.tolist() == other.scores.tolist()
    assert len({int(each.words(1)[0]) for each in bits}) == 1
    assert all((before[name] == getattr(seen, name)).all() for name in kept)
