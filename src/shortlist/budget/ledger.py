"""A budget, kept in a ledger: charged before anything is read, and never overspent."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.budget._balance import Balance
from shortlist.budget._budget_terms import BudgetTerms, Predecessor
from shortlist.budget._continuing import (
    closed_for,
    refuse_closed,
    refuse_continued,
    require_countable,
    require_same,
    successor,
)
from shortlist.budget._entries import (
    Entry,
    asker,
    digest,
    faults,
    following,
    record_of,
    require_name,
    signature,
)
from shortlist.budget._given_again import (
    OF_NO_TABLE,
    charge_to_repeat,
    fingerprint,
    given_again,
    question_hash,
    require_dated,
)
from shortlist.budget._ledger_tables import (
    LedgerDatabase,
    LedgerTables,
    ledger_database,
    ledger_file,
)
from shortlist.budget._printing import as_csv, budget_table, entries_as_json
from shortlist.budget._questions_ahead import QuestionsAhead, questions_ahead
from shortlist.budget._shares import fitted
from shortlist.budget._units import Amount
from shortlist.budget.series_account import SeriesAccount
from shortlist.databases.postgres import address_of
from shortlist.databases.postgres_database import LostConnectionError
from shortlist.databases.sqlite_file import Execute
from shortlist.errors import PYTHON, Face, InputError, reference
from shortlist.mechanisms.mechanism import Accounting
from shortlist.parameters import require_delta
from shortlist.plan import Ledger, Plan, Promise, Reuse
from shortlist.release.json_values import as_json
from shortlist.release.rendering import plain_text
from shortlist.runtime import clock
from shortlist.runtime.processes import StaysHere

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.release import Release


class Budget(StaysHere, Ledger):
    """A total of privacy for one data set, and a ledger of all that was charged to it.

    Give it to a source as `budget=`. Each question is then charged before anything is read: one
    transaction looks at the sum, refuses what would overspend, adds the charge and commits it to
    the disk. Only a series that is closed gives something back. What was released is kept beside
    its charge, and `run(reuse=True)` returns it again at no cost, and says so.

    Several processes and threads may charge one budget; with PostgreSQL, several machines.

    Args:
        url_or_path: An SQLite file, or postgresql://user@host:5432/database as libpq takes it, of
            which no message shows more. It must be there: see `create`. A relative path is resolved
            here, once. A file must have one name only: no hard link, and no mount of its own.
        dataset: The data set that you ask about, as the budget names it; another is refused. May
            be omitted where a place has one budget.
        who: Who asks, for the ledger; by default the user of the operating system.

    Raises:
        InputError: There is no such budget, it is of another data set, or a newer version of
            shortlist has made it.

    >>> import polars as pl, shortlist as sl, tempfile
    >>> rows = pl.DataFrame({"user": range(500), "title": ["Emma", "Ulysses"] * 250})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/plays.budget"
    ...     terms = {"protects": "user", "dataset": "plays-2026"}
    ...     budget = sl.Budget.create(path, epsilon=3.0, delta=1e-6, **terms)
    ...     plays = sl.pairs(rows, user="user", item="title", budget=budget, as_of="2026")
    ...     titles = plays.domain(epsilon=0.5, delta=1e-7)
    ...     again = plays.domain(epsilon=0.5, delta=1e-7, reuse=True)
    ...     (again.items, again.given_before.charge) == (titles.items, 1)
    ...     budget.verify(), budget.epsilon_left < 3
    True
    ([], True)
    """

    def __init__(
        self,
        url_or_path: str | os.PathLike[str],
        *,
        dataset: str | None = None,
        who: str | None = None,
    ) -> None:
        place = _database_at(url_or_path)
        del url_or_path  # a password may be in it, and traces show variables
        self._open(place, dataset, asker(who))

    @classmethod
    def create(  # noqa: PLR0913 - what it is fixed to
        cls,
        url_or_path: str | os.PathLike[str],
        *,
        epsilon: float,
        delta: float = 0.0,
        protects: str | None = None,
        dataset: str | None = None,
        adjacency: str | None = None,
        accounting: str | None = None,
        lost_share: float | None = None,
        per: tuple[str, Fraction | str] | None = None,
        continues: str | os.PathLike[str] | Budget | None = None,
        reason: str | None = None,
        who: str | None = None,
    ) -> Budget:
        """A new budget. What it is created with never changes.

        Args:
            url_or_path: A file that does not exist, which only you will be able to read and write;
                or a PostgreSQL database, which may hold the budgets of several data sets.
            epsilon: The epsilon of the total.
            delta: The delta of the total; 0 for pure questions alone.
            protects: The privacy unit, as the name of the column of users; or "comparison", where
                a source of comparisons has none.
            dataset: A name for the data set. Nothing can check it: whoever asks about the same
                people under another name spends another budget.
            adjacency: Which tables count as neighbours; by default those that differ by one user,
                or comparison, added or removed.
            accounting: "zcdp", the default with a delta: rhos add up, by which many questions cost
                far less; "basic": epsilons and deltas do; "pure", the default without a delta.
            lost_share: In zCDP, the share of delta that is for what releases leave out, such as
                the names of items that one user alone holds; the rest makes rho. By default 0.75.
            per: An allowance, such as ("month", "1/12"): no more than that part of the total may be
                spent in one day, week (from Monday), month or year of the calendar in UTC. What
                is not spent in one is not added to the next.
            continues: A budget that this one continues: it is closed, and its total stays what it
                was; what was promised by it holds. This one has a total of its own, for what is
                asked from now on, and says of both. It takes over what is not given here.
            reason: With `continues`, why another total is needed: both ledgers keep it.
            who: Who creates it, for the ledger; by default the user of the operating system.

        Raises:
            InputError: There is such a budget, or an argument cannot be used.
        """
        place, author = _database_at(url_or_path), asker(who)
        del url_or_path
        old = _continued(continues, reason)
        given = {
            "dataset": dataset,
            "protects": protects,
            "adjacency": adjacency,
            "accounting": accounting,
        }
        known = {} if old is None else old.terms.taken_over
        if old is not None and accounting is None:
            require_countable(old.terms, require_delta("delta", delta))
        terms = BudgetTerms.of(
            **_named({name: known.get(name) if v is None else v for name, v in given.items()}),
            epsilon=epsilon,
            delta=delta,
            lost_share=lost_share,
            per=per,
        )
        if old is None:
            _create(place, terms, author)
        else:
            old._continue(place, terms, str(reason), author)  # noqa: SLF001 - it is one of this class
        made = cls.__new__(cls)
        made._open(place, terms.dataset, author)  # noqa: SLF001 - it is one of this class
        return made

    def _continue(self, place: LedgerDatabase, terms: BudgetTerms, reason: str, who: str) -> None:
        """Close this budget, create the one that continues it, and note that it was created.

        Where it was closed and the other then not created, as by a crash, it can be. The note is
        made under the lock under which the other is created: so that it is created once.
        """
        closing = self._closed(place, terms, reason, who)
        terms = replace(terms, earlier=(*self.terms.earlier, Predecessor.of(self.terms, closing)))
        with self._writing() as tables:
            last = tables.last(lock=True)
            refuse_continued(last, place.identity, self.dataset)
            head = _create(place, terms, who)
            record = {**signature(who), "continued": head}
            tables.add(following(last, "continued", last.spent, record))

    def _closed(self, place: LedgerDatabase, terms: BudgetTerms, reason: str, who: str) -> Entry:
        """The entry that closes this budget for that one alone, which is now added if it is not."""
        require_same(self.terms, terms)
        place.require_new(lambda at: LedgerTables(place, at).require_none(terms.dataset))
        to = successor(place.identity, terms)
        with self._writing() as tables:
            last = tables.last(lock=True)
            entries = [entry for entry, _ in tables.entries()]
            closing = closed_for(entries, to, reason, self.dataset)
            if closing is None:
                record = {**signature(who), "closed": reason, "to": to}
                closing = following(last, "closed", last.spent, record)
                tables.add(closing)
                tables.mark_as_new()
        return closing

    def _open(self, place: LedgerDatabase, dataset: str | None, who: str) -> None:
        self._place, self._dataset, self._who = place, dataset, who
        self._plan_key: str | None = None
        with self._reading() as tables:
            self._dataset = tables.find()
        with self._reading() as tables:
            self._terms = tables.terms()

    def __repr__(self) -> str:
        if "_terms" not in vars(self):  # a traceback shows one that could not be opened
            return "<Budget that was not opened>"
        total = f"epsilon={self.terms.epsilon!r}, delta={self.terms.delta!r}"
        return f"<Budget of {self.dataset!r}: {total}>"

    # --- what it was created with

    @property
    def terms(self) -> BudgetTerms:
        """All that it was created with."""
        return self._terms

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.terms.dataset

    @property
    def accounting(self) -> Accounting:
        """How mechanisms that leave the choice count their stages, so that they cost little."""
        return self.terms.unit.accounting

    # --- what a plan does

    def charge(self, plan: Plan) -> Charged:
        """Charge what the plan will spend, for good.

        Raises:
            InputError: It would overspend, or is of another unit or of other neighbours; then
                nothing was charged. Or the ledger fails; then see `show` for whether it was.
        """
        cost = self._cost(plan)
        record = {
            "nonce": uuid.uuid4().hex,
            **record_of(plan),
            "amount": [float(part) for part in cost],
            "plan": question_hash(plan, self.dataset, self._key()),
        }
        before = fingerprint(plan, record["plan"], self._key())
        entry = self._charged(cost, record)
        described = f'charge {entry.charges} of "{self.dataset}": {self.terms.in_words(cost)}'
        if in_all := Balance(self.terms, entry.spent).in_all:
            described = f"{described}; it {in_all}"
        return Charged(described, partial(self._keep, plan, entry, before))

    def _cost(self, plan: Plan) -> Amount:
        self.terms.require(plan)
        return self.terms.unit.cost(plan.guarantee)

    def asked(self, share: Fraction, promise: Promise) -> tuple[float, float]:
        """As `Ledger.asked`. The ledger adds up exactly: 52 shares of 1/52 are the total."""
        terms = self.terms
        part = Amount(*(whole * share for whole in terms.total))
        price = lambda epsilon, delta: terms.unit.cost(promise(epsilon, delta))
        return fitted(terms.unit, part, terms.delta, price)

    def _charged(self, cost: Amount, record: Mapping[str, Any], *, known: bool = False) -> Entry:
        """Add a charge; where a connection breaks, see whether it stands before trying again.

        If its nonce is known, it may stand already, and then is not added.
        """
        for again in (known, True, True):
            with suppress(LostConnectionError), self._writing() as tables:
                last = tables.last(lock=True)
                if again and (stands := tables.with_nonce(record["nonce"])) is not None:
                    return stands
                signed = signature(self._who)  # now, as who comes later is charged later
                refuse_closed(last, self.dataset)
                balance = self._balance(last)
                balance.require_room(cost)
                period = {} if balance.spell is None else {"period": balance.spell.json_values()}
                whole = {**signed, **period, **record}
                entry = following(last, "charge", last.spent.plus(cost), whole)
                tables.add(entry)
                return entry
        raise InputError(
            "{place}: the connection broke while this question was charged. Nothing was read, but "
            "the charge may stand",
            "see it by {sl.Budget.show}",
            place=self._place.shown,
        )

    def for_series(self) -> SeriesAccount:
        """What a series is paid from, and what tells its runs from those of an older copy."""
        return SeriesAccount(
            self.terms, self._place, self._who, self._reading, self._writing, self._charged
        )

    def _keep(self, plan: Plan, charge: Entry, before: str, release: Release) -> None:
        """Keep the release that a charge has paid for: it is as public as its guarantee says.

        Without the time, which would tell how long it took. Where the table has changed since the
        charge, nobody knows which one was read: the release is kept as of a table like no other.
        """
        content = as_json(release)
        now = fingerprint(plan, charge.record["plan"], self._key())
        known = now if now == before else OF_NO_TABLE
        record = {"who": self._who, "charge": charge.charges, "sha256": digest(content)}
        with self._writing() as tables:
            last = tables.last(lock=True)
            tables.keep(charge.charges, known, content)
            tables.add(following(last, "release", last.spent, record))

    def kept(self, plan: Plan, reuse: Reuse) -> Release | None:
        """What was released for the same plan before, with `given_before`; None if nothing was.

        It bears the title and the note of this plan, which decide nothing.

        Raises:
            InputError: The data changed, and an answer of other data was not asked for; or it is
                in memory, and nothing says as of when; or what was kept was changed.

        Warns:
            ChargedAgainWarning: The same was charged before, but no answer was kept.
        """
        self.terms.require(plan)
        require_dated(plan, reuse)
        if (key := self._known_key()) is None:
            return None
        asked = question_hash(plan, self.dataset, key)
        now = fingerprint(plan, asked, key)
        with self._reading() as tables:
            charge = charge_to_repeat(tables, asked, now, plan, reuse)
            content = "" if charge is None else tables.content(charge.charges)
        return None if charge is None else given_again(content, charge, plan)

    def _key(self) -> str:
        """What plans are hashed with; made where a ledger has none yet."""
        self._plan_key = self._known_key()
        if self._plan_key is None:
            with self._writing() as tables:
                tables.last(lock=True)
                self._plan_key = tables.key() or tables.make_key()
        return self._plan_key

    def _known_key(self) -> str | None:
        """That key; None where a ledger has none yet, so that no plan can be known again."""
        if self._plan_key is not None:
            return self._plan_key
        with self._reading() as tables:
            return tables.key()

    def explain(self, plan: Plan, face: Face = PYTHON) -> str:
        """What the plan would take of this budget, and leave, in words; or why it would not be."""
        try:
            with self._reading() as tables:
                last = tables.last()
            refuse_closed(last, self.dataset)
            return self._balance(last).after(self._cost(plan))
        except InputError as error:
            return f"It would be refused: {error.rendered(face)}"

    # --- what is looked at

    def standing(self) -> Balance:
        """What was spent, and what is left."""
        with self._reading() as tables:
            return self._balance(tables.last())

    def _balance(self, last: Entry) -> Balance:
        balance = Balance.at(self.terms, last, clock.now())
        balance.require_sense(self._place.shown)
        return balance

    @property
    def epsilon_left(self) -> float:
        """The epsilon that all that is left is worth at once, at the delta of the total."""
        return self.standing().worth

    def plan(self, questions: int) -> QuestionsAhead:
        """With which epsilon and delta so many questions fit into what is left; for nothing.

        A line for each kind of question, if all are of that kind; mechanisms are the defaults.

        Args:
            questions: How many.

        Raises:
            InputError: It is no number of questions, nothing is left, or another budget continues
                this one.
        """
        with self._reading() as tables:
            last = tables.last()
        refuse_closed(last, self.dataset)
        return questions_ahead(self._balance(last), questions)

    def show(self) -> RenderableType:
        """What is left, what it buys, and every charge: for `rich.print`."""
        return budget_table(self.standing(), self._entries())

    def __rich__(self) -> RenderableType:
        return self.show()

    def __str__(self) -> str:
        return plain_text(self.show())

    def to_csv(self) -> str:
        """The charges as CSV text, one a line."""
        return as_csv(self._entries(), self.terms.unit.first)

    def to_json(self) -> str:
        """All entries as JSON text, with what is hashed of each, and the hash."""
        return entries_as_json(self._entries())

    def _entries(self) -> list[Entry]:
        """All entries."""
        with self._reading() as tables:
            entries = tables.entries()
            if any(faults(entries, head=tables.head(), kept=None)):
                raise tables.changed()
            return [entry for entry, _ in entries]

    def verify(self, known: str | None = None) -> list[str]:
        """What is wrong with the ledger, in words: nothing, if no entry was changed.

        Args:
            known: The hash of an entry as it was seen before. Whoever can write to the whole
                ledger can make a new one, all of whose hashes are right; but not with this entry.
        """
        with self._reading() as tables:
            entries = tables.entries()
            found = list(faults(entries, head=tables.head(), kept=tables.digests()))
            if known is not None and known not in {entry.hash for entry, _ in entries}:
                found.append("no entry has the hash that was known: another ledger is in its place")
            return found

    @property
    def head(self) -> str:
        """The hash of the last entry. Keep it elsewhere, for `verify`."""
        with self._reading() as tables:
            return tables.last().hash

    # --- transactions

    def _reading(self) -> AbstractContextManager[LedgerTables]:
        return self._tables(self._place.reading())

    def _writing(self) -> AbstractContextManager[LedgerTables]:
        return self._tables(self._place.writing())

    @contextmanager
    def _tables(self, transaction: AbstractContextManager[Execute]) -> Iterator[LedgerTables]:
        with transaction as execute:
            yield LedgerTables(self._place, execute, self._dataset)


class Charged(NamedTuple):
    """A charge that stands, as `Plan.run` knows it.

    Attributes:
        described: What the release says of it.
        keep: Keeps the release that it has paid for.
    """

    described: str
    keep: Callable[[Release], None]


def _create(place: LedgerDatabase, terms: BudgetTerms, who: str) -> str:
    """A ledger of these terms; the hash of its first entry."""
    record = {**signature(who), **terms.json_values()}
    first = following(None, "created", Amount.nothing(), record)
    place.create(lambda execute: LedgerTables(place, execute).create(first))
    return first.hash


def _continued(continues: object, reason: object) -> Budget | None:
    """The budget that is to be continued, if one is."""
    if (continues is None) != (reason is None):
        raise InputError(
            "{continues} goes with {reason}: both ledgers keep why another total was needed",
            "give both, or omit both",
        )
    if continues is None:
        return None
    require_name("reason", reason)
    return continues if isinstance(continues, Budget) else Budget(continues)  # type: ignore[arg-type]


def _named(given: dict[str, str | None]) -> dict[str, Any]:
    """What must be given of a budget that continues none."""
    for name in ("dataset", "protects"):
        if given[name] is None:
            raise InputError(
                "{name} is needed of a budget that continues none",
                "give it",
                name=reference(name),
            )
    return given


def _database_at(url_or_path: object) -> LedgerDatabase:
    """Where a ledger is."""
    if not isinstance(url_or_path, str | os.PathLike):
        raise InputError(
            "must be a path, or postgresql://user@host:5432/database",
            given={"url_or_path": url_or_path},
        )
    text = os.fspath(url_or_path)
    if "://" not in text:
        return ledger_file(Path(text))
    if (address := address_of(text)) is None:
        raise InputError(
            "must be the path of an SQLite file, or a URL that begins with postgresql://",
            given={"url_or_path": ...},
        )
    return ledger_database(address)
