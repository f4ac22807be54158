"""Entries that are only ever added, each with the hash of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from shortlist.budget._units import Amount, sum_of

__all__ = ["BEGINNING", "GARBLED", "Entry", "digest", "faults", "following"]

BEGINNING = "0" * 64  # what stands for the hash before the first entry
GARBLED = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
"""What is raised where an entry that was changed by hand is looked at."""


def digest(text: str) -> str:
    """The hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """One line of a ledger.

    Attributes:
        number: From 0, without gaps.
        body: What it says, as JSON: the text itself is what is hashed.
    """

    number: int
    body: str

    @cached_property
    def hash(self) -> str:
        """Of the body, which holds the hash of the entry before."""
        return digest(self.body)

    @cached_property
    def said(self) -> dict[str, Any]:
        """The body as values."""
        said: dict[str, Any] = json.loads(self.body)
        return said

    @property
    def makes_sense(self) -> bool:
        """Whether it says what every entry says."""
        try:
            return bool(self.kind) and self.charges >= 0 and self.spent.first >= 0
        except GARBLED:
            return False

    @property
    def kind(self) -> str:
        """What it is: "created", "charge" or "release"."""
        return str(self.said["kind"])

    @property
    def charges(self) -> int:
        """How many charges there are up to here; of a charge, its own number."""
        return int(self.said["charges"])

    @property
    def spent(self) -> Amount:
        """All that was charged up to here, this entry included."""
        return Amount(*map(Fraction, self.said["spent"]))

    @property
    def amount(self) -> Amount:
        """Of a charge: what it took, exactly as the floats that are stored."""
        return Amount(*map(Fraction, self.said["amount"]))


def following(last: Entry | None, kind: str, spent: Amount, said: Mapping[str, Any]) -> Entry:
    """The next entry: what it says, and its place in the chain."""
    number = 0 if last is None else last.number + 1
    place = {
        "number": number,
        "previous": BEGINNING if last is None else last.hash,
        "kind": kind,
        "charges": (0 if last is None else last.charges) + (kind == "charge"),
        "spent": [str(part) for part in spent],
    }
    return Entry(number, json.dumps({**place, **said}, allow_nan=False))


def faults(
    entries: Iterable[tuple[Entry, str]],
    *,
    head: tuple[int, str],
    contents: Mapping[int, str] | None,
) -> Iterator[str]:
    """What is wrong with a chain, in words: nothing, if no entry was changed, removed or inserted.

    Args:
        entries: All, by number, each with the hash that is stored beside it.
        head: How many entries the ledger says it has, and the hash of the last.
        contents: The hash of each release that is kept, by the number of its charge; None where
            these are not looked at.
    """
    walk = _Walk(contents)
    for entry, stored in entries:
        try:
            yield from walk.wrong_with(entry, stored)
        except GARBLED:  # it says no such thing at all
            yield f"entry {entry.number}: it was changed"
        walk.previous, walk.expected = entry.hash, entry.number + 1
    if (walk.expected, walk.previous) != head:
        yield "the last entry is not the one that was added last: entries were removed at the end"


class _Walk:
    """What must hold of the next entry, along a chain."""

    def __init__(self, contents: Mapping[int, str] | None) -> None:
        self.previous, self.expected = BEGINNING, 0
        self._spent, self._charges = Amount.nothing(), 0
        self._contents = contents

    def wrong_with(self, entry: Entry, stored: str) -> Iterator[str]:
        """What is, of the next entry, in words."""
        said = entry.said
        if entry.number != self.expected or said["number"] != entry.number:
            yield f"before entry {entry.number}: one was removed or inserted"
        elif said["previous"] != self.previous:
            yield f"entry {entry.number}: the one before it was changed, removed or inserted"
        if entry.hash != stored:
            yield f"entry {entry.number}: it was changed"
        if entry.kind == "charge":
            self._spent, self._charges = sum_of(self._spent, entry.amount), self._charges + 1
        if (entry.spent, entry.charges) != (self._spent, self._charges):
            yield f"entry {entry.number}: its sum is not that of the charges"
        if entry.kind == "release" and not self._is_kept(said):
            yield f"entry {entry.number}: the answer that was kept was changed or removed"

    def _is_kept(self, said: Mapping[str, Any]) -> bool:
        return self._contents is None or self._contents.get(said["charge"]) == said["sha256"]
