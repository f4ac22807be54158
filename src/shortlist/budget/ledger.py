"""A budget, kept in a ledger: charged before anything is read, and never overspent."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist.budget import _chain, _charges
from shortlist.budget._chain import Entry
from shortlist.budget._described import described, fingerprint
from shortlist.budget._opening import place_at
from shortlist.budget._places import Execute, Place, Tables
from shortlist.budget._postgres import LostConnectionError
from shortlist.budget._shown import shown
from shortlist.budget._signing import named, signed
from shortlist.budget._standing import Standing
from shortlist.budget._terms import Terms
from shortlist.budget._units import Amount, sum_of
from shortlist.errors import InputError
from shortlist.mechanisms.accounting import Accounting
from shortlist.plan import Ledger, Plan
from shortlist.processes import StaysHere
from shortlist.release.formats import as_json
from shortlist.release.loading import from_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.release import Release

__all__ = ["Budget"]

_T = TypeVar("_T")
_NOTHING = Amount.nothing()


class Budget(StaysHere, Ledger):
    """A total of privacy for one data set, and a ledger of all that was charged to it.

    Give it to a source as `budget=`. Each question is then charged before anything is read: one
    transaction looks at the sum, refuses what would overspend, adds the charge and commits it to
    the disk. Nothing is ever given back. What was released is kept beside its charge, and
    `run(reuse=True)` returns it again at no cost.

    Several processes and threads may charge one budget; with PostgreSQL, several machines.

    Args:
        url_or_path: An SQLite file, or postgresql://user@host:5432/database as libpq takes it, of
            which no message shows more. It must be there: see `create`.
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
    ...     plays = sl.pairs(rows, user="user", item="title", budget=budget)
    ...     titles = plays.domain(epsilon=0.5, delta=1e-7)
    ...     again = plays.domain(epsilon=0.5, delta=1e-7, reuse=True)
    ...     titles == again, budget.verify(), budget.epsilon_left < 3
    (True, [], True)
    """

    def __init__(
        self,
        url_or_path: str | os.PathLike[str],
        *,
        dataset: str | None = None,
        who: str | None = None,
    ) -> None:
        place = place_at(url_or_path)
        del url_or_path  # a password may be in it, and traces show variables
        self._open(place, dataset, named(who))

    def _open(self, place: Place, dataset: str | None, who: str) -> None:
        self._place, self._who, self._dataset = place, who, dataset
        self._dataset = self._read(Tables.find)
        self._terms = Terms.from_entry(self._read(Tables.first))

    @classmethod
    def create(  # noqa: PLR0913 - what it is fixed to
        cls,
        url_or_path: str | os.PathLike[str],
        *,
        epsilon: float,
        delta: float = 0.0,
        protects: str,
        dataset: str,
        adjacency: str | None = None,
        accounting: str | None = None,
        lost_share: float | None = None,
        who: str | None = None,
    ) -> Budget:
        """A new budget. What it is created with never changes.

        Args:
            url_or_path: A file that does not exist; or a PostgreSQL database, which may hold the
                budgets of several data sets.
            epsilon: Of the total.
            delta: Of the total; 0 for pure questions alone.
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
            who: As of `Budget`.

        Raises:
            InputError: There is such a budget, or an argument cannot be used.
        """
        place = place_at(url_or_path)
        del url_or_path
        terms = Terms.of(
            dataset=dataset,
            protects=protects,
            adjacency=adjacency,
            epsilon=epsilon,
            delta=delta,
            accounting=accounting,
            lost_share=lost_share,
        )
        author = named(who)
        first = _chain.following(None, "created", _NOTHING, signed(author) | terms.said())
        place.create(lambda execute: Tables(place, execute).create(first))
        made = cls.__new__(cls)
        made._open(place, dataset, author)  # noqa: SLF001 - our own
        return made

    def __repr__(self) -> str:
        total = f"epsilon={self._terms.epsilon!r}, delta={self._terms.delta!r}"
        return f"<Budget of {self._terms.dataset!r}: {total}>"

    # --- what it was created with

    @property
    def terms(self) -> Terms:
        """All of it."""
        return self._terms

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self._terms.dataset

    @property
    def accounting(self) -> Accounting:
        """How mechanisms that leave the choice count their stages, so that they cost little."""
        return self._terms.unit.accounting

    # --- what a plan does

    def charge(self, plan: Plan) -> Charged:
        """Charge what the plan will spend, for good.

        Raises:
            InputError: It would overspend, or is of another unit or of other neighbours; then
                nothing was charged. Or the ledger fails; then see `show` for whether it was.
        """
        cost = self._cost(plan)
        said = {
            **signed(self._who),
            "nonce": uuid.uuid4().hex,
            **described(plan),
            "amount": [float(part) for part in cost],
            "plan": fingerprint(plan, self.dataset),
        }
        return Charged(self, self._charged(cost, said), plan, cost)

    def _cost(self, plan: Plan) -> Amount:
        self._terms.require(plan)
        return self._terms.unit.cost(plan.guarantee)

    def _charged(self, cost: Amount, said: Mapping[str, Any]) -> Entry:
        """Add the charge; where a connection breaks, see whether it stands before trying again."""
        for again in (False, True, True):
            with suppress(LostConnectionError):
                return self._write(partial(self._add_charge, cost, said, again=again))
        raise InputError(
            "{place}: the connection broke while this question was charged. Nothing was read, but "
            "the charge may stand",
            "see it by {sl.Budget.show}",
            place=self._place.shown,
        )

    def _add_charge(
        self, cost: Amount, said: Mapping[str, Any], tables: Tables, *, again: bool
    ) -> Entry:
        """One transaction: look at the sum, refuse what is too much, add the charge."""
        last = tables.last(lock=True)
        if again and (stands := tables.with_nonce(said["nonce"])) is not None:
            return stands
        self._standing(last).require_room(cost)
        entry = _chain.following(last, "charge", sum_of(last.spent, cost), said)
        tables.add(entry)
        return entry

    def keep(self, charge: Entry, release: Release) -> None:
        """Keep the release that a charge has paid for: it is as public as its guarantee says."""
        content = as_json(release)
        # No time: it would tell how long the question took, which depends on the data.
        said = {"who": self._who, "charge": charge.charges, "sha256": _chain.digest(content)}

        def add(tables: Tables) -> None:
            last = tables.last(lock=True)
            tables.keep(charge.charges, charge.said["plan"], content)
            tables.add(_chain.following(last, "release", last.spent, said))

        self._write(add)

    def kept(self, plan: Plan) -> Release | None:
        """What was released for the same plan before; None if nothing was.

        Raises:
            InputError: It was changed.
        """
        self._terms.require(plan)
        key = fingerprint(plan, self.dataset)
        found = self._read(lambda tables: tables.kept(key))
        return None if found is None else from_json(found)

    def explain(self, plan: Plan) -> str:
        """What the plan would take of this budget, and leave, in words; or why it would not be."""
        try:
            return self.standing().after(self._cost(plan))
        except InputError as error:
            return f"It would be refused: {error}"

    # --- what is looked at

    def standing(self) -> Standing:
        """What was spent, and what is left."""
        return self._standing(self._read(Tables.last))

    @property
    def epsilon_left(self) -> float:
        """The epsilon that all that is left is worth at once, at the delta of the total."""
        return self.standing().worth

    def show(self) -> RenderableType:
        """What is left, what it buys, and every charge: for `rich.print`."""
        entries = self._entries()
        return shown(self._standing(entries[-1]), _charges.rows_of(entries))

    def __rich__(self) -> RenderableType:
        return self.show()

    def to_csv(self) -> str:
        """The charges as CSV text, one a line."""
        return _charges.as_csv(self._entries(), self._terms.unit.first)

    def to_json(self) -> str:
        """All entries as JSON text, with what is hashed of each, and the hash."""
        return _charges.as_json(self._entries())

    def verify(self, known: str | None = None) -> list[str]:
        """What is wrong with the ledger, in words: nothing, if no entry was changed.

        Args:
            known: The hash of an entry as it was seen before. Whoever can write to the whole
                ledger can make a new one, all of whose hashes are right; but not with this entry.
        """

        def look(tables: Tables) -> list[str]:
            entries = tables.entries()
            kept = {number: _chain.digest(text) for number, text in tables.contents().items()}
            found = list(_chain.faults(entries, head=tables.head(), contents=kept))
            if known is not None and known not in {entry.hash for entry, _ in entries}:
                found.append("no entry has the hash that was known: another ledger is in its place")
            return found

        return self._read(look)

    @property
    def head(self) -> str:
        """The hash of the last entry. Keep it elsewhere, for `verify`."""
        return self._read(Tables.last).hash

    def _entries(self) -> list[Entry]:
        """All; refused where they do not hang together."""

        def look(tables: Tables) -> list[Entry]:
            entries = tables.entries()
            if any(_chain.faults(entries, head=tables.head(), contents=None)):
                raise tables.changed()
            return [entry for entry, _ in entries]

        return self._read(look)

    def _standing(self, last: Entry) -> Standing:
        standing = Standing(self._terms, last.spent)
        standing.require_sense(self._place.shown)
        return standing

    # --- transactions

    def _read(self, action: Callable[[Tables], _T]) -> _T:
        with self._place.reading() as execute:
            return action(self._tables(execute))

    def _write(self, action: Callable[[Tables], _T]) -> _T:
        with self._place.writing() as execute:
            return action(self._tables(execute))

    def _tables(self, execute: Execute) -> Tables:
        return Tables(self._place, execute, self._dataset)


@dataclass(frozen=True)
class Charged:
    """A charge that stands, as `Plan.run` knows it."""

    budget: Budget
    entry: Entry
    plan: Plan
    cost: Amount

    @property
    def told(self) -> str:
        """What the release says of it."""
        taken = self.budget.terms.told(self.cost)
        return f'charge {self.entry.charges} of "{self.budget.dataset}": {taken}'

    def keep(self, release: Release) -> None:
        """Let the budget keep the release that it has paid for."""
        self.budget.keep(self.entry, release)
