"""What a ledger has noted of a series, held against what its state has stored."""

from __future__ import annotations

from collections.abc import Sequence

from shortlist.budget.series_account import (
    NO_RUN,
    NotedRun,
    SeriesAccount,
    SeriesCharge,
    another_copy,
)
from shortlist.draws import ExactDraws
from shortlist.draws.random_bits import SystemBits
from shortlist.errors import InputError, in_quotes
from shortlist.release.loading import from_json
from shortlist.series._facts import SeriesFacts
from shortlist.series._stepping import after_loss
from shortlist.series._stored_state import StoredRun, StoredSeries


def last_state(runs: Sequence[StoredRun] | Sequence[NotedRun]) -> str:
    return runs[-1].state if runs else NO_RUN


def refused(runs: Sequence[StoredRun], noted: str) -> InputError:
    """Why this state may not go on, where the ledger notes another as the last."""
    if noted in {NO_RUN, *(run.state for run in runs)}:
        return InputError(
            "the ledger lacks runs of this series: an older copy is in its place",
            "restore the newest ledger",
        )
    return another_copy()


def charge_of(account: SeriesAccount, series: str) -> SeriesCharge:
    found = account.charges().get(series)
    if found is None:
        raise InputError(
            "the budget of {dataset} has not paid for this series",
            "name the one that has, by {budget}; if an older copy of it is in its place, restore "
            "the newest",
            dataset=in_quotes(account.terms.dataset),
        )
    return found


def paid_charge(account: SeriesAccount, charge: int | None) -> SeriesCharge:
    """The charge of a series of which there is no file."""
    found = list(account.charges().values())
    if charge is not None:
        found = [one for one in found if one.number == charge]
    if len(found) != 1:
        raise InputError(
            "the budget of {dataset} has paid for {several} such series",
            "say by which charge, as {sl.Budget.show} lists them, or name an older file",
            dataset=in_quotes(account.terms.dataset),
            several="several" if found else "no",
        )
    return found[0]


def noted_run(
    facts: SeriesFacts, charge: int, run: StoredRun, *, recovered: bool = False
) -> tuple[str, NotedRun, str]:
    """What a ledger notes of a run: of which series, what, and the answer."""
    noted = NotedRun(run.run, run.state, run.as_of, charge, 0, run.columns, recovered)
    return facts.series, noted, run.answer


def answered_runs(account: SeriesAccount, series: str) -> list[StoredRun]:
    """All runs that a ledger knows, each as its last state was."""
    noted = list({run.run: run for run in account.runs(series)}.values())
    answers = account.answers(noted)
    return [
        StoredRun(run.run, run.as_of, run.columns, run.state, answer)
        for run, answer in zip(noted, answers, strict=True)
    ]


def recover_runs(stored: StoredSeries, facts: SeriesFacts, account: SeriesAccount) -> None:
    """Put what may go on in the place of what is there, and note it.

    It is noted before it is written: where a process ends between the two, it is recovered again.
    """
    series = facts.series
    runs, mine = answered_runs(account, series), last_state(stored.runs())
    if not runs:
        return
    known = {run.state for run in account.runs(series)}
    if last_state(runs) in {run.state for run in stored.runs()[:-1]}:
        raise refused(stored.runs(), last_state(runs))
    older = stored.held() if mine in known else None  # of what was never noted nothing is kept
    answers = [from_json(run.answer) for run in runs]
    held = after_loss(facts, older, answers, ExactDraws(SystemBits()))
    made = stored.begin_anew(runs, held)
    charge = charge_of(account, series).number
    account.note(*noted_run(facts, charge, made, recovered=True), after=last_state(runs))
