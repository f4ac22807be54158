"""A disk that loses its power: what SQLite has written, and what of it had reached the disk."""

import shutil
from pathlib import Path

import apsw

__all__ = ["Disk", "connect"]


class Disk(apsw.VFS):
    """Notes, at every write, sync and removal, what a folder holds.

    A file's content is sure to be on the disk as of its last sync, and that a file is gone, if
    the folder was synced with its removal. Anything later may be there or not.

    Attributes:
        moments: What each file held then, by its name, as it was and as it was sure to be.
    """

    def __init__(self, folder):
        super().__init__("power", "")
        self.folder, self.sure, self.moments = Path(folder), {}, []
        for path in self.folder.iterdir():
            self.sure[path.name] = path.read_bytes()

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        return File(self, name, flags)

    def xDelete(self, name, sync):  # noqa: N802
        self.note()
        super().xDelete(name, sync)
        if sync:
            self.sure.pop(Path(name).name, None)
        self.note()

    def note(self):
        seen = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.moments.append((seen, dict(self.sure)))

    def after_power_loss(self, moment, kept, place):
        """A folder as it may be found: of the files in `kept` what was written, else what was sure.

        Returns:
            The ledger in it.
        """
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        seen, sure = self.moments[moment]
        for name in {*seen, *sure}:
            content = (seen if name.endswith(tuple(kept)) else sure).get(name)
            if content is not None:
                (place / name).write_bytes(content)
        return place / "plays.budget"


class File(apsw.VFSFile):
    def __init__(self, disk, name, flags):
        self._disk = disk
        self._name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name).name
        super().__init__("", name, flags)

    def xWrite(self, data, offset):  # noqa: N802
        super().xWrite(data, offset)
        self._disk.note()

    def xTruncate(self, size):  # noqa: N802
        super().xTruncate(size)
        self._disk.note()

    def xSync(self, flags):  # noqa: N802
        super().xSync(flags)
        path = self._disk.folder / self._name
        self._disk.sure[self._name] = path.read_bytes()
        self._disk.note()


class connect:  # noqa: N801 - as `sqlite3.connect`
    """As `sqlite3.connect`, on that disk."""

    def __init__(self, name, **_):
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        self._connection = apsw.Connection(name, flags, vfs="power")

    def execute(self, statement, values=()):
        return self._connection.execute(statement, values)

    def close(self):
        self._connection.close()
