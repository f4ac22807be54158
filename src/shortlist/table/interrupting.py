"""An engine at work: that it hears of Ctrl-C, and prints nothing."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, TypeVar

__all__ = ["interrupt_of", "interruptible", "without_bar", "without_bar_of"]

_AGAIN = 0.1  # seconds until signals are looked for, or a query is stopped that had not yet begun

_T = TypeVar("_T")


def interrupt_of(native: Any) -> Callable[[], None] | None:
    """What stops the query that DuckDB works at for a relation or a table of Ibis, if it is DuckDB.

    Relations of DuckDB 1 do not tell their connection: then DuckDB itself must hear of Ctrl-C.
    """
    connection = None
    library = type(native).__module__.partition(".")[0]
    if library == "ibis" and (backend := native.get_backend()).name == "duckdb":
        connection = backend.con
    elif library in {"duckdb", "_duckdb"}:
        connection = getattr(native, "_con", None)
    return getattr(connection, "interrupt", None)


@contextmanager
def without_bar(ask: Callable[[str], Any]) -> Iterator[None]:
    """DuckDB without its bar of progress, which goes to standard output, where answers go.

    Whoever else has the connection finds the setting as it was.
    """
    was: list[tuple[bool]] = []
    with suppress(Exception):  # a connection that is lost says so at the first query
        was = ask("SELECT current_setting('enable_progress_bar')").fetchall()
        ask("SET enable_progress_bar = false")
    try:
        yield
    finally:
        with suppress(Exception):
            for (shown,) in was:
                ask(f"SET enable_progress_bar = {shown}")


@contextmanager
def without_bar_of(native: Any) -> Iterator[None]:
    """DuckDB without its bar where a relation is read; Ibis has no bar."""
    if type(native).__module__.partition(".")[0] in {"duckdb", "_duckdb"}:
        with without_bar(lambda statement: native.query("shortlist_rows", statement)):
            yield
    else:
        yield


def interruptible(
    action: Callable[[], _T],
    stop: Callable[[], None] | None,
    thread: Callable[..., Thread] = Thread,
) -> _T:
    """What the action returns; at Ctrl-C it is stopped first.

    DuckDB seldom looks for signals while it works, and then raises an error like any other; Spark's
    handler of signals uses the line on which this thread waits. So they work in a thread of their
    own, which this one waits for.

    Args:
        action: What an engine does for us.
        stop: What stops that, if there is anything: otherwise the action is run in this thread.
        thread: The kind of thread.
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
            wait([done], _AGAIN)
        return done.result()
    except KeyboardInterrupt:
        while not done.done():
            # There may be nothing to stop yet, or any more. If Ctrl-C is pressed again, the query
            # still has to end: else it would go on, and leave its rows behind.
            with suppress(Exception, KeyboardInterrupt):
                stop()
                wait([done], _AGAIN)
        raise


def _hear_signals() -> None:
    """Let Ctrl-C end a wait, as Python has it: with the handler of Polars, waits go on."""
    if hasattr(signal, "siginterrupt"):  # Windows has none
        signal.siginterrupt(signal.SIGINT, True)
