"""Where the state of a series can be: a file of SQLite, or a schema of a PostgreSQL database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from shortlist.databases.postgres import address_of
from shortlist.databases.postgres_database import DatabaseWords, PostgresDatabase
from shortlist.databases.sqlite_file import Execute, FileWords, SqliteFile
from shortlist.errors import InputError, Words

_BUSY, _LATER = "is being written: another run is being made", "ask again when it is done"
_UNDONE = "no run can be made"
_IN_FILE = FileWords(
    noun="series",
    kept="its state",
    create=Words("create it by {sl.Series.create}; it is never created automatically"),
    harm="two runs could go on from one state",
    undone=_UNDONE,
    step="run",
    busy=_BUSY,
    later=_LATER,
    failed=Words("If it stays so, go on by {sl.Series.recover}"),
    on_a_network="Keep it on a local disk",
)
_IN_DATABASE = DatabaseWords(
    table="shortlist_series",
    noun="series",
    create=Words("create one by {sl.Series.create}"),
    undone=_UNDONE,
    grants="GRANT SELECT, UPDATE ON shortlist_series TO it; "
    "GRANT ALL ON shortlist_runs, shortlist_cells TO it;",
    busy=_BUSY,
    later=_LATER,
)
_LEDGERS = """SELECT EXISTS (SELECT FROM pg_catalog.pg_class
    WHERE relname = 'shortlist_budgets' AND relkind IN ('r', 'p'))"""


class StatePlace(Protocol):
    """Where the state of one series is, or may be created."""

    def exists(self) -> bool:
        """Whether something is there."""
        ...

    def require_new(self) -> None:
        """Refuse, as `create` would, where something is."""
        ...

    def create(self, fill: Callable[[Execute], None]) -> None:
        """Make room, and fill it, all at once or not at all."""
        ...

    def writing(self) -> AbstractContextManager[Execute]:
        """A transaction for one at a time: another is refused, and does not wait long."""
        ...

    def reading(self) -> AbstractContextManager[Execute]:
        """A transaction that sees one moment, and changes nothing."""
        ...


class _Database(PostgresDatabase):
    """A schema that holds one series, in a database that holds no ledger."""

    def exists(self) -> bool:
        with self._transaction("BEGIN READ ONLY", creates=True) as execute:
            return self.has_tables(execute)

    def require_new(self, require_none: object = None) -> None:  # noqa: ARG002 - a schema holds one
        with self._transaction("BEGIN READ ONLY", creates=True) as execute:
            self._require_room(execute)

    def _require_room(self, execute: Execute) -> None:
        self._require_apart(execute)
        if self.has_tables(execute):
            raise self._words.exists.of(self.shown)

    def _require_apart(self, execute: Execute) -> None:
        """Refuse to be restored from the same backup as a ledger, which could not show it then."""
        if execute(_LEDGERS) == [(True,)]:
            raise InputError(
                "{place} has a budget in the same database: one backup would restore both, and "
                "nothing would show that the state is an older one",
                "keep the state in another database, and back the two up apart",
                place=self.shown,
            )

    def create(self, fill: Callable[[Execute], None]) -> None:
        def filled(execute: Execute) -> None:
            self._require_room(execute)
            fill(execute)

        super().create(filled)

    @contextmanager
    def writing(self) -> Iterator[Execute]:
        with super().writing() as execute:
            execute("SET LOCAL lock_timeout = '1s'")
            execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # a run may take long
            execute("SELECT version FROM shortlist_series FOR UPDATE")
            self._require_apart(execute)
            yield execute


def state_place(url_or_path: object) -> StatePlace:
    """Where a series is, whether there is one or not."""
    text = os.fspath(url_or_path) if isinstance(url_or_path, str | os.PathLike) else "://"
    if "://" not in text:
        return SqliteFile(Path(text), _IN_FILE, seconds_to_wait=1.0)
    if (address := address_of(text)) is None:
        raise InputError(
            "must be the path of a file, or a URL that begins with postgresql://",
            given={"url_or_path": ...},
        )
    return _Database(address, _IN_DATABASE)
