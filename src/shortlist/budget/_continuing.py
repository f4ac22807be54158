"""Budgets that continue others: an earlier total is closed, never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, in_quotes, shown

if TYPE_CHECKING:
    from shortlist.budget._budget_terms import BudgetTerms
    from shortlist.budget._entries import Entry


def require_same(old: BudgetTerms, new: BudgetTerms) -> None:
    """Refuse to continue a budget by one whose amounts do not add up with it."""
    names = {"protects": "protects", "adjacency": "adjacency", "accounting": "accounting"}
    values = [
        {"protects": terms.protects, "adjacency": terms.adjacency, "accounting": terms.unit.name}
        for terms in (old, new)
    ]
    for name in names:
        mine, theirs = (value[name] for value in values)
        if mine != theirs:
            raise InputError(
                "the budget that it continues has {mine}, so that the two would not add up",
                "omit it, or create a budget that continues none",
                given={name: in_quotes(theirs)},
                mine=in_quotes(mine),
            )


def require_countable(old: BudgetTerms, delta: float) -> None:
    """Refuse a delta with which amounts cannot be counted as the budget does that is continued."""
    name = old.unit.name
    if (name == "pure") == (delta > 0):
        raise InputError(
            "the budget that it continues is counted in {name}, so that this one needs "
            "{delta} {rule}",
            "give it so, or create a budget that continues none",
            name=name,
            rule="of 0" if name == "pure" else "above 0",
        )


def successor(place: str, terms: BudgetTerms) -> dict[str, Any]:
    """What the entry that closes a ledger says of the only one that may continue it.

    Not its total in the unit, which follows from the rest.
    """
    kept = {n: v for n, v in terms.json_values().items() if n not in ("total", "continues")}
    return {"place": place, **kept}


def closed_for(entries: list[Entry], to: dict[str, Any], reason: str, dataset: str) -> Entry | None:
    """The entry that closed a ledger for this successor; None where it is open.

    Raises:
        InputError: It was closed for another one, or for this one, which was made.
    """
    closing = next((entry for entry in entries if entry.kind == "closed"), None)
    if closing is None:
        return None
    theirs, mine = (
        {**closing.record["to"], "reason": closing.record["closed"]},
        to | {"reason": reason},
    )
    others = [name for name in theirs | mine if theirs.get(name) != mine.get(name)]
    if others:
        raise InputError(
            "the budget of {dataset} was closed for one successor alone: {name} in {place}, with "
            "epsilon = {epsilon}, delta = {delta} and the reason {reason}. This one has another "
            "{others}",
            "Use that one, or continue it. If it was never created, the same command as then "
            "creates it",
            place=in_quotes(theirs["place"]),
            epsilon=str(theirs["epsilon"]),
            delta=str(theirs["delta"]),
            reason=in_quotes(theirs["reason"]),
            dataset=in_quotes(dataset),
            name=in_quotes(theirs["dataset"]),
            others=", ".join(others),
        )
    refuse_continued(entries[-1], theirs["place"], dataset)
    return closing


def refuse_continued(last: Entry, place: str, dataset: str) -> None:
    """Refuse to make a successor again: another copy of it could be charged, too."""
    if "continued" in last.record:
        raise InputError(
            "the budget of {dataset} has its successor: it was created in {place}",
            "Use that one, wherever it was moved since, or restore it from a copy",
            dataset=in_quotes(dataset),
            place=in_quotes(place),
        )


def refuse_closed(last: Entry, dataset: str) -> None:
    """Refuse to charge a ledger that another one continues."""
    if (reason := last.record.get("closed")) is not None:
        raise InputError(
            "the budget of {dataset} is closed, since another one continues it ({reason}). Nothing "
            "was read and nothing was spent",
            "charge it to that one",
            dataset=in_quotes(dataset),
            reason=shown(str(reason)),
        )
