"""What holds of every mechanism: they enrol by being listed in `shortlist.mechanisms`."""

import dataclasses
import inspect
import itertools
import json
import math
import re
from fractions import Fraction
from functools import lru_cache, reduce
from numbers import Real
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.views import Listed
from shortlist import mechanisms
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.errors import InputError
from shortlist.evidence import Outcomes, PrivateCounts, PublicCounts, WeightedHistogram, Wins
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.view import View
from shortlist.mechanisms import AddedNoise, Mechanism, OneShotLaplace, Selection
from shortlist.parameters import Option

fixed = settings(derandomize=True, deadline=None, max_examples=25)
LISTED = [getattr(mechanisms, name) for name in mechanisms.__all__]
ALL = [
    listed
    for listed in LISTED
    if isinstance(listed, type) and issubclass(listed, Mechanism) and not inspect.isabstract(listed)
]
BOUNDS = {"max_items_per_user": 10, "max_comparisons_per_user": 10}
USUAL = {"k": 3, "epsilon": 1.0, "delta": 1e-6, **BOUNDS}
PUBLIC = (PublicCounts, Outcomes, View, Wins)  # evidence whose items everybody knows
DELTAS = [1e-290, 1e-100, 1e-12, 1e-6, 1e-3, 0.3]

every = pytest.mark.parametrize("mechanism", ALL)


def within_theorem(mechanism, given):
    """One-shot Laplace noise has a theorem with a delta up to epsilon = 0.2 only; beyond, pure.

    Where the noise of a sublinear top-k is not Gumbel's, it is pure.
    """
    if given.get("noise") in (AddedNoise.LAPLACE, AddedNoise.EXPONENTIAL):
        return given | {"delta": 0.0}
    epsilon, delta = given["epsilon"], given["delta"]
    numbers = all(isinstance(x, Real) for x in (epsilon, delta))
    if mechanism is not OneShotLaplace or not numbers or not 0 < delta < 1:
        return given
    return given if epsilon <= 0.2 and delta <= 0.05 else given | {"delta": 0.0}


def build(mechanism, **given):
    given = within_theorem(mechanism, USUAL | given)
    return mechanism(**{name: given[name] for name in mechanism.fields() if name in given})


def having(*names):
    return pytest.mark.parametrize("mechanism", [m for m in ALL if set(names) <= set(m.fields())])


@lru_cache
def one_item_each(counts):
    """Users who hold one item each."""
    items = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    users = np.arange(len(items), dtype=np.uint32)
    return Contributions.of_rows(users, items, n_users=len(users), n_items=len(counts))


def evidence(mechanism, counts, weights=None, bound=10):
    if mechanism.evidence is Contributions:
        return one_item_each(tuple(counts))
    counts = np.array(counts, np.int64)
    if mechanism.evidence is View:
        return Listed(counts)
    if mechanism.evidence is Outcomes:
        return outcomes(counts[:60], bound)
    if mechanism.evidence in (PublicCounts, PrivateCounts, Wins):
        return mechanism.evidence(counts, bound)
    weights = counts * 2**32 if weights is None else np.array(weights, np.int64)
    return WeightedHistogram(weights, counts, bound)


def outcomes(counts, bound, times=2**40):
    """Comparisons of every pair, won in proportion to the counts."""
    first, second = np.triu_indices(len(counts), 1)
    odds = (counts[first] + 1.0) / (counts[first] + counts[second] + 2.0)
    wins = np.rint(odds * times).astype(np.int64)
    return Outcomes(first, second, np.full(len(first), times), wins, len(counts), bound)


def check(selection, n, k=None):
    """A selection names no item twice, and has a finite score for each or none."""
    assert isinstance(selection, Selection)
    positions = selection.positions.tolist()
    assert len(set(positions)) == len(positions) <= (n if k is None else min(k, n))
    assert all(0 <= position < n for position in positions)
    if selection.scores is not None:
        assert selection.scores.shape == selection.positions.shape
        assert np.isfinite(selection.scores).all()
        assert selection.noise_sd > 0


def test_the_list_is_what_the_tests_enrol():
    assert len(ALL) >= 4
    options = {x for x in LISTED if isinstance(x, type) and issubclass(x, Option)}
    assert set(LISTED) - set(ALL) - options == {Mechanism, Selection}
    used = {type(field.default) for m in ALL for field in dataclasses.fields(m)}
    assert options == {kind for kind in used if issubclass(kind, Option)}


@every
def test_it_is_a_frozen_value(mechanism):
    one, same, other = build(mechanism), build(mechanism), build(mechanism, epsilon=2.0)
    assert one == same
    assert hash(one) == hash(same)
    one.parameters()  # computed values are no part of what it is
    assert one == same
    assert one != other
    for name in (*mechanism.fields(), *mechanism.derived):
        with pytest.raises(AttributeError):
            setattr(one, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.epsilon = 5.0
    assert f"epsilon={one.epsilon!r}" in repr(one)
    with pytest.raises(TypeError, match="positional"):
        mechanism(1)


BAD = {
    "epsilon": [0, 0.0, -1, -0.5, math.nan, math.inf, -math.inf, True, "1", None],
    "delta": [-1, -1e-9, 1, 1.0, 1.5, math.nan, math.inf, True, "0.1", None],
    "k": [0, -1, 1.5, 2.0, True, "3", math.nan, None],
    "max_items_per_user": [0, -1, 1.5, True, "3", math.inf, None],
    "max_comparisons_per_user": [0, -1, 1.5, True, "3", math.inf],
    "contraction": [-0.1, 1, 1.0, 1 - 1e-7, math.nan, math.inf, True, "0.5"],
    "degree": [0, -1, 1.5, True, "3", math.inf],
}


@pytest.mark.parametrize(
    ("mechanism", "name", "value"),
    [
        (m, field.name, value)
        for m in ALL
        for field in dataclasses.fields(m)
        for value in BAD.get(field.name, [])
        if not (value is None and field.type.endswith("| None"))
    ],
)
def test_bad_parameters_are_refused_by_name_and_value(mechanism, name, value):
    with pytest.raises(InputError, match=re.escape(f"{name}={value!r}")):
        build(mechanism, **{name: value})


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [(m, name) for m in ALL for name in m.fields() if name.endswith("_share")],
)
def test_shares_are_proper(mechanism, name):
    for value in (0, 1, -0.5, 1.5, math.nan, True, "0.5"):
        with pytest.raises(InputError, match=re.escape(f"{name}={value!r}")):
            mechanism(**{n: USUAL[n] for n in mechanism.fields() if n in USUAL}, **{name: value})


@every
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("k", [1, 371, 1000, 100_000])
def test_without_delta_it_is_pure_or_refused(mechanism, epsilon, k):
    if mechanism.evidence not in PUBLIC:
        with pytest.raises(InputError, match="delta is needed"):
            build(mechanism, delta=0.0, epsilon=epsilon, k=k)
    else:
        cost = build(mechanism, delta=0.0, epsilon=epsilon, k=k).cost
        assert cost.delta(epsilon) == 0
        assert cost.parameters()["epsilon"] <= epsilon * (1 + 1e-12)


@every
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("delta", DELTAS)
def test_cost_is_within_what_was_asked_for(mechanism, epsilon, delta):
    for k in (1, 7, 100, 1000):
        cost = build(mechanism, epsilon=epsilon, delta=delta, k=k).cost
        assert cost.delta(epsilon) <= delta
        assert cost.epsilon(delta) <= epsilon * (1 + 1e-9)


@having("k")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_one_item_is_not_spoken_of_as_many(mechanism, delta):
    try:
        told = " ".join(build(mechanism, epsilon=0.1, delta=delta, k=1).explain())
    except InputError:  # with that delta
        return
    assert not re.search(r"\b1 (items|picks|are)\b|\b1 items", told)
    several = " ".join(build(mechanism, epsilon=0.1, delta=delta, k=7).explain())
    assert not re.search(r"\b7 (item|pick|is)\b", several)


@having("threshold_share")
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.9, 1 - 1e-6])
def test_cost_stays_within_whatever_the_threshold_s_share(mechanism, share):
    given = {name: USUAL[name] for name in mechanism.fields() if name in USUAL}
    built = mechanism(**given, threshold_share=share)
    assert built.cost.delta(1.0) <= 1e-6
    assert built.explain()


@having("discovery_share")
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.5, 1 - 1e-6])
def test_cost_stays_within_whatever_the_discovery_s_share(mechanism, share):
    given = {name: USUAL[name] for name in mechanism.fields() if name in USUAL}
    built = mechanism(**given, discovery_share=share)
    assert built.cost.delta(1.0) <= 1e-6
    check(built.select(evidence(mechanism, [90, 40, 0, 7]), ExactDraws(SeededBits(1))), 4, 3)


@every
@settings(fixed, max_examples=10)
@given(epsilon=st.floats(1e-3, 50), log_delta=st.floats(-280, -0.6), k=st.integers(1, 1000))
def test_cost_is_within_any_budget(mechanism, epsilon, log_delta, k):
    delta = 10.0**log_delta
    cost = build(mechanism, epsilon=epsilon, delta=delta, k=k).cost
    assert cost.delta(epsilon) <= delta


@every
@pytest.mark.parametrize("delta", [5e-324, 1e-323, 1e-310, 1e-300])
def test_a_delta_at_the_end_of_the_floats_works_or_is_refused(mechanism, delta):
    try:
        built = build(mechanism, delta=delta)
        cost, parameters = built.cost, built.parameters()
    except InputError as error:
        assert f"delta={delta!r}" in str(error)  # noqa: PT017 - refusing is one of two good ways
        return
    assert cost.delta(1.0) <= delta
    numbers = [value for value in parameters.values() if isinstance(value, Real)]
    assert all(math.isfinite(value) for value in numbers)


@every
@pytest.mark.parametrize(
    "given", [{"epsilon": 1e-9, "delta": 1e-12}, {"epsilon": 1e20}, {"epsilon": 1e160}]
)
def test_an_extreme_epsilon_works_or_is_refused_before_data_is_seen(mechanism, given):
    try:
        built = build(mechanism, **given)
    except InputError:
        return
    assert all(math.isfinite(value) for value in built.cost.parameters().values())
    assert built.cost.delta(built.epsilon) <= built.delta
    check(built.select(evidence(mechanism, [5, 2**18]), ExactDraws(SeededBits(1))), 2)


@every
@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_cost_of_n_copies_is_n_composed_costs(mechanism, n):
    cost = build(mechanism).cost
    product, total = cost * n, reduce(add, [cost] * n)
    assert type(product) is type(total)
    for name, value in product.parameters().items():
        exact = Fraction(cost.parameters()[name]) * n
        assert exact <= Fraction(value) <= exact * (1 + Fraction(1, 2**50))
        assert exact <= Fraction(total.parameters()[name]) <= exact * (1 + Fraction(n, 2**50))
    assert product.delta(n * 1.0) <= n * 1e-6 * (1 + 1e-12)  # basic composition is no better


@every
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_less_budget_never_costs_more(mechanism, epsilon):
    cost = build(mechanism, epsilon=epsilon).cost
    more = build(mechanism, epsilon=epsilon * 2).cost
    assert more.delta(epsilon) > USUAL["delta"]
    assert more.epsilon(1e-6) > cost.epsilon(1e-6) * 1.5


@every
def test_parameters_are_all_public_and_serialisable(mechanism):
    built = build(mechanism)
    parameters = built.parameters()
    assert json.loads(json.dumps(parameters, allow_nan=False)) == parameters
    assert list(parameters) == [*mechanism.fields(), *mechanism.derived]
    for field in dataclasses.fields(mechanism):
        if isinstance(field.default, Option):
            parameters[field.name] = type(field.default)(parameters[field.name])
    assert mechanism(**{name: parameters[name] for name in mechanism.fields()}) == built


@pytest.mark.parametrize(
    ("mechanism", "field"),
    [(m, f) for m in ALL for f in dataclasses.fields(m) if isinstance(f.default, Option)],
)
def test_an_option_is_one_of_its_kind(mechanism, field):
    for option in type(field.default):
        assert build(mechanism, **{field.name: option}) is not None
    for value in ("largest", None, True, 1, Option):
        with pytest.raises(InputError, match=re.escape(f"{field.name}=")):
            build(mechanism, **{field.name: value})


NUMBERS = {
    "k": [np.int64(5), np.uint8(200)],
    "max_items_per_user": [np.int64(300), np.uint8(255)],
    "max_comparisons_per_user": [np.int64(300), np.uint8(255)],
    "degree": [np.int64(300), np.uint8(255)],
    "contraction": [np.float32(0.1), np.float64(0.1), np.int64(0), 0],
    "epsilon": [np.float32(0.1), np.float64(0.1), np.int64(1), 1, Fraction(1, 3)],
    "delta": [np.float32(1e-6), np.float64(1e-6), Fraction(1, 10**6)],
}


@pytest.mark.parametrize(
    ("mechanism", "name", "value"),
    [(m, n, value) for m in ALL for n in NUMBERS if n in m.fields() for value in NUMBERS[n]],
)
def test_a_number_of_another_library_is_as_good_as_ours_or_refused(mechanism, name, value):
    ours = {Fraction: float, int: int}.get(type(value)) or type(value.item())
    try:
        built = build(mechanism, **{name: value})
    except InputError as error:
        assert f"{name}=" in str(error)  # noqa: PT017 - refusing is one of two good ways
        return
    same = build(mechanism, **{name: ours(value)})
    assert built.cost == same.cost
    assert json.loads(json.dumps(built.parameters())) == same.parameters()
    assert built.explain() == same.explain()


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (m, name)
        for m in ALL
        if m.evidence is not Contributions  # which is bounded in `select`
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


TABLES = {
    "none": [],
    "one": [7],
    "one, common": [10**6],
    "equal": [1000] * 300,
    "zeros": [0] * 50,
    "zeros and one": [0, 0, 5000, 0],
    "distinct": list(range(2000)),
}


@every
@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("k", [1, 2, 1000])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_no_item_is_given_twice(mechanism, counts, k, epsilon):
    built = build(mechanism, k=k, epsilon=epsilon)
    limit = k if "k" in mechanism.fields() else None
    check(built.select(evidence(mechanism, counts), ExactDraws(SeededBits(2))), len(counts), limit)


@pytest.mark.parametrize("mechanism", [m for m in ALL if m.evidence is not Contributions])
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


@pytest.mark.parametrize("mechanism", [m for m in ALL if m.evidence not in PUBLIC])
def test_an_item_that_nobody_holds_is_never_named(mechanism):
    counts, weights = [10**5, 50, 0, 3], [10**5 << 32, 0, 0, 0]
    for seed in range(20):
        built = build(mechanism, epsilon=20.0, delta=0.3, k=4)
        selection = built.select(evidence(mechanism, counts, weights), ExactDraws(SeededBits(seed)))
        weighed = mechanism.evidence is WeightedHistogram
        assert set(selection.positions.tolist()) <= ({0} if weighed else {0, 1, 3})


@every
def test_the_common_items_are_found(mechanism):
    built = build(mechanism, epsilon=20.0)
    counts = [0, 10_000, 1, 30_000, 20_000]
    selection = built.select(evidence(mechanism, counts), ExactDraws(SeededBits(4)))
    positions = selection.positions.tolist()
    assert selection.ordered is ("k" in mechanism.fields())
    is_set = selection.scores is None and not selection.ordered
    assert (sorted(positions) if is_set else positions) == ([1, 3, 4] if is_set else [3, 4, 1])
    if selection.scores is not None and mechanism.evidence is not Outcomes:
        expected = np.array([30_000, 20_000, 10_000])
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


@every
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1e-3, 1e-12), (50.0, 0.3)])
def test_it_explains_itself_in_plain_sentences(mechanism, epsilon, delta):
    sentences = build(mechanism, epsilon=epsilon, delta=delta).explain()
    assert sentences
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z0-9].*\.", sentence)
        assert not re.search(r"\b(nan|inf|None|array|float64)\b|[{}<>]", sentence)
        assert len(sentence) < 250


@every
def test_its_proof_and_source_are_named(mechanism):
    assert "Guarantee:" in mechanism.__doc__
    assert "Source:" in mechanism.__doc__
    notes = re.findall(r"docs/proofs/([\w-]+)\.md", mechanism.__doc__)
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", mechanism.__name__).lower()
    assert notes in ([kebab], [kebab.removesuffix("-permute-and-flip")])  # a variant, beside it


def test_all_pairs_of_mechanisms_differ():
    assert all(build(a) != build(b) for a, b in itertools.combinations(ALL, 2))
