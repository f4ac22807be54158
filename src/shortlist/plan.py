"""The one door: a question, the mechanism that answers it, its guarantee, and the way to run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from shortlist.bits import Bits, SystemBits
from shortlist.draws import Draws, ExactDraws
from shortlist.engines import Engine, ShownEvidence
from shortlist.errors import SPENT, InputError, spending
from shortlist.mechanisms.accounting import Accounting
from shortlist.mechanisms.base import Mechanism, counted
from shortlist.privacy.guarantee import Guarantee
from shortlist.processes import require_threads
from shortlist.questions import Question
from shortlist.release import NONE_CHARGED, Release
from shortlist.release.described import named, plain, promised
from shortlist.release.making import make_release, retold

__all__ = ["Budget", "Charge", "Ledger", "Plan", "bits_of", "require_enough"]


class Charge(Protocol):
    """A charge that stands, and what it was for.

    Attributes:
        told: What the release says of it.
    """

    @property
    def told(self) -> str:
        """As above."""
        ...

    def keep(self, release: Release) -> None:
        """Keep the release that was paid for."""
        ...


class Budget(Protocol):
    """What a plan is charged to, before it may read a row."""

    def charge(self, plan: Plan) -> Charge | None:
        """Take note of what the plan will spend, for good; or refuse, by raising an error."""


class Ledger(Budget, ABC):
    """A budget that keeps what it was charged for, and says what a plan would leave of it."""

    @property
    @abstractmethod
    def accounting(self) -> Accounting:
        """How mechanisms that leave the choice count their stages, so that they cost little."""

    @abstractmethod
    def charge(self, plan: Plan) -> Charge:
        """As `Budget.charge`."""

    @abstractmethod
    def kept(self, plan: Plan) -> Release | None:
        """What was released for the same plan before; None if nothing was."""

    @abstractmethod
    def explain(self, plan: Plan) -> str:
        """What the plan would take and leave, in words."""


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
        left = [self.budget.explain(self)] if isinstance(self.budget, Ledger) else []
        return "\n".join([self._price(), *left, *self.mechanism.explain()])

    def _price(self) -> str:
        promise, cost = self.guarantee, self.guarantee.cost
        lost = f" and delta = {cost.lost:.4g}" if cost.lost else ""
        return (
            f"This run costs epsilon = {promise.epsilon:g} and delta = {promise.delta:g}. In a sum "
            f"with other runs, it counts as these, or in zCDP as rho = {cost.rho:.4g}{lost}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        by = {"by": self.engine.by} if self.engine.by else {}
        told = {
            "question": {"name": self.question.name, **vars(self.question), **by},
            "mechanism": named(self.mechanism),
            "guarantee": promised(self.guarantee),
            "explanation": self.explain().split("\n"),
        }
        return {name: plain(value) for name, value in told.items()}

    def run(self, random: Bits | None = None, *, reuse: bool = False) -> Release:
        """Charge the budget, read the rows, and select: no other way to the rows is private.

        Args:
            random: Where random bits come from: the operating system, unless this is a
                `shortlist.bits.SeededBits`, with which nothing is private.
            reuse: Whether to return what was released for the same plan before, if the budget has
                kept it: then nothing is read and nothing is charged.

        Raises:
            InputError: A problem shows only when rows are read; count the budget as spent.
            MemoryError: Likewise. The library's own message would tell the size of the data.
            RuntimeError: Nothing can be read in this process.
        """
        bits = bits_of(random)
        require_threads()
        self._require_private(bits)
        kept = self.kept() if reuse else None
        if kept is not None:
            return kept
        charge = None if self.budget is None else self.budget.charge(self)
        charged = self.budget is not None
        with suppress(MemoryError), spending(charged=charged):  # said once too often, perhaps
            draws = ExactDraws(bits)
            with self.engine.show(self.mechanism.wants, draws) as shown:
                release = self._answered(shown, draws, bits, self._told_of(charge))
            return release if charge is None else _kept(release, charge)
        raise MemoryError(f"there is not enough memory for this table. {SPENT}")

    def kept(self) -> Release | None:
        """What was released for the same plan before, if the budget has kept it; for nothing.

        Raises:
            InputError: There is no budget that keeps releases.
        """
        if isinstance(self.budget, Ledger):
            return self.budget.kept(self)
        raise InputError(
            "without {budget} nothing keeps what was released",
            "omit it, or give the source {budget=...}",
            given={"reuse": True},
        )

    def _require_private(self, bits: Bits) -> None:
        """Refuse, before anything is charged, noise that is none."""
        if isinstance(self.budget, Ledger) and not bits.private:
            raise InputError(
                "a seeded release is not private, and a budget says that all it was charged for is",
                "omit {budget}, or the seed",
            )

    def _told_of(self, charge: Charge | None) -> str:
        """What the release says of the budget."""
        if charge is not None:
            return charge.told
        return NONE_CHARGED if self.budget is None else f"charged, by {type(self.budget).__name__}"

    def _answered(self, shown: ShownEvidence, draws: Draws, bits: Bits, budget: str) -> Release:
        require_enough(self.question, shown.n_items)
        # A copy, so that nothing which a mechanism might keep of the rows is in the release.
        selection = copy(self.mechanism).select(shown.evidence, draws)
        items = shown.items(selection.positions)
        k = self.question.most_items
        if self.engine.items_are_public and k is not None and items.height < k:
            # Without a number: what ids span may tell how often rows were replaced.
            raise InputError("there are not so many items", "ask for fewer", given={"k": k})
        guarantee = replace(self.guarantee, private=bits.private)
        return make_release(
            self.question,
            self.mechanism,
            selection,
            items,
            guarantee,
            by=self.engine.by,
            budget=budget,
        )


def _kept(release: Release, charge: Charge) -> Release:
    """The release, which is paid for, whether the budget can keep it or not."""
    try:
        charge.keep(release)
    except Exception:  # noqa: BLE001 - whatever it is, it must not lose the release
        return retold(release, f"{release.budget}; it could not keep this answer: save it")
    return release


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
