"""A series at work: its state, held against its ledger, and each step that moves both on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shortlist.budget.series_account import NotedRun, SeriesAccount, SeriesCharge
from shortlist.databases.sqlite_file import Execute
from shortlist.draws import ExactDraws
from shortlist.draws.random_bits import Bits
from shortlist.errors import InputError
from shortlist.parameters import require_count
from shortlist.planning import warn_of_weakness
from shortlist.release import About, GivenBefore, Release
from shortlist.release.json_values import as_json
from shortlist.release.loading import from_json
from shortlist.release.making import restated
from shortlist.runtime.phases import phase
from shortlist.series._facts import SeriesFacts
from shortlist.series._forgetting import after_forgetting
from shortlist.series._list_so_far import first_of, listed
from shortlist.series._noted_runs import (
    answered_runs,
    charge_of,
    last_state,
    noted_run,
    paid_charge,
    recover_runs,
    refused,
)
from shortlist.series._rows_of_run import CheckedRows
from shortlist.series._state_places import StatePlace
from shortlist.series._stepping import after_run, before_any_run
from shortlist.series._stored_state import StoredRun, StoredSeries
from shortlist.series.series_plan import of_next
from shortlist.series.terms import SeriesPromise


class RunningSeries:
    """The state of a series and what its ledger knows of it, which move on together.

    Attributes:
        facts: What it is fixed to, with the runs that were added.
        account: Its entries in the ledger.
    """

    def __init__(self, place: StatePlace, account: SeriesAccount, facts: SeriesFacts) -> None:
        self._place, self.account, self.facts = place, account, facts
        self._charge = self.charge()

    def charge(self) -> SeriesCharge:
        """As it stands in the ledger now: another process may have prolonged the series since."""
        self._charge = charge_of(self.account, self.facts.series)
        self.facts = self.facts.prolonged(self._charge.added)
        return self._charge

    # --- a run

    def answer(self, asked: CheckedRows, k: int | None, words: About, bits: Bits) -> Release:
        """The list of a run: made, and noted in the ledger, if there is none yet."""
        with self._going_on() as (stored, before):
            known = [run for run in before if run.as_of == asked.about.as_of]
            if not known:
                run = self._made(stored, before, asked, bits)
        if known:
            return self._given(known[0], k, words, again=True)
        with phase("Noting the run in the budget"):
            self.account.note(*self._noted(run), after=last_state(before))
        return self._given(run, k, words, again=False)

    def explain(self, asked: CheckedRows) -> str:
        """What would be done with these rows, of which none is read."""
        with self._place.reading() as execute:
            before = StoredSeries(execute).runs()
        self._is_ahead(before)
        if asked.about.as_of in [run.as_of for run in before]:
            return "It was answered before: the same list is given again, and nothing is read."
        self._require_next(before, asked)
        return of_next(self.facts, len(before) + 1)

    @contextmanager
    def _going_on(self) -> Iterator[tuple[StoredSeries, list[StoredRun]]]:
        """A transaction of its state, which is that after the last run that the ledger knows."""
        with self._place.writing() as execute:
            stored = StoredSeries(execute)
            yield stored, self._settled(stored)

    def _settled(self, stored: StoredSeries) -> list[StoredRun]:
        """All runs, if this is the state after the last one that the ledger knows.

        Where a process ended between the two, an answer was written here, and did not leave: it is
        noted now.
        """
        runs = stored.runs()
        if self._is_ahead(runs):
            self.account.note(*self._noted(runs[-1]), after=last_state(runs[:-1]))
        return runs

    def _is_ahead(self, runs: Sequence[StoredRun]) -> bool:
        """Whether the last run was not noted; refused if the ledger knows another as the last."""
        mine, theirs = last_state(runs), last_state(self.account.runs(self.facts.series))
        if mine != theirs and (not runs or theirs != last_state(runs[:-1])):
            raise refused(runs, theirs)
        return mine != theirs

    def _require_next(self, before: Sequence[StoredRun], asked: CheckedRows) -> None:
        """Refuse a run that cannot be made, before a row is read."""
        self.charge().require_open()
        _require_another(self.facts.terms, before)
        if before:
            asked.require_same(before[-1].columns)
        asked.check()

    def _made(
        self, stored: StoredSeries, before: Sequence[StoredRun], asked: CheckedRows, bits: Bits
    ) -> StoredRun:
        """Read the rows, make the run, and write it."""
        self._require_next(before, asked)
        about = asked.about.made_now()  # before a row is read: a later time would tell of them
        try:
            draws = ExactDraws(bits)
            with phase("Reading the state"):
                held = stored.held()
            with asked.rows(draws) as rows, phase("Selecting"):
                held = before_any_run(rows) if held is None else held
                after = after_run(self.facts, held, rows, draws)
            answer = as_json(listed(self.facts, after, self._charge.described, about))
            return stored.add(str(about.as_of), asked.columns, answer, held, after)
        except MemoryError:
            pass
        raise MemoryError("there is not enough memory for this run. Nothing was released.")

    def _noted(self, run: StoredRun) -> tuple[str, NotedRun, str]:
        return noted_run(self.facts, self._charge.number, run)

    def _given(self, run: StoredRun, k: int | None, words: About, *, again: bool) -> Release:
        release = from_json(run.answer)
        about = replace(release.about, title=words.title, note=words.note)
        day = release.about.made_on
        before = GivenBefore(self._charge.number, day) if again and day else None
        return first_of(restated(release, about=about, given_before=before), k)

    def lists(self, k: int | None) -> list[Release]:
        """All that left, as the ledger has kept them; with k, the k best of each."""
        runs = answered_runs(self.account, self.facts.series)
        return [first_of(from_json(run.answer), k) for run in runs]

    # --- between runs

    def prolong(self, periods: int) -> None:
        with self._going_on():
            charge = self.charge()
            charge.require_open()
            require_count("periods", periods)
            facts = self.facts.prolonged((*charge.added, periods))
            warn_of_weakness(*facts.terms.promised, None)
            self.account.prolong(facts.series, periods, facts.terms.price(periods), facts.record())
        self.charge()

    def close(self) -> None:
        with self._going_on():
            self.account.close(self.facts.series)

    def forget(self, users: Sequence[Any]) -> None:
        with self._going_on() as (stored, _):
            if (held := stored.held()) is not None and held.users.width:
                stored.rewrite(after_forgetting(held, users))

    def recover(self) -> None:
        """Go on from this older state, unless it is the newest."""
        with self._place.writing() as execute:
            stored = StoredSeries(execute)
            runs = stored.runs()
            theirs = last_state(self.account.runs(self.facts.series))
            if theirs in (last_state(runs), last_state(runs[:-1]) if runs else None):
                return
            recover_runs(stored, self.facts, self.account)


def create_state(place: StatePlace, facts: SeriesFacts, account: SeriesAccount) -> None:
    """Create the state before the first run."""
    place.create(lambda execute: _begin(execute, facts, account))


def recreate_state(place: StatePlace, account: SeriesAccount, charge: int | None) -> None:
    """Create the state to go on from where none is left, by what the ledger knows alone."""
    facts = SeriesFacts.from_json(paid_charge(account, charge).record["series"])

    def fill(execute: Execute) -> None:
        _begin(execute, facts, account)
        recover_runs(StoredSeries(execute), facts, account)

    place.create(fill)


def _begin(execute: Execute, facts: SeriesFacts, account: SeriesAccount) -> None:
    StoredSeries(execute).create(facts.json_values() | {"budget": account.place})


def _require_another(terms: SeriesPromise, before: Sequence[StoredRun]) -> None:
    if len(before) >= terms.runs:
        raise InputError(
            "{all} of this series {were} made",
            "give the {as_of} of one of them to have its list again; for more, either "
            "{sl.Series.prolong} or create another series, which its budget pays for",
            all="the one run" if terms.runs == 1 else f"all {terms.runs} runs",
            were="was" if terms.runs == 1 else "were",
        )
