"""Whatever fails once rows were read says that its epsilon and delta count as spent."""

import sqlite3

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.databases import NAMES, Sqlite
from helpers.forms import said
from helpers.refusals import MARKER, refused
from shortlist.cli.failure import diagnosis
from shortlist.errors import SPENT, InputError, spending
from shortlist.mechanisms import Peeling, ThresholdTopK, UserPeeling, WeightedGaussian, WinCount
from shortlist.stores import MemoryStore


def test_it_speaks_of_no_budget_which_there_may_not_be():
    assert SPENT == "Count the question's epsilon and delta as spent."


ASK = {"epsilon": 1.0, "delta": 1e-6}


def changed(write, build):
    """A source of a file that is another by the time it is read."""

    def source(folder):
        path = folder / "t.csv"
        path.write_text("a,b,c\n1,2,3\n")
        asked = build(path)
        write(path)
        return asked

    return source


def garbled(path):
    path.write_bytes(b"a,b,c\n\xff\xfe,\xff,3\n")


FILES = {
    "pairs": lambda path: sl.pairs(path, user="a", item="b"),
    "counts": lambda path: sl.counts(path, item="a", count="b"),
    "comparisons": lambda path: sl.comparisons(
        path, winner="a", loser="b", public_items=["1", "2"], user="c", max_comparisons_per_user=1
    ),
}


def ask(source, k=1):
    if isinstance(source, sl.Comparisons):
        return source.rank(k, epsilon=1.0)
    public = source._engine.items_are_public
    return source.top_k(k, epsilon=1.0, delta=0.0 if public else 1e-6)


def counted(items, counts, **options):
    frame = pl.DataFrame({"item": items, "held": counts}, schema_overrides={"held": pl.Int64})
    return sl.counts(frame, item="item", count="held", **options)


def in_sqlite(statement, kind="INTEGER"):
    """A source of a table that holds what the statement leaves in it."""

    def source(folder):
        database = Sqlite(folder / "items.db")
        with sqlite3.connect(database.path) as connection:
            connection.execute(f"CREATE TABLE items (name, plays {kind})")
            connection.execute("CREATE INDEX by_plays ON items (plays)")
            connection.execute("INSERT INTO items VALUES ('a', 5), ('b', 4), ('c', 3)")
            connection.execute(statement)
        connection.close()
        return sl.store(database.url, **NAMES)

    return source


def misordered(_):
    counts = np.array([3, 2, 1])
    store = MemoryStore(["a", "b", "c"], counts)
    store.prepare()
    counts[:] = 1, 2, 3
    return sl.store(store)


def mapped(items):
    store = MemoryStore(np.array(items), [3, 2, 1])
    store.prepare()
    return sl.store(store)


FAILURES = {
    **{
        f"{kind} of a file that was garbled": (changed(garbled, build), 1)
        for kind, build in FILES.items()
    },
    "counts with a null": (lambda _: counted(["a", "b"], [1, None]), 1),
    "counts below 0": (lambda _: counted(["a", "b"], [1, -1]), 1),
    "counts of an item twice": (lambda _: counted(["a", "a"], [1, 2]), 1),
    "fewer counts than k": (lambda _: counted(["a"], [1], public_items=sl.IN_TABLE), 2),
    "fewer compared than k": (
        lambda _: sl.comparisons(
            pl.DataFrame({"won": ["a"], "lost": ["b"]}),
            winner="won",
            loser="lost",
            public_items=sl.IN_TABLE,
        ),
        3,
    ),
    "a lazy frame that fails": (
        lambda _: sl.pairs(
            pl.LazyFrame({"user": [1], "item": ["x"]}).with_columns(
                pl.col("item").str.to_integer(strict=True).cast(pl.String)
            ),
            user="user",
            item="item",
        ),
        1,
    ),
    "a store with a fraction": (in_sqlite("UPDATE items SET plays = 4.5 WHERE name = 'b'"), 3),
    "a store with a text": (in_sqlite(f"UPDATE items SET plays = '{MARKER}'"), 3),
    "a store with a null": (in_sqlite("UPDATE items SET plays = NULL WHERE name = 'a'"), 3),
    "a store with mixed types": (in_sqlite("UPDATE items SET plays = x'00' WHERE name = 'a'"), 3),
    "a store below 0": (in_sqlite("UPDATE items SET plays = -1 WHERE name = 'a'"), 3),
    "a store above 2^62": (in_sqlite(f"UPDATE items SET plays = {2**62 + 1}"), 3),
    "a store whose items are of mixed types": (
        in_sqlite("UPDATE items SET name = 7 WHERE name = 'a'"),
        3,
    ),
    "a store with an item twice": (in_sqlite("UPDATE items SET name = 'a'"), 3),
    "a store with a null for an item": (in_sqlite("UPDATE items SET name = NULL"), 3),
    "a store that spans too much": (
        in_sqlite(f"INSERT INTO items (rowid, name, plays) VALUES ({2**40}, 'd', 1)"),
        1,
    ),
    "a store with fewer than k": (in_sqlite("DELETE FROM items WHERE name = 'b'"), 3),
    "a store that spans fewer than k": (in_sqlite("DELETE FROM items WHERE name = 'b'"), 9),
    "a store that does not fall": (misordered, 3),
    "a mapped store with an item twice": (lambda _: mapped(["a", "a", "a"]), 3),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_refusal_after_rows_were_read(failure, tmp_path):
    build, k = FAILURES[failure]
    source = build(tmp_path)
    for _ in range(2):  # and again, where something is kept
        message = str(refused(lambda: ask(source, k)))
        assert f" {SPENT}" in message  # at the end, but for a statement that is to be copied
        assert message.count("spent") == 1
        assert MARKER not in message


def every_source(folder):
    """The sources, and a mechanism of each."""
    rows = pl.DataFrame({"user": [1, 2, 3], "item": ["a", "b", "a"]})
    store = MemoryStore(["a", "b"], [2, 1])
    store.prepare()
    pairs = sl.pairs(rows, user="user", item="item")
    public = sl.pairs(rows, user="user", item="item", public_items=["a", "b"])
    games = sl.comparisons(
        pl.DataFrame({"won": ["a"], "lost": ["b"]}),
        winner="won",
        loser="lost",
        public_items=["a", "b"],
    )
    path = folder / "items.csv"
    path.write_text("item,held\na,2\nb,1\n")
    counts = sl.counts(path, item="item", count="held", public_items=["a", "b"])
    return [
        (Peeling, lambda **more: public.top_k(1, **ASK, **more)),
        (UserPeeling, lambda **more: public.hitting_set(1, **ASK, **more)),
        (WeightedGaussian, lambda **more: pairs.domain(**ASK, **more)),
        (Peeling, lambda **more: counts.top_k(1, **ASK, **more)),
        (ThresholdTopK, lambda **more: sl.store(store).top_k(1, **ASK, **more)),
        (WinCount, lambda **more: games.rank(1, epsilon=1.0, **more)),
    ]


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(
    "error",
    [
        InputError("the evidence is of no use."),
        ValueError(MARKER),
        KeyError(MARKER),
        MemoryError(MARKER),
        KeyboardInterrupt(),
        OSError(MARKER),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_inside_a_selection(number, error, tmp_path):
    kind, ask = every_source(tmp_path)[number]

    class Failing(kind):
        def select(self, *_):
            raise error

    with pytest.raises(type(error)) as caught:
        ask(mechanism=Failing)
    assert SPENT in str(caught.value) or caught.value.__notes__ == [SPENT]
    if isinstance(error, MemoryError):
        assert not any(MARKER in text for text in said(caught.value))


class Failing:
    """A source of bits that gives none."""

    private = True

    def words(self, _):
        raise OSError("no entropy")


@pytest.mark.parametrize("number", range(6))
def test_no_random_bits(number, tmp_path):
    _, ask = every_source(tmp_path)[number]
    with pytest.raises(OSError, match="no entropy") as caught:
        ask(random=Failing())
    assert caught.value.__notes__ == [SPENT]


@pytest.mark.parametrize("number", range(6))
def test_what_is_refused_before_costs_nothing(number, tmp_path):
    _, ask = every_source(tmp_path)[number]
    assert SPENT not in str(refused(lambda: ask(random=42)))
    assert SPENT not in str(refused(lambda: ask(mechanism="peeling")))


def test_a_missing_index_costs_nothing(tmp_path):
    source = in_sqlite("DROP INDEX by_plays")(tmp_path)
    assert SPENT not in str(refused(lambda: ask(source)))


def test_the_sentence_is_said_once():
    with pytest.raises(InputError) as caught, spending(), spending():
        raise InputError("it failed")
    assert str(caught.value) == f"it failed. {SPENT}"
    with pytest.raises(KeyError) as caught, spending(), spending():
        raise KeyError(7)
    assert caught.value.__notes__ == [SPENT]


@pytest.mark.parametrize("error", [KeyError(MARKER), MemoryError(MARKER), KeyboardInterrupt()])
def test_the_command_says_it_too(error, monkeypatch):
    monkeypatch.setattr("shortlist.cli.failure.discard_output", lambda: None)
    assert SPENT not in diagnosis(error)[0]
    with pytest.raises(type(error)), spending():
        raise error
    said, _ = diagnosis(error)
    assert said.endswith(f". {SPENT}")
    assert MARKER not in said


def test_an_interruption_of_the_charge_says_so():
    """It may stand by then: nobody knows."""

    class Interrupted:
        def charge(self, _):
            raise KeyboardInterrupt

    source = sl.pairs(
        {"user": ["a"], "item": ["b"]}, user="user", item="item", budget=Interrupted()
    )
    with pytest.raises(KeyboardInterrupt) as caught:
        source.domain(**ASK)
    assert SPENT in diagnosis(caught.value)[0]
