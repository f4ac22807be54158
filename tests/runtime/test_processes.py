"""Forked children, other processes, and what may go there."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from helpers.databases import NAMES, ROWS
from helpers.exhaustive import exhaustive
from helpers.refusals import MARKER
from postgres import PASSWORD
from shortlist.audit.audited_parameters import settings_of
from shortlist.bits import SeededBits, SystemBits
from shortlist.mechanisms import Peeling
from shortlist.mechanisms.registry import every_mechanism
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.release import Release
from shortlist.runtime.processes import others_can_write
from shortlist.sources.comparisons import Comparisons
from shortlist.sources.counts import Counts
from shortlist.sources.pairs import Pairs
from shortlist.sources.pairs_in_groups import Groups
from shortlist.sources.store import Store
from shortlist.stores import MemoryStore, PostgresStore, SqliteStore


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such rights")
def test_what_others_can_write_to(tmp_path):
    path = tmp_path / "file"
    path.touch()
    for mode, theirs in ((0o600, False), (0o644, False), (0o646, True), (0o666, True)):
        path.chmod(mode)
        assert others_can_write(path) is theirs
    path.chmod(0o664)
    assert not others_can_write(path)  # a group of this user's alone
    if os.getuid() == 0:
        os.chown(path, -1, 12345)
        assert others_can_write(path)
        path.chmod(0o644)
        os.chown(path, 12345, -1)
        assert others_can_write(path)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SOURCES = """
import json, multiprocessing, os, signal, sys, threading, warnings
import shortlist as sl

warnings.simplefilter("ignore", DeprecationWarning)
signal.alarm(600)  # instead of a hang

def pairs():
    import polars as pl
    rows = pl.DataFrame({"user": [1, 2, 3], "item": ["a", "b", "a"]})
    return sl.pairs(rows, user="user", item="item", public_items=["a", "b"])

def files():
    return sl.pairs("rows.csv", user="user", item="item", public_items=["a", "b"])

def counts():
    import polars as pl
    rows = pl.DataFrame({"item": ["a", "b"], "held": [2, 1]})
    return sl.counts(rows, item="item", count="held", public_items=sl.IN_TABLE)

def comparisons():
    import pandas as pd
    rows = pd.DataFrame({"won": ["a", "b"], "lost": ["b", "a"]})
    return sl.comparisons(rows, winner="won", loser="lost", public_items=sl.IN_TABLE)

def store():
    held = sl.stores.MemoryStore(["a", "b"], [2, 1])
    held.prepare()
    return sl.store(held)

def ask(source):
    question = source.rank if isinstance(source, sl.Comparisons) else source.top_k
    return question(1, epsilon=1.0).items

def said(action):
    signal.alarm(300)
    try:
        return repr(action())
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

def in_child(action):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, said(action).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text

def tell(*values):
    print(json.dumps(values))
"""
KINDS = ["pairs", "files", "counts", "comparisons", "store"]


@pytest.fixture
def told(tmp_path):
    """What a script says, that begins as above, in a process of its own."""
    (tmp_path / "rows.csv").write_text("user,item\n1,a\n2,b\n3,a\n")

    def run(script):
        path = tmp_path / "script.py"
        path.write_text(SOURCES + script)
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(sl.__file__).parents[1])},
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def refuses(text):
    return (
        text.startswith("RuntimeError: this process was forked from one that had loaded Polars")
        and 'multiprocessing.get_context("spawn")' in text
        and text.endswith("Nothing was read and nothing was spent.")
    )


@needs_fork
@pytest.mark.parametrize("kind", KINDS)
def test_a_child_that_was_forked_after_a_question_refuses_at_once(kind, told):
    again, new, grandchild, before, after = told(f"""
source = {kind}()
before = ask(source)
again = in_child(lambda: ask(source))
new = in_child(lambda: ask({kind}()))
grandchild = in_child(lambda: in_child(lambda: ask(source)))
tell(again, new, grandchild, before, ask(source))
""")
    assert refuses(again)
    assert refuses(new)
    assert "RuntimeError: this process was forked" in grandchild
    assert {*before, *after} <= {"a", "b"}


@needs_fork
@pytest.mark.parametrize("use", [
    "pl.LazyFrame({'a': [1]}).collect()",
    "pl.DataFrame({'a': [2, 1]}).sort('a')",
    "files()",
])  # fmt: skip
def test_a_child_of_a_process_that_used_polars_otherwise_refuses(use, told):
    (text,) = told(f"import polars as pl\n{use}\ntell(in_child(lambda: ask(files())))")
    assert refuses(text)


@needs_fork
def test_a_child_that_was_forked_while_a_thread_reads_refuses(told):
    """The thread holds the lock of what is read only once."""
    (text,) = told("""
import polars as pl
began, forked = threading.Event(), threading.Event()

def slowly(rows):
    began.set()
    forked.wait(300)
    return rows

rows = pl.LazyFrame({"user": [1], "item": ["a"]}).map_batches(slowly)
source = sl.pairs(rows, user="user", item="item", public_items=["a", "b"])
threading.Thread(target=lambda: ask(source)).start()
began.wait(300)
text = in_child(lambda: ask(source))
forked.set()
tell(text)
""")
    assert refuses(text)


@needs_fork
@pytest.mark.parametrize("kind", [KINDS[0], *exhaustive(*KINDS[1:])])
def test_a_child_that_was_forked_before_answers(kind, told):
    (text,) = told(f"tell(in_child(lambda: ask({kind}())))")
    assert text in ("['a']", "['b']")


@needs_fork
def test_pools_of_processes(told):
    forked, spawned = told("""
def work(_):
    return ask(files())

if __name__ == "__main__":
    ask(files())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        forked = said(lambda: pool.map(work, range(2)))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        tell(forked, pool.map(work, range(2)))
""")
    assert refuses(forked)
    assert len(spawned) == 2


def test_bits_of_the_system_are_kept_nowhere():
    """So a child has none of its parent's, whenever it was forked."""
    assert vars(SystemBits()) == {}
    assert pickle.loads(pickle.dumps(SystemBits())) == SystemBits()  # noqa: S301 - our own bytes


def sources(folder):
    rows = pl.DataFrame({"item": ["a", MARKER], "other": [MARKER, "b"], "held": [2, 1]})
    rows.write_csv(folder / "rows.csv")
    store = MemoryStore(["a", MARKER], [2, 1])
    return [
        build(data)
        for data in (rows, folder / "rows.csv")
        for build in (
            lambda data: sl.pairs(data, user="held", item="item"),
            lambda data: sl.counts(data, item="item", count="held"),
            lambda data: sl.comparisons(
                data, winner="item", loser="other", public_items=["a", "b"]
            ),
        )
    ] + [sl.store(store), store]


def stays(kept, *secrets):
    for action in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError) as caught:
            action(kept)
        message = str(caught.value)
        kind = type(kept).__name__
        assert message.startswith(f"{kind}: is not pickled, since it holds private rows, or the")
        assert message.endswith(f"let the process that needs one build its own {kind}.")
        assert not any(secret in message for secret in secrets)


@pytest.mark.parametrize("number", range(8))
def test_sources_say_why_they_are_not_pickled(number, tmp_path):
    source = sources(tmp_path)[number]
    stays(source, MARKER)
    if not isinstance(source, (sl.Store, MemoryStore)):
        ask = source.rank if isinstance(source, sl.Comparisons) else source.top_k
        delta = {} if isinstance(source, sl.Comparisons) else {"delta": 1e-6}
        ask(1, epsilon=1.0, **delta)
        stays(source, MARKER)  # now with what was read


def test_stores_of_databases_say_why_they_are_not_pickled(database):
    held = database.store(ROWS)
    stays(held, "s3cret", str(database.url))
    stays(sl.store(database.url, **NAMES), "s3cret", str(database.url))


def test_a_password_is_in_no_pickle(postgresql):
    postgresql.fill(ROWS, **NAMES)
    url = postgresql.url
    for kept in (sl.store(url, **NAMES), PostgresStore(url, **NAMES)):
        stays(kept, PASSWORD, "%73%33", url)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="not pickled"):
                pickle.dumps([kept], protocol)


def releases():
    rows = pl.DataFrame({"user": range(60), "item": ["a", "b"] * 30})
    asked = sl.pairs(rows, user="user", item="item")
    store = MemoryStore(["a", "b"], [2, 1])
    store.prepare()
    return [
        asked.top_k(2, epsilon=1.0, delta=1e-2, count_share=0.5),
        asked.domain(epsilon=1.0, delta=1e-2),
        asked.hitting_set(1, epsilon=1.0, delta=1e-2),
        sl.store(store).top_k(1, epsilon=1.0),
    ]


def test_releases_go_anywhere():
    for release in releases():
        str(release), release.items  # what is kept for later, too
        for there in (pickle.loads(pickle.dumps(release)), copy.deepcopy(release)):  # noqa: S301
            assert there.to_dict() == release.to_dict()
            assert there.guarantee == release.guarantee
            assert there.mechanism == release.mechanism
            assert there.items == release.items
            assert str(there) == str(release)


@pytest.mark.parametrize("kind", every_mechanism(), ids=lambda kind: kind.__name__)
def test_mechanisms_and_their_costs_go_anywhere(kind):
    for mechanism in settings_of(kind, quick=True):
        mechanism.explain()  # computes what is kept for later
        there = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - our own bytes
        assert there == mechanism
        assert there.cost == mechanism.cost
        assert there.parameters() == mechanism.parameters()
        assert there.explain() == mechanism.explain()


def test_noisy_counts_go_anywhere():
    mechanism = NoisyCounts.of(
        lambda epsilon, delta: Peeling(k=3, epsilon=epsilon, delta=delta),
        k=3,
        epsilon=1.0,
        delta=1e-6,
        count_share=0.5,
    )
    there = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - our own bytes
    assert there == mechanism
    assert there.cost == mechanism.cost


def test_seeded_bits_go_on_where_they_were():
    bits = SeededBits(7)
    bits.words(3)
    there = pickle.loads(pickle.dumps(bits))  # noqa: S301 - our own bytes
    assert (there.words(5) == bits.words(5)).all()


@pytest.mark.parametrize(
    "kind",
    [Pairs, Counts, Comparisons, Store, Groups, Release, SqliteStore, PostgresStore, MemoryStore],
)
def test_what_could_not_be_made_is_shown_in_a_traceback(kind):
    unmade = kind.__new__(kind)
    assert repr(unmade) in (f"<{kind.__name__} that was not made>", f"<{kind.__name__}>")
