"""The types of the parameters of questions and mechanisms; each type checks its values.

A dataclass annotates its fields with them, as in `k: Whole` or `discovery_share: Share = 0.3`, and
calls `checked` when it is made. With "| None", a field may also be None. A field whose type is an
`Option` takes one of its alternatives. A field of any other type is not checked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from numbers import Rational
from typing import Annotated, Any

from shortlist.errors import InputError, Words, as_float, is_whole
from shortlist.privacy import round_up
from shortlist.strength import SCALE

MOST_ITEMS = 2**32
"""The most items of a table, and the most ids of a store."""
_LEAST = 1e-100  # whose steps, and products, are doubles with all their digits


class Option(Enum):
    """A choice between named alternatives: the type of a parameter that is no number."""


class GroupItems(Option):
    """What everybody knows of the items of groups, by what they are; privacy hangs on none."""

    SHARED = "shared"
    """An item may be common in many groups, such as the films of countries."""

    OWN = "own"
    """Each item belongs to one group alone, such as the restaurants of cities."""

    UNKNOWN = "unknown"
    """Which of the two it is, nobody knows: a little of epsilon pays for a look at the rows."""


class ShareOfUsers(Option):
    """Of which number of users a count is also a share."""

    STATED = "stated"
    """Of a public number, which is given to the source as `users`. It has no noise."""

    COUNTED = "counted"
    """Of all users in the table, or in the group: their number is counted with noise, too."""


class SeriesKind(Option):
    """What the runs of a series list."""

    SO_FAR = "so-far"
    """All items that were named by then: what was named once stays on the list."""

    PERIOD = "period"
    """The items of a period, of which the run is given the rows; the next may have others."""


class Direction(Option):
    """Which way one user moves scores. The guarantee depends on it."""

    ONE = "one"
    """One user moves all scores the same way: with the user, none is lower, or none is higher."""

    ANY = "any"
    """One user may raise some scores and lower others. Noise is about twice as large."""

    @property
    def spread(self) -> int:
        """How often the sensitivity goes into what one user moves two scores apart at most."""
        return 1 if self is Direction.ONE else 2


class Side(Option):
    """Which items are looked for: those more common among cases, or among controls, or both."""

    CASES = "cases"
    """Items that cases hold more often than controls do."""

    CONTROLS = "controls"
    """Items that controls hold more often than cases do."""

    BOTH = "both"
    """Either. Half of the items that are looked at are picked for each."""


def require_epsilon(name: str, value: float) -> float:
    """Require an epsilon: a finite number above 0."""
    if not 0 < as_float(value) < math.inf:
        raise InputError(
            "must be a number above 0, and finite",
            "{scale}",
            given={name: value},
            scale=SCALE,
        )
    return float(value)


def require_delta(name: str, value: float) -> float:
    """Require a delta that may be 0: a number in [0, 1)."""
    if not 0 <= as_float(value) < 1:
        raise InputError(
            "must be a number from 0 to less than 1, far below one over the number of users",
            "1e-6 is usual",
            given={name: value},
        )
    return float(value)


def require_delta_above_zero(name: str, value: float) -> float:
    """Require the delta of a mechanism that names private items: a number in (0, 1)."""
    known = Words(". If everybody knows the items, give {public_items=...} instead")
    return _above_zero(name, value, known)


def require_delta_of_normal(name: str, value: float) -> float:
    """Require the delta of a mechanism whose noise is normal: a number in (0, 1)."""
    if as_float(value) == 0:
        raise InputError(
            "{delta=} is needed, because the noise is normal: add {delta=1e-6}",
            given={name: ...},
        )
    return _above_zero(name, value, Words(""))


def require_delta_of_counts(name: str, value: float) -> float:
    """As `require_delta_above_zero`; the remedy also fits a table of counts."""
    known = Words(
        ". If everybody knows the items, give {public_items=...} instead; or, with a table of "
        "counts that has them all, {public_items=IN_TABLE}"
    )
    return _above_zero(name, value, known)


def require_delta_of_domain(name: str, value: float) -> float:
    """As `require_delta_above_zero`; public items are no remedy, for a domain names them all."""
    return _above_zero(name, value, Words(""))


def _above_zero(name: str, value: float, known: Words) -> float:
    if as_float(value) == 0:
        raise InputError(
            "{delta=} is needed, because the items are private: add {delta=1e-6}{known}",
            given={name: ...},
            known=known,
        )
    if not 0 < as_float(value) < 1:
        raise InputError(
            "must be a number above 0 and below 1, far below one over the number of users",
            "1e-6 is usual",
            given={name: value},
        )
    return float(value)


def require_count(name: str, value: int) -> int:
    """Require a whole number from 1 to `MOST_ITEMS`."""
    if not (is_whole(value) and value >= 1):
        raise InputError("must be a whole number, 1 or more", given={name: value})
    if value > MOST_ITEMS:
        raise InputError(
            "must be at most {most}, as many as a table can hold",
            given={name: value},
            most=MOST_ITEMS,
        )
    return int(value)


def require_share(name: str, value: float) -> float:
    """Require a share that leaves something: from 1e-6 to 1 - 1e-6."""
    if not 1e-6 <= as_float(value) <= 1 - 1e-6:
        raise InputError("must be a number from 1e-6 to 1 - 1e-6", given={name: value})
    return float(value)


_PART = re.compile(r"[0-9]{1,18}/[0-9]{1,18}|[0-9]{0,18}\.?[0-9]{1,18}", re.ASCII)


def require_fdr(name: str, value: float) -> float:
    """Require a share of false names that is neither nothing nor half."""
    if not 0.002 <= as_float(value) <= 0.499:
        raise InputError(
            "must be a number from 0.002 to 0.499: the share of false items among those named, on "
            "average",
            "0.1 is usual",
            given={name: value},
        )
    return float(value)


def require_size_error(name: str, value: int) -> int:
    """Require a whole number of users, perhaps none."""
    if not (is_whole(value) and 0 <= value <= MOST_ITEMS):
        raise InputError(
            "must be a whole number, 0 or more: how many users a stated size may be off",
            given={name: value},
        )
    return int(value)


def require_sizes(cases: object, controls: object, size_error: object) -> None:
    """Require that both numbers of users are stated, and how far they may be off; or nothing."""
    missing = [value is None for value in (cases, controls, size_error)]
    if any(missing) and not all(missing):
        raise InputError(
            "{cases}, {controls} and {size_error} go together",
            "give all three; or none, and cases and controls are counted with noise",
            given={"size_error": size_error},
        )


def require_part(name: str, value: object) -> Fraction:
    """Require a part of a whole, exactly: a fraction above 0 and up to 1, or a text of one.

    >>> require_part("share", "1/52")
    Fraction(1, 52)
    """
    if isinstance(value, float):
        raise InputError(
            "a float is rounded, so that parts which should add up to a whole may not",
            'write it as a text, such as "1/52" or "0.25", or as a Fraction',
            given={name: value},
        )
    part = Fraction(0)
    if isinstance(value, Rational) and not isinstance(value, bool):
        part = Fraction(value)
    elif isinstance(value, str) and _PART.fullmatch(value):
        with contextlib.suppress(ZeroDivisionError):
            part = Fraction(value)
    if not 0 < part <= 1:
        raise InputError(
            'must be a part of a whole, above 0 and at most 1, such as "1/52"',
            given={name: str(value) if isinstance(value, Rational) else value},
        )
    return part


def require_number(name: str, value: float) -> float:
    """Require a finite number."""
    if not math.isfinite(as_float(value)):
        raise InputError("must be a number, and finite", given={name: value})
    return float(value)


def require_sensitivity(name: str, value: float) -> float:
    """Require how far one user moves a score: a number above 0, and of a usual size."""
    if not _LEAST <= as_float(value) <= 1 / _LEAST:
        raise InputError(
            "must be a number above 0, and finite: the most by which one user can move any score",
            "give one from 1e-100 to 1e100",
            given={name: value},
        )
    return float(value)


def require_contraction(name: str, value: float) -> float:
    """Require a bound of a random walk's ergodicity coefficient, below 1; it is rounded up."""
    if not 0 <= as_float(value) <= 1 - 1e-6:
        raise InputError(
            "must be a number from 0 to 1 - 1e-6, chosen without looking at who won",
            "nearer to 1 protects more outcomes",
            given={name: value},
        )
    return round_up(Fraction(value) if isinstance(value, Rational) else Fraction(float(value)))


Epsilon = Annotated[float, require_epsilon]
Delta = Annotated[float, require_delta]
DeltaAboveZero = Annotated[float, require_delta_above_zero]
DeltaOfCounts = Annotated[float, require_delta_of_counts]
DeltaOfDomain = Annotated[float, require_delta_of_domain]
DeltaOfNormal = Annotated[float, require_delta_of_normal]
Whole = Annotated[int, require_count]
SizeError = Annotated[int, require_size_error]
FalseDiscoveryRate = Annotated[float, require_fdr]
Share = Annotated[float, require_share]
Number = Annotated[float, require_number]
Sensitivity = Annotated[float, require_sensitivity]
Contraction = Annotated[float, require_contraction]

_Check = Callable[[str, Any], Any]


@dataclasses.dataclass(frozen=True)
class Takes:
    """The values that a field takes.

    Attributes:
        kind: Their type, such as `int`, `float` or an `Option`.
        may_be_none: Whether None is allowed too.
        check: Returns the plain value, given the field's name and a value, or raises an error; None
            where nothing is checked.
    """

    kind: Any
    may_be_none: bool = False
    check: _Check | None = None


def checked(made: Any) -> None:
    """Check every field of a frozen dataclass, and set it to the plain value of its type.

    Raises:
        InputError: A value is not allowed; the message names the field.
    """
    types_of_fields = taken(type(made))  # type: ignore[arg-type]  # a class is hashable
    for field in dataclasses.fields(made):
        takes, value = types_of_fields[field.name], getattr(made, field.name)
        if takes.check is not None and not (value is None and takes.may_be_none):
            object.__setattr__(made, field.name, takes.check(field.name, value))


@functools.cache
def taken(owner: type) -> dict[str, Takes]:
    """The values that each annotated name of a class takes."""
    hints = typing.get_type_hints(owner, include_extras=True)
    return {name: _takes(hint) for name, hint in hints.items()}


def _takes(hint: Any) -> Takes:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
        return dataclasses.replace(_takes(parts[0]), may_be_none=len(parts) < len(hint.__args__))
    if isinstance(hint, type) and issubclass(hint, Option):
        return Takes(hint, check=functools.partial(require_option, hint))
    checks = filter(callable, getattr(hint, "__metadata__", ()))
    return Takes(getattr(hint, "__origin__", hint), check=next(checks, None))


def require_option(kind: type[Option], name: str, value: object) -> Option:
    """Require one of the alternatives."""
    if not isinstance(value, kind):
        known = ", ".join(f"{kind.__name__}.{option.name}" for option in kind)
        raise InputError("must be one of {known}", given={name: value}, known=known)
    return value
