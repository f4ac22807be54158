"""What users spent on items: which column says it, and how it becomes whole numbers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, as_float, in_quotes, named, shown
from shortlist.table._column_roles import check_columns
from shortlist.table._frames import is_typed
from shortlist.table.part import TablePart

if TYPE_CHECKING:
    import polars as pl

MOST = 2**20
"""How many steps a cap has: what one user adds to an item at most."""
_LEAST_CAP, _MOST_CAP = 1e-9, 1e15
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

    Attributes:
        column: Its name.
        cap: The most that the sum of one user and item counts; public.

    Raises:
        InputError: The cap is out of range.
    """

    column: str
    cap: float

    def __post_init__(self) -> None:
        if isinstance(self.cap, bool) or not _LEAST_CAP <= as_float(self.cap) <= _MOST_CAP:
            raise InputError(
                "must be a number from 1e-9 to 1e15, in the unit of {amount}",
                "take what a busy user may spend on one item: choose it without looking at the "
                "data",
                given={"cap": self.cap},
            )
        object.__setattr__(self, "cap", float(self.cap))

    def __str__(self) -> str:
        named, cap = shown(self.column), self._written_cap
        return f'"{named}", capped at {cap} per user and item, in steps of {self.step:.3g}'

    @property
    def step(self) -> float:
        """One step, nearly, in the unit of the column."""
        return self.cap / MOST

    @property
    def _written_cap(self) -> str:
        return f"{self.cap:,.15g}"

    def explained(self, *, in_groups: bool) -> list[str]:
        """What counts, and what a count is where a mechanism speaks of users."""
        rows = (
            f"Items are ranked by sums of {self}. Rows without a finite amount are left out, and "
            "who has a sum above 0 for an item holds it."
        )
        counts = (
            f"A count below is the sum of an item in units of {self._written_cap}: a user at the "
            "cap counts as one person, and one who spent half as much as half a person. What is "
            "published is in the unit of the column, rounded far below its noise."
        )
        groups = "In each group a user has sums of the rows there, each up to the cap."
        return [rows, groups, counts] if in_groups else [rows, counts]

    def json_values(self) -> dict[str, object]:
        """What is public of it, as a budget holds it."""
        return {"column": self.column, "cap": self.cap, "steps": MOST}

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
    return Amounts(amount, of)


def _number(value: object) -> float | None:
    """A value of a list as a number; None where it is none."""
    with suppress(TypeError, ValueError, OverflowError):
        number: Any = value
        return float(number)
    return None
