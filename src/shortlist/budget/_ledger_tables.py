"""Where a ledger is kept: what a place must do, and what is the same in all of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from shortlist.budget._budget_terms import BudgetTerms
from shortlist.budget._entries import GARBLED, Entry, digest
from shortlist.databases.postgres_database import DatabaseWords, PostgresDatabase
from shortlist.databases.sqlite_file import Execute, FileWords, SqliteFile
from shortlist.errors import InputError, Words, in_quotes, nearest

_FIRST_VERSION = 1
# Of a ledger with an allowance, or closed, or with earlier ones: the first would not heed it.
_VERSION_OF_TABLES = 2
_NEW = {"allowance", "continues"}
_NO_NUMBER = -1
_NO_CHARGE = 0  # under which the key is kept, as a release: whoever may charge can write there
_TABLES = (
    """CREATE TABLE IF NOT EXISTS shortlist_budgets (dataset TEXT PRIMARY KEY,
    version INTEGER NOT NULL, entries BIGINT NOT NULL, head TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS shortlist_entries (dataset TEXT NOT NULL, number BIGINT NOT NULL,
    body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (dataset, number))""",
    """CREATE TABLE IF NOT EXISTS shortlist_releases (dataset TEXT NOT NULL, charge BIGINT NOT NULL,
    plan TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (dataset, charge))""",
)

_IN_FILE = FileWords(
    noun="budget",
    kept="what was spent",
    create=Words("create it by {sl.Budget.create}; it is never created automatically"),
    harm="two questions could be paid by one charge",
    undone="nothing can be charged",
    step="charge",
    busy="is locked by another program for a long time",
    later="ask again later",
    failed=Words("See what it holds by {sl.Budget.verify}"),
    on_a_network="Keep it on a local disk, or take postgresql:// for several machines",
)

_IN_DATABASE = DatabaseWords(
    table="shortlist_budgets",
    noun="budget",
    create=Words("create one by {sl.Budget.create}"),
    undone="nothing can be charged",
    grants="GRANT SELECT, INSERT ON shortlist_entries, shortlist_releases TO it; "
    "GRANT SELECT, UPDATE ON shortlist_budgets TO it;",
    busy="is locked by another program for a long time",
    later="ask again later",
)


def ledger_file(path: Path) -> SqliteFile:
    """The file of a ledger, whether there is one or not."""
    return SqliteFile(path, _IN_FILE)


def ledger_database(url: str) -> PostgresDatabase:
    """The database that has ledgers, or may have."""
    return PostgresDatabase(url, _IN_DATABASE)


class LedgerDatabase(Protocol):
    """A database that can hold ledgers.

    Attributes:
        shown: What messages call it.
        lock: What a query ends with that is to keep its row from all others.
    """

    shown: Words
    lock: str

    @property
    def identity(self) -> str:
        """What tells it from others, as far as that is known."""
        ...

    def require_new(self, require_none: Callable[[Execute], None]) -> None:
        """Refuse, as `create` would, where something is; `require_none` looks at a ledger."""
        ...

    def create(self, fill: Callable[[Execute], None]) -> None:
        """Make room for a new ledger, and fill it, all at once or not at all."""
        ...

    def writing(self) -> AbstractContextManager[Execute]:
        """A transaction: what it did lasts, whatever happens, once its end is reached."""
        ...

    def reading(self) -> AbstractContextManager[Execute]:
        """A transaction that sees one moment, and changes nothing."""
        ...


class ChargeFor(NamedTuple):
    """A charge for a question.

    Attributes:
        entry: Of the ledger.
        fingerprint: Of the table whose answer was kept; None where none was kept.
    """

    entry: Entry
    fingerprint: str | None


class LedgerTables:
    """The ledger of one data set, as a transaction of a place sees it."""

    def __init__(self, place: LedgerDatabase, execute: Execute, dataset: str | None = None) -> None:
        """Without a data set, the only one of the place is meant."""
        self._place, self._execute = place, execute
        self._dataset = dataset

    def create(self, first: Entry) -> None:
        """The tables, and the first entry of a ledger in them."""
        self._dataset = first.record["dataset"]
        for statement in _TABLES:
            self._execute(statement)
        self.require_none(self._dataset)
        self._execute(
            "INSERT INTO shortlist_budgets VALUES ($1, $2, 0, $3)",
            self._dataset,
            _VERSION_OF_TABLES if _NEW & first.record.keys() else _FIRST_VERSION,
            "",
        )
        self.add(first)
        self.make_key()

    def require_none(self, dataset: str | None) -> None:
        """Refuse to create a second budget of a data set."""
        if self._budgets(dataset):
            raise InputError(
                "{place} has a budget of {dataset}",
                "use that one, or name the data set otherwise",
                place=self._place.shown,
                dataset=in_quotes(dataset),
            )

    def _budgets(self, dataset: str | None, lock: str = "") -> Sequence[Any]:
        query = "SELECT dataset, version, entries, head FROM shortlist_budgets"
        if dataset is None:
            found = self._execute(f"{query} ORDER BY dataset{lock}")
        else:
            found = self._execute(f"{query} WHERE dataset = $1{lock}", dataset)
        return self._typed(found, str, int, int, str)

    def _typed(self, rows: Sequence[Any], *kinds: type) -> Sequence[Any]:
        """The rows, whose cells must be of these types: SQLite takes any value in any column."""
        if any(tuple(map(type, row)) != kinds for row in rows):
            raise self.changed()
        return rows

    def find(self) -> str:
        """The data set of the ledger."""
        known = [name for name, *_ in self._budgets(None)]
        place, dataset = self._place.shown, self._dataset
        if dataset is None and len(known) != 1:
            raise InputError(
                "{place} has budgets of {n} data sets",
                "Name one by {dataset}" if known else "Create one",
                place=place,
                n=len(known) or "no",
            )
        if dataset is not None and dataset not in known:
            raise InputError(
                "{place} has no budget of {dataset=}",
                "name the data set that it is of, or use another budget.{hint}",
                given={"dataset": in_quotes(dataset)},
                place=place,
                hint=nearest(dataset, known),
            )
        self._dataset = known[0] if dataset is None else dataset
        self.head()
        return self._dataset

    def head(self, lock: str = "") -> tuple[int, str]:
        """How many entries there are, and the hash of the last."""
        found = self._budgets(self._dataset, lock)
        if not found:
            raise InputError(
                "{place}: this budget is gone", "restore the ledger", place=self._place.shown
            )
        _, version, n, head = found[0]
        if version > _VERSION_OF_TABLES:
            raise InputError(
                "{place} was made by a newer shortlist, in version {version} of the ledger, and "
                "this one knows version {known}",
                "install a newer one",
                place=self._place.shown,
                version=version,
                known=_VERSION_OF_TABLES,
            )
        return n, head

    def last(self, *, lock: bool = False) -> Entry:
        """The last entry; if asked for, nobody else may add one from here on."""
        n, head = self.head(self._place.lock if lock else "")
        last = self._entry(n - 1)
        if last is None or last.hash != head or not last.makes_sense:
            raise self.changed()
        return last

    def terms(self) -> BudgetTerms:
        """What the budget was created with, as its first entry says."""
        first = self._entry(0)
        with suppress(*GARBLED):
            if first is not None:
                return BudgetTerms.from_entry(first)
        raise self.changed()

    def _entry(self, number: int) -> Entry | None:
        query = "SELECT body FROM shortlist_entries WHERE dataset = $1 AND number = $2"
        found = self._typed(self._execute(query, self._dataset, number), str)
        return Entry(number, found[0][0]) if found else None

    def changed(self) -> InputError:
        return InputError(
            "{place}: entries of this ledger were changed, so that its sum cannot be believed",
            "see which by {sl.Budget.verify}, and restore it from a backup",
            place=self._place.shown,
        )

    def add(self, entry: Entry) -> None:
        self._execute(
            "INSERT INTO shortlist_entries VALUES ($1, $2, $3, $4)",
            *(self._dataset, entry.number, entry.body, entry.hash),
        )
        self._execute(
            "UPDATE shortlist_budgets SET entries = $1, head = $2 WHERE dataset = $3",
            *(entry.number + 1, entry.hash, self._dataset),
        )

    def mark_as_new(self) -> None:
        """Let earlier versions refuse the ledger."""
        self._execute(
            "UPDATE shortlist_budgets SET version = $1 WHERE dataset = $2",
            *(_VERSION_OF_TABLES, self._dataset),
        )

    def keep(self, charge: int, fingerprint: str, content: str) -> None:
        self._execute(
            "INSERT INTO shortlist_releases VALUES ($1, $2, $3, $4)",
            *(self._dataset, charge, fingerprint, content),
        )

    def charges_for(self, asked: str) -> list[ChargeFor]:
        """All charges for the same question, each with the fingerprint of its table, if kept."""
        charges = [
            entry
            for entry, _ in self.entries()
            if entry.makes_sense and entry.kind == "charge" and entry.record.get("plan") == asked
        ]
        found = self._execute(
            "SELECT charge, plan FROM shortlist_releases WHERE dataset = $1", self._dataset
        )
        kept = dict(self._typed(found, int, str))
        return [ChargeFor(entry, kept.get(entry.charges)) for entry in charges]

    def content(self, charge: int) -> str:
        """What was kept of a charge, or of an entry by `Entry.keeps`, as it was written."""
        found = self._execute(
            "SELECT content FROM shortlist_releases WHERE dataset = $1 AND charge = $2",
            *(self._dataset, charge),
        )
        entries = [entry for entry, _ in self.entries() if entry.makes_sense]
        for (content,) in self._typed(found, str):
            if any(_says_of(entry, charge, content) for entry in entries):
                return str(content)
        raise self.changed()

    def key(self) -> str | None:
        """What plans are hashed with; None in a ledger that was made before there were keys."""
        found = self._execute(
            "SELECT content FROM shortlist_releases WHERE dataset = $1 AND charge = $2",
            *(self._dataset, _NO_CHARGE),
        )
        found = self._typed(found, str)
        return found[0][0] if found else None

    def make_key(self) -> str:
        """Such a key, of random bits: of this ledger alone, and in nothing that is exported."""
        key = secrets.token_hex(32)
        self.keep(_NO_CHARGE, "", key)
        return key

    def entries(self) -> list[tuple[Entry, str]]:
        """All, each with the hash that is stored beside it; cells of a wrong type as texts.

        So `verify` can say which entry was changed.
        """
        found = self._execute(
            "SELECT number, body, hash FROM shortlist_entries WHERE dataset = $1 ORDER BY number",
            self._dataset,
        )
        return [
            (Entry(number if type(number) is int else _NO_NUMBER, str(body)), str(stored))
            for number, body, stored in found
        ]

    def with_nonce(self, nonce: str) -> Entry | None:
        known = (entry for entry, _ in self.entries() if entry.makes_sense)
        return next((entry for entry in known if entry.record.get("nonce") == nonce), None)

    def digests(self) -> dict[int, str]:
        """The hashes of the releases that are kept, by the numbers of their charges."""
        query = "SELECT charge, content FROM shortlist_releases WHERE dataset = $1"
        kept = self._execute(query, self._dataset)
        return {number: digest(str(content)) for number, content in kept}


def _says_of(entry: Entry, charge: int, content: str) -> bool:
    keeps = entry.kind in ("release", "run") and entry.keeps == charge
    return keeps and bool(entry.record.get("sha256") == digest(content))
