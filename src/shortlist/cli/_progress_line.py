"""What the command is doing and for how long, on a terminal, once it takes over a second."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shortlist.cli._shell import SHELL
from shortlist.runtime.phases import listening

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

    from shortlist.errors import Words

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
        with listening(line.tell):
            yield
    finally:
        timer.cancel()
        timer.join()
        line.hide()


class _Line:
    """The latest phase, and how long the command has been running."""

    def __init__(self) -> None:
        """Open standard error once more, before it is diverted."""
        encoding = sys.stderr.encoding
        self._screen = os.fdopen(os.dup(2), "w", encoding=encoding, errors="replace")
        self._since = time.monotonic()
        self._phase: Words | str = "Starting"
        self._status: Status | None = None

    def tell(self, phase: Words) -> None:
        self._phase = phase

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
        words = f"{minutes}:{seconds:02} {harmless(phase)}"
        return Text(words, no_wrap=True, overflow="ellipsis")
