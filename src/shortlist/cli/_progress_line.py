"""What the command is doing and for how long, on a terminal, once it takes over a second."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from shortlist.cli._shell import SHELL
from shortlist.runtime.phases import listening, watching

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

    from shortlist.errors import Words
    from shortlist.runtime.phases import Share

_PATIENCE = 1.0  # seconds


@contextmanager
def showing_progress() -> Iterator[None]:
    """A line on stderr after one second, if a person is watching; it is gone at the end."""
    if not sys.stderr.isatty():
        yield
        return
    line = _Line()
    timer = threading.Timer(_PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        with listening(line.tell), watching(line.measure):
            yield
    finally:
        timer.cancel()
        timer.join()
        line.hide()


class _Line:
    """The latest phase, how much of it is done, and how long the command has been running."""

    def __init__(self) -> None:
        """Open standard error once more, before it is diverted."""
        encoding = sys.stderr.encoding
        self._screen = os.fdopen(os.dup(2), "w", encoding=encoding, errors="replace")
        self._since = time.monotonic()
        self._phase: Words | str = "Starting"
        self._share: Share | None = None
        self._done = 0.0
        self._status: Status | None = None

    def tell(self, phase: Words) -> None:
        self._phase, self._done = phase, 0.0

    def measure(self, share: Share | None) -> None:
        self._share = share

    def show(self) -> None:
        """Begin to show the line; it is drawn several times a second."""
        from rich.console import Console

        self._status = Console(file=self._screen).status(self)
        self._status.start()

    def hide(self) -> None:
        if self._status is not None:
            self._status.stop()
        self._screen.close()

    def __rich__(self) -> Text:
        from rich.text import Text

        from shortlist.release.readable import harmless

        phase = self._phase if isinstance(self._phase, str) else self._phase.rendered(SHELL)
        minutes, seconds = divmod(int(time.monotonic() - self._since), 60)
        words = f"{minutes}:{seconds:02} {harmless(phase)}{self._percentage()}"
        return Text(words, no_wrap=True, overflow="ellipsis")

    def _percentage(self) -> str:
        """How much is done, where that is known: no number of rows, and only on this screen.

        A phase may be several queries, of which one begins at 0 again: then as much as was done.
        """
        share, done = self._share, None
        if share is not None:
            with suppress(Exception):  # it is asked in another thread, perhaps when all has ended
                done = share()
        if done is None:
            return ""
        self._done = max(self._done, min(done, 1))
        return f", {math.floor(100 * self._done)} %"
