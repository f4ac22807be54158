"""Counts of a list in each group of another, from users' rows: exact laws of all small tables.

They go from rows to counts: what bounds a user's groups is a part of each law.
"""

import itertools
import math

import polars as pl
import pytest

import shortlist as sl
from helpers.losses import hockey_stick, neighbours
from helpers.wrong_counted_groups import ChargedOnce
from shortlist.audit.exact.enumerator import law
from shortlist.evidence import GroupedSets
from shortlist.mechanisms import CountEach
from shortlist.mechanisms.wrappers import EachGroup

GROUPS, ITEMS = ["NO", "SE"], ["Emma"]
PAIRS = [*itertools.product(GROUPS, ITEMS), ("NO", "unlisted"), ("elsewhere", "Emma")]
EDGES = -0.5, 0.5, 1.5
ASKED = {"epsilon": 1.0}


def source_of(data):
    rows = [(user, *PAIRS[pair]) for user, held in enumerate(data) for pair in sorted(held)]
    schema = {"user": pl.Int64, "country": pl.String, "title": pl.String}
    return sl.pairs(pl.DataFrame(rows, schema, orient="row"), user="user", item="title")


def grouped(data, groups):
    listed = source_of(data).of_items(ITEMS)
    return listed.grouped("country", public_groups=GROUPS, max_groups_per_user=groups)


def ungrouped(data):
    """Pairs of no other group are rows of no listed item."""
    return source_of(data).of_items(ITEMS)


def output(mechanism, source):
    engine = source._engine

    def run(draws):
        with engine.show(mechanism.wants, draws) as shown:
            told = mechanism.select(shown.evidence, draws)
            return *told.scores, *([] if told.users is None else told.users)

    return law(run, EDGES)


def worst(mechanism, groups, *, pairs=(0, 1), users=2):
    """The largest excess of delta over what the cost says, of all small neighbours.

    Args:
        mechanism: What counts.
        groups: In how many a user counts; None where there are none.
        pairs: Which of `PAIRS` users may hold.
        users: How many users there are at most.
    """

    def source(data):
        return ungrouped(data) if groups is None else grouped(data, groups)

    return max(
        hockey_stick(p, q, epsilon) - mechanism.cost.delta(epsilon)
        for pair in neighbours(pairs, users=users)
        for p, q in itertools.permutations([output(mechanism, source(data)) for data in pair])
        for epsilon in (0.5, 1.0, 2.0)
    )


def planned(groups, delta=0.0):
    return grouped([], groups).plan(sl.UserCounts(), **ASKED, delta=delta).mechanism


def of(kind, groups, delta=0.0):
    def build(epsilon, delta):
        return CountEach(n_items=len(ITEMS), epsilon=epsilon, delta=delta)

    return kind.of(build, epsilon=1.0, delta=delta, max_groups_per_user=groups)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_it_is_private_on_all_small_tables(groups, delta):
    assert worst(planned(groups, delta), groups) < 1e-9


@pytest.mark.exhaustive
@pytest.mark.parametrize("groups", [1, 2])
def test_so_it_is_with_what_is_on_no_list(groups):
    assert worst(planned(groups), groups, pairs=(0, 2, 3)) < 1e-9


@pytest.mark.parametrize("groups", [1, 2])
def test_the_law_is_that_of_the_definition(groups):
    """Two users, one of them in both groups, who counts in one of these at random, or in both."""
    found = output(planned(groups), grouped([frozenset({0, 1}), frozenset({1})], groups))
    scale = groups * len(ITEMS) / ASKED["epsilon"]
    expected = {}
    for no, chance in ((1, 1.0),) if groups == 2 else ((1, 0.5), (0, 0.5)):
        se = 2 if groups == 2 or not no else 1
        for cells in itertools.product(range(4), repeat=2):
            of_cells = cell(cells[0], no, scale) * cell(cells[1], se, scale)
            expected[cells] = expected.get(cells, 0.0) + chance * of_cells
    assert sorted(found.values()) == pytest.approx(sorted(expected.values()), abs=1e-9)


def cell(at, count, scale):
    """The chance that a count in Laplace noise lies between two neighbouring edges."""

    def below(x):
        tail = 0.5 * math.exp(-abs(x - count) / scale)
        return tail if x < count else 1 - tail

    ends = [0.0, *(below(edge) for edge in EDGES), 1.0]
    return ends[at + 1] - ends[at]


SHARES = sl.UserCounts(sl.ShareOfUsers.COUNTED)


def with_users(groups, delta):
    source = ungrouped([]) if groups is None else grouped([], groups)
    return source.plan(SHARES, **ASKED, delta=delta).mechanism


@pytest.mark.parametrize(
    ("groups", "pairs"),
    [
        (None, [0, 2]),
        pytest.param(2, [0, 1], marks=pytest.mark.exhaustive),
        pytest.param(1, [0, 2], marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_so_it_is_with_the_number_of_users(groups, pairs, delta):
    """The third pair is of no listed item: whoever holds it alone is in no other count."""
    assert worst(with_users(groups, delta), groups, pairs=pairs) < 1e-9


def test_a_number_of_users_that_costs_nothing_is_seen(monkeypatch):
    monkeypatch.setattr(CountEach, "_changed", property(lambda self: self.n_items))
    assert worst(with_users(None, 0.0), None, pairs=[0, 2], users=1) > 0.05


def test_a_user_who_counts_in_two_groups_at_the_price_of_one_is_seen(monkeypatch):
    monkeypatch.setattr(GroupedSets, "bounded", lambda self, *_: self)
    assert worst(planned(1), 1) > 0.05


def test_so_is_a_price_of_one_group_for_two():
    assert worst(of(EachGroup, 2), 2, users=1) < 1e-9
    assert worst(of(ChargedOnce, 2), 2, users=1) > 0.05


def test_evidence_of_users_in_more_groups_is_refused():
    engine, draws = grouped([], 2)._engine, None
    with engine.show(planned(2).wants, draws) as shown, pytest.raises(sl.InputError):
        planned(1).select(shown.evidence, draws)


@pytest.mark.parametrize("n_items", [1, 3, 30])
@pytest.mark.parametrize("groups", [1, 3, 10])
def test_the_smaller_noise_is_taken(n_items, groups):
    listed = sl.pairs({"u": ["1"], "t": ["a"], "g": ["x"]}, user="u", item="t").of_items(
        [f"{n}" for n in range(n_items)]
    )
    by = listed.grouped("g", public_groups=[*"abcdefghij"], max_groups_per_user=groups)
    best = by.plan(sl.UserCounts(), epsilon=1.0, delta=1e-6).mechanism
    pure = by.plan(sl.UserCounts(), epsilon=1.0).mechanism
    assert best.selection.count_sd <= pure.selection.count_sd
    assert (best.selection.count_noise == "Laplace") == (n_items * groups <= 3)
    assert best.cost.delta(1.0) <= 1e-6
