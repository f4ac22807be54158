"""In which unit costs add up to a total: zCDP, pure epsilons, or epsilons and deltas.

Each unit is two numbers of a cost, which add by themselves, whatever is asked next and why. Sums
are of the floats as they are stored, in rationals, so that no rounding ever makes room. Proof note:
`docs/proofs/budget.md`.
"""

from __future__ import annotations

import functools
import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import Accounting
from shortlist.parameters import require_share
from shortlist.privacy import ZCDP, round_up
from shortlist.privacy.calibration import zcdp_rho
from shortlist.privacy.guarantee import Guarantee

LOST_SHARE = 0.75
"""The share of a total delta that is kept, by default, for the mass that releases leave out."""

_HAIR = Fraction(1, 2**40)
# Below it, a float has lost digits.
_LEAST = sys.float_info.min


class Amount(NamedTuple):
    """What a release takes of a budget, or a budget has.

    Attributes:
        first: The rho in zCDP; else the epsilon.
        delta: The mass that is left out in zCDP; else the delta.
    """

    first: Fraction
    delta: Fraction

    @classmethod
    def of(cls, first: float, delta: float) -> Amount:
        """The amount of two floats, exactly."""
        usable = _LEAST <= first < float("inf") and (delta == 0 or _LEAST <= delta < 1)
        if not usable:
            raise InputError(
                "a cost of {first} and delta = {delta} cannot be charged: it must be above 0, "
                "finite, and large enough to have all its digits",
                "ask with another epsilon and delta",
                first=f"{first:.4g}",
                delta=f"{delta:.4g}",
            )
        return cls(Fraction(first), Fraction(delta))

    @classmethod
    def nothing(cls) -> Amount:
        return cls(Fraction(0), Fraction(0))

    def within(self, other: Amount) -> bool:
        return self.first <= other.first and self.delta <= other.delta

    def plus(self, other: Amount) -> Amount:
        return Amount(self.first + other.first, self.delta + other.delta)

    def less(self, other: Amount) -> Amount:
        return Amount(self.first - other.first, self.delta - other.delta)

    def least(self, other: Amount) -> Amount:
        """What is in both."""
        return Amount(min(self.first, other.first), min(self.delta, other.delta))

    def times_in(self, left: Amount) -> int:
        numbers = zip(self, left, strict=True)
        return min(int(whole // part) for part, whole in numbers if part > 0)


def sum_of(*amounts: Amount) -> Amount:
    return functools.reduce(Amount.plus, amounts)


class Unit(ABC):
    """How costs are counted.

    Attributes:
        name: By which it is stored and asked for.
        first: What the first number of an amount is called.
        accounting: How mechanisms that leave the choice count their stages, so that it is cheap.
    """

    name: ClassVar[str]
    first: ClassVar[str]
    accounting: ClassVar[Accounting]

    @abstractmethod
    def total(self, epsilon: float, delta: float) -> Amount:
        """What a total (epsilon, delta) is in this unit."""

    @abstractmethod
    def cost(self, guarantee: Guarantee) -> Amount:
        """What a release costs in this unit."""

    @abstractmethod
    def epsilon(self, amount: Amount, delta: float) -> float:
        """The epsilon of (epsilon, delta) that so much is worth by itself; rounded up."""

    def asked(self, amount: Amount, delta: float) -> float:
        """About the epsilon of a question with this delta that costs so much."""
        return self.epsilon(amount, delta)


@dataclass(frozen=True)
class ZcdpUnit(Unit):
    """Approximate zCDP: rhos add, and so do the masses left out.

    A total (epsilon, delta) is taken apart once: `lost_share` of delta is for the masses, and a
    hair more, so that parts fit whose floats add up to a hair more; rho is the largest with which
    (epsilon, delta) holds for the rest.

    >>> total = ZcdpUnit().total(3.0, 1e-6)
    >>> f"rho = {float(total.first):.4g}, delta = {float(total.delta):.4g}"
    'rho = 0.1673, delta = 7.5e-07'
    """

    lost_share: float = LOST_SHARE

    name: ClassVar[str] = "zcdp"
    first: ClassVar[str] = "rho"
    accounting: ClassVar[Accounting] = Accounting.ZCDP

    def __post_init__(self) -> None:
        require_share("lost_share", self.lost_share)

    def total(self, epsilon: float, delta: float) -> Amount:
        share = Fraction(self.lost_share) * (1 + _HAIR)
        lost = round_up(Fraction(delta) * min(share, (1 + Fraction(self.lost_share)) / 2))
        return Amount.of(zcdp_rho(epsilon=epsilon, delta=delta, lost=lost), lost)

    def cost(self, guarantee: Guarantee) -> Amount:
        return Amount.of(guarantee.cost.rho, guarantee.cost.lost)

    def epsilon(self, amount: Amount, delta: float) -> float:
        return ZCDP(float(amount.first), float(amount.delta)).epsilon(delta)

    def asked(self, amount: Amount, delta: float) -> float:
        """Where no delta is lost; without one, that of a pure mechanism."""
        rho = float(amount.first)
        return ZCDP(rho).epsilon(delta) if delta else math.sqrt(2 * rho)


@dataclass(frozen=True)
class BasicUnit(Unit):
    """Basic composition: epsilons add, and so do deltas."""

    name: ClassVar[str] = "basic"
    first: ClassVar[str] = "epsilon"
    accounting: ClassVar[Accounting] = Accounting.EXACT

    def total(self, epsilon: float, delta: float) -> Amount:
        return Amount.of(epsilon, delta)

    def cost(self, guarantee: Guarantee) -> Amount:
        epsilon = guarantee.epsilon
        return Amount.of(epsilon, max(guarantee.delta, guarantee.cost.delta(epsilon)))

    def epsilon(self, amount: Amount, delta: float) -> float:  # noqa: ARG002 - it is what it says
        return float(amount.first)


@dataclass(frozen=True)
class PureUnit(BasicUnit):
    """Basic composition without a delta."""

    name: ClassVar[str] = "pure"

    def cost(self, guarantee: Guarantee) -> Amount:
        amount = super().cost(guarantee)
        if amount.delta:
            raise InputError(
                "this question needs a delta, and the budget has none",
                "Ask one that needs none, as of public items with {delta=0}; or create a budget "
                "with a delta",
            )
        return amount


UNITS: dict[str, type[Unit]] = {kind.name: kind for kind in (ZcdpUnit, PureUnit, BasicUnit)}


def unit_for(accounting: str | None, delta: float, lost_share: float | None) -> Unit:
    """The unit of that name; None for what suits a delta."""
    name = accounting or ("zcdp" if delta else "pure")
    if name not in UNITS:
        raise InputError("must be {known}", given={"accounting": accounting}, known=_KNOWN)
    if (name == "pure") == (delta > 0):
        raise InputError(
            "{accounting=} goes with {rule}",
            "omit {accounting}, or change {delta}",
            given={"accounting": name},
            rule="delta = 0" if delta else "a delta above 0",
        )
    if name == "zcdp":
        return ZcdpUnit(LOST_SHARE if lost_share is None else lost_share)
    if lost_share is not None:
        raise InputError(
            "only a budget in zCDP keeps a share of delta apart",
            "omit it",
            given={"lost_share": lost_share},
        )
    return UNITS[name]()


_KNOWN = '"zcdp", "basic" or "pure"'
