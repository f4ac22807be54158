"""A file of SQLite while it is created: what is left by processes that are killed meanwhile."""

import os
import signal
from pathlib import Path

import pytest

import shortlist as sl
from helpers.weekly import Weekly, weekly
from shortlist.series._state_places import state_place

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def in_a_child(work):
    """The process that does it, and what reads what that writes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(lambda: os.write(writing, b"!"))
        finally:
            os._exit(1)
    os.close(writing)
    return child, reading


def waits_for_ever(tell):
    def fill(execute):
        execute("CREATE TABLE half (done)")
        tell()
        signal.pause()

    return fill


def killed_while_it_creates(place):
    """As by `kill -9`, in the middle of what fills the file."""
    child, reading = in_a_child(lambda tell: place.create(waits_for_ever(tell)))
    assert os.read(reading, 1) == b"!"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)


def hidden(folder):
    return sorted(path.name for path in Path(folder).glob(".*"))


def test_creating_again_removes_what_a_killed_process_left(tmp_path):
    killed_while_it_creates(state_place(tmp_path / "plays.series"))
    assert hidden(tmp_path)
    others = [".plays.series-other.tmp", ".films.series-0123abcd.tmp", ".plays.series-0123abcd.tm"]
    for name in others:
        (tmp_path / name).touch()
    assert Weekly(tmp_path).series.releases == []
    assert hidden(tmp_path) == sorted(others)


def test_a_recovered_series_leaves_nothing_either():
    with weekly() as plays:
        plays.answered(1)
        Path(plays.path).unlink()
        killed_while_it_creates(state_place(plays.path))
        assert hidden(Path(plays.path).parent)
        again = sl.Series.recover(plays.path, budget=plays.budget)
        assert len(again.releases) == 1
        assert not hidden(Path(plays.path).parent)


def test_what_a_living_process_creates_is_left_alone_and_holds_nobody_up(tmp_path):
    path = tmp_path / "plays.series"
    child, reading = in_a_child(lambda tell: state_place(path).create(waits_for_ever(tell)))
    assert os.read(reading, 1) == b"!"
    theirs = hidden(tmp_path)
    state_place(path).create(lambda execute: execute("CREATE TABLE mine (x)"))
    assert hidden(tmp_path) == theirs
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    path.unlink()
    state_place(path).create(lambda execute: execute("CREATE TABLE mine (x)"))
    assert hidden(tmp_path) == []
