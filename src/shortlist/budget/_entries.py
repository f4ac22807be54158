"""Entries of a ledger: what they say of a plan, each with the hash of the one before it."""

from __future__ import annotations

import getpass
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shortlist._version import __version__
from shortlist.budget._allowances import Allowance, Spell
from shortlist.budget._units import Amount
from shortlist.errors import InputError, is_short
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
            Spell.of(self)
            return bool(self.kind) and self.charges >= 0 and self.spent.first >= 0
        except GARBLED:
            return False

    @property
    def kind(self) -> str:
        """What it is of: "created", "charge", "release", "run", "closed" or "continued"."""
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
        """What a charge took, exactly as the floats that are stored."""
        return Amount(*map(Fraction, self.record["amount"]))


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
        if (entry.spent, entry.charges) != (self._spent, self._charges):
            yield f"entry {entry.number}: its sum is not that of the charges"
        if entry.kind in ("release", "run") and not self._is_kept(entry):
            yield f"entry {entry.number}: the answer that was kept was changed or removed"
        if record.get("period") != self._period(entry):
            yield f"entry {entry.number}: its period is not that of its time"
        if not self._is_open(entry):
            yield f"entry {entry.number}: the ledger was closed before it"
        self._last = entry

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
            carried: list[Any] | None = self._last.record.get("period")
            return carried
        made = datetime.fromisoformat(record["time"])
        return self._allowance.spell(self._last, made).json_values()

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
