"""Connections to engines: a lock for each, and how one that was lost is opened anew."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any, NamedTuple, TypeVar
from weakref import finalize

__all__ = ["lock_of", "opened", "opened_anew"]

_Lock = AbstractContextManager[Any]
_T = TypeVar("_T")


class _Opened(NamedTuple):
    is_lost: Callable[[], bool]
    open_anew: Callable[[], None]


# By `id`, not by the objects: connections of Ibis to different databases may count as equal.
_locks: dict[int, _Lock] = {}
_opened: dict[int, _Opened] = {}
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


def opened(connection: object, is_lost: Callable[[], bool], open_anew: Callable[[], None]) -> None:
    """Remember of a connection of Ibis how to tell that it was lost, and how to open it anew."""
    _kept(_opened, connection, _Opened(is_lost, open_anew))


def opened_anew(data: Any) -> bool:
    """Whether it may help to ask again: the connection is one of ours, and is opened by now."""
    found = _opened.get(id(_backend_of(data)))
    if found is None:
        return False
    with lock_of(data):  # another thread may be at it
        if found.is_lost():
            found.open_anew()
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
    library = type(data).__module__.partition(".")[0]
    return data.get_backend() if library == "ibis" else None


def _connection_of(data: Any) -> Any:
    """What talks to the engine, which several tables may share; None where it cannot be told."""
    if (backend := _backend_of(data)) is not None:
        is_ours = id(backend) in _opened  # then nobody else has what talks to the engine
        return backend if is_ours else getattr(backend, "con", None) or backend
    if type(data).__module__.partition(".")[0] in {"duckdb", "_duckdb"}:
        return getattr(data, "_con", None)
    return data  # of Spark, which answers several questions at once
