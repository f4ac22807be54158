"""What a selection does beside its answer: whatever it says elsewhere may tell of the data."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cached_property
from threading import get_ident
from typing import Any
from unittest import mock

from shortlist.audit.answers.content import guarded
from shortlist.mechanisms.mechanism import Mechanism

__all__ = ["face_of", "listening"]


@contextmanager
def listening() -> Iterator[list[str]]:
    """What code says that runs meanwhile: whether it warns, prints or logs; nothing is passed on.

    Told is what it writes to `sys.stdout` and `sys.stderr`, and to logs at levels that are on.
    """
    said: list[str] = []
    streams = (_Stream(stream, said) for stream in (sys.stdout, sys.stderr))

    def logged(*_: object) -> None:
        said.append("logs")

    with (
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(next(streams)),
        redirect_stderr(next(streams)),
        mock.patch.object(logging.Logger, "handle", logged),
    ):
        warnings.simplefilter("always")
        yield said
        said += ["warns"] * bool(warned)


class _Stream:
    """In the place of a stream; what other threads write, such as a clock, goes through."""

    def __init__(self, through: Any, said: list[str]) -> None:
        self._through, self._said, self._thread = through, said, get_ident()

    def write(self, text: str) -> int:
        """Noticed, if this thread writes it."""
        if get_ident() != self._thread:
            return int(self._through.write(text))
        self._said.append("prints")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._through, name)


def face_of(mechanism: Mechanism) -> Hashable:
    """All that a mechanism says of itself: no answer may change it. What is cached is left out."""
    return guarded(lambda: _face(mechanism), lambda flaw: flaw)


def _face(mechanism: Mechanism) -> Hashable:
    said = (
        mechanism.parameters(),
        mechanism.explain(),
        mechanism.wants,
        mechanism.assumes,
        mechanism.adjacency,
        mechanism.spent_delta,
    )
    cached = {
        name
        for kind in type(mechanism).__mro__
        for name, value in vars(kind).items()
        if isinstance(value, cached_property)
    }
    own = {name: value for name, value in vars(mechanism).items() if name not in cached}
    parts = [_face(part) for part in own.values() if isinstance(part, Mechanism)]
    return repr(mechanism), repr(said), repr(own), tuple(parts)
