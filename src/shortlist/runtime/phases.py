"""What a question is doing: phases, made of public words alone; and how much of it is done.

Nobody listens by default, and then a phase costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TypeAlias

from shortlist.errors import Words

Listener: TypeAlias = Callable[[Words], object]
"""What is told of each phase: its words, as `str` has them."""

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)
Share: TypeAlias = Callable[[], float | None]
"""How much of something is done by now, from 0 to 1; None where that is not known.

It is asked from another thread. It depends on private rows.
"""
Watcher: TypeAlias = Callable[[Share | None], object]
"""What is told of each `Share`, when it begins to hold; and of None, when it ends."""

_watcher: ContextVar[Watcher | None] = ContextVar("_watcher", default=None)
_now: ContextVar[Words | None] = ContextVar("_now", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function be told of each phase of what this thread asks, when it begins or goes on.

    Phases follow from public parameters and from what mechanisms release, such as how many rounds
    there are. When they come is seen by whoever listens, and depends on the rows.

    Args:
        listener: Called with the phase. Its errors are ignored, so that no answer is lost by it.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def phase(template: str, /, **values: object) -> Iterator[None]:
    """Something that may take a while, perhaps as a part of something else.

    Args:
        template: As of `Words`. Nothing in it, and no value, may depend on private rows.
        values: What it calls by these names.
    """
    if (listener := _listener.get()) is None:
        yield
        return
    outer, inner = _now.get(), Words(template, given=None, **values)
    token = _now.set(inner if outer is None else Words("{a}, {b}", a=outer, b=inner))
    try:
        _tell(listener)
        yield
    finally:
        _now.reset(token)
        _tell(listener)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Let a function be told how much is done of what this thread asks.

    That depends on private rows, as the time does that they take. So it is for the screen of the
    person who holds the rows, which keeps nothing; listeners, who may write what they hear into a
    log, are never told of it.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def measured(share: Share) -> Iterator[None]:
    """A part of a phase of which is known how much is done."""
    if (watcher := _watcher.get()) is None:
        yield
        return
    watcher(share)
    try:
        yield
    finally:
        watcher(None)


def _tell(listener: Listener) -> None:
    if (now := _now.get()) is not None:
        with suppress(Exception):
            listener(now)
