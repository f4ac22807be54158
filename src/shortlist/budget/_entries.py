"""Entries of a ledger: what they say of a plan, each with the hash of the one before it."""

from __future__ import annotations

import getpass
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shortlist._version import __version__
from shortlist.budget._allowances import Allowance, Spell
from shortlist.budget._units import Amount, sum_of
from shortlist.errors import InputError, is_short
from shortlist.privacy import round_down
from shortlist.release.json_values import described_mechanism, json_value
from shortlist.runtime import clock

if TYPE_CHECKING:
    from shortlist.plan import Plan

BEGINNING = "0" * 64  # what stands for the hash before the first entry
_LASTING = "period", "closed", "continued"  # what an entry says, and so do those after it
GARBLED = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""What is raised where an entry that was changed by hand is looked at."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """One line of a ledger.

    Attributes:
        number: The place in the ledger, from 0, without gaps.
        body: What the entry says, as JSON: this text itself is hashed.
    """

    number: int
    body: str

    @cached_property
    def hash(self) -> str:
        """Of the body, which holds that of the entry before."""
        return digest(self.body)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The body as values."""
        record: dict[str, Any] = json.loads(self.body)
        return record

    @property
    def makes_sense(self) -> bool:
        """Whether it says what every entry says."""
        try:
            _ = self.spell
            return bool(self.kind) and self.charges >= 0 and self.spent.first >= 0
        except GARBLED:
            return False

    @property
    def kind(self) -> str:
        """Of what it is: "created", "charge", "release", "run", "returned", "closed", "continued".

        "returned" is what a series gave back that was closed; "closed" is of the ledger itself.
        """
        return str(self.record["kind"])

    @property
    def keeps(self) -> int:
        """Under which number an answer is kept: of its charge, or for a run of a series its own.

        Those of runs are below 0, since charges count from 1.
        """
        return -self.number if self.kind == "run" else int(self.record["charge"])

    @property
    def charges(self) -> int:
        """How many charges there are up to here; of a charge, its own number."""
        return int(self.record["charges"])

    @property
    def spent(self) -> Amount:
        """All that was charged up to here, this entry included."""
        return Amount(*map(Fraction, self.record["spent"]))

    @property
    def amount(self) -> Amount:
        """What a charge took, or came back, exactly as the floats that are stored."""
        return Amount(*map(Fraction, self.record["amount"]))

    @property
    def spell(self) -> Spell | None:
        """The period in which it was made, as it says; None if it says none."""
        said = self.record.get("period")
        return None if said is None else Spell.from_json(said)

    def spell_of_next(self, allowance: Allowance, now: datetime) -> Spell:
        """The period in which an entry is made that comes after this one."""
        return allowance.spell(now, last=self.spell, spent=self.spent)


def following(last: Entry | None, kind: str, spent: Amount, record: Mapping[str, Any]) -> Entry:
    """The next entry: what it records, and its place in the chain."""
    number = 0 if last is None else last.number + 1
    place = {
        "number": number,
        "previous": BEGINNING if last is None else last.hash,
        "kind": kind,
        "charges": (0 if last is None else last.charges) + (kind == "charge"),
        "spent": [str(part) for part in spent],
    }
    lasts = {} if last is None else {n: v for n, v in last.record.items() if n in _LASTING}
    return Entry(number, json.dumps({**place, **lasts, **record}, allow_nan=False))


def returned(last: Entry, amount: Amount, record: Mapping[str, Any]) -> Entry:
    """The entry after the last one by which an amount comes back.

    No period allows more than before: what came back counts as not spent before it.
    """
    said = {**record, "amount": [float(part) for part in amount]}
    if (spell := last.spell) is not None:
        said["period"] = spell.with_back(amount).json_values()
    return following(last, "returned", last.spent.less(amount), said)


def given_back(series: str, entries: Sequence[Entry]) -> Amount:
    """What a series has not used, by all that its ledger says: a part of rho alone.

    All, if it never had a run. After that, its delta is spent (`docs/proofs/series.md`), and so is
    an epsilon, which is no sum over runs.
    """
    paid = [entry for entry in entries if entry.kind == "charge" and is_of(series, entry)]
    runs = [e.record["run"] for e in entries if e.kind == "run" and e.record["series"] == series]
    if not runs:
        return sum_of(*(charge.amount for charge in paid))
    if entries[0].record["accounting"] != "zcdp":
        return Amount.nothing()
    said = paid[0].record["series"]
    at_once = Fraction(said["at_once"])
    used = paid[0].amount.first * (at_once + (1 - at_once) * Fraction(max(runs), said["periods"]))
    left = sum(charge.amount.first for charge in paid) - used
    return Amount(Fraction(round_down(max(left, Fraction(0)))), Fraction(0))


def is_of(series: str, charge: Entry) -> bool:
    """Whether a charge has paid for a series."""
    created = "series" in charge.record and charge.record["nonce"] == series
    return bool(created or charge.record.get("prolongs") == series)


def faults(
    entries: Iterable[tuple[Entry, str]],
    *,
    head: tuple[int, str],
    kept: Mapping[int, str] | None,
) -> Iterator[str]:
    """What is wrong with a chain, in words: nothing, if no entry was changed, removed or inserted.

    Args:
        entries: All, by number, each with the hash that is stored beside it.
        head: How many entries the ledger says it has, and the hash of the last.
        kept: The hash of each release that is kept, by the number of its charge; None where these
            are not looked at.
    """
    walk = _ChainCheck(kept)
    for entry, stored in entries:
        try:
            yield from walk.wrong_with(entry, stored)
        except GARBLED:  # it says no such thing at all
            yield f"entry {entry.number}: it was changed"
        walk.previous, walk.expected = entry.hash, entry.number + 1
    if (walk.expected, walk.previous) != head:
        yield "the last entry is not the one that was added last: entries were removed at the end"


class _ChainCheck:
    """What must hold of the next entry, along a chain."""

    def __init__(self, kept: Mapping[int, str] | None) -> None:
        self.previous, self.expected = BEGINNING, 0
        self._spent, self._charges = Amount.nothing(), 0
        self._kept = kept
        self._before: list[Entry] = []
        self._last: Entry | None = None
        self._allowance: Allowance | None = None

    def wrong_with(self, entry: Entry, stored: str) -> Iterator[str]:
        record = entry.record
        if entry.number != self.expected or record["number"] != entry.number:
            yield f"before entry {entry.number}: one was removed or inserted"
        elif record["previous"] != self.previous:
            yield f"entry {entry.number}: the one before it was changed, removed or inserted"
        if entry.hash != stored:
            yield f"entry {entry.number}: it was changed"
        if entry.kind == "charge":
            self._spent, self._charges = self._spent.plus(entry.amount), self._charges + 1
        yield from self._wrong_with_series(entry)
        if (entry.spent, entry.charges) != (self._spent, self._charges):
            yield f"entry {entry.number}: its sum is not that of the charges"
        if entry.kind in ("release", "run") and not self._is_kept(entry):
            yield f"entry {entry.number}: the answer that was kept was changed or removed"
        if record.get("period") != self._period(entry):
            yield f"entry {entry.number}: its period is not that of its time"
        if not self._is_open(entry):
            yield f"entry {entry.number}: the ledger was closed before it"
        self._last = entry
        self._before.append(entry)

    def _wrong_with_series(self, entry: Entry) -> Iterator[str]:
        if entry.kind not in ("run", "returned"):
            return
        series = entry.record["series"]
        if self._is_closed(series):
            yield f"entry {entry.number}: its series was closed before it"
        if entry.kind == "returned":
            if entry.amount != given_back(series, self._before):
                yield f"entry {entry.number}: it gives back what its series has used"
            self._spent = self._spent.less(entry.amount)

    def _is_closed(self, series: str) -> bool:
        return any(e.kind == "returned" and e.record["series"] == series for e in self._before)

    def _is_open(self, entry: Entry) -> bool:
        """Whether an entry may be made: of a closed ledger, answers, and once its successor."""
        was = None if self._last is None else self._last.record.get("closed")
        if entry.kind == "closed":
            return was is None
        after = "release", "run", "continued"
        lasts = entry.record.get("closed") == was and (was is None or entry.kind in after)
        made = None if self._last is None else self._last.record.get("continued")
        if entry.kind == "continued":
            return lasts and was is not None and made is None
        return lasts and entry.record.get("continued") == made

    def _period(self, entry: Entry) -> list[Any] | None:
        """What an entry must say of the period that it was made in."""
        record = entry.record
        if self._last is None:
            said = record.get("allowance")
            self._allowance = None if said is None else Allowance.from_json(said)
            return None
        if entry.kind != "charge" or self._allowance is None:
            spell = self._last.spell
            if spell is not None and entry.kind == "returned":
                spell = spell.with_back(entry.amount)
            return None if spell is None else spell.json_values()
        made = datetime.fromisoformat(record["time"])
        return self._last.spell_of_next(self._allowance, made).json_values()

    def _is_kept(self, entry: Entry) -> bool:
        return self._kept is None or self._kept.get(entry.keeps) == entry.record["sha256"]


def record_of(plan: Plan) -> dict[str, Any]:
    record = {
        "question": plan.question.described(),
        "mechanism": described_mechanism(plan.mechanism),
        "asked": {"epsilon": plan.guarantee.epsilon, "delta": plan.mechanism.delta},
        "adjacency": plan.guarantee.adjacency,
        "protects": plan.guarantee.protects,
        "assumes": plan.guarantee.assumes,
        "data": {"engine": type(plan.engine).__name__, **plan.engine.about()},
        "as_of": plan.about.as_of,
    }
    return {name: json_value(value) for name, value in record.items()}


def signature(who: str) -> dict[str, str]:
    now = clock.now().isoformat(timespec="milliseconds")
    return {"time": now, "who": who, "library": __version__}


def asker(who: str | None) -> str:
    if who is not None:
        return require_name("who", who)
    try:
        return require_name("who", getpass.getuser())
    except Exception:  # noqa: BLE001 - each system has its own error where a user has no name
        return "unknown"


def require_name(argument: str, name: object) -> str:
    """A short text of one line."""
    if not (isinstance(name, str) and name.strip() and is_short(name) and name.isprintable()):
        raise InputError("must be a text of one line", given={argument: name})
    return name
