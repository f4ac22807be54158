"""What a ledger keeps of a series: its one charge, and an entry for each run that was answered."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from shortlist.budget._balance import Balance
from shortlist.budget._budget_terms import BudgetTerms
from shortlist.budget._continuing import refuse_closed
from shortlist.budget._entries import (
    Entry,
    digest,
    following,
    given_back,
    returned,
    signature,
)
from shortlist.budget._ledger_tables import LedgerDatabase, LedgerTables
from shortlist.budget._units import Amount
from shortlist.databases.postgres_database import LostConnectionError, PostgresDatabase
from shortlist.errors import PYTHON, Face, InputError, in_quotes
from shortlist.runtime import clock

if TYPE_CHECKING:
    from shortlist.privacy.costs import Cost
    from shortlist.privacy.guarantee import Guarantee

NOT_A_FILE = PostgresDatabase.identity
"""The place of a ledger that says nothing of where it is."""

NO_RUN = ""
"""What stands for the state before the first run."""


class NotedRun(NamedTuple):
    """What a ledger knows of a run, or of a state that was recovered after it.

    Attributes:
        run: Its number, from 1 on.
        state: The keyed hash of the state after it.
        as_of: As of when its rows were.
        charge: The number of the charge that has paid for the series.
        keeps: Under which number the ledger has the answer.
        columns: The types of the columns, by their names.
        recovered: Whether the state was lost, and this is what took its place.
    """

    run: int
    state: str
    as_of: str
    charge: int
    keeps: int
    columns: dict[str, str]
    recovered: bool


class SeriesCharge(NamedTuple):
    """The one charge of a series.

    Attributes:
        number: Among the charges of the ledger.
        described: What releases say of it.
        record: What the entry says.
        added: How many more runs were paid for later, each time.
        closed: That the series was closed, and what it gave back, in words; None while it is open.
    """

    number: int
    described: str
    record: Mapping[str, Any]
    added: tuple[int, ...]
    closed: str | None

    def require_open(self) -> None:
        """Refuse what takes more runs."""
        if self.closed is not None:
            raise _is_closed(self.closed)


class _Charging(Protocol):
    def __call__(self, cost: Amount, record: Mapping[str, Any], *, known: bool) -> Entry: ...


@dataclass(frozen=True)
class SeriesAccount:
    """A ledger, as a series sees it. Made by `Budget.for_series`."""

    terms: BudgetTerms
    _place: LedgerDatabase = field(repr=False)
    _who: str = field(repr=False)
    _reading: Callable[[], AbstractContextManager[LedgerTables]] = field(repr=False)
    _writing: Callable[[], AbstractContextManager[LedgerTables]] = field(repr=False)
    _charge: _Charging = field(repr=False)

    @property
    def place(self) -> str:
        """What tells the place of the ledger from others, as far as that is known."""
        return self._place.identity

    def charge(
        self, series: str, unit: str, guarantee: Guarantee, record: Mapping[str, Any]
    ) -> None:
        """Charge a series, for all its runs; one that was charged is not charged again.

        Args:
            series: The name that no other has.
            unit: The column of users.
            guarantee: Of all runs together.
            record: What the entry says of it.

        Raises:
            InputError: It would overspend, or is of another unit; then nothing was charged.
        """
        self.terms.require_same(unit, guarantee)
        cost = self.terms.unit.cost(guarantee)
        amount = [float(part) for part in cost]
        whole = {"nonce": series, **record, "amount": amount}
        self._charge(cost, whole, known=True)

    def prolong(self, series: str, runs: int, price: Cost, record: Mapping[str, Any]) -> None:
        """Charge more runs of a series.

        Args:
            series: That was charged.
            runs: How many more.
            price: What they cost beside those before.
            record: What the entry says of the series with them.

        Raises:
            InputError: It would overspend, or the ledger does not count in zCDP; then nothing was
                charged.
        """
        if self.terms.unit.name != "zcdp":
            raise InputError(
                "the budget of {dataset} adds up epsilons, and more runs have none of their own",
                "create another series, which it pays for anew",
                dataset=in_quotes(self.terms.dataset),
            )
        cost = Amount.of(price.rho, price.lost)
        amount = [float(part) for part in cost]
        said = {"nonce": uuid.uuid4().hex, "prolongs": series, "runs": runs, "amount": amount}
        whole = {**record, **said}
        del whole["series"]  # by which the first charge is known
        self._charge(cost, whole, known=False)

    def explain(self, unit: str, guarantee: Guarantee, face: Face = PYTHON) -> str:
        """What a series would take, and leave, in words; or why it would not be charged."""
        try:
            self.terms.require_same(unit, guarantee)
            with self._reading() as tables:
                last = tables.last()
            refuse_closed(last, self.terms.dataset)
            balance = Balance.at(self.terms, last, clock.now())
            return balance.after(self.terms.unit.cost(guarantee))
        except InputError as error:
            return f"It would be refused: {error.rendered(face)}"

    def charges(self) -> dict[str, SeriesCharge]:
        """The charges of all series, by their names."""
        entries = self._entries()
        found = [e for e in entries if e.kind == "charge" and "series" in e.record]
        return {e.record["nonce"]: self._described(e, entries) for e in found}

    def _described(self, entry: Entry, entries: list[Entry]) -> SeriesCharge:
        taken = self.terms.in_words(entry.amount)
        described = f'charge {entry.charges} of "{self.terms.dataset}": {taken}'
        more = [e for e in entries if e.record.get("prolongs") == entry.record["nonce"]]
        for later in more:
            described += f"; charge {later.charges}: {self.terms.in_words(later.amount)}"
        if in_all := Balance(self.terms, entry.spent).in_all:
            described = f"{described}; it {in_all}"
        closing = _closing_of(entries, entry.record["nonce"])
        closed = None if closing is None else self._closed(closing)
        added = tuple(later.record["runs"] for later in more)
        return SeriesCharge(entry.charges, described, entry.record, added, closed)

    def _closed(self, closing: Entry) -> str:
        runs, back = closing.record["runs"], closing.amount
        came = f"{self.terms.in_words(back)} came" if any(back) else "nothing came"
        return f"It was closed after {runs} run{'s' * (runs != 1)}, and {came} back to the budget."

    def close(self, series: str) -> None:
        """Take note that a series makes no more runs, and take back what it has not used.

        Raises:
            InputError: It was closed; or another budget continues this one.
        """
        for again in (False, True, True):
            with suppress(LostConnectionError), self._writing() as tables:
                last = tables.last(lock=True)
                entries = [entry for entry, _ in tables.entries()]
                if (closing := _closing_of(entries, series)) is not None:
                    if again:
                        return
                    raise _is_closed(self._closed(closing))
                refuse_closed(last, self.terms.dataset)
                runs = max((run.run for run in _runs_of(entries, series)), default=0)
                record = {**signature(self._who), "series": series, "runs": runs}
                tables.add(returned(last, given_back(series, entries), record))
                tables.mark_as_new()
                return
        raise InputError(
            "{place}: the connection broke while this series was closed",
            "see whether it was by {sl.Series.show}, and close it again if not",
            place=self._place.shown,
        )

    def runs(self, series: str) -> list[NotedRun]:
        """All that was noted of a series, in order."""
        return _runs_of(self._entries(), series)

    def answers(self, runs: list[NotedRun]) -> list[str]:
        """What was answered in each of these, as it was written."""
        with self._reading() as tables:
            return [tables.content(run.keeps) for run in runs]

    def note(self, series: str, run: NotedRun, content: str, *, after: str) -> None:
        """Note a run, for good: after the state that was noted last, and no other.

        Without the time, which would tell how long it took.

        Args:
            series: Of which it is.
            run: What to note; its `keeps` means nothing.
            content: The answer; of a recovered state, that of the run before it.
            after: The state that the run began with.

        Raises:
            InputError: Another copy of the series came first, or it was closed.
        """
        for _ in range(3):
            with suppress(LostConnectionError), self._writing() as tables:
                last = tables.last(lock=True)
                entries = [entry for entry, _ in tables.entries()]
                noted = _runs_of(entries, series)
                if noted and noted[-1].state == run.state:
                    return
                if (closing := _closing_of(entries, series)) is not None:
                    raise _is_closed(self._closed(closing))
                if (noted[-1].state if noted else NO_RUN) != after:
                    raise another_copy()
                entry = following(last, "run", last.spent, self._record(series, run, content))
                tables.keep(entry.keeps, "", content)
                tables.add(entry)
                return
        raise InputError(
            "{place}: the connection broke while this run was noted. Nothing was released",
            "ask again for the same {as_of}: it costs nothing",
            place=self._place.shown,
        )

    def _record(self, series: str, run: NotedRun, content: str) -> dict[str, Any]:
        said = run._asdict()
        del said["keeps"]
        return {"who": self._who, "series": series, **said, "sha256": digest(content)}

    def _entries(self) -> list[Entry]:
        with self._reading() as tables:
            return [entry for entry, _ in tables.entries() if entry.makes_sense]


def _runs_of(entries: list[Entry], series: str) -> list[NotedRun]:
    names = [name for name in NotedRun._fields if name != "keeps"]
    return [
        NotedRun(**{name: entry.record[name] for name in names}, keeps=entry.keeps)
        for entry in entries
        if entry.kind == "run" and entry.record["series"] == series
    ]


def _closing_of(entries: list[Entry], series: str) -> Entry | None:
    found = (e for e in entries if e.kind == "returned" and e.record["series"] == series)
    return next(found, None)


def _is_closed(said: str) -> InputError:
    return InputError(
        "this series makes no more runs. {said}",
        "Give the {as_of} of one of its lists to have that again; for more, create another series",
        said=said.removesuffix("."),
    )


def another_copy() -> InputError:
    """The refusal of a copy of a state that another has outrun."""
    return InputError(
        "the ledger has a run of this series that this file lacks: it is an older copy, such as a "
        "restored backup, or another copy went on. To go on with it would use the same noise twice",
        "Take the newest file. If that is lost, go on with this one by {sl.Series.recover}, which "
        "costs nothing",
    )
