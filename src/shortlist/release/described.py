"""What a release says of its mechanism and its guarantee, as JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from shortlist.privacy.stored import stored

if TYPE_CHECKING:
    from shortlist.privacy.guarantee import Guarantee
    from shortlist.release import Mechanism

__all__ = [
    "NONE_CHARGED",
    "Described",
    "GivenBefore",
    "asked_for",
    "name_of",
    "named",
    "plain",
    "promised",
]

NONE_CHARGED = "none was charged"
"""What a release says of budgets where its source has none."""


@dataclass(frozen=True)
class GivenBefore:
    """Of an answer that is given again: which charge has paid for it, and when.

    >>> print(GivenBefore(3, date(2026, 11, 22)))
    by charge 3, of 2026-11-22: no row was read again, and nothing was spent

    Attributes:
        charge: The number of the charge in its budget.
        day: The day of the charge, in UTC.
    """

    charge: int
    day: date

    def __str__(self) -> str:
        return (
            f"by charge {self.charge}, of {self.day.isoformat()}: no row was read again, and "
            "nothing was spent"
        )


@dataclass(frozen=True)
class Described:
    """The mechanism of a release that was loaded: its name and parameters, and nothing that runs.

    >>> Described("Peeling", {"k": 3}).parameters()
    {'k': 3}
    """

    name: str
    values: Mapping[str, object] = field(hash=False)

    def parameters(self) -> dict[str, object]:
        """All public parameters by name."""
        return dict(self.values)


def name_of(mechanism: Mechanism) -> str:
    """The name of its class."""
    return mechanism.name if isinstance(mechanism, Described) else type(mechanism).__name__


def asked_for(mechanism: Mechanism) -> int | None:
    """How many items the question asked for, or None where it named no number."""
    parameters: object = mechanism.parameters()
    while isinstance(parameters, Mapping):
        if isinstance(k := parameters.get("k"), int):
            return k
        parameters = parameters.get("selection")  # around which it is
    return None


def named(value: Mechanism) -> dict[str, Any]:
    """The name and the parameters as JSON values."""
    name = value.name if isinstance(value, Described) else type(value).__name__
    return {"name": name, "parameters": plain(value.parameters())}


def promised(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as JSON values."""
    return {
        "epsilon": plain(guarantee.epsilon),
        "delta": plain(guarantee.delta),
        "cost": plain(stored(guarantee.cost)),
        "adjacency": guarantee.adjacency,
        "protects": guarantee.protects,
        "assumes": list(guarantee.assumes),
        "private": guarantee.private,
    }


def plain(value: object) -> object:
    """The JSON value nearest to `value`; never fails, since the budget is spent by then.

    >>> plain({"day": date(2024, 2, 29), "threshold": math.inf, "split": (0.5, None)})
    {'day': '2024-02-29', 'threshold': 'inf', 'split': [0.5, None]}
    """
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else str(value)
