"""What a release is of: public words of whoever asks, and when and by what it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

from shortlist._version import __version__
from shortlist.errors import InputError, in_quotes
from shortlist.release.readable import harmless, intact
from shortlist.runtime import clock

_OF_DATA = {"dataset": 200, "as_of": 200, "where": 4000, "amount": 1000}
_MOST = {**_OF_DATA, "title": 200, "note": 1000, "version": 200}
"""How many characters each text may have."""
_KINDS = {2: "pair", 3: "triple"}


@dataclass(frozen=True, kw_only=True)
class About:
    """What a release is of. All of it is public; three of it change what is answered.

    These are `where`, `amount` and `together`.

    >>> About.of_data("plays-2026", date(2026, 11, 22)).of
    'of plays-2026, as of 2026-11-22'

    Attributes:
        dataset: What the data set is called.
        as_of: As of when its rows are, in words.
        where: Which rows it is of, as a condition in SQL; None for all.
        amount: What of users' rows is summed up, and up to which cap; None where users are counted.
        title: What the list is called.
        note: A remark for its readers.
        together: How many items make up one of the list, such as 2 where it is of pairs of items
            that a user holds together; None where an item stands alone.
        made_on: The day on which it was made, in UTC; None before, and where a file does not say.
        version: The version of shortlist that made it; None likewise.

    Spaces at the ends of a text are dropped.

    Raises:
        InputError: A text is empty, too long, of several lines, or holds what cannot be seen.
    """

    dataset: str | None = None
    as_of: str | None = None
    where: str | None = None
    amount: str | None = None
    title: str | None = None
    note: str | None = None
    together: int | None = None
    made_on: date | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            text = getattr(self, name)
            _require_line(name, text, most)
            if text is not None:
                object.__setattr__(self, name, text.strip())

    @classmethod
    def of_data(cls, dataset: str | None, as_of: str | date | None) -> About:
        """What belongs to the data; a date is written as 2026-11-22.

        Raises:
            InputError: A date has a time of day, which would be another one each time.
        """
        if isinstance(as_of, datetime):
            if as_of.time() != time():
                raise InputError(
                    "it has a time of day, so that a retry would be another question",
                    "give its date(), or a text such as 2026-11-22T06:00",
                    given={"as_of": ...},
                )
            as_of = as_of.date()
        return cls(dataset=dataset, as_of=as_of.isoformat() if isinstance(as_of, date) else as_of)

    def within(self, dataset: str | None) -> About:
        """The same, of the data set of a budget.

        Raises:
            InputError: It is of another one.
        """
        if dataset is None or self.dataset == dataset:
            return self
        if self.dataset is not None:
            raise InputError(
                "the budget is of {theirs}",
                "name the data set as the budget does, or charge another budget",
                given={"dataset": self.dataset},
                theirs=in_quotes(dataset),
            )
        return replace(self, dataset=dataset)

    def made_now(self) -> About:
        """The same, of a release that is made today by this version."""
        return replace(self, made_on=clock.now().date(), version=__version__)

    @property
    def of(self) -> str:
        """Which data set, as of when, which rows and sums, in words; empty where none is known."""
        parts = [("of", self.dataset), ("as of", self.as_of), ("where", self.where)]
        parts.append(("by sums of", self.amount))
        return ", ".join(f"{word} {intact(text)}" for word, text in parts if text)

    @property
    def kind(self) -> str:
        """What one of the list is called: an item; or where items are held together, a pair."""
        return "item" if self.together is None else _KINDS.get(self.together, "combination")

    @property
    def items(self) -> str:
        """What an item of the list is, in words; empty where it stands alone."""
        if self.together is None:
            return ""
        return f"{self.kind}s, each of {self.together} things that the same user holds"

    @property
    def made(self) -> str:
        """When and by what it was made, in words; empty where neither is known."""
        day = f" on {self.made_on.isoformat()}" if self.made_on else ""
        version = f" by shortlist {harmless(self.version)}" if self.version else ""
        return f"Made{day}{version}" if day or version else ""

    def json_values(self) -> dict[str, Any]:
        """As a file says it; `from_json` reads it."""
        day = self.made_on.isoformat() if self.made_on else None
        texts = {name: getattr(self, name) for name in _MOST}
        together = {} if self.together is None else {"together": self.together}
        return {**texts, **together, "made_on": day}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> About:
        """What a file says; where it says nothing, as those of version 0.2, nothing is known."""
        day = values.get("made_on")
        made_on = None if day is None else date.fromisoformat(day)
        texts = {name: values.get(name) for name in _MOST}
        return cls(**texts, together=values.get("together"), made_on=made_on)


def _require_line(name: str, text: object, most: int) -> None:
    """Refuse what is no line that people can read; such texts are published with every answer."""
    if text is None:
        return
    if not isinstance(text, str) or not _can_be_read(text):
        raise InputError(
            "must be a text of one line, without characters that cannot be seen",
            "write a few words, or omit it",
            given={name: text},
        )
    if len(text) > most:
        raise InputError(
            "it may have {most} characters, and has {n}",
            "shorten it",
            given={name: ...},
            most=f"{most:,}",
            n=f"{len(text):,}",
        )


def _can_be_read(text: str) -> bool:
    """Whether something is seen of it, and nothing is not; as of the name of a ledger."""
    return bool(text.strip()) and (text.isprintable() or intact(text) == text)


NOTHING_SAID = About()
"""Where nobody says what a release is of."""
