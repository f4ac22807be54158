"""Little memory: where it is limited (`ulimit -v`), a parent names what a library dies of.

Without memory, libraries abort, exit with words of their own, or wait for ever for a thread that
could not be started (as Polars' CSV reader does for a task of its own). None of it can be caught in
the process, so that there are two: one answers, the other waits for it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from shortlist.errors import InputError
from shortlist.runtime.processes import remove_private_folders

_NEEDED = 700_000  # kB that the libraries take with few threads, before any row is read
_TIGHT = 4_000_000  # kB below which threads are few
_PATIENCE = 20.0  # seconds for loading libraries, which takes about one
_PREPARING, _PREPARED, _ENDED = b"p", b"r", b"e"
_DEATHS = ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGKILL")

_pipe: int | None = None  # to the parent, in the process that it waits for


def is_limited() -> bool:
    """Whether the memory of this process has a limit of which a parent can tell."""
    return hasattr(os, "fork") and any(map(_limit, ("RLIMIT_AS", "RLIMIT_DATA")))


def _limit(name: str) -> int | None:
    """The limit in kB, or None where there is none."""
    import resource

    most = resource.getrlimit(getattr(resource, name))[0]
    return None if most == resource.RLIM_INFINITY else most // 1024


def watched(run: Callable[[], int]) -> int:
    """Run in a process of its own; its exit status, or 1 and a line where it ended otherwise."""
    if (limit := _limit("RLIMIT_AS")) is not None and limit < _NEEDED:
        return _complain(f"{limit:,} kB are allowed (ulimit -v), and {_NEEDED:,} are needed. ")
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        return _complain("no process can be started. ")
    if child == 0:
        os.close(reading)
        _run(run, writing, tight=limit is not None and limit < _TIGHT)
    os.close(writing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: os.kill(child, number))
    return _status(child, reading)


def _run(run: Callable[[], int], pipe: int, *, tight: bool) -> NoReturn:
    global _pipe  # noqa: PLW0603 - one process, one parent
    _pipe = pipe
    _end_with_the_parent()
    if tight:
        _take_few_threads()
    _silence_libraries()
    status = run()
    remove_private_folders()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    _tell(_ENDED)
    os._exit(status)


def _status(child: int, pipe: int) -> int:
    """Wait; the exit status."""
    stage = b""
    while news := _next(pipe, _PATIENCE if stage == _PREPARING else None):
        stage = news
    if news is None:
        os.kill(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if stage == _ENDED:
        return ended
    if ended < 0 and signal.Signals(-ended).name not in _DEATHS:
        return 128 - ended  # somebody ended it
    spent = "Count the question's epsilon and delta as spent. " if stage == _PREPARED else ""
    return _complain(f"{_end(ended, hung=news is None)}. {spent}")


def _end(ended: int, *, hung: bool) -> str:
    """How a library has ended the command."""
    if hung:
        return "a library waited for ever and was ended"
    by = f"by {signal.Signals(-ended).name}" if ended < 0 else f"with status {ended}"
    return f"a library ended the command {by}"


def _next(pipe: int, patience: float | None) -> bytes | None:
    """The next stage of the child; b"" once it has ended, None if it takes too long."""
    ready, _, _ = select.select([pipe], [], [], patience)
    return os.read(pipe, 1) if ready else None


def _complain(message: str) -> int:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"shortlist: memory is short: {message}Allow more.\n")
    return 1


def _tell(stage: bytes) -> None:
    if _pipe is not None:
        os.write(_pipe, stage)


def _end_with_the_parent() -> None:
    """End this process when its parent is killed, so that nothing more is spent."""
    import ctypes

    with contextlib.suppress(AttributeError):  # only Linux has it
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))


def _take_few_threads() -> None:
    """Save address space: a thread takes its stack, and up to 128 MB for an arena of its own."""
    import ctypes

    for name in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with contextlib.suppress(AttributeError):  # only the GNU library has it
        ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX


def _silence_libraries() -> None:
    """Discard what libraries write to file descriptor 2; `sys.stderr` goes on elsewhere."""
    with contextlib.suppress(OSError, ValueError):
        own = os.dup(sys.stderr.fileno())
        sys.stderr = os.fdopen(own, "w", buffering=1, errors="backslashreplace")
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)


def prepare() -> None:
    """Where memory is limited, load all libraries and start their threads before a row is read.

    Raises:
        MemoryError: They do not fit.
    """
    if _pipe is None:
        return
    _tell(_PREPARING)
    try:
        with warnings.catch_warnings(action="ignore"):
            _load()
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException:  # noqa: BLE001 - a panic is no Exception
        raise MemoryError from None
    _tell(_PREPARED)


def _load() -> None:
    import tempfile

    import flint  # noqa: F401
    import polars as pl

    import shortlist

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text("user,item\n" + "a,b\n" * 100)
        rows = pl.scan_csv(path, infer_schema=False).collect()
    source = shortlist.pairs(rows, user="user", item="item")
    source.top_k(1, epsilon=1.0, delta=1e-6)
