"""A file of SQLite that must never lose what it was told, and that has one name.

SQLite undoes what a process left unfinished by a journal that lies beside the file, under the name
by which that was opened. Who comes by another name does not see the journal, writes beside it, and
is undone in turn by whoever comes by the first. So such a file has one name, and one only.
"""

from __future__ import annotations

import fcntl
import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.databases.faults import Fault, fault_of_code
from shortlist.databases.sqlite import DAMAGED, UNFINISHED, code_of, connect
from shortlist.errors import InputError, Words, in_quotes

if TYPE_CHECKING:
    import sqlite3

_NETWORK = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "coda", "ncpfs", "9p", "ceph", "glusterfs"),
    *("lustre", "gpfs", "beegfs", "orangefs", "pvfs2", "davfs", "webdav", "prl_fs", "vboxsf"),
    *("fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph", "fuse.rclone"),
    *("fuse.davfs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.goofys", "fuse.juicefs"),
}
_MOUNTS = Path("/proc/self/mounts")
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite keeps beside a file, by the end of its name

Execute = Callable[..., Sequence[Any]]
"""Run a statement, whose values it calls $1, $2 and so on; the rows that it gives."""


@dataclass(frozen=True, kw_only=True)
class FileWords:
    """What messages say of a file, by what it holds.

    Attributes:
        noun: What it is, such as "budget".
        kept: What is never overwritten.
        create: How one is created.
        harm: What could happen to a file with two names.
        undone: What cannot be done with a file that may not be written.
        step: What a process may have left unfinished, in one word.
        busy: That another writes.
        later: What to do then.
        failed: What to do where the disk fails.
        on_a_network: What to do where it is on a network.
    """

    noun: str
    kept: str
    create: Words
    harm: str
    undone: str
    step: str
    busy: str
    later: str
    failed: Words
    on_a_network: str

    @cached_property
    def exists(self) -> Fault:
        return Fault(
            "exists, and {kept} is never overwritten",
            "give another name, or use it",
            kept=self.kept,
        )

    @cached_property
    def missing(self) -> Fault:
        return Fault("does not exist", "check the path, or {create}", create=self.create)

    @cached_property
    def is_none(self) -> Fault:
        return Fault(
            "is no {noun}",
            "name the file of one, or {create}",
            noun=self.noun,
            create=self.create,
        )

    @cached_property
    def linked(self) -> Fault:
        return Fault(
            "has a second name, by a hard link. Who asks by one name does not see what was left "
            "unfinished by the other, so that {harm}",
            "Remove one of the names. Keep the name that has a -journal file beside it, if either "
            "has. Or copy the file, to look at it, and create a new {noun}",
            harm=self.harm,
            noun=self.noun,
        )

    @cached_property
    def mounted(self) -> Fault:
        return Fault(
            "is mounted by itself, without its folder, as into a container. Who asks outside does "
            "not see what was left unfinished inside, so that {harm}",
            "mount the folder that it is in",
            harm=self.harm,
        )

    @cached_property
    def read_only(self) -> Fault:
        return Fault(
            "may not be written, so that {undone}",
            "check the permissions of the file and of its folder",
            undone=self.undone,
        )

    @cached_property
    def failing(self) -> Fault:
        return Fault(
            "cannot be read or written: the disk or the file fails", "{failed}", failed=self.failed
        )

    @cached_property
    def by_code(self) -> dict[str, Fault]:
        """By the names of the errors of SQLite."""
        unfinished = Fault(
            "was left in the middle of a {step} by a process that ended",
            "open it once where it may be written, which undoes that {step}",
            step=self.step,
        )
        full = Fault(
            "cannot be written: the disk is full, so that {undone}",
            "make room and ask again",
            undone=self.undone,
        )
        return {
            **dict.fromkeys(UNFINISHED, unfinished),
            **DAMAGED,
            "SQLITE_BUSY": Fault("{busy}", "{later}", busy=self.busy, later=self.later),
            "SQLITE_NOTADB": self.is_none,
            **dict.fromkeys(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"), self.read_only),
            **dict.fromkeys(("SQLITE_FULL", "SQLITE_IOERR_WRITE"), full),
        }


class SqliteFile:
    """A file that is opened anew for each transaction, so that threads and forks share nothing.

    A transaction takes the lock for writing before it reads, and is on the disk when it ends: the
    file, its journal, and the folder whose entry of the journal was removed.
    """

    lock = ""  # of one writer at a time, `BEGIN IMMEDIATE` is enough

    def __init__(self, path: Path, words: FileWords, *, seconds_to_wait: float = 60.0) -> None:
        """Find out what the path leads to, once: the working folder and links may change later.

        Args:
            path: Of the file, whether there is one or not.
            words: What messages say of it.
            seconds_to_wait: How long, at most, for another who writes.
        """
        self._words, self._seconds_to_wait = words, seconds_to_wait
        self._path = Path(os.path.realpath(path))
        self.shown = in_quotes(os.fspath(path))

    @property
    def identity(self) -> str:
        return os.fspath(self._path)

    def exists(self) -> bool:
        return os.path.lexists(self._path)

    def require_new(self, require_none: object = None) -> None:  # noqa: ARG002 - a file holds one
        self._require_local()
        try:
            if self._path.exists():
                raise self._words.exists.of(self.shown)
            if not self._path.parent.is_dir():
                raise _NO_FOLDER.of(self.shown)
            self._require_nothing_beside()
            self._require_room()
        except OSError as error:
            why = error.strerror or "the system refuses it"
        else:
            return
        raise InputError(
            "no file can be created as {place}: {why}. Nothing was done",
            "Name one in a folder that you may write, with a shorter name if it is long",
            place=self.shown,
            why=why,
        )

    def _require_room(self) -> None:
        """Create and remove a file under the longest name that creating it takes."""
        longest = Path(f"{self._new_name()}{_BESIDE[0]}")
        longest.open("xb").close()
        longest.unlink(missing_ok=True)  # another who creates one may have removed it

    def _new_name(self) -> Path:
        """A name for one that is not complete."""
        return self._path.with_name(f"{self._unfinished}{uuid.uuid4().hex[:8]}.tmp")

    def create(self, fill: Callable[[Execute], None]) -> None:
        """Create the file, which appears under its name when it is complete."""
        self.require_new()
        new = self._new_name()
        with _creating_in(self._path.parent, if_alone=self._remove_unfinished):
            try:
                # Only the owner may read answers.
                os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                with self._transaction(new, "rw", "BEGIN IMMEDIATE") as execute:
                    fill(execute)
                self._name(new)
            finally:
                new.unlink(missing_ok=True)

    def _remove_unfinished(self) -> None:
        """Remove what those left who were killed while they created a file of this name.

        Nobody else creates one meanwhile, so that no living process still needs them.
        """
        ours = re.compile(re.escape(self._unfinished) + r"[0-9a-f]{8}\.tmp(-journal)?")
        with suppress(OSError):  # a folder that may not be read, or files of another user
            for other in self._path.parent.iterdir():
                if ours.fullmatch(other.name):
                    other.unlink(missing_ok=True)

    def _name(self, new: Path) -> None:
        """Give a complete file its name, which nobody else may have taken meanwhile."""
        try:
            os.link(new, self._path)
        except FileExistsError:
            raise self._words.exists.of(self.shown) from None
        except OSError:  # the file system has no links
            self._take_name()
            new.replace(self._path)
        with suppress(OSError):  # some systems open no folders
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _take_name(self) -> None:
        try:
            self._path.open("xb").close()
        except FileExistsError:
            raise self._words.exists.of(self.shown) from None

    def _require_nothing_beside(self) -> None:
        """Refuse a place where one was: its journal would undo a new one, or destroy it."""
        for end in _BESIDE:
            if os.path.lexists(f"{self._path}{end}"):
                raise InputError(
                    "{place}: beside it lies {name}, probably left by a deleted {noun}, which "
                    "would destroy a new one",
                    "Give another name; or restore that {noun}, if it was removed by mistake, "
                    "and else remove {name}",
                    noun=self._words.noun,
                    place=self.shown,
                    name=in_quotes(f"{self._path.name}{end}"),
                )

    def writing(self) -> AbstractContextManager[Execute]:
        self._require_file()
        self._require_local()
        if not os.access(self._path, os.W_OK):
            raise self._words.read_only.of(self.shown)
        return self._transaction(self._path, "rw", "BEGIN IMMEDIATE")

    def reading(self) -> AbstractContextManager[Execute]:
        """A transaction; where the file may be written, a change that was left is undone first."""
        self._require_file()
        folder = self._path.parent
        writable = os.access(self._path, os.W_OK) and os.access(folder, os.W_OK)
        return self._transaction(self._path, "rw" if writable else "ro", "BEGIN")

    @contextmanager
    def _transaction(self, path: Path, mode: str, begin: str) -> Iterator[Execute]:
        import sqlite3

        connection: sqlite3.Connection | None = None
        try:
            connection = connect(path, mode, isolation_level=None, timeout=self._seconds_to_wait)
            connection.execute("PRAGMA synchronous = EXTRA")  # FULL, and the folder, too
            connection.execute("PRAGMA fullfsync = ON")  # where a disk would only say that it wrote
            connection.execute("PRAGMA secure_delete = ON")  # what is erased is not on free pages
            connection.execute(begin)
            yield _executing(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            fault = self._fault(error)
        else:
            return
        finally:
            if connection is not None:
                connection.close()  # which undoes what was not committed
        raise fault.of(self.shown)

    def _fault(self, error: sqlite3.Error) -> Fault:
        code = code_of(error)
        if code == "SQLITE_ERROR" and "no such table" in str(error):
            return self._words.is_none
        return fault_of_code(code, self._words.by_code) or self._words.failing

    def _require_file(self) -> None:
        if not self._path.exists():
            raise self._words.missing.of(self.shown)
        if not self._path.is_file():
            raise self._words.is_none.of(self.shown)
        if is_mount_point(self._path):
            raise self._words.mounted.of(self.shown)
        if self._has_other_names():
            self._finish_creating()
            if self._has_other_names():
                raise self._words.linked.of(self.shown)

    def _has_other_names(self) -> bool:
        return self._path.stat().st_nlink > 1

    @property
    def _unfinished(self) -> str:
        """How its name begins while it is created."""
        return f".{self._path.name}-"

    def _finish_creating(self) -> None:
        """Remove the name that it had while it was created, where that is not yet done."""
        with suppress(OSError):  # a folder that may not be written: then the file is refused
            for other in self._path.parent.iterdir():
                ours = other.name.startswith(self._unfinished) and other.suffix == ".tmp"
                if ours and other.samefile(self._path):
                    other.unlink(missing_ok=True)

    def _require_local(self) -> None:
        if (kind := network_filesystem(self._path)) is not None:
            raise InputError(
                "{place} is on a network file system ({kind}), whose locks cannot be relied on, so "
                "that {harm}",
                "{remedy}",
                remedy=self._words.on_a_network,
                harm=self._words.harm,
                place=self.shown,
                kind=kind,
            )


@contextmanager
def _creating_in(folder: Path, *, if_alone: Callable[[], None]) -> Iterator[None]:
    """Create a file; before, do something if nobody else creates one in the folder meanwhile.

    The system lets go of the folder where a process ends. Where it locks none, nobody is alone.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            stack.callback(fcntl.flock, handle, fcntl.LOCK_UN)  # a fork may hold the handle, too
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if_alone()
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield


def _executing(connection: sqlite3.Connection) -> Execute:
    def execute(statement: str, *values: object) -> list[Any]:
        # By name: of "?1" with a sequence some versions of Python 3.12 warn.
        named = {f"value{number}": value for number, value in enumerate(values, start=1)}
        return connection.execute(statement.replace("$", ":value"), named).fetchall()

    return execute


def network_filesystem(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The kind of the network file system that a path is on; None if none can be seen.

    Args:
        path: It need not exist.
        mounts: What is mounted where, as Linux tells it. Other systems tell nothing.
    """
    target = os.path.realpath(path)
    if target.startswith(("\\\\", "//")):
        return "a share"
    best, found = "", None
    for folder, kind in _mounted(mounts) or []:
        inside = target == folder or target.startswith(f"{folder.rstrip('/')}/")
        if inside and len(folder) >= len(best):  # of the same place, the last mount counts
            best, found = folder, kind
    return found if found in _NETWORK else None


def is_mount_point(file: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a file is mounted by itself, as containers do it, and not with its folder.

    Args:
        file: It exists.
        mounts: As of `network_filesystem`. Where nothing is told, another device is looked for.
    """
    mounted = _mounted(mounts)
    if mounted is None:
        return os.path.ismount(file)
    return os.path.realpath(file) in {place for place, _ in mounted}


def _mounted(mounts: Path) -> list[tuple[str, str]] | None:
    """What is mounted where, and its kind, in the order of the file; None where there is none.

    Linux ends a line with a line feed and a field with a space, and writes these two within a
    field as numbers. All else is part of a path, even what Unicode takes for a space or a line end.
    """
    try:
        text = mounts.read_bytes().decode(errors="surrogateescape")  # no line end is translated
    except OSError:
        return None
    rows = (line.split(" ") for line in text.split("\n"))
    return [(_unescaped(row[1]), row[2]) for row in rows if len(row) >= 3]


def _unescaped(place: str) -> str:
    r"""The path that Linux writes with the numbers of spaces and the like.

    >>> _unescaped(r"/mnt/far\040away")
    '/mnt/far away'
    """
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), place)


_NO_FOLDER = Fault("is in a folder that does not exist", "create the folder first")
