"""A store as the source: from the question to what leaves, whatever holds the counts."""

import math
import re
import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.databases import ROWS
from helpers.forms import everything_shown, numbers, said
from helpers.refusals import MARKER, refusal, refused
from shortlist import stores
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.engines.indexed_store import IndexedStore
from shortlist.errors import SPENT, InputError
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import JointOrPeel, Peeling, PermuteAndFlip, ThresholdTopK
from shortlist.mechanisms.threshold_top_k import AddedNoise

STEP = 1000  # users between one item and the next: many times the noise
ITEMS = ["Emma", "été 日本", "[bold]x[/]", "007", "7"]
NAMED = [(item, (4 - i) * STEP) for i, item in enumerate(ITEMS)]
SHUFFLED = [NAMED[i] for i in (2, 4, 0, 3, 1)]
GAPS = [-7, 3, 4, 11, 40]


def prepared(place, rows, **more):
    source = sl.store(place.store(rows, **more))
    source.prepare()
    return source


@pytest.fixture
def source(place):
    return prepared(place, SHUFFLED, numbers=GAPS)


# Answers


def test_the_best_come_first_from_every_kind_of_store(source):
    for k in range(1, 6):
        release = source.top_k(k, epsilon=5.0)
        assert release.items == ITEMS[:k]
        assert release.scores is None
        assert release.mechanism == ThresholdTopK(k=k, epsilon=5.0)
    assert source.top_k(3, epsilon=5.0, delta=1e-6).items == ITEMS[:3]


def test_a_store_by_its_url(database):
    database.store(SHUFFLED, numbers=GAPS)
    source = sl.store(database.url, table="items", item="name", count="plays")
    refusal(lambda: source.top_k(1, epsilon=1.0), "has no index", "CREATE INDEX")
    source.prepare()
    assert source.top_k(2, epsilon=5.0).items == ITEMS[:2]
    assert repr(source) == f"<Store of {source._held!r}>"
    assert isinstance(source, sl.Store)


def test_another_noise(source):
    mechanism = partial(ThresholdTopK, noise=AddedNoise.EXPONENTIAL)
    release = source.top_k(2, epsilon=5.0, mechanism=mechanism)
    assert release.items == ITEMS[:2]
    assert release.mechanism.noise is AddedNoise.EXPONENTIAL
    assert release.guarantee.delta == 0


def test_integers_stay_integers(postgresql):
    postgresql.run("CREATE TABLE items (name bigint PRIMARY KEY, plays int)")
    postgresql.run("INSERT INTO items VALUES (5, 0), (9, 5000), (70, 90000)")
    source = sl.store(postgresql.url, table="items", item="name", count="plays")
    source.prepare()
    assert source.top_k(2, epsilon=1.0).items == [70, 9]


def test_the_noisy_order_is_that_of_reading_everything():
    """The law of the whole question equals that of permute-and-flip on the same counts."""
    held = stores.MemoryStore(["a", "b"], [1, 0])
    held.prepare()

    def by_store(draws):
        mechanism = ThresholdTopK(k=1, epsilon=1.0, leading_bits=3)
        with IndexedStore(held).show(mechanism.wants, draws) as shown:
            chosen = mechanism.select(shown.evidence, draws)
            return shown.items(chosen.positions)["item"][0]

    def by_counts(draws):
        evidence = PublicCounts(np.array([1, 0]))
        (position,) = PermuteAndFlip(k=1, epsilon=1.0).select(evidence, draws).positions
        return "ab"[position]

    one, other = law(by_store), law(by_counts)
    assert one.keys() == other.keys()
    assert all(math.isclose(one[item], other[item], abs_tol=1e-9) for item in one)


# What is read


def test_few_counts_are_read_and_the_operator_can_see_how_many(place):
    m, k = 3000, 5
    rows = [(f"item {i}", 10**6 // (1 + i * 7 % m)) for i in range(m)]
    source = prepared(place, rows)
    assert source.accesses == stores.Accesses(0, 0)
    source.top_k(k, epsilon=1.0, random=SeededBits(1))
    first = source.accesses
    assert 0 < first.sorted + first.random <= 4 * (math.sqrt(m * k) + math.sqrt(m / 2))
    source.top_k(k, epsilon=1.0, random=SeededBits(2))
    assert source.accesses is not first


def test_the_number_of_accesses_is_in_no_release(place):
    rows = [(f"{MARKER} {i}", 3) for i in range(2000)] + [("a", 10**6), ("b", 10**5)]
    source = prepared(place, rows)
    release = source.top_k(2, epsilon=1.0)
    assert release.items == ["a", "b"]
    read = {source.accesses.sorted, source.accesses.random, 2000, 2002, 10**6, 10**5}
    for text in everything_shown(release):
        assert MARKER not in text
        found = re.findall(r"\d[\d,_]*(?:\.\d+)?", text)
        assert not {str(n) for n in read if n > 9} & {n.replace(",", "") for n in found}
    assert not numbers(vars(release)) & {n for n in read if n > 9}
    assert "password" not in repr(vars(release))
    assert "://" not in repr(vars(release))


def test_questions_from_many_threads(source):
    together, answers = threading.Barrier(4), []

    def ask():
        together.wait()
        answers.append(source.top_k(2, epsilon=5.0).items)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [ITEMS[:2]] * 4


# What is promised


def test_the_guarantee_says_what_it_rests_on(source):
    release = source.top_k(2, epsilon=1.0)
    guarantee = release.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.private) == (1.0, 0.0, True)
    assert guarantee.adjacency == "add or remove one user"
    assert guarantee.assumes == (
        "the names and types of the columns are public",
        "each user is in each count at most once",
        "the items of the store are public",
    )
    of = "" if "Memory" in repr(source) else ' of "plays"'
    assert guarantee.protects == f"one user, who is in each count{of} at most once"
    for text in everything_shown(release):
        if not text.startswith("<Release"):
            assert "the items of the store are public" in " ".join(text.split())


def test_a_seeded_release_says_that_it_is_not_private(source):
    release = source.top_k(3, epsilon=1.0, random=SeededBits(1))
    assert release.to_json() == source.top_k(3, epsilon=1.0, random=SeededBits(1)).to_json()
    assert release.guarantee.private is False


# Refusals


def test_arguments_are_checked_before_anything_is_read(source, monkeypatch):
    monkeypatch.setattr(source._held, "rows", lambda: pytest.fail("the store was opened"))
    ask = source.top_k
    refusal(lambda: ask(0, epsilon=1.0), "k=0: must be")
    refusal(lambda: ask(None, epsilon=1.0), "k=None: must be")
    refusal(lambda: ask(1, epsilon=0), "epsilon=0: must be")
    refusal(lambda: ask(1, epsilon=1.0, delta=1), "delta=1: must be")
    refusal(lambda: ask(1, epsilon=1.0, random=42), "random=42: must be")
    refusal(lambda: ask(1, epsilon=1.0, mechanism="peeling"), "mechanism='peeling': must be")
    for kind in (Peeling, JointOrPeel):
        refusal(
            lambda kind=kind: ask(1, epsilon=1.0, mechanism=kind),
            f"mechanism={kind.__name__}: it needs every count", "by sl.counts",
        )  # fmt: skip
    laplace = partial(ThresholdTopK, noise=AddedNoise.LAPLACE)
    refusal(lambda: ask(1, epsilon=1.0, delta=0.1, mechanism=laplace), "delta=0.1: laplace noise")
    refusal(lambda: ask(1, epsilon=1.0, mechanism=partial(ThresholdTopK, k=3)), "by the question")


def test_the_mechanism_of_a_store_is_not_for_tables():
    frame = pl.DataFrame({"user": [1], "title": ["a"], "readers": [1]})
    counts = sl.counts(frame, item="title", count="readers", public_items=sl.IN_TABLE)
    pairs = sl.pairs(frame, user="user", item="title", public_items=["a"])
    for source in (counts, pairs):
        refusal(
            lambda source=source: source.top_k(1, epsilon=1.0, mechanism=ThresholdTopK),
            "mechanism=ThresholdTopK: it reads few counts of a store", "sl.store",
        )  # fmt: skip


def test_more_than_there_are(source):
    refusal(lambda: source.top_k(100, epsilon=1.0), "k=100: there are not so many items")
    message = refusal(lambda: source.top_k(6, epsilon=1.0))
    assert message.startswith("k=6: there are not so many items")


def test_an_empty_store(place):
    source = prepared(place, [])
    refusal(lambda: source.top_k(1, epsilon=1.0), "k=1: there are not so many items")


def test_what_goes_with_a_url():
    held = stores.MemoryStore(["a"], [1])
    refusal(lambda: sl.store(held, table="t"), "table='t': goes with a URL")
    refusal(lambda: sl.store(held, count="c"), "count='c': goes with a URL")
    refusal(lambda: sl.store("sqlite:///x.db", item="a", count="b"), "table=None: must be its name")
    for wrong in (None, 5, pl.DataFrame({MARKER: [MARKER]}), MARKER.encode()):
        message = refusal(lambda wrong=wrong: sl.store(wrong), "is neither a URL")
        assert MARKER not in message


def test_bad_rows_among_those_that_are_read(database):
    source = prepared(database, [*NAMED, (None, 9 * STEP)])
    error = refused(lambda: source.top_k(1, epsilon=5.0))
    assert 'table="items": count="plays" counts a row without an item' in str(error)
    database.run("UPDATE items SET name = 'Emma' WHERE name IS NULL")
    error = refused(lambda: source.top_k(2, epsilon=5.0))
    assert "an item that is in more than one row" in str(error)
    database.run("UPDATE items SET plays = NULL WHERE plays = 9000")
    database.run("UPDATE items SET plays = -4000 WHERE plays = 4000")
    error = refused(lambda: source.top_k(6, epsilon=5.0))
    for text in said(error):
        assert "4000" not in text
        assert "Emma" not in text


def test_the_database_fails_in_the_middle(postgresql):
    @dataclass(frozen=True, kw_only=True)
    class Interrupted(ThresholdTopK):
        def select(self, evidence, draws):
            evidence.random_access(np.array([0]))
            postgresql.server.kill()
            return super().select(evidence, draws)

    source = prepared(postgresql, ROWS)
    try:
        error = refused(lambda: source.top_k(1, epsilon=1.0, mechanism=Interrupted))
    finally:
        postgresql.server.start()
    assert "the connection to the server is lost" in str(error)
    assert str(error).endswith(SPENT)
    assert error.__context__ is error.__cause__ is None
    assert source.top_k(1, epsilon=5.0).items == ["Dune"]


def test_a_store_of_another_kind():
    """Whoever has counts elsewhere gives rows, and everything else is there."""

    class Rows(stores.StoredRows):
        size, origin = 4, "elsewhere"

        def __init__(self):
            self.left = [(3, 9 * STEP), (1, STEP), (0, 5)]

        def following(self, n):
            page, self.left = self.left[:n], self.left[n:]
            return np.array([i for i, _ in page], np.int64), [score for _, score in page]

        def find(self, ids):
            known = {3: 9 * STEP, 1: STEP, 0: 5}
            found = [i for i in ids.tolist() if i in known]
            return np.array(found, np.int64), [known[i] for i in found]

        def items(self, ids):
            return pl.DataFrame({"letter": [MARKER[i] for i in ids]})

        def complaint(self, _):
            return InputError("elsewhere fails")

    class Elsewhere(stores.ScoreStore):
        def rows(self):
            return Rows()

        def prepare(self):
            pass

    assert sl.store(Elsewhere()).top_k(2, epsilon=5.0).items == [MARKER[3], MARKER[1]]
