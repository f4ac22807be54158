"""What a budget is fixed to when it is created: its total, and whom it protects in which data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shortlist.budget._chain import Entry
from shortlist.budget._units import UNITS, Amount, Unit, Zcdp, unit_for
from shortlist.errors import InputError, in_quotes, is_short
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE
from shortlist.parameters import require_delta, require_epsilon

if TYPE_CHECKING:
    from shortlist.plan import Plan

__all__ = ["Terms"]

_COMPARISON = "comparison"  # a unit of its own, where no column of users is named


@dataclass(frozen=True)
class Terms:
    """What never changes.

    Attributes:
        dataset: The name of the data set.
        protects: The privacy unit: the column of users, or "comparison".
        adjacency: Which tables count as neighbours.
        epsilon: Of the total.
        delta: Of the total.
        unit: In which unit costs are counted.
        total: The total in that unit.
    """

    dataset: str
    protects: str
    adjacency: str
    epsilon: float
    delta: float
    unit: Unit
    total: Amount

    @classmethod
    def of(
        cls,
        *,
        dataset: str,
        protects: str,
        adjacency: str | None,
        epsilon: float,
        delta: float,
        accounting: str | None,
        lost_share: float | None,
    ) -> Terms:
        """As a caller gives them.

        Raises:
            InputError: One cannot be used.
        """
        epsilon, delta = require_epsilon("epsilon", epsilon), require_delta("delta", delta)
        unit = unit_for(accounting, delta, lost_share)
        usual = "add or remove one comparison" if protects == _COMPARISON else ADD_OR_REMOVE
        return cls(
            dataset=require_name("dataset", dataset),
            protects=require_name("protects", protects),
            adjacency=require_name("adjacency", usual if adjacency is None else adjacency),
            epsilon=epsilon,
            delta=delta,
            unit=unit,
            total=unit.total(epsilon, delta),
        )

    @classmethod
    def from_entry(cls, entry: Entry) -> Terms:
        """As the first entry of a ledger has them."""
        said = entry.said
        kind = UNITS[said["accounting"]]
        return cls(
            **{name: str(said[name]) for name in ("dataset", "protects", "adjacency")},
            epsilon=float(said["epsilon"]),
            delta=float(said["delta"]),
            unit=Zcdp(said["lost_share"]) if kind is Zcdp else kind(),
            total=Amount(*map(Fraction, said["total"])),
        )

    def said(self) -> dict[str, Any]:
        """The terms as JSON values."""
        share = {"lost_share": self.unit.lost_share} if isinstance(self.unit, Zcdp) else {}
        return {
            "dataset": self.dataset,
            "protects": self.protects,
            "adjacency": self.adjacency,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "accounting": self.unit.name,
            **share,
            "total": [float(part) for part in self.total],
        }

    def told(self, amount: Amount, *, digits: str = ".4g") -> str:
        """An amount in words, its numbers in this format: without one, in all their digits."""
        first, delta = (format(float(part), digits) for part in amount)
        lost = "" if self.unit.name == "pure" else f" and delta = {delta}"
        return f"{self.unit.first} = {first}{lost}"

    def require(self, plan: Plan) -> None:
        """Refuse what this budget does not protect.

        Raises:
            InputError: The plan is of another unit, or of other neighbours.
        """
        asked = plan.engine.unit
        anybody = asked is None and self.protects != _COMPARISON  # it takes the caller's word
        if asked != self.protects and not anybody:
            raise InputError(
                "the budget protects {mine}, and this source {theirs}",
                "charge it to a budget that protects the same",
                mine=in_quotes(self.protects),
                theirs=in_quotes(asked or "user"),
            )
        if plan.guarantee.adjacency != self.adjacency:
            raise InputError(
                "in the budget neighbours are tables that {mine}, and in this question that "
                "{theirs}",
                "charge it to a budget with the same neighbours",
                mine=in_quotes(self.adjacency),
                theirs=in_quotes(plan.guarantee.adjacency),
            )


def require_name(argument: str, name: object) -> str:
    """A short text of one line.

    Raises:
        InputError: It is none.
    """
    if not (isinstance(name, str) and name.strip() and is_short(name) and name.isprintable()):
        raise InputError("must be a text of one line", given={argument: name})
    return name
