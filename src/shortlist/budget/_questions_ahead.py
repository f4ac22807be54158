"""With what several questions can be asked, of what is left of a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from shortlist.budget._balance import Balance, cut
from shortlist.budget._printing import table_of
from shortlist.budget._shares import Price, fitted_exactly
from shortlist.budget._units import Amount
from shortlist.errors import InputError, in_quotes
from shortlist.mechanisms.mechanism import Accounting
from shortlist.parameters import require_count
from shortlist.release.readable import harmless

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shortlist.mechanisms.mechanism import Mechanism

_USUAL_K = 20
_ALIKE = 0.02  # shares of what is there that are rounded to be the same


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
        return _printed(self)

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
        exact, alone = (fitted_exactly(unit, amount, delta, price) for amount in (part, left))
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


def _printed(ahead: QuestionsAhead) -> RenderableType:
    """With what so many questions can be asked, in words and as a table."""
    from rich.console import Group
    from rich.text import Text

    several = f"{ahead.questions:,} question{'s' * (ahead.questions != 1)}"
    table = table_of(
        *("question", "epsilon each", "delta", "used up first", "alone: epsilon", "delta"), left=1
    )
    for row in ahead.each:
        alone = (f"{number:g}" for number in row.alone)
        table.add_row(row.kind, f"{row.epsilon:g}", f"{row.delta:g}", row.first, *alone)
    title = f"{several} in what is left of {ahead.dataset}"
    return Group(
        Text(harmless(title), style="bold"),
        Text("Each line is for questions of one kind; alone is what a single one could have.\n"),
        table,
        *([] if ahead.share is None else [Text(f"\n{_told_of_share(ahead.share)}")]),
    )


def _told_of_share(share: Fraction) -> str:
    return (
        f"Or give each question a share of {share} of the total, instead of epsilon and delta: "
        "exactly so many fit, whatever is asked."
    )
