"""Comparisons as the source: from the data to what leaves."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from helpers import engines
from helpers.comparing import ITEMS, LOST, STEP, WHO, WON, by_user, comparisons, table
from helpers.forms import counting, everything_shown
from helpers.refusals import MARKER, refusal
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import Wants, Wins
from shortlist.mechanisms import WinCount
from shortlist.questions import Rank


def shown(source, mechanism=WinCount, k=1, seed=1):
    """The evidence, as a dict of the wins by item."""
    wants = source.plan(Rank(k), epsilon=1.0, mechanism=mechanism).mechanism.wants
    showing = engines.shown(source, wants, ExactDraws(SeededBits(seed)))
    items = showing.items(np.arange(len(showing.evidence.counts)))["item"].to_list()
    return dict(zip(items, showing.evidence.counts.tolist(), strict=True))


# Answers


def test_every_kind_of_public_items_on_every_kind_of_input(form):
    data = form(table().with_columns(other=pl.lit(1.5)))
    release = comparisons(data).rank(3, epsilon=5.0)
    assert release.items == ITEMS[:3]
    assert release.question == "rank"
    assert release.mechanism == WinCount(k=3, epsilon=5.0)
    assert np.abs(np.subtract(list(release.scores), [7 * STEP, 6 * STEP, 5 * STEP])).max() < 12
    assert release.scores.unit == "noisy number of wins"
    assert release.to_polars().columns == ["rank", "item", "wins"]
    some = [*ITEMS[1:], "nobody compares this"]
    ranked = comparisons(data, public_items=some).rank(7, epsilon=5.0).items
    assert ranked[:5] == ITEMS[1:6]  # the last one's wins were against an item that is not public
    users = by_user(data, 1).rank(3, epsilon=5.0)
    assert users.items == ITEMS[:3]
    assert users.mechanism == WinCount(k=3, epsilon=5.0, max_comparisons_per_user=1)


@pytest.mark.parametrize(
    ("items", "dtype"),
    [
        ([5, -(2**60), 2**62], pl.Int64),
        ([date(2024, 2, 29), date(1999, 12, 31)], pl.Date),
        ([2**64 - 1, 0], pl.UInt64),
        ([-128, 127], pl.Int8),
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_items_keep_their_type(items, dtype, listed):
    frame = table(items, schema={WON: dtype, LOST: dtype})
    known = items if listed else sl.IN_TABLE
    release = comparisons(frame, public_items=known).rank(len(items), epsilon=5.0)
    assert release.items == items
    assert release.to_polars().schema["item"] == dtype


def test_an_item_that_never_won_or_was_never_compared_has_a_rank():
    games = pl.DataFrame({WON: ["a"] * 50, LOST: ["b"] * 50})
    release = comparisons(games, public_items=["c", "b", "a"]).rank(3, epsilon=10.0)
    assert release.items[0] == "a"
    assert set(release.items) == {"a", "b", "c"}
    assert shown(comparisons(games)) == {"a": 50, "b": 0}


def test_an_empty_table():
    nothing = table().clear()
    release = comparisons(nothing, public_items=ITEMS).rank(7, epsilon=1.0)
    assert sorted(release.items) == sorted(ITEMS)
    assert len(by_user(nothing, 3, public_items=ITEMS).rank(2, epsilon=1.0)) == 2
    for source in (comparisons(nothing), by_user(nothing, 3)):
        refusal(lambda s=source: s.rank(1, epsilon=1.0), "k=1: there are only 0 public items")
    untyped = pl.DataFrame({WON: [], LOST: []})
    assert comparisons(untyped, public_items=["a"]).rank(1, epsilon=1.0).items == ["a"]


@pytest.mark.parametrize("of", [WON, LOST])
@pytest.mark.parametrize("dtype", [pl.String, pl.Int64, pl.Date])
def test_a_column_of_nulls_alone_is_no_comparison(of, dtype):
    frame = table().with_columns(pl.lit(7).cast(pl.Int32).cast(dtype).alias(WON))
    frame = frame.with_columns(pl.col(WON).alias(LOST)).with_columns(pl.lit(None).alias(of))
    item = frame[WON if of == LOST else LOST][0]
    assert frame.schema[of] == pl.Null
    assert comparisons(frame, public_items=[item]).rank(1, epsilon=1.0).items == [item]
    assert shown(comparisons(frame, public_items=[item])) == {item: 0}


# What is a comparison


def spoilt_rows():
    return pl.DataFrame(
        {
            WON: ["a", None, "a", "a", MARKER, "a", None, "b"],
            LOST: ["b", "b", None, "a", "a", MARKER, None, "a"],
            WHO: ["x"] * 8,
        }
    )


def test_rows_that_are_no_comparison_are_ignored():
    assert shown(comparisons(spoilt_rows(), public_items=["b", "a"])) == {"a": 1, "b": 1}
    assert shown(comparisons(spoilt_rows())) == {"a": 2, "b": 1, MARKER: 1}
    # They take no place among the comparisons of a user that count.
    for seed in range(10):
        source = by_user(spoilt_rows(), 2, public_items=["b", "a"])
        assert shown(source, seed=seed) == {"a": 1, "b": 1}
    anonymous = spoilt_rows().with_columns(pl.lit(None, pl.String).alias(WHO))
    assert shown(by_user(anonymous, 2, public_items=["b", "a"])) == {"a": 0, "b": 0}


PLAYERS = st.sampled_from("abcd")
ROWS = st.lists(st.tuples(PLAYERS, PLAYERS, st.integers(0, 3)), max_size=20)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(rows=ROWS, known=st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
def test_the_evidence_is_the_number_of_wins(rows, known):
    frame = pl.DataFrame(rows, schema={WON: str, LOST: str, WHO: int}, orient="row")
    games = [(won, lost) for won, lost, _ in rows if won != lost and {won, lost} <= set(known)]
    wins = {item: sum(won == item for won, _ in games) for item in known}
    assert shown(comparisons(frame, public_items=known)) == wins
    assert list(shown(comparisons(frame, public_items=known))) == known
    assert shown(by_user(frame, 20, public_items=known)) == wins
    there = {item for won, lost, _ in rows for item in (won, lost)}
    wins = {i: sum(won == i != lost for won, lost, _ in rows) for i in sorted(there)}
    if rows:
        assert shown(comparisons(frame)) == wins
        assert list(shown(comparisons(frame))) == sorted(there)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(rows=ROWS, bound=st.integers(1, 3), seed=st.integers(0, 9))
def test_of_each_user_at_most_so_many_comparisons_count(rows, bound, seed):
    frame = pl.DataFrame(rows, schema={WON: str, LOST: str, WHO: int}, orient="row")
    source = by_user(frame, bound, public_items=list("abcd"))
    games = [(won, who) for won, lost, who in rows if won != lost]
    made = {who: [w for w, other in games if other == who] for _, who in games}
    wins = shown(source, seed=seed)
    assert sum(wins.values()) == sum(min(bound, len(of)) for of in made.values())
    # What one user more adds is at most the bound, and lowers nothing.
    for item, number in wins.items():
        assert number <= sum(min(bound, of.count(item)) for of in made.values())


def test_all_comparisons_of_a_user_are_equally_likely_to_count():
    rows = [("a", "b", 1), ("b", "a", 1), ("c", "a", 1), ("a", "b", 1), ("c", "b", 2)]
    frame = pl.DataFrame(rows, schema={WON: str, LOST: str, WHO: int}, orient="row")
    source = by_user(frame, 2)
    wants = Wants(Wins, 2)
    sampled = law(lambda draws: tuple(engines.shown(source, wants, draws).evidence.counts.tolist()))
    # Two of a, b, c, a, each pair with 1/6; and the one of the other user.
    expected = {(2, 0, 1): 1 / 6, (1, 1, 1): 2 / 6, (1, 0, 2): 2 / 6, (0, 1, 2): 1 / 6}
    assert sampled == pytest.approx(expected, abs=1e-12)


def test_a_subset_is_drawn_anew_for_each_question():
    frame = pl.DataFrame({WON: list("abcd") * 30, LOST: list("bcda") * 30, WHO: [1] * 120})
    source = by_user(frame, 40)
    assert len({tuple(shown(source, seed=seed).values()) for seed in range(5)}) > 1


@pytest.mark.parametrize("user", [None, WHO])
def test_the_order_of_the_rows_changes_nothing(user):
    rows = [("a", "b", 1), ("b", "c", 2), ("c", "a", 2), ("a", "c", 2)]

    def output_law(order):
        frame = pl.DataFrame(order, schema={WON: str, LOST: str, WHO: int}, orient="row")
        source = comparisons(frame) if user is None else by_user(frame, 2)
        mechanism = WinCount(k=2, epsilon=2.0)

        def run(draws):
            showing = engines.shown(source, Wants(Wins, None if user is None else 2), draws)
            selection = mechanism.select(showing.evidence, draws)
            return tuple(showing.items(selection.positions)["item"])

        return law(run)

    one, other = output_law(rows), output_law(rows[::-1])
    assert one == pytest.approx(other, abs=1e-12)


# What is promised


def test_the_guarantee_names_the_unit():
    guarantee = comparisons(table()).rank(1, epsilon=5.0).guarantee
    names = "the names and types of the columns are public"
    assert (guarantee.epsilon, guarantee.delta) == (5.0, 0.0)
    assert guarantee.cost.delta(5.0) == 0
    assert guarantee.protects == "one comparison"
    assert guarantee.adjacency == "add or remove one comparison"
    assert guarantee.assumes == (names, "the items that the table compares are public")
    listed = by_user(table(), np.int8(3), public_items=ITEMS).rank(1, epsilon=5.0)
    assert listed.guarantee.protects == "one user, at most 3 comparisons"
    assert listed.guarantee.adjacency == "add or remove one user"
    assert listed.guarantee.assumes == (
        names,
        "the list of public items does not depend on this table",
    )
    assert listed.mechanism.scale == pytest.approx(3 / 5)
    one = by_user(table(), 1).rank(1, epsilon=5.0)
    assert one.guarantee.protects == "one user, at most 1 comparison"
    for release, unit in ((listed, "one user, at most 3 comparisons"), (one, "1 comparison")):
        for text in everything_shown(release):
            assert text.startswith("<Release") or unit in " ".join(text.split())


def test_what_the_source_is_made_of_is_shown():
    assert repr(comparisons(table())) == f'<Comparisons: winner="{WON}", loser="{LOST}">'
    assert repr(by_user(table(), 7)) == (
        f'<Comparisons: winner="{WON}", loser="{LOST}", user="{WHO}", max_comparisons_per_user=7>'
    )
    assert isinstance(comparisons(table()), sl.Comparisons)


# Reading


def test_data_is_read_once_and_not_before_the_first_question():
    lazy, reads = counting(table())
    source = comparisons(lazy, public_items=ITEMS)
    refusal(lambda: source.rank(0, epsilon=1.0), "k=0")
    refusal(lambda: source.rank(8, epsilon=1.0), "k=8: there are only 7 public items")
    refusal(lambda: source.rank(1, epsilon=0), "epsilon=0")
    refusal(lambda: source.rank(1, epsilon=1.0, delta=0.1), "delta=0.1: WinCount is pure")
    refusal(lambda: source.rank(1, epsilon=1.0, random=42), "random=42")
    assert reads == []
    assert source.rank(3, epsilon=5.0).items == ITEMS[:3]
    assert source.rank(2, epsilon=5.0).items == ITEMS[:2]
    assert len(reads) == 1


def test_public_items_from_a_file(tmp_path):
    known = tmp_path / "known.csv"
    for name in (WON, LOST, "item"):
        pl.DataFrame({name: ITEMS[2:5]}).write_csv(known)
        ranked = comparisons(table(), public_items=str(known)).rank(3, epsilon=1.0)
        assert sorted(ranked) == sorted(ITEMS[2:5])
    pl.DataFrame({"player": ITEMS[2:5]}).write_csv(known)
    refusal(lambda: comparisons(table(), public_items=known), "its first line")


def test_the_evidence_carries_its_bound():
    for source, bound in ((comparisons(table()), None), (by_user(table(), 3), 3)):
        evidence = engines.shown(source, Wants(Wins, bound)).evidence
        assert isinstance(evidence, Wins)
        assert evidence.max_comparisons_per_user == bound
