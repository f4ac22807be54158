"""A terminal that a command writes its errors to, and whoever sits before it."""
# ruff: noqa: S603 - the program that is run is our own

import contextlib
import os
import re
import select
import subprocess
import sys

import pytest

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PATIENCE = 300.0  # seconds, for a machine that is busy


@contextlib.contextmanager
def terminal(monkeypatch):
    """Let standard error be a terminal; what it shows is read from the number that is given."""
    shown, screen = pytest.importorskip("pty").openpty()
    before = os.dup(2)
    os.dup2(screen, 2)
    try:
        with os.fdopen(screen, "w") as stderr, monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stderr)
            patch.setenv("TERM", "xterm")
            yield shown
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(shown)


def read_until(shown, last):
    """All that a terminal shows up to some bytes: it hands over what it has, bit by bit."""
    text = b""
    while last not in text:
        ready, _, _ = select.select([shown], [], [], _PATIENCE)
        assert ready, text
        try:
            text += os.read(shown, 65536)
        except OSError:  # which is how a terminal says that nobody writes to it
            pytest.fail(f"It ended, and had shown {text!r}.")
    return text


class Watched:
    """A process whose standard error is a terminal."""

    def __init__(self, words, **streams):
        self.shown, screen = pytest.importorskip("pty").openpty()
        streams |= {"stdout": subprocess.PIPE, "stderr": screen}
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
        self.process = subprocess.Popen(list(map(str, words)), env=environment, **streams)
        os.close(screen)

    def waits_for(self, words):
        """Until its terminal shows these words."""
        read_until(self.shown, words.encode())

    def ends(self):
        """The exit status, what it printed, and the last line that its terminal shows."""
        if self.process.stdin is not None:
            self.process.stdin.close()
            self.process.stdin = None  # which nothing flushes once more
        shown = b""
        with contextlib.suppress(OSError):  # which is how a terminal says that nobody writes to it
            while more := os.read(self.shown, 65536):
                shown += more
        os.close(self.shown)
        out = self.process.communicate(timeout=_PATIENCE)[0]
        plain = _CONTROLS.sub("", shown.decode())
        return self.process.returncode, out.decode(), re.split("\r?\n|\r", plain)[-2]
