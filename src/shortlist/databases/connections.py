"""Connections to engines: one question at a time, stopped by Ctrl-C, opened anew where lost."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, suppress
from threading import RLock, Thread
from typing import Any, NamedTuple, TypeVar
from weakref import finalize

from shortlist.databases import duckdb
from shortlist.databases.through_ibis import is_ibis

# Until signals are looked for, or a query is stopped that had not yet begun.
_SECONDS_BETWEEN_TRIES = 0.1

_Lock = AbstractContextManager[Any]
_T = TypeVar("_T")


class _Reopening(NamedTuple):
    is_lost: Callable[[], bool]
    reopen: Callable[[], None]


# By `id`, not by the objects: connections of Ibis to different databases may count as equal.
_locks: dict[int, _Lock] = {}
_reopenings: dict[int, _Reopening] = {}
_UNTOLD: _Lock = RLock()
"""For all connections that cannot be told apart: a relation of DuckDB 1 does not tell its own."""


def lock_of(data: Any) -> _Lock:
    """The lock of the connection that a table in an engine is read by, whoever else reads there.

    A connection answers one question at a time: another thread would end the query, or find the
    temporary tables of it. Within a thread, the lock may be taken again.
    """
    connection = _connection_of(data)
    if connection is None:
        return _UNTOLD
    return _kept(_locks, connection, RLock()) or _UNTOLD


def remember_reopening(
    connection: object, is_lost: Callable[[], bool], reopen: Callable[[], None]
) -> None:
    """Remember of a connection of Ibis how to tell that it was lost, and how to open it anew."""
    _kept(_reopenings, connection, _Reopening(is_lost, reopen))


def reopened_if_lost(data: Any) -> bool:
    """Whether it may help to ask again: the connection is one of ours, and is opened by now."""
    found = _reopenings.get(id(_backend_of(data)))
    if found is None:
        return False
    with lock_of(data):  # another thread may be at it
        if found.is_lost():
            found.reopen()
    return True


def _kept(places: dict[int, _T], owner: object, value: _T) -> _T | None:
    """What is kept for an object as long as that lives; None where nobody can know how long."""
    if id(owner) not in places:
        try:
            finalize(owner, places.pop, id(owner), None).atexit = False
        except TypeError:  # it takes no weak references
            return None
    return places.setdefault(id(owner), value)


def _backend_of(data: Any) -> Any:
    """The connection of Ibis; None where it is no table of Ibis."""
    return data.get_backend() if is_ibis(data) else None


def _connection_of(data: Any) -> Any:
    """What talks to the engine, which several tables may share; None where it cannot be told."""
    if (backend := _backend_of(data)) is not None:
        is_ours = id(backend) in _reopenings  # then nobody else has what talks to the engine
        return backend if is_ours else getattr(backend, "con", None) or backend
    if duckdb.is_relation(data):
        return duckdb.connection_of(data)
    return data  # of Spark, which answers several questions at once


def interruptible(
    action: Callable[[], _T],
    stop: Callable[[], None] | None,
    thread: Callable[..., Thread] = Thread,
) -> _T:
    """What the action returns; at Ctrl-C it is stopped first.

    DuckDB seldom looks for signals while it works, and then raises an error like any other; Spark's
    handler of signals uses the line on which this thread waits. So they work in a thread of their
    own, which this one waits for. Where nothing can stop it, it is run in this thread.
    """
    _hear_signals()
    if stop is None:
        return action()
    done: Future[_T] = Future()

    def work() -> None:
        try:
            done.set_result(action())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            done.set_exception(error)

    try:
        thread(target=work, daemon=True).start()
        while not done.done():  # no signal ends a wait on Windows
            wait([done], _SECONDS_BETWEEN_TRIES)
        return done.result()
    except KeyboardInterrupt:
        while not done.done():
            # There may be nothing to stop yet, or any more. If Ctrl-C is pressed again, the query
            # still has to end: else it would go on, and leave its rows behind.
            with suppress(Exception, KeyboardInterrupt):
                stop()
                wait([done], _SECONDS_BETWEEN_TRIES)
        raise


def _hear_signals() -> None:
    """Let Ctrl-C end a wait, as Python has it: with the handler of Polars, waits go on."""
    if hasattr(signal, "siginterrupt"):  # Windows has none
        signal.siginterrupt(signal.SIGINT, True)
