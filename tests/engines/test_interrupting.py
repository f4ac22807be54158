"""Ctrl-C while an engine works: a real signal, which the engine hears of."""

import os
import signal
import time
from contextlib import nullcontext
from threading import Timer
from types import SimpleNamespace

import polars as pl
import pytest

from helpers.engine_places import Relation, is_slow
from shortlist.databases.connections import interruptible
from shortlist.databases.duckdb import interrupt_of
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._spark import Spark
from shortlist.errors import SPENT
from shortlist.runtime.phases import listening

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
ASKED = {"epsilon": 1.0, "delta": 1e-6}


def interrupted(source):
    """What is raised where a signal comes while rows are read."""
    timers = []

    def hear(phase):
        if str(phase).startswith("Reading"):
            timers.append(Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()

    with pytest.raises(KeyboardInterrupt) as caught, listening(hear):
        source.domain(**ASKED)
    timers[0].join()
    return caught.value


def test_a_signal_stops_the_query_and_leaves_nothing(engine):
    error = interrupted(engine.endless())
    assert error.__notes__ == [SPENT]
    assert engine.left() == []
    while engine.works():  # Spark ends its jobs by and by
        assert is_slow(engine)
        time.sleep(0.1)


def test_what_spark_calls_a_frame_is_dropped_where_no_signal_stops_it():
    tags, seen = set(), []
    session = SimpleNamespace(  # as of Spark Connect
        addTag=tags.add,
        removeTag=tags.discard,
        interruptTag=tags.discard,
        catalog=SimpleNamespace(dropTempView=lambda name: seen.append((name, set(tags)))),
    )

    def stopped(_name):
        assert tags
        raise KeyboardInterrupt

    frame = SimpleNamespace(createOrReplaceTempView=stopped)
    dialect = Spark(session, frame, "shortlist_rows")
    with pytest.raises(KeyboardInterrupt), dialect._asking():
        pass
    assert seen == [("shortlist_rows", set())]


@pytest.mark.parametrize("pull", [None, True])
def test_a_signal_stops_what_is_pulled(pull):
    place = Relation()
    assert interrupted(place.endless(pull=pull)).__notes__ == [SPENT]
    assert not place.works()


class Told:
    """A dialect that notes what it is told; it stops nothing, or fails at that."""

    name = "toy"

    def __init__(self, *, fails):
        self.heard, self.fails = [], fails

    def quiet(self):
        return nullcontext()

    def share_done(self):
        return None

    def wait(self, action):
        return action()

    def drop(self, name):  # noqa: ARG002 - of a dialect
        self.heard.append("drop")

    def cancel(self):
        self.heard.append("cancel")
        if self.fails:
            raise OSError


def with_a_table(dialect, then):
    """Something done while there is a temporary table."""
    with Scratch(dialect) as scratch:
        scratch.made({"item": "int64"}, lambda _: None)
        then()


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_engine_is_told_to_stop_before_tables_are_dropped(error, fails):
    dialect = Told(fails=fails)

    def fail():
        raise error

    with pytest.raises(error):
        with_a_table(dialect, fail)
    assert dialect.heard == ["cancel", "drop"]


def test_an_engine_that_is_done_is_not_told_to_stop():
    dialect = Told(fails=False)
    with_a_table(dialect, lambda: None)
    assert dialect.heard == ["drop"]


def test_what_has_not_begun_is_stopped_once_it_has():
    """An engine forgets that it was to stop, where it is told before a query begins."""
    stopped, running = [], []

    def stop():
        stopped.extend(running)

    def works():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        running.append(True)
        while not stopped:
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        interruptible(works, stop)
    assert stopped


def test_a_second_signal_does_not_leave_it_running():
    """Whoever presses Ctrl-C twice would else leave the query, and what it writes, behind."""
    stopped, ended = [], []

    def works():
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.15)
        while not stopped:
            time.sleep(0.01)
        ended.append(True)

    def stop():
        if len(stopped) > 3:
            return
        stopped.append(True)

    with pytest.raises(KeyboardInterrupt):
        interruptible(works, stop)
    assert ended


def test_what_fails_fails_here():
    for stop in (None, pytest.fail):
        with pytest.raises(ZeroDivisionError):
            interruptible(lambda: 1 / 0, stop)
        assert interruptible(lambda: 1, stop) == 1


def test_an_object_that_is_no_duckdb_has_nothing_that_stops_it(postgres):
    assert interrupt_of(object()) is None
    assert interrupt_of(postgres.table(pl.DataFrame({"item": [1]}))) is None
