"""What users spent on items: which column says it, and how it becomes whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, Words, as_float, figures, in_quotes, joined, named, shown
from shortlist.table._column_roles import check_columns
from shortlist.table._frames import is_typed
from shortlist.table.part import TablePart

if TYPE_CHECKING:
    import polars as pl

MOST = 2**20
"""How many steps a cap has: what one user adds to an item at most."""
_LEAST_CAP, _MOST_CAP = 1e-9, 1e15
_MOST_CAPS = 20
_FARTHEST_CAPS = 10_000  # times: steps are of the largest, and the smallest has 100 of them
MOST_OF_A_ROW = 2**31
"""Steps of one row, at most: 2^32 rows of them add up within 64 bits. It is 2,048 caps."""

NEAR_NOTHING = 1e-290
"""An amount of less, either way, is 0: in steps it may be no number that every engine has."""


@dataclass(frozen=True)
class Amounts:
    """A column of amounts, of which each user's sum for an item counts from 0 up to a cap.

    An amount enters as a whole number of steps, rounded down, of which the cap has 2^20: by a power
    of 2, the parameters of mechanisms are divided exactly.

    >>> print(Amounts("minutes", 600))
    "minutes", capped at 600 per user and item, in steps of 0.000572

    Where a cap is chosen privately from several, an amount has steps of the largest.

    >>> print(Amounts("minutes", 600, caps=(60, 600)))
    "minutes", capped at 60 or 600 (chosen privately) per user and item, in steps of 0.000572

    Attributes:
        column: Its name.
        cap: The most that the sum of one user and item counts; public.
        caps: Those that one is chosen from, rising; `cap` is the largest. Empty where it is given.

    Raises:
        InputError: A cap is out of range, or there are too few or too many to choose from.
    """

    column: str
    cap: float
    caps: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cap", _checked_cap(self.cap))
        object.__setattr__(self, "caps", tuple(_checked_cap(cap) for cap in self.caps))
        if self.caps:
            _require_choice(self.caps)

    def __str__(self) -> str:
        caps = joined(map(figures, self.caps or (self.cap,)))
        chosen = " (chosen privately)" if self.caps else ""
        return (
            f'"{shown(self.column)}", capped at {caps}{chosen} per user and item, in steps of '
            f"{self.step:.3g}"
        )

    @property
    def step(self) -> float:
        """One step, nearly, in the unit of the column."""
        return self.cap / MOST

    def explained(self, *, in_groups: bool) -> list[str]:
        """What counts, and what a count is where a mechanism speaks of users."""
        rows = (
            f"Items are ranked by sums of {self}. Rows without a finite amount are left out, and "
            "who has a sum above 0 for an item holds it."
        )
        counts = (
            f"A count below is the sum of an item in units of {self._unit}: a user at the "
            "cap counts as one person, and one who spent half as much as half a person. What is "
            "published is in the unit of the column, rounded far below its noise."
        )
        groups = "In each group a user has sums of the rows there, each up to the cap."
        return [rows, groups, counts] if in_groups else [rows, counts]

    @property
    def _unit(self) -> str:
        return "the cap that is chosen" if self.caps else figures(self.cap)

    def json_values(self) -> dict[str, object]:
        """What is public of it, as a budget holds it."""
        caps = {"caps": list(self.caps)} if self.caps else {}
        return {"column": self.column, "cap": self.cap, **caps, "steps": MOST}

    def check(self, parts: list[TablePart]) -> None:
        """Refuse, by its type in each part, a column that holds no numbers."""
        for part in parts:
            check_columns(part, {self.column: "amount"})
            if not self._is_numeric(part):
                raise InputError(
                    "{origin}: {named} is of type {dtype}, and amounts are numbers",
                    "cast it to a number first",
                    origin=part.origin,
                    named=named("amount", self.column),
                    dtype=part.schema[self.column].base_type(),
                )

    def _is_numeric(self, part: TablePart) -> bool:
        import polars as pl

        dtype = part.schema[self.column]
        return dtype.is_numeric() or dtype == pl.Null or part.is_text or self._is_list(part)

    def _is_list(self, part: TablePart) -> bool:
        held: Any = part.held
        return part.kind == "dict" and not is_typed(held[self.column])

    def listed(self, part: TablePart) -> dict[str, pl.Series]:
        """The column, where it is a list in a dict, in which whatever is no number is null."""
        import polars as pl

        if not self._is_list(part):
            return {}
        held: Any = part.held
        return {self.column: pl.Series(self.column, map(_number, held[self.column]), pl.Float64)}

    def steps(self) -> pl.Expr:
        """How many steps each row has, rounded down; null where it has no finite amount.

        What a row adds depends on its own value alone, and no value makes it fail.
        """
        import polars as pl

        amount = pl.col(self.column).cast(pl.Float64, strict=False)
        steps = (amount / self.cap * MOST).floor()
        within = steps.clip(-float(MOST_OF_A_ROW), float(MOST_OF_A_ROW))
        known = pl.when(amount.abs() < NEAR_NOTHING).then(0.0).otherwise(within)
        return pl.when(amount.is_finite()).then(known).cast(pl.Int64).alias(self.column)


def amounts_of(amount: object, cap: object) -> Amounts | None:
    """The column and its cap, of which one goes with the other; None where there is neither."""
    if amount is None and cap is None:
        return None
    if cap is None:
        raise InputError(
            "{amount=}: one user could add any sum to an item, and no noise would hide it",
            "give {cap=600}, the most that one user counts for an item: choose it without looking "
            "at the data",
            given={"amount": in_quotes(amount)},
        )
    if amount is None:
        raise InputError("it goes with {amount}", "omit it", given={"cap": cap})
    if not isinstance(amount, str):
        raise InputError("a column is given by its name, a string", given={"amount": amount})
    of: Any = cap
    if not isinstance(cap, Sequence) or isinstance(cap, str):
        return Amounts(amount, of)
    caps = tuple(sorted(set(map(_checked_cap, of))))
    _require_choice(caps)
    return Amounts(amount, caps[-1], caps)


def as_given(caps: Sequence[float]) -> Words:
    """Caps as they are written after the option."""
    return Words("{caps}", caps=",".join(f"{cap:.15g}" for cap in caps))


def _checked_cap(cap: Any) -> float:
    if isinstance(cap, bool) or not _LEAST_CAP <= as_float(cap) <= _MOST_CAP:
        raise InputError(
            "must be a number from 1e-9 to 1e15, in the unit of {amount}",
            "take what a busy user may spend on one item: choose it without looking at the data. "
            "Or give several, of which one is chosen privately",
            given={"cap": cap},
        )
    return float(cap)


def _require_choice(caps: Sequence[float]) -> None:
    """Refuse caps among which there is no choice, or that one step does not suit."""
    if not 1 < len(caps) <= _MOST_CAPS:
        raise InputError(
            "a cap is chosen from 2 to {most} numbers that differ",
            "give one number for a cap that is not chosen; or several, each two to five times as "
            "large as the one before",
            given={"cap": as_given(caps)},
            most=_MOST_CAPS,
        )
    if caps[-1] > _FARTHEST_CAPS * caps[0]:
        raise InputError(
            "the largest is more than {far} times the smallest",
            "leave out the smallest, or the largest",
            given={"cap": as_given(caps)},
            far=f"{_FARTHEST_CAPS:,}",
        )


def _number(value: object) -> float | None:
    """A value of a list as a number; None where it is none."""
    with suppress(TypeError, ValueError, OverflowError):
        number: Any = value
        return float(number)
    return None
