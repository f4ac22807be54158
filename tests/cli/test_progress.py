"""What the command shows of its progress, and to whom."""
# ruff: noqa: S603 - the program that is run is our own

import os
import subprocess
import sys
import threading

import pytest

from helpers.command import domain
from helpers.terminal import Watched, read_until, terminal
from shortlist.cli import _progress_line, publishing
from shortlist.runtime.phases import measured, phase

pytestmark = pytest.mark.usefixtures("plain_terminal")


def test_nothing_is_shown_where_nobody_watches(monkeypatch, capfd):
    monkeypatch.setattr(threading, "Timer", lambda *_: pytest.fail("a line waits"))
    with _progress_line.showing_progress(), phase("Reading"):
        pass
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def waits(monkeypatch):
    """For how long the line waits: in this test for no time at all."""
    seconds = []

    class Now:
        def __init__(self, wait, action):
            seconds.append(wait)
            self.start, self.cancel, self.join = action, lambda: None, lambda: None

    monkeypatch.setattr(threading, "Timer", Now)
    return seconds


def test_a_phase_is_shown_after_one_second_and_what_a_library_writes_is_lost(monkeypatch, waits):
    with terminal(monkeypatch) as screen:
        with _progress_line.showing_progress(), publishing.without_panics():
            os.write(2, b"panicked")
            read_until(screen, b"0:00 Starting")
            with phase("Reading {path}", path="a\x1b[31mb [bold]c[/]"):
                shown = read_until(screen, b"[/]")
        os.write(2, b"afterwards")
        shown += read_until(screen, b"afterwards")
    assert waits == [1.0]
    assert rb"0:00 Reading a\x1b[31mb [bold]c[/]" in shown
    assert b"panicked" not in shown
    assert b"\x1b[2K" in shown.split(b"Reading")[-1]  # the line is gone


def test_seconds_go_on(monkeypatch, waits):
    now = [0.0]
    monkeypatch.setattr(_progress_line.time, "monotonic", lambda: now[0])
    with terminal(monkeypatch) as screen, _progress_line.showing_progress():
        read_until(screen, b"0:00 Starting")
        now[0] = 125.9
        read_until(screen, b"2:05 Starting")
    assert waits == [1.0]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (lambda: 0.349, "0:00 Reading, 34 %"),
        (lambda: 1.01, "0:00 Reading, 100 %"),
        (lambda: None, "0:00 Reading"),
        (lambda: 1 / 0, "0:00 Reading"),
    ],
)
def test_a_percentage_is_shown_where_one_is_known(share, shown):
    line = _progress_line._Line()
    line.tell("Reading")
    line.measure(share)
    assert str(line.__rich__()) == shown
    line.measure(None)
    assert str(line.__rich__()) == "0:00 Reading"
    line.hide()


def test_a_percentage_falls_with_the_next_phase_alone():
    line = _progress_line._Line()
    shown = []
    for told, share in (("Selecting", 0.84), (None, 0.12), ("Selecting, round 2 of 4", 0.12)):
        if told:
            line.tell(told)
        line.measure(lambda share=share: share)
        shown.append(str(line.__rich__())[-4:])
    assert shown == ["84 %", "84 %", "12 %"]
    line.hide()


def test_a_terminal_is_told_of_it(monkeypatch, waits):
    with (
        terminal(monkeypatch) as screen,
        _progress_line.showing_progress(),
        phase("Reading"),
        measured(lambda: 0.5),
    ):
        read_until(screen, b"0:00 Reading, 50 %")
    assert waits == [1.0]


_READING = """
import sys
from shortlist.cli import _progress_line, main
from shortlist.engines.rows_in_memory import RowsInMemory

_progress_line._PATIENCE = 0.0
read = RowsInMemory._read
RowsInMemory._read = lambda rows: (sys.stdin.read(), read(rows))[1]
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_terminal_shows_phases_and_a_pipe_none(file):
    """The same program, which has no patience, and reads until its standard input ends."""
    program = [sys.executable, "-c", _READING, *map(str, domain(file))]
    watched = Watched(program, stdin=subprocess.PIPE)
    watched.waits_for(f'Reading "{file}"')
    status, out, last = watched.ends()
    piped = subprocess.run(program, input="", capture_output=True, text=True, check=False)
    assert (status, last) == (0, "")
    assert (piped.returncode, piped.stderr) == (0, "")
    assert out.split("\n")[0] == piped.stdout.split("\n")[0] == "domain: 5 items"
