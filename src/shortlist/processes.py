"""What does not go from one process to another: Polars' threads, and what holds private rows."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["StaysHere", "require_threads"]

_forked_too_late = False  # a child that was: its own children are, too


def require_threads() -> None:
    """Refuse where this process was forked from one that had loaded Polars.

    Polars has threads of its own, starts them whenever it likes, and then waits for them for ever
    in a forked child, which does not have them. So do locks that a thread held at the fork.

    Raises:
        RuntimeError: It was; the message names the remedy.
    """
    if _forked_too_late:
        raise RuntimeError(
            "this process was forked from one that had loaded Polars, whose threads are missing "
            "here, so that it could wait for ever. Start processes by spawn, as in "
            'multiprocessing.get_context("spawn"), or fork before Polars is loaded. Nothing was '
            "read and nothing was spent."
        )


def _note_fork() -> None:
    global _forked_too_late  # noqa: PLW0603 - of the process
    _forked_too_late = _forked_too_late or "polars" in sys.modules


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


class StaysHere:
    """What holds private rows, or the way to them, and so is not pickled for another process."""

    def __reduce__(self) -> NoReturn:
        """Refuse: no bytes with rows or with a password are made by the way.

        Raises:
            TypeError: Always; the message names the remedy.
        """
        kind = type(self).__name__
        raise TypeError(
            f"{kind}: is not pickled, since it holds private rows, or the way to them with its "
            f"password; let the process that needs one build its own {kind}."
        )
