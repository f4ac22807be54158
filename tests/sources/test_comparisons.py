"""Comparisons as the source: from the data to what leaves."""

import json
import pickle
import re
from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from helpers import engines
from helpers.forms import FORMS, counting, everything_shown, numbers, said
from helpers.refusals import refusal
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws.exact_draws import Draws
from shortlist.errors import SPENT, InputError
from shortlist.evidence import Wants, Wins
from shortlist.mechanisms import JointOrPeel, WinCount
from shortlist.questions import Rank

MARKER = "Zz-private-91"
WON, LOST, WHO = "gagné, [bold]", "perdu é", "qui [x]"
ITEMS = ["007", "7", "\u00e9t\u00e9", "e\u0301te\u0301", "[bold]x[/]", 'a, "b"', "\x1b[31m日本"]
STEP = 80  # wins between one item and the next: many times the noise
KNOWN = {"public_items": sl.IN_TABLE}


def table(items=ITEMS, step=STEP, schema=None):
    """Item number i of n wins (n - i) step times, against the next; rows are shuffled."""
    n = len(items)
    won = [items[i] for i in range(n) for _ in range((n - i) * step)]
    lost = [items[(i + 1) % n] for i in range(n) for _ in range((n - i) * step)]
    who = [f"{i:05d}" for i in range(len(won))]
    frame = pl.DataFrame({LOST: lost, WHO: who, WON: won}, schema_overrides=schema)
    return frame.sample(fraction=1, shuffle=True, seed=3)


def comparisons(data, **more):
    return sl.comparisons(data, winner=WON, loser=LOST, **(KNOWN | more))


def by_user(data, bound, **more):
    return comparisons(data, user=WHO, max_comparisons_per_user=bound, **more)


def shown(source, mechanism=WinCount, k=1, seed=1):
    """The evidence, as a dict of the wins by item."""
    wants = source.plan(Rank(k), epsilon=1.0, mechanism=mechanism).mechanism.wants
    showing = engines.shown(source, wants, Draws(SeededBits(seed)))
    items = showing.items(np.arange(len(showing.evidence.counts)))["item"].to_list()
    return dict(zip(items, showing.evidence.counts.tolist(), strict=True))


@pytest.fixture(params=FORMS)
def form(request, tmp_path):
    return lambda frame: FORMS[request.param](frame, tmp_path)


# Answers


def test_every_kind_of_public_items_on_every_kind_of_input(form):
    data = form(table().with_columns(other=pl.lit(1.5)))
    release = comparisons(data).rank(3, epsilon=5.0)
    assert release.items == ITEMS[:3]
    assert release.question == "rank"
    assert release.mechanism == WinCount(k=3, epsilon=5.0)
    assert np.abs(np.subtract(list(release.scores), [7 * STEP, 6 * STEP, 5 * STEP])).max() < 12
    assert release.scores.unit == "noisy number of wins"
    assert release.to_polars().columns == ["rank", "item", "score"]
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


def test_after_a_failure_it_is_read_anew(tmp_path):
    path = FORMS["csv"](table(), tmp_path)
    source = comparisons(path)
    path.unlink()
    refusal(lambda: source.rank(1, epsilon=5.0), "t.csv")
    FORMS["csv"](table(), tmp_path)
    assert source.rank(1, epsilon=5.0).items == ITEMS[:1]


def test_public_items_from_a_file(tmp_path):
    known = tmp_path / "known.csv"
    for name in (WON, LOST, "item"):
        pl.DataFrame({name: ITEMS[2:5]}).write_csv(known)
        ranked = comparisons(table(), public_items=str(known)).rank(3, epsilon=1.0)
        assert sorted(ranked) == sorted(ITEMS[2:5])
    pl.DataFrame({"player": ITEMS[2:5]}).write_csv(known)
    refusal(lambda: comparisons(table(), public_items=known), "its first line")


# Refusals


def test_arguments_are_checked_when_the_source_is_built():
    build = partial(sl.comparisons, table(), **KNOWN)
    refusal(lambda: build(winner="gagné, bold", loser=LOST), "is not a column", 'Did you mean "g')
    refusal(lambda: build(winner=WON, loser="perdu"), 'loser="perdu" is not a column')
    same = f'winner="{WON}" and loser="{WON}" are the same column'
    refusal(lambda: build(winner=WON, loser=WON), same)
    given = {"winner": WON, "loser": LOST}
    both = {"user": LOST, "max_comparisons_per_user": 1}
    refusal(lambda: build(**given, **both), f'loser="{LOST}" and user="{LOST}" are the same')
    refusal(lambda: build(winner=None, loser=LOST), "winner=None: a column is given by its name")
    refusal(lambda: build(winner="*", loser=LOST), 'winner="*": a column of this name')
    refusal(lambda: build(**given, user=WHO), f'user="{WHO}": all', "give max_comparisons_per_user")
    refusal(lambda: build(**given, max_comparisons_per_user=3), "max_comparisons_per_user=3: it")
    for bound in (0, -1, 1.0, True, "5"):
        rule = f"max_comparisons_per_user={bound!r}: must be a whole number, 1 or more"
        refusal(lambda b=bound: by_user(table(), b), rule)
    refusal(lambda: comparisons(table(), public_items=None), "public_items=None: which", "IN_TABLE")
    refusal(lambda: comparisons(table(), public_items=["a", "a"]), "holds an item twice")
    said = refusal(lambda: comparisons(table(), public_items=[]), "public_items is empty")
    assert "None" not in said
    one = comparisons(table(), public_items=["a"])
    refusal(lambda: one.rank(2, epsilon=1.0), "k=2: there is only 1 public item; ask for at most")
    refusal(lambda: comparisons(table(), public_items=[1]), "1, of type int")
    with pytest.raises(TypeError, match="public_items"):
        sl.comparisons(table(), winner=WON, loser=LOST)


@pytest.mark.parametrize(
    ("dtype", "name"), [(pl.Int64, "Int64"), (pl.Date, "Date"), (pl.Datetime, "Datetime")]
)
def test_winners_and_losers_are_of_one_type(dtype, name):
    frame = table().with_columns(pl.lit(7).cast(pl.Int32).cast(dtype).alias(LOST))
    message = refusal(lambda: comparisons(frame), f'winner="{WON}" is of type String', name)
    assert "cast them to one type" in message
    mixed = frame.with_columns(pl.lit(7, pl.Int16).alias(WON))
    refusal(lambda: comparisons(mixed), "is of type Int16", name)


def test_mechanisms_that_answer_another_question_are_refused():
    ask = partial(comparisons(table()).rank, 1, epsilon=1.0)
    refusal(lambda: ask(mechanism=JointOrPeel), "it answers top_k, not rank")
    top = sl.pairs(table(), user=WHO, item=WON, public_items=ITEMS).top_k
    refusal(lambda: top(1, epsilon=1.0, mechanism=WinCount), "it answers rank, not top_k")
    refusal(
        lambda: ask(mechanism=partial(WinCount, max_comparisons_per_user=1)),
        "max_comparisons_per_user is an argument of the source",
    )
    assert not hasattr(sl.Comparisons, "top_k")


def secret_frame():
    return pl.DataFrame(
        {
            WON: [f"{MARKER}-a{i}" for i in range(40)],
            LOST: [f"{MARKER}-b{i}" for i in range(40)],
            WHO: [f"{MARKER}-u{i}" for i in range(40)],
            "price": [i + 0.5 for i in range(40)],
        }
    )


WRONG = [
    *({name: value} for name in ("winner", "loser") for value in ("nobody", "price", None, 5, [])),
    *({name: secret_frame()[WON]} for name in ("winner", "loser", "k", "epsilon", "mechanism")),
    *({name: secret_frame()} for name in ("winner", "user", "k", "epsilon", "delta")),
    *({"public_items": items} for items in (None, [1], [None], [], ["a", "a"], 5, "a", {"a": 1})),
    {"user": WHO},
    {"user": "price", "max_comparisons_per_user": 1},
    {"user": WHO, "max_comparisons_per_user": secret_frame()[WON]},
    {"max_comparisons_per_user": 1},
    {"public_items": ["a", "b"], "k": 3},
    {"k": 81},
    {"k": 0},
    {"delta": 0.1},
    {"mechanism": JointOrPeel},
]


@pytest.mark.parametrize("wrong", WRONG, ids="-".join)
def test_a_wrong_argument_is_refused_without_a_word_of_the_data(wrong, caplog, capfd):
    asked = {"winner": WON, "loser": LOST, "k": 1, "epsilon": 1.0, **KNOWN, **wrong}
    names = ("winner", "loser", "user", "max_comparisons_per_user", "public_items")
    source = {name: asked.pop(name) for name in names if name in asked}
    with pytest.raises(InputError) as caught:
        sl.comparisons(secret_frame(), **source).rank(**asked)
    streams = capfd.readouterr()
    for text in (*said(caught.value), caplog.text, streams.out, streams.err):
        assert MARKER not in text
    assert "\n" not in str(caught.value)


BROKEN = {
    "ragged": f"w,l\n{MARKER},{MARKER},{MARKER}\n".encode(),
    "not UTF-8": f"{WHO},w,l\n{MARKER},{MARKER},".encode() + b"\xff\xfe\n",
    "no header": f"{MARKER},{MARKER}\n{MARKER},{MARKER}\n".encode(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_data_is_refused_without_a_word_of_it(name, tmp_path, capfd):
    path = tmp_path / "broken.csv"
    path.write_bytes(BROKEN[name])
    with pytest.raises(InputError) as caught:
        sl.comparisons(path, winner="w", loser="l", **KNOWN).rank(1, epsilon=1.0)
    streams = capfd.readouterr()
    for text in (*said(caught.value), streams.out, streams.err):
        assert MARKER not in text


def test_a_release_holds_nothing_of_what_it_does_not_name():
    n = 20_011
    rare = pl.DataFrame({LOST: [f"{MARKER}{i}" for i in range(n)], WHO: ["x"] * n, WON: ["d"] * n})
    frame = pl.concat([table(list("abc")), rare])
    for source in (
        comparisons(frame, public_items=list("abcd")),
        by_user(frame, 2, public_items=list("abcd")),
    ):
        release = source.rank(3, epsilon=5.0)
        assert release.items == list("abc")  # d won against nothing that is public
        private = {n, frame.height, frame.height - n}
        for text in everything_shown(release):
            assert MARKER not in text
            found = set(re.findall(r"\d[\d,_]*(?:\.\d+)?", text))
            assert not {f"{n}" for n in private} & {n.replace(",", "") for n in found}
        assert not numbers(vars(release)) & private
        assert MARKER.encode() not in pickle.dumps(release)


def test_a_seeded_release_says_that_it_is_not_private():
    source = by_user(table(), 1)
    release = source.rank(3, epsilon=0.1, random=SeededBits(1))
    again = source.rank(3, epsilon=0.1, random=SeededBits(1))
    assert release.to_json() == again.to_json()
    assert json.loads(release.to_json())["guarantee"]["private"] is False
    assert source.rank(3, epsilon=0.1).guarantee.private is True


def test_where_memory_ends_the_message_tells_no_size(monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 11.9 MiB for an array with shape (3123457,)")

    monkeypatch.setattr("shortlist.table.comparison_rows.code", full)
    with pytest.raises(MemoryError) as caught:
        comparisons(table()).rank(1, epsilon=1.0)
    assert str(caught.value) == f"there is not enough memory for this table. {SPENT}"


def test_the_evidence_carries_its_bound():
    for source, bound in ((comparisons(table()), None), (by_user(table(), 3), 3)):
        evidence = engines.shown(source, Wants(Wins, bound)).evidence
        assert isinstance(evidence, Wins)
        assert evidence.max_comparisons_per_user == bound
