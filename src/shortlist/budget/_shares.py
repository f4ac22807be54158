"""Parts of a budget: the epsilon and delta of a question that may take so much, and no more.

Proof note: `docs/proofs/budget.md`, on shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from shortlist.budget._balance import Balance, cut
from shortlist.budget._units import Amount, Unit
from shortlist.errors import InputError, in_quotes
from shortlist.mechanisms.mechanism import Accounting
from shortlist.parameters import require_count
from shortlist.privacy import round_down

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.mechanisms.mechanism import Mechanism

Price = Callable[[float, float], Amount]
"""What a question costs that is asked with this epsilon and this delta."""

_DIGITS = 6
_CLOSE = 1e-8  # relative: so much of a part may stay unused, before epsilon is rounded
_CLOSE_DELTA = 1e-6
_HAIR = 1 - 2.0**-40
_USUAL_K = 20
_ALIKE = 0.02  # shares of what is there that are rounded to be the same


def fitted(unit: Unit, part: Amount, delta: float, price: Price) -> tuple[float, float]:
    """The largest epsilon and delta, in six digits, with which a question costs at most a part.

    Of the delta in zCDP only a share is charged, which each mechanism chooses for itself: so the
    prices of several are looked at. Whatever is returned was seen to cost at most the part.

    Args:
        unit: In which the part and prices are counted.
        part: The most that it may cost.
        delta: The delta of a total, of which the part is one.
        price: Refuses an epsilon and a delta with which the question cannot be asked.

    Raises:
        InputError: The question cannot be asked with so little.
    """
    try:
        exact = _fitted(unit, part, delta, price)
    except InputError as refused:
        if refused.argument != "epsilon":  # which nobody gave
            raise
        raise _too_little() from None
    rounded = cut(exact[0], _DIGITS), cut(exact[1], _DIGITS)
    return rounded if price(*rounded).within(part) else exact


def _fitted(unit: Unit, part: Amount, delta: float, price: Price) -> tuple[float, float]:
    if not part.delta:
        return _without_delta(unit, part, price)
    try:
        return _with_delta(unit, part, delta, price)
    except InputError as refused:  # perhaps there is no use for a delta
        try:
            return _without_delta(unit, part, price)
        except InputError:
            raise refused from None


def _without_delta(unit: Unit, part: Amount, price: Price) -> tuple[float, float]:
    near = unit.asked(part, 0.0)
    return _largest(lambda epsilon: price(epsilon, 0.0).first, part.first, near), 0.0


def _with_delta(unit: Unit, part: Amount, most: float, price: Price) -> tuple[float, float]:
    delta = most if unit.name == "zcdp" else round_down(part.delta)
    epsilon, found = unit.asked(part, delta), None
    for _ in range(8):  # two are mostly enough: the share of delta hardly hangs on epsilon
        delta = _charged_delta(partial(price, epsilon), part, delta, most)
        epsilon = _largest(lambda e, d=delta: price(e, d).first, part.first, epsilon)  # type: ignore[misc]
        cost = price(epsilon, delta)
        if cost.within(part):
            found = epsilon, delta
            if delta == most or not cost.delta or cost.delta >= part.delta * (1 - _CLOSE_DELTA):
                break
    if found is None:
        raise _too_little()
    return found


def _charged_delta(
    price: Callable[[float], Amount], part: Amount, delta: float, most: float
) -> float:
    """The largest delta, up to the most, of which no more than the part has is charged."""
    for _ in range(60):
        charged = price(delta).delta
        enough = delta == most or charged >= part.delta * (1 - _CLOSE_DELTA)
        if charged <= part.delta and (enough or not charged):
            return delta
        delta = min(most, delta * float(part.delta / charged) * _HAIR)
    raise _too_little()


def _largest(cost: Callable[[float], Fraction], most: Fraction, near: float) -> float:
    """About the largest epsilon that costs at most so much; it was seen to do so."""
    good, bad, epsilon = 0.0, math.inf, near
    for _ in range(200):
        spent = cost(epsilon)
        if spent <= most:
            good = epsilon
            if spent >= most * (1 - Fraction(_CLOSE)):
                return good
        else:
            bad = epsilon
        if good and bad < math.inf and bad - good <= bad * _CLOSE / 1000:  # the cost jumps there
            return good
        # Costs grow about as the square of a small epsilon.
        epsilon *= math.sqrt(float(most / spent)) * (1 - _CLOSE / 4)
        if not good < epsilon < bad:
            epsilon = (good + bad) / 2 if bad < math.inf else 2 * good
    if not good:
        raise _too_little()
    return good


def _too_little() -> InputError:
    return InputError("this question cannot be asked with so little", "give it a larger {share}")


# Plans


@dataclass(frozen=True)
class EachQuestion:
    """What each of several questions of one kind may be asked with.

    Attributes:
        kind: What is asked.
        epsilon: The epsilon of each, in three digits.
        delta: The delta of each, in three digits.
        first: What is used up first by asking all.
        alone: The epsilon and delta of one question that takes all that is left.
    """

    kind: str
    epsilon: float
    delta: float
    first: str
    alone: tuple[float, float]


@dataclass(frozen=True)
class QuestionsAhead:
    """With what so many questions can be asked, of what is left: made by `Budget.plan`.

    Attributes:
        dataset: The data set of the budget.
        questions: How many.
        share: The largest one of equal shares of the total, such as 1/52, of which so many fit into
            what is left, whatever is asked; None where a part of the total is used up.
        each: A line for each kind of question: with what it may be asked, if all are of that kind.
    """

    dataset: str
    questions: int
    share: Fraction | None
    each: tuple[EachQuestion, ...]

    def __rich__(self) -> RenderableType:
        from shortlist.budget._printing import plan_table

        return plan_table(self)

    def __str__(self) -> str:
        from shortlist.release.rendering import plain_text

        return plain_text(self.__rich__())


def questions_ahead(balance: Balance, questions: int) -> QuestionsAhead:
    """What each of so many questions may be asked with, so that what is left is enough for all.

    Raises:
        InputError: The number is none, or nothing is left.
    """
    require_count("questions", questions)
    terms, left = balance.terms, balance.left
    if not left.first:
        raise InputError("the budget of {dataset} is used up", dataset=in_quotes(terms.dataset))
    kinds = _priced() if terms.unit.name == "zcdp" else {"any": Amount.of}
    each = (_each(balance, questions, kind, price) for kind, price in kinds.items())
    found = tuple(row for row in each if row is not None)
    return QuestionsAhead(terms.dataset, questions, _share(balance, questions), found)


def _share(balance: Balance, questions: int) -> Fraction | None:
    parts = [(w, p) for w, p in zip(balance.terms.total, balance.left, strict=True) if w]
    if not all(left for _, left in parts):
        return None
    return Fraction(1, max(math.ceil(questions * whole / left) for whole, left in parts))


def _each(balance: Balance, questions: int, kind: str, price: Price) -> EachQuestion | None:
    """One line; None where questions of that kind need a delta, and none is left."""
    unit, left = balance.terms.unit, balance.left
    delta = balance.terms.delta
    part = Amount(left.first / questions, left.delta / questions)
    try:
        exact, alone = (_fitted(unit, amount, delta, price) for amount in (part, left))
    except InputError:
        return None
    rounded = cut(exact[0]), cut(exact[1])
    epsilon, delta = rounded if price(*rounded).within(part) else exact
    used = [float(a / b) if b else 0.0 for a, b in zip(price(epsilon, delta), part, strict=True)]
    names = unit.first, "delta"
    scarce = [name for name, n in zip(names, used, strict=True) if n > max(used) - _ALIKE]
    return EachQuestion(kind, epsilon, delta, " and ".join(scarce), (cut(alone[0]), cut(alone[1])))


def _priced() -> dict[str, Price]:
    """What the default mechanisms cost in zCDP, which their other parameters hardly change."""
    from shortlist.mechanisms import (
        AdaptiveGaussian,
        AdaptiveHittingSet,
        AdaptiveTopK,
        JointOrPeel,
    )

    zcdp: dict[str, Any] = {"accounting": Accounting.ZCDP}
    rows = {"max_items_per_user": 100, **zcdp}
    usual: dict[str, Callable[..., Mechanism]] = {
        "top-k": partial(AdaptiveTopK, k=_USUAL_K, **rows),
        "domain": partial(AdaptiveGaussian, **rows),
        "hitting set": partial(AdaptiveHittingSet, k=_USUAL_K, **rows),
        "public top-k": partial(JointOrPeel, k=_USUAL_K, **zcdp),
    }
    return {kind: partial(_price, made) for kind, made in usual.items()}


def _price(made: Callable[..., Mechanism], epsilon: float, delta: float) -> Amount:
    cost = made(epsilon=epsilon, delta=delta).cost
    return Amount.of(cost.rho, cost.lost)
