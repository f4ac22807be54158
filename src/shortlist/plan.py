"""The one door: a question, the mechanism that answers it, its guarantee, and the way to run it."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from shortlist.bits import Bits, SystemBits
from shortlist.draws import Draws, ExactDraws
from shortlist.engines import Engine, ShownEvidence
from shortlist.errors import SPENT, InputError, spending
from shortlist.mechanisms.base import Mechanism, counted
from shortlist.privacy.guarantee import Guarantee
from shortlist.processes import require_threads
from shortlist.questions import Question
from shortlist.release import Release
from shortlist.release.described import named, plain, promised
from shortlist.release.making import make_release
from shortlist.release.notebook import card
from shortlist.release.sheet import notes

__all__ = ["Budget", "Plan", "bits_of", "require_enough"]


class Budget(Protocol):
    """What a plan is charged to, before it may read a row."""

    def charge(self, plan: Plan) -> None:
        """Take note of what the plan will spend, for good; or refuse, by raising an error."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What would be asked, and at which price: made of public parameters alone.

    Built by the `plan` of a source. Nothing was read, and nothing is spent until it is run.

    Attributes:
        question: What is asked.
        mechanism: What answers it, with its parameters.
        guarantee: The promise of the release.
    """

    question: Question
    mechanism: Mechanism
    guarantee: Guarantee
    engine: Engine = field(repr=False, compare=False)
    budget: Budget | None = field(default=None, repr=False, compare=False)

    def explain(self) -> str:
        """What would happen, in plain words: the price, the noise, what it takes to be named."""
        return "\n".join([self._price(), *self.mechanism.explain()])

    def _price(self) -> str:
        promise, cost = self.guarantee, self.guarantee.cost
        lost = f" and delta = {cost.lost:.4g}" if cost.lost else ""
        return (
            f"This run costs epsilon = {promise.epsilon:g} and delta = {promise.delta:g}. In a sum "
            f"with other runs, it counts as these, or in zCDP as rho = {cost.rho:.4g}{lost}."
        )

    def _repr_html_(self) -> str:
        about = f"{self.question.name} by {type(self.mechanism).__name__}: a plan"
        unspent = "No row was read, and nothing is spent until it is run."
        told = notes(self.guarantee, self.mechanism)
        return card(about, notes=told, lines=[*self.explain().split("\n"), unspent])

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        told = {
            "question": {"name": self.question.name, **vars(self.question)},
            "mechanism": named(self.mechanism),
            "guarantee": promised(self.guarantee),
            "explanation": self.explain().split("\n"),
        }
        return {name: plain(value) for name, value in told.items()}

    def run(self, random: Bits | None = None) -> Release:
        """Charge the budget, read the rows, and select: no other way to the rows is private.

        Args:
            random: Where random bits come from: the operating system, unless this is a
                `shortlist.bits.SeededBits`, with which nothing is private.

        Raises:
            InputError: A problem shows only when rows are read; count the budget as spent.
            MemoryError: Likewise. The library's own message would tell the size of the data.
            RuntimeError: Nothing can be read in this process.
        """
        bits = bits_of(random)
        require_threads()
        if self.budget is not None:
            self.budget.charge(self)
        with suppress(MemoryError), spending():  # said once too often, where no row was read
            draws = ExactDraws(bits)
            with self.engine.show(self.mechanism.wants, draws) as shown:
                return self._answered(shown, draws, private=bits.private)
        raise MemoryError(f"there is not enough memory for this table. {SPENT}")

    def _answered(self, shown: ShownEvidence, draws: Draws, *, private: bool) -> Release:
        require_enough(self.question, shown.n_items)
        # A copy, so that nothing which a mechanism might keep of the rows is in the release.
        selection = copy(self.mechanism).select(shown.evidence, draws)
        items = shown.items(selection.positions)
        k = self.question.most_items
        if self.engine.items_are_public and k is not None and items.height < k:
            # Without a number: what ids span may tell how often rows were replaced.
            raise InputError("there are not so many items", "ask for fewer", given={"k": k})
        guarantee = replace(self.guarantee, private=private)
        return make_release(self.question, self.mechanism, selection, items, guarantee)


def require_enough(question: Question, n_items: int | None) -> None:
    """Refuse to ask for more than the items that everybody knows, where their number is known."""
    k = question.most_items
    if k is not None and n_items is not None and k > n_items:
        there = "there is" if n_items == 1 else "there are"
        items = counted(n_items, "public item")
        raise InputError(
            "{there} only {items}",
            "ask for at most {n_items}",
            given={"k": k},
            there=there,
            items=items,
            n_items=n_items,
        )


def bits_of(random: object) -> Bits:
    """The source of random bits that was asked for: the operating system's, if None."""
    if random is None:
        return SystemBits()
    if isinstance(random, type):
        raise InputError("give an instance, {kind}(…)", given={"random": random}, kind=random)
    if not (callable(getattr(random, "words", None)) and hasattr(random, "private")):
        raise InputError(
            "must be a source of bits",
            "omit it; or, in a test, give shortlist.bits.SeededBits(42), whose releases are not "
            "private",
            given={"random": random},
        )
    return random  # type: ignore[return-value]
