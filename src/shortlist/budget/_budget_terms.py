"""What a budget is fixed to when it is created, with the budgets that it continues."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shortlist.budget._allowances import Allowance
from shortlist.budget._entries import Entry, require_name
from shortlist.budget._units import UNITS, Amount, Unit, ZcdpUnit, unit_for
from shortlist.errors import InputError, in_quotes
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE
from shortlist.parameters import require_delta, require_epsilon

if TYPE_CHECKING:
    from shortlist.plan import Plan
    from shortlist.privacy.guarantee import Guarantee

_COMPARISON = "comparison"  # a unit of its own, where no column of users is named


@dataclass(frozen=True)
class Predecessor:
    """A budget that was closed for another, which continues it.

    Attributes:
        dataset: The name of its data set.
        epsilon: The epsilon of its total.
        delta: The delta of its total.
        total: Its total, in the unit of both.
        spent: What was spent of it.
        reason: Why another total was needed.
        head: The hash of the entry that closed it.
    """

    dataset: str
    epsilon: float
    delta: float
    total: Amount
    spent: Amount
    reason: str
    head: str

    @classmethod
    def of(cls, terms: BudgetTerms, closing: Entry) -> Predecessor:
        reason = closing.record["closed"]
        known = terms.dataset, terms.epsilon, terms.delta, terms.total
        return cls(*known, closing.spent, reason, closing.hash)

    def json_values(self) -> dict[str, Any]:
        amounts = {"total": self.total, "spent": self.spent}
        return vars(self) | {name: [str(part) for part in a] for name, a in amounts.items()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Predecessor:
        amounts = {name: Amount(*map(Fraction, record[name])) for name in ("total", "spent")}
        return cls(**(record | amounts))


@dataclass(frozen=True)
class BudgetTerms:
    """What a budget is fixed to, for good.

    Attributes:
        dataset: The name of the data set.
        protects: The privacy unit: the column of users, or "comparison".
        adjacency: Which tables count as neighbours.
        epsilon: The epsilon of the total.
        delta: The delta of the total.
        unit: The unit in which costs are counted.
        total: The total in that unit.
        allowance: How much of it may be spent in each period; None if all may at any time.
        earlier: The budgets that it continues, each with its own total.
    """

    dataset: str
    protects: str
    adjacency: str
    epsilon: float
    delta: float
    unit: Unit
    total: Amount
    allowance: Allowance | None = None
    earlier: tuple[Predecessor, ...] = ()

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
        per: object = None,
    ) -> BudgetTerms:
        """The terms that a caller gives."""
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
            allowance=Allowance.given(per),
        )

    @classmethod
    def from_entry(cls, entry: Entry) -> BudgetTerms:
        record = entry.record
        kind = UNITS[record["accounting"]]
        return cls(
            **{name: str(record[name]) for name in ("dataset", "protects", "adjacency")},
            epsilon=float(record["epsilon"]),
            delta=float(record["delta"]),
            unit=ZcdpUnit(record["lost_share"]) if kind is ZcdpUnit else kind(),
            total=Amount(*map(Fraction, record["total"])),
            allowance=Allowance.from_json(record["allowance"]) if "allowance" in record else None,
            earlier=tuple(map(Predecessor.from_json, record.get("continues", ()))),
        )

    def json_values(self) -> dict[str, Any]:
        share = {"lost_share": self.unit.lost_share} if isinstance(self.unit, ZcdpUnit) else {}
        return {
            "dataset": self.dataset,
            "protects": self.protects,
            "adjacency": self.adjacency,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "accounting": self.unit.name,
            **share,
            "total": [float(part) for part in self.total],
            **({"allowance": self.allowance.json_values()} if self.allowance else {}),
            **({"continues": [one.json_values() for one in self.earlier]} if self.earlier else {}),
        }

    @property
    def taken_over(self) -> dict[str, str]:
        """What a budget that continues this one has, too, if nothing else is given."""
        names = "dataset", "protects", "adjacency"
        return {name: getattr(self, name) for name in names} | {"accounting": self.unit.name}

    def in_words(self, amount: Amount, *, digits: str = ".4g") -> str:
        """An amount in words, its numbers in this format: without one, in all their digits."""
        first, delta = (format(float(part), digits) for part in amount)
        lost = "" if self.unit.name == "pure" else f" and delta = {delta}"
        return f"{self.unit.first} = {first}{lost}"

    def require(self, plan: Plan) -> None:
        """Refuse what this budget does not protect."""
        plan.about.within(self.dataset)
        self.require_same(plan.engine.unit, plan.guarantee)

    def require_same(self, asked: str | None, guarantee: Guarantee) -> None:
        """Refuse another privacy unit, None where counts are given; or other neighbours."""
        anybody = asked is None and self.protects != _COMPARISON  # it takes the caller's word
        if asked != self.protects and not anybody:
            raise InputError(
                "the budget protects {mine}, and this source {theirs}",
                "charge it to a budget that protects the same",
                mine=in_quotes(self.protects),
                theirs=in_quotes(asked or "user"),
            )
        if guarantee.adjacency != self.adjacency:
            raise InputError(
                "in the budget neighbours are tables that {mine}, and in this question that "
                "{theirs}",
                "charge it to a budget with the same neighbours",
                mine=in_quotes(self.adjacency),
                theirs=in_quotes(guarantee.adjacency),
            )
