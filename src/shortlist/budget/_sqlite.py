"""A ledger in an SQLite file.

SQLite undoes what a process left unfinished by a journal that lies beside the file, under the name
by which that was opened. Who comes by another name does not see the journal, charges beside it, and
is undone in turn by whoever comes by the first. So a ledger has one name, and one only.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.budget._filesystems import is_mount_point, network_filesystem
from shortlist.budget._places import Execute
from shortlist.errors import InputError, Words, in_quotes
from shortlist.stores.faults import Fault

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SqliteFile"]

_PATIENCE = 60.0  # seconds to wait for others who charge
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite keeps beside a file, by the end of its name


class SqliteFile:
    """A file that is opened anew for each transaction, so that threads and forks share nothing.

    A transaction takes the lock for writing before it reads, and is on the disk when it ends: the
    file, its journal, and the folder whose entry of the journal was removed.
    """

    lock = ""  # of one writer at a time, `BEGIN IMMEDIATE` is enough

    def __init__(self, path: Path) -> None:
        """Find out what the path leads to, once: the working folder and links may change later."""
        self._path = Path(os.path.realpath(path))
        self.shown = in_quotes(os.fspath(path))

    def create(self, fill: Callable[[Execute], None]) -> None:
        """As `Place`: the file appears under its name when it is complete."""
        self._require_local()
        if self._path.exists():
            raise self._refusal(_EXISTS)
        if not self._path.parent.is_dir():
            raise self._refusal(_NO_FOLDER)
        self._require_nothing_beside()
        new = self._path.with_name(f"{self._unfinished}{uuid.uuid4().hex[:8]}.tmp")
        try:
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))  # it holds answers
            with self._transaction(new, "rw", "BEGIN IMMEDIATE") as execute:
                fill(execute)
            self._name(new)
        finally:
            new.unlink(missing_ok=True)

    def _name(self, new: Path) -> None:
        """Give a complete file its name, which nobody else may have taken meanwhile."""
        try:
            os.link(new, self._path)
        except FileExistsError:
            raise self._refusal(_EXISTS) from None
        except OSError:  # a file system without links
            self._take_name()
            new.replace(self._path)
        with suppress(OSError):  # a system whose folders cannot be opened
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _take_name(self) -> None:
        try:
            self._path.open("xb").close()
        except FileExistsError:
            raise self._refusal(_EXISTS) from None

    def _require_nothing_beside(self) -> None:
        """Refuse a place where a ledger was: its journal would undo a new one, or destroy it."""
        for end in _BESIDE:
            if os.path.lexists(f"{self._path}{end}"):
                raise InputError(
                    "{place}: beside it lies {name}, probably left by a deleted ledger, which "
                    "would destroy a new one",
                    "Give another name; or restore that ledger, if it was removed by mistake, "
                    "and else remove {name}",
                    place=self.shown,
                    name=in_quotes(f"{self._path.name}{end}"),
                )

    def writing(self) -> Any:
        """As `Place`."""
        self._require_file()
        self._require_local()
        if not os.access(self._path, os.W_OK):
            raise self._refusal(_READ_ONLY)
        return self._transaction(self._path, "rw", "BEGIN IMMEDIATE")

    def reading(self) -> Any:
        """As `Place`. Where the file may be written, a change that was left is undone first."""
        self._require_file()
        folder = self._path.parent
        writable = os.access(self._path, os.W_OK) and os.access(folder, os.W_OK)
        return self._transaction(self._path, "rw" if writable else "ro", "BEGIN")

    @contextmanager
    def _transaction(self, path: Path, mode: str, begin: str) -> Iterator[Execute]:
        import sqlite3

        connection: sqlite3.Connection | None = None
        try:
            uri = f"{path.as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_PATIENCE)
            connection.execute("PRAGMA synchronous = EXTRA")  # FULL, and the folder, too
            connection.execute("PRAGMA fullfsync = ON")  # where a disk would only say that it wrote
            connection.execute(begin)
            yield _executing(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            fault = _fault(error)
        else:
            return
        finally:
            if connection is not None:
                connection.close()  # which undoes what was not committed
        raise self._refusal(fault)

    def _require_file(self) -> None:
        if not self._path.exists():
            raise self._refusal(_MISSING)
        if not self._path.is_file():
            raise self._refusal(_NO_BUDGET)
        if is_mount_point(self._path):
            raise self._refusal(_MOUNTED)
        if self._has_other_names():
            self._finish_creating()
            if self._has_other_names():
                raise self._refusal(_LINKED)

    def _has_other_names(self) -> bool:
        return self._path.stat().st_nlink > 1

    @property
    def _unfinished(self) -> str:
        """How the name of a ledger begins while it is created."""
        return f".{self._path.name}-"

    def _finish_creating(self) -> None:
        """Remove the name that a ledger had while it was created, where that is not yet done."""
        with suppress(OSError):  # a folder that may not be written: then the file is refused
            for other in self._path.parent.iterdir():
                ours = other.name.startswith(self._unfinished) and other.suffix == ".tmp"
                if ours and other.samefile(self._path):
                    other.unlink(missing_ok=True)

    def _require_local(self) -> None:
        if (kind := network_filesystem(self._path)) is not None:
            raise InputError(
                "{place} is on a network file system ({kind}), whose locks cannot be relied on, so "
                "that two questions could be paid by one charge",
                "Keep it on a local disk, or take postgresql:// for several machines",
                place=self.shown,
                kind=kind,
            )

    def _refusal(self, fault: Fault) -> InputError:
        return fault.of(self.shown)


def _executing(connection: sqlite3.Connection) -> Execute:
    def execute(statement: str, *values: object) -> list[Any]:
        return connection.execute(statement.replace("$", "?"), values).fetchall()

    return execute


def _fault(error: sqlite3.Error) -> Fault:
    code = str(getattr(error, "sqlite_errorname", None) or "")
    if code == "SQLITE_ERROR" and "no such table" in str(error):
        return _NO_BUDGET
    return next((fault for start, fault in _FAULTS.items() if code.startswith(start)), _FAILED)


_CREATE = Words("create it by {sl.Budget.create}; it is never made by itself")
_MISSING = Fault(Words("does not exist"), Words("check the path, or {create}", create=_CREATE))
_EXISTS = Fault(
    Words("exists, and what was spent is never overwritten"), Words("give another name, or use it")
)
_NO_FOLDER = Fault(Words("is in a folder that does not exist"), Words("create the folder first"))
_NO_BUDGET = Fault(
    Words("is no budget"), Words("name the file of one, or {create}", create=_CREATE)
)
_LINKED = Fault(
    Words(
        "has a second name, by a hard link. Who asks by one name does not see what was left "
        "unfinished by the other, so that two questions could be paid by one charge"
    ),
    Words(
        "Remove one of the names. Keep the name that has a -journal file beside it, if either "
        "has. Or copy the file, to look at it, and create a new ledger"
    ),
)
_MOUNTED = Fault(
    Words(
        "is mounted by itself, without its folder, as into a container. Who asks outside does not "
        "see what was left unfinished inside, so that two questions could be paid by one charge"
    ),
    Words("mount the folder that it is in"),
)
_READ_ONLY = Fault(
    Words("may not be written, so that nothing can be charged"),
    Words("check the permissions of the file and of its folder"),
)
_FULL = Fault(
    Words("cannot be written: the disk is full, so that nothing can be charged"),
    Words("make room and ask again"),
)
_FAILED = Fault(
    Words("cannot be read or written: the disk or the file fails"),
    Words("See what it holds by {sl.Budget.verify}"),
)
_UNFINISHED = Fault(
    Words("was left in the middle of a charge by a process that ended"),
    Words("open it once where it may be written, which undoes that charge"),
)
_FAULTS = {
    "SQLITE_READONLY_ROLLBACK": _UNFINISHED,
    "SQLITE_READONLY_RECOVERY": _UNFINISHED,
    "SQLITE_READONLY_CANTINIT": _UNFINISHED,
    "SQLITE_BUSY": Fault(
        Words("is locked by another program for a long time"), Words("ask again later")
    ),
    "SQLITE_NOTADB": _NO_BUDGET,
    "SQLITE_CORRUPT": Fault(Words("is damaged"), Words("restore it from a backup")),
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_CANTOPEN": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR_WRITE": _FULL,
}
