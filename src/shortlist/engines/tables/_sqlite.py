"""SQLite: how its files are opened, and known again; it is asked as any engine is."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from weakref import finalize

from shortlist.databases import sqlite
from shortlist.databases.faults import Fault
from shortlist.databases.urls import path_of, require_file
from shortlist.engines.tables._dialect import Dialect
from shortlist.engines.tables._expressions import Expression, call, names_tables_alone
from shortlist.errors import Words
from shortlist.table.identity import identity_of_database


class SQLite(Dialect):
    """SQLite, by a connection of Ibis."""

    backend, schemes = "sqlite", ("sqlite",)
    unopened = Fault("cannot be opened", "check that the file is of SQLite, and may be read")

    @classmethod
    def open_url(cls, url: str, origin: Words) -> Expression:
        """A file that is only read; Ibis would make one, and from the root of all files."""
        import ibis

        require_file(url, origin)
        # Another thread reads, while this one waits for Ctrl-C.
        with ExitStack() as opened:
            native = sqlite.connect(Path(path_of(url)), check_same_thread=False)
            opened.callback(native.close)
            connection = ibis.sqlite.from_connection(native)  # a file that is none fails here
            finalize(connection, opened.pop_all().close)
        return connection

    def digits(self, column: Expression) -> Expression:
        return call("hex", "string", column).lower()

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - the rows say it
        """Its one file, and what is beside it."""
        native = self._connection.con
        if native.in_transaction or not names_tables_alone(rows):
            return self._unknown
        with closing(native.execute("PRAGMA database_list")) as listed:
            paths = [path for _, name, path in listed if name == "main" or path]
        with closing(native.execute("SELECT count(*) FROM sqlite_temp_schema")) as counted:
            ((n_temporary,),) = counted
        if n_temporary or len(paths) != 1:
            return self._unknown
        (path,) = paths
        return identity_of_database(path, "-wal", "-journal")
