"""Comparisons as the source: what is refused, and that nothing private leaves."""

import pickle
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.comparing import ITEMS, KNOWN, LOST, WHO, WON, by_user, comparisons, table
from helpers.forms import holds_nothing_of
from helpers.refusals import MARKER, refusal, refused_silently
from shortlist.mechanisms import JointOrPeel, WinCount


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
    refusal(lambda: comparisons(table(), public_items=None), "public_items=None: which", "IN_TABLE")
    refusal(lambda: comparisons(table(), public_items=["a", "a"]), "holds an item twice")
    said = refusal(lambda: comparisons(table(), public_items=[]), "public_items is empty")
    assert "None" not in said
    one = comparisons(table(), public_items=["a"])
    refusal(lambda: one.rank(2, epsilon=1.0), "k=2: there is only 1 public item; ask for at most")
    refusal(lambda: comparisons(table(), public_items=[1]), "1, of type int")
    with pytest.raises(TypeError, match="public_items"):
        sl.comparisons(table(), winner=WON, loser=LOST)


def test_the_name_of_what_is_known_in_the_table_is_no_list():
    for name in ("in-table", "IN_TABLE"):
        said = refusal(lambda name=name: comparisons(table(), public_items=name))
        assert said.endswith("if everybody knows which items the table has, give sl.IN_TABLE.")


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
    error = refused_silently(
        lambda: sl.comparisons(secret_frame(), **source).rank(**asked), capfd, caplog
    )
    assert "\n" not in str(error)


BROKEN = {
    "ragged": f"w,l\n{MARKER},{MARKER},{MARKER}\n".encode(),
    "not UTF-8": f"{WHO},w,l\n{MARKER},{MARKER},".encode() + b"\xff\xfe\n",
    "no header": f"{MARKER},{MARKER}\n{MARKER},{MARKER}\n".encode(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_data_is_refused_without_a_word_of_it(name, tmp_path, caplog, capfd):
    path = tmp_path / "broken.csv"
    path.write_bytes(BROKEN[name])
    source = partial(sl.comparisons, path, winner="w", loser="l", **KNOWN)
    refused_silently(lambda: source().rank(1, epsilon=1.0), capfd, caplog)


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
        holds_nothing_of(release, MARKER, private)
        assert MARKER.encode() not in pickle.dumps(release)
