"""An answer that was kept is found by its question and its date, and given again if it may be."""

from __future__ import annotations

import hmac
import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from shortlist.budget._entries import Entry, record_of
from shortlist.errors import ChargedAgainWarning, InputError, level_of_caller
from shortlist.plan import Plan, Reuse
from shortlist.release import GivenBefore
from shortlist.release.json_values import json_value
from shortlist.release.loading import from_json
from shortlist.release.making import restated

if TYPE_CHECKING:
    from shortlist.budget._ledger_tables import LedgerTables
    from shortlist.release import Release

OF_NO_TABLE = ""
"""The fingerprint where nobody knows which table was read."""


def question_hash(plan: Plan, dataset: str, key: str) -> str:
    """What two plans share that ask the same of one data set as of one date: all of it is public.

    Entries of version 0.2 have none: what they keep under its name is of the table, too.
    """
    record = record_of(plan)
    for name in ("data", "files"):  # as they were typed
        record["data"].pop(name, None)
    return _keyed(key, {"dataset": dataset, **record})


def fingerprint(plan: Plan, asked: str, key: str) -> str:
    """What two plans with this hash of their question share that look at the same rows.

    The size of a file is hashed, which tells how many rows there are: without the key nobody can
    find it out by trying sizes. It is kept beside the answer, and is in no entry, so that no export
    has it. Of rows nothing is looked at: two frames in memory with the same columns are the same,
    and so is a table in PostgreSQL to which rows were added; therefore `require_dated`.
    """
    return _keyed(key, {"asked": asked, "identity": json_value(plan.engine.identity())})


def _keyed(key: str, values: Mapping[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()


def require_dated(plan: Plan, reuse: Reuse) -> None:
    """Refuse to give an answer again of data that may have changed where nobody could see it."""
    if reuse is Reuse.SAME_DATA and plan.about.as_of is None and not plan.engine.shows_changes:
        raise InputError(
            "of such data it cannot be seen whether it changed since an answer was kept",
            "Say as of when the data is, by {as_of}; to take the answer of whatever data, ask with "
            "{sl.Reuse.CHANGED_DATA}",
            given={"reuse": ...},
        )


def charge_to_repeat(
    tables: LedgerTables, asked: str, table: str, plan: Plan, reuse: Reuse
) -> Entry | None:
    """The charge whose answer is given again; None where none was kept.

    Args:
        tables: Of the ledger.
        asked: The hash of the question.
        table: The fingerprint of the table as it is now.
        plan: What is asked.
        reuse: Of which data an answer may be given.

    Raises:
        InputError: The data changed, and an answer of other data was not asked for.
    """
    charges = tables.charges_for(asked)
    kept = [charge for charge in charges if charge.fingerprint is not None]
    same = [charge for charge in kept if charge.fingerprint == table]
    if charges and not kept:
        _warn_of_a_charge()
    if kept and not same and reuse is not Reuse.CHANGED_DATA:
        raise _changed_since(plan)
    found = same or kept
    return found[-1].entry if found else None


def _warn_of_a_charge() -> None:
    """Say that what was charged for a question bought no answer that could be given again."""
    warning = ChargedAgainWarning(
        "this was charged before, but no answer was kept: it failed, or is still being answered. "
        "It is charged again",
        "See all charges by {sl.Budget.show}",
    )
    warnings.warn(warning, stacklevel=level_of_caller())


def _changed_since(plan: Plan) -> InputError:
    """Of the data nothing is said but that they are not known to be the same."""
    as_of = plan.about.as_of
    return InputError(
        "this was answered before{when}, but the data changed since, or cannot be known again",
        "To ask anew, say as of when the data is now, by {as_of}; to take that answer all the "
        "same, ask with {sl.Reuse.CHANGED_DATA}",
        given={"reuse": ...},
        when=f", as of {as_of}" if as_of else "",
    )


def given_again(content: str, charge: Entry, plan: Plan) -> Release:
    """What a charge has paid for, with the title and the note of whoever asks now."""
    release = from_json(content)
    day = date.fromisoformat(charge.record["time"][: len("2026-11-22")])
    return restated(
        release,
        given_before=GivenBefore(charge.charges, day),
        about=replace(release.about, title=plan.about.title, note=plan.about.note),
    )
