"""Allowances: the part of a total that may be spent in a day, a week, a month or a year.

Of the calendar in UTC. An allowance spreads a total over time and promises no privacy of its own.
Who sets the clock of a machine forward may spend what is of later; never more than the total.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple, Self

from shortlist.budget._units import Amount
from shortlist.errors import InputError, Words, joined, named, nearest, shown
from shortlist.parameters import require_part


class Period(StrEnum):
    """A stretch of the calendar."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"

    def begin(self, day: date) -> date:
        """The first day of the one that a day is in.

        >>> [str(period.begin(date(2026, 11, 22))) for period in Period]
        ['2026-11-22', '2026-11-16', '2026-11-01', '2026-01-01']
        """
        if self is Period.WEEK:
            return day - timedelta(days=day.weekday())
        if self is Period.DAY:
            return day
        return day.replace(day=1) if self is Period.MONTH else day.replace(month=1, day=1)

    def next(self, day: date) -> date:
        """The first day of the one after that.

        >>> [str(period.next(date(2026, 12, 30))) for period in Period]
        ['2026-12-31', '2027-01-04', '2027-01-01', '2027-01-01']
        """
        longest = {Period.DAY: 1, Period.WEEK: 7, Period.MONTH: 31, Period.YEAR: 366}[self]
        return self.begin(self.begin(day) + timedelta(days=longest))


class Spell(NamedTuple):
    """A period that lasts.

    Attributes:
        begin: Its first day.
        before: All that was spent before it.
    """

    begin: date
    before: Amount

    @classmethod
    def from_json(cls, record: list[Any]) -> Self:
        begin, before = record
        return cls(date.fromisoformat(begin), Amount(*map(Fraction, before)))

    def with_back(self, amount: Amount) -> Self:
        """The same after an amount came back, of which this period gets nothing."""
        return self._replace(before=self.before.less(amount))

    def json_values(self) -> list[Any]:
        return [self.begin.isoformat(), [str(part) for part in self.before]]


@dataclass(frozen=True)
class Allowance:
    """How much of a total may be spent in each period.

    Attributes:
        period: How long one lasts.
        share: The part of the total.
    """

    period: Period
    share: Fraction

    @classmethod
    def given(cls, per: object) -> Allowance | None:
        """As a caller gives it: a period and a part; None for none."""
        if per is None:
            return None
        if not (isinstance(per, tuple | list) and len(per) == 2):
            raise InputError(
                'must be a period and a part of the total, such as ("month", "1/12")',
                given={"per": ...},
            )
        known = [period.value for period in Period]
        if per[0] not in known:
            raise InputError(
                "{period}: must be {known}.{hint}",
                given={"per": ...},
                period=shown(str(per[0])),
                known=joined(known),
                hint=nearest(str(per[0]), known),
            )
        return cls(Period(per[0]), require_part("per", per[1]))

    def of(self, total: Amount) -> Amount:
        """So much of it, exactly."""
        return Amount(*(whole * self.share for whole in total))

    def spell(self, now: datetime, *, last: Spell | None, spent: Amount) -> Spell:
        """The period of an entry after others: never an earlier one, if a clock goes back.

        Args:
            now: When it is made.
            last: The period of the entry before, if it says one.
            spent: All that was charged up to that one.
        """
        begin = self.period.begin(now.astimezone(UTC).date())
        return last if last is not None and last.begin >= begin else Spell(begin, spent)

    def remedy(self, *, ever: bool) -> Words:
        """What to do where a question is too dear for this period, if there is `ever` one."""
        if ever:
            return Words("Ask from then on")
        share = named("share", str(self.share))
        return Words(
            "No {period} allows so much. Ask with {share}", period=self.period, share=share
        )

    def json_values(self) -> dict[str, str]:
        return {"per": self.period.value, "share": str(self.share)}

    @classmethod
    def from_json(cls, record: dict[str, str]) -> Allowance:
        return cls(Period(record["per"]), Fraction(record["share"]))
