"""The entries of one ledger: added and looked at, each time in one transaction of its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from shortlist.budget._balance import Balance, BudgetTerms
from shortlist.budget._entries import GARBLED, Entry, digest, faults, following
from shortlist.budget._ledger_tables import Execute, LedgerDatabase, LedgerTables
from shortlist.budget._postgres import LostConnectionError
from shortlist.budget._units import Amount, sum_of
from shortlist.errors import InputError

__all__ = ["Book"]

_T = TypeVar("_T")


class Book:
    """The ledger of one data set.

    Attributes:
        terms: What it was created with.

    Raises:
        InputError: It is not there, or a newer version of shortlist has made it.
    """

    def __init__(self, place: LedgerDatabase, dataset: str | None) -> None:
        self._place = place
        self._key: str | None = None
        self._dataset = dataset
        self._dataset = self._read(LedgerTables.find)
        self.terms = self._read(_terms)

    @classmethod
    def create(cls, place: LedgerDatabase, terms: BudgetTerms, signed: Mapping[str, str]) -> Book:
        """Create a new ledger."""
        first = following(None, "created", Amount.nothing(), {**signed, **terms.json_values()})
        place.create(lambda execute: LedgerTables(place, execute).create(first))
        return cls(place, terms.dataset)

    # --- what is added

    def charge(self, cost: Amount, said: Mapping[str, Any]) -> Entry:
        """Add a charge; where a connection breaks, see whether it stands before trying again.

        Raises:
            InputError: It would overspend, or cannot be added.
        """
        for again in (False, True, True):
            with suppress(LostConnectionError):
                return self._write(partial(self._charged, cost, said, again=again))
        raise InputError(
            "{place}: the connection broke while this question was charged. Nothing was read, but "
            "the charge may stand",
            "see it by {sl.Budget.show}",
            place=self._place.shown,
        )

    def _charged(
        self, cost: Amount, said: Mapping[str, Any], tables: LedgerTables, *, again: bool
    ) -> Entry:
        """In one transaction: look at the sum, refuse what is too much, add the charge."""
        last = tables.last(lock=True)
        if again and (stands := tables.with_nonce(said["nonce"])) is not None:
            return stands
        self._balance(last).require_room(cost)
        entry = following(last, "charge", sum_of(last.spent, cost), said)
        tables.add(entry)
        return entry

    def key(self) -> str:
        """What plans are hashed with; made where a ledger has none yet."""
        if self._key is None:
            self._key = self.known_key() or self._write(_made_key)
        return self._key

    def known_key(self) -> str | None:
        """That key; None where a ledger has none yet, so that no plan can be known again."""
        return self._key or self._read(LedgerTables.key)

    def keep(self, charge: Entry, plan: str, content: str, who: str) -> None:
        """Keep what a charge has paid for. Without the time, which would tell how long it took."""
        said = {"who": who, "charge": charge.charges, "sha256": digest(content)}

        def add(tables: LedgerTables) -> None:
            last = tables.last(lock=True)
            tables.keep(charge.charges, plan, content)
            tables.add(following(last, "release", last.spent, said))

        self._write(add)

    # --- what is looked at

    def kept(self, plan: str) -> tuple[Entry, str] | None:
        """The charge that has paid for a plan, the last time, and what was kept of it.

        Raises:
            InputError: It was changed since.
        """

        def look(tables: LedgerTables) -> tuple[Entry, str] | None:
            found = tables.kept(plan)
            if found is None:
                return None
            number, content = found
            entries = [entry for entry, _ in tables.entries() if entry.makes_sense]
            charge = next((e for e in entries if e.kind == "charge" and e.charges == number), None)
            if charge is None or not any(_says_of(entry, number, content) for entry in entries):
                raise tables.changed()
            return charge, content

        return self._read(look)

    def standing(self) -> Balance:
        return self._balance(self._read(LedgerTables.last))

    def _balance(self, last: Entry) -> Balance:
        balance = Balance(self.terms, last.spent)
        balance.require_sense(self._place.shown)
        return balance

    def head(self) -> str:
        return self._read(LedgerTables.last).hash

    def entries(self) -> list[Entry]:
        """All entries.

        Raises:
            InputError: They do not hang together.
        """

        def look(tables: LedgerTables) -> list[Entry]:
            entries = tables.entries()
            if any(faults(entries, head=tables.head(), contents=None)):
                raise tables.changed()
            return [entry for entry, _ in entries]

        return self._read(look)

    def faults(self, known: str | None) -> list[str]:
        """What is wrong with it, in words; also if no entry has a hash that is known."""

        def look(tables: LedgerTables) -> list[str]:
            entries = tables.entries()
            kept = {number: digest(text) for number, text in tables.contents().items()}
            found = list(faults(entries, head=tables.head(), contents=kept))
            if known is not None and known not in {entry.hash for entry, _ in entries}:
                found.append("no entry has the hash that was known: another ledger is in its place")
            return found

        return self._read(look)

    # --- transactions

    def _read(self, action: Callable[[LedgerTables], _T]) -> _T:
        with self._place.reading() as execute:
            return action(self._tables(execute))

    def _write(self, action: Callable[[LedgerTables], _T]) -> _T:
        with self._place.writing() as execute:
            return action(self._tables(execute))

    def _tables(self, execute: Execute) -> LedgerTables:
        return LedgerTables(self._place, execute, self._dataset)


def _terms(tables: LedgerTables) -> BudgetTerms:
    try:
        return BudgetTerms.from_entry(tables.first())
    except GARBLED:
        raise tables.changed() from None


def _made_key(tables: LedgerTables) -> str:
    """The key of a ledger, which nobody else makes meanwhile."""
    tables.last(lock=True)
    return tables.key() or tables.make_key()


def _says_of(entry: Entry, charge: int, content: str) -> bool:
    """Whether it is the entry of this release, as it is."""
    said = entry.said
    told = said.get("charge"), said.get("sha256")
    return entry.kind == "release" and told == (charge, digest(content))
