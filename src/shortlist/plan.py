"""The one door: a question, the mechanism that answers it, its guarantee, and the way to run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from shortlist.draws import Draws, ExactDraws
from shortlist.draws.random_bits import Bits, SystemBits
from shortlist.engines import Engine, ShownEvidence
from shortlist.errors import PYTHON, SPENT, Face, InputError, has_failed, spending
from shortlist.mechanisms.mechanism import Accounting, Mechanism, Selection, counted
from shortlist.parameters import require_part
from shortlist.privacy.guarantee import Guarantee
from shortlist.questions import Question
from shortlist.release import NONE_CHARGED, NOTHING_SAID, About, Release
from shortlist.release.json_values import described_guarantee, described_mechanism, json_value
from shortlist.release.making import make_release, restated
from shortlist.release.readable import intact
from shortlist.release.rendering import html
from shortlist.release.sheet import Sheet, notes
from shortlist.runtime.phases import phase
from shortlist.runtime.processes import require_threads
from shortlist.strength import strength, why

if TYPE_CHECKING:
    import altair as alt

    from shortlist.expectations import Expectation


Promise = Callable[[float, float], Guarantee]


class Reuse(Enum):
    """Whether an answer that a budget has kept is given again: nothing is read or charged then.

    It is found by the question, its mechanism and guarantee, the columns, and what the source says
    of its data: `dataset` and `as_of`, or that it names no `as_of`. Titles and notes decide
    nothing. `Release.given_before` says which charge has paid for it. True means `SAME_DATA`, and
    False `NEVER`.

    Files are the same by where they really are, their size, the times of their last changes, and
    how they are read. A table in PostgreSQL is so by the server, the database, its name, its file
    and its columns, a frame in memory by its columns, and an array by its length: since rows that
    are added do not show there, `SAME_DATA` needs an `as_of`. A
    query or a table in DuckDB or SQLite, and a lazy frame, is so only if all that it reads is in
    files that are here. All else is never the same to another source: standard input,
    temporary tables, views in PostgreSQL, what is not committed, functions that we do not know,
    other engines.
    """

    NEVER = "never"
    """It is asked anew, and charged."""

    SAME_DATA = "same data"
    """It is given again if the data is the same. If the data changed, or cannot be known again, the
    question is refused; if nothing was answered yet, it is asked."""

    CHANGED_DATA = "changed data"
    """It is given again whether the data changed or not."""

    @classmethod
    def of(cls, given: object) -> Reuse:
        """What was asked for, as a member or as True or False."""
        if isinstance(given, bool):
            return cls.SAME_DATA if given else cls.NEVER
        if not isinstance(given, Reuse):
            raise InputError(
                "must be True, False or one of shortlist.Reuse",
                "to give an answer again though the data changed, take {sl.Reuse.CHANGED_DATA}",
                given={"reuse": given},
            )
        return given


class Charge(Protocol):
    """A charge that stands, and what it was for.

    Attributes:
        described: What the release says of it.
    """

    @property
    def described(self) -> str:
        """As above."""
        ...

    def keep(self, release: Release) -> None:
        """Keep the release that was paid for."""
        ...


class Chargeable(Protocol):
    """What a plan is charged to, before it may read a row."""

    def charge(self, plan: Plan) -> Charge | None:
        """Take note of what the plan will spend, for good; or refuse, by raising an error."""


class Ledger(Chargeable, ABC):
    """A budget that keeps what it was charged for, and says what a plan would leave of it."""

    @property
    @abstractmethod
    def accounting(self) -> Accounting:
        """How mechanisms that leave the choice count their stages, so that they cost little."""

    @property
    def dataset(self) -> str | None:
        """The name of the data set that it is of, if there is one."""
        return None

    @abstractmethod
    def charge(self, plan: Plan) -> Charge:
        """As `Chargeable.charge`."""

    @abstractmethod
    def kept(self, plan: Plan, reuse: Reuse) -> Release | None:
        """What was released for the same plan before, with `given_before`; None if nothing was."""

    @abstractmethod
    def explain(self, plan: Plan, face: Face = PYTHON) -> str:
        """What the plan would take and leave, in words; arguments as a face spells them."""

    def asked(
        self,
        share: Fraction,
        promise: Promise,  # noqa: ARG002 - for ledgers that know shares
    ) -> tuple[float, float]:
        """The largest epsilon and delta with which a question takes at most a share of the total.

        Args:
            share: Above 0, and at most 1.
            promise: The guarantee of the question, if it is asked with an epsilon and a delta.

        Raises:
            InputError: The question cannot be asked with so little, or the ledger has no shares.
        """
        raise InputError(
            "this budget knows no shares of its total",
            "give {epsilon}, and {delta} if it is needed",
            given={"share": str(share)},
        )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What would be asked, and at which price: made of public parameters alone.

    Built by the `plan` of a source. Nothing was read, and nothing is spent until it is run.

    Attributes:
        question: What is asked.
        mechanism: What answers it, with its parameters.
        guarantee: The promise of the release.
        promises: What the source promises by a mechanism and an engine, to hold a copy against.
        about: What the release is of, in public words.
    """

    question: Question
    mechanism: Mechanism
    guarantee: Guarantee
    engine: Engine = field(repr=False, compare=False)
    promises: Callable[[Mechanism, Engine], Guarantee] = field(repr=False, compare=False)
    budget: Chargeable | None = field(default=None, repr=False, compare=False)
    about: About = NOTHING_SAID

    def __post_init__(self) -> None:
        """Refuse a copy that another budget would pay for, or none, or with another promise."""
        if not self.mechanism.is_as_shipped:
            raise InputError(
                "the design of a mechanism, with which its privacy was proved, cannot be changed",
                "ask the source for another plan",
            )
        if not self.engine.belongs_to(self.budget):
            raise InputError(
                "the budget of a plan is that of its source, and cannot be changed or taken off",
                "build another source, with the budget that you mean",
                given={"budget": ...},
            )
        mechanism, promised = self.mechanism, self.guarantee
        price = mechanism.cost, mechanism.epsilon, mechanism.spent_delta, mechanism.adjacency
        said = promised.cost, promised.epsilon, promised.delta, promised.adjacency
        if said != price or promised != self.promises(mechanism, self.engine):
            raise InputError(
                "the guarantee of a plan is that of its source and mechanism, and cannot be "
                "changed",
                "ask the source for another plan",
            )

    def explain(self, face: Face = PYTHON) -> str:
        """What would happen, in plain words: the price, the noise, what it takes to be named.

        Args:
            face: How arguments are spelled where the budget would refuse it: as in Python.
        """
        left = [self.budget.explain(self, face)] if isinstance(self.budget, Ledger) else []
        known = self.mechanism.explain_known() if self.engine.n_known else []
        rows = [f"Only rows count where {intact(self.about.where)}."] if self.about.where else []
        rows += (
            []
            if self.engine.amounts is None
            else self.engine.amounts.explained(in_groups=bool(self.engine.by))
        )
        items = [f"Items are {self.about.items}."] if self.about.items else []
        return "\n".join([self._price(), *left, *rows, *items, *self.mechanism.explain(), *known])

    def _price(self) -> str:
        promise, cost = self.guarantee, self.guarantee.cost
        lost = f" and delta = {cost.lost:.4g}" if cost.lost else ""
        band = strength(promise.epsilon, promise.delta).described
        return (
            f"This run costs epsilon = {promise.epsilon:g} and delta = {promise.delta:g}: {band}, "
            f"since {why(promise.epsilon, promise.delta)}.\n"
            "To add up several runs, add these two numbers; or, in zCDP, add rho = "
            f"{cost.rho:.4g}{lost}."
        )

    def _repr_html_(self) -> str:
        plan = f"{self.question.name} by {type(self.mechanism).__name__}: a plan"
        title, *about = [text for text in (self.about.title, plan, self.about.of) if text]
        unspent = "No row was read, and nothing is spent until it is run."
        return html(
            Sheet(
                intact(title),
                tuple(about),
                notes=notes(self.guarantee, self.mechanism, self.about),
                lines=(*self.explain().split("\n"), unspent),
            )
        )

    def to_dict(self, face: Face = PYTHON) -> dict[str, Any]:
        """The plan as JSON values; `face` as of `explain`."""
        by = {"by": self.engine.by} if self.engine.by else {}
        parts = {
            "question": {**self.question.described(), **by},
            "mechanism": described_mechanism(self.mechanism),
            "guarantee": described_guarantee(self.guarantee),
            "about": self.about.json_values(),
            "explanation": self.explain(face).split("\n"),
        }
        return {name: json_value(value) for name, value in parts.items()}

    def plot(self) -> alt.LayerChart:
        """The chance that an item is found, against the number of users who hold it.

        A curve each for users who hold 1 item, 10, 100, and as many as count. It follows from the
        mechanism's public parameters alone: exactly, where one look at noisy weights decides; else
        played on invented tables, in each of which all who hold an item hold the same items. In a
        notebook it is shown; `.save("plot.svg")` and `.save("plot.png")` write it.

        Raises:
            InputError: The chance hangs on more than the item itself, or Altair is not installed:
                it is in the extra `shortlist[plot]`.
        """
        from shortlist.expectations import chart_of_chances

        counts_users = self.engine.amounts is None
        return chart_of_chances(self.question, self.mechanism, counts_users=counts_users)

    def expect(
        self,
        *,
        users: int,
        items: int,
        exponent: float = 1.0,
        items_per_user: int = 10,
        runs: int = 20,
    ) -> Expectation:
        """How good an answer to expect of a table like this one, which you only guess.

        The plan is played on an invented table: each user draws items, the one of rank r with odds
        of 1/r^exponent. No data is read and nothing is spent. Guess by what everybody knows:
        whoever looks at the table to guess well, and then publishes, says something about its
        users. Of known items it knows nothing: an answer that makes use of them is better.

        Args:
            users: How many users.
            items: How many items they may hold.
            exponent: How fast items grow rarer with their rank; 1 is usual.
            items_per_user: How often each user draws; what is drawn twice counts once.
            runs: How often it is played.

        Raises:
            InputError: A number is out of range, or the question or its mechanism cannot be played
                on such a table.

        >>> import shortlist as sl
        >>> source = sl.pairs({"user": [1], "title": ["Emma"]}, user="user", item="title")
        >>> plan = source.plan(sl.TopK(20), epsilon=1.0, delta=1e-6)
        >>> print(plan.expect(users=10_000, items=1_000))
        top-k by GreedyOrAdaptive of 10,000 users who each draw 10 of 1,000 items, Zipf exponent 1:
        - 20.0 of 20 items named
        - 19.9 of them among the 20 of the largest counts
        - each of the 20 most common items named in at least half of the runs
        Means of 20 runs. No data was read, and nothing was spent.
        """
        from shortlist.expectations import expected

        if self.engine.amounts is not None:
            raise InputError(
                "no table with amounts is invented",
                "ask the same question without {amount}, of how many users hold items",
                given={"amount": ...},
            )
        if self.about.together is not None:
            raise InputError(
                "an invented table does not tell what users hold together",
                "explain() says how many users it takes",
            )
        return expected(
            self.question,
            self.mechanism,
            users=users,
            items=items,
            exponent=exponent,
            items_per_user=items_per_user,
            runs=runs,
            public=self.engine.items_are_public,
        )

    def check(self) -> None:
        """Find out whether this could be run now; no row is read, and nothing is spent.

        `run` does it, too, just before it charges the budget. What shows only in the rows, such as
        a text that is not UTF-8, is refused by `run` alone.

        Raises:
            InputError: A file, a table or a column is gone, a right or a function is missing, or
                an engine does not answer.
        """
        with phase("Checking {origin}", origin=self.engine.origin):
            self.engine.check(self.mechanism.wants)

    def run(self, random: Bits | None = None, *, reuse: bool | Reuse = False) -> Release:
        """Charge the budget, read the rows, and select: no other way to the rows is private.

        Args:
            random: Where random bits come from: the operating system, unless this is a
                `shortlist.bits.SeededBits`, with which nothing is private.
            reuse: Whether to return what was released for the same before, if the budget has kept
                it, for nothing: True, if the data is still the same; else see `shortlist.Reuse`.

        Raises:
            InputError: A problem shows only when rows are read; count the budget as spent. Or the
                answer is to be given again, and the data changed; then nothing is spent.
            MemoryError: Likewise. The library's own message would tell the size of the data.
            RuntimeError: Nothing can be read in this process.
        """
        bits = bits_of(random)
        require_threads()
        self._require_private(bits)
        kept = self.kept(reuse)
        if kept is not None:
            return kept
        self.check()
        about = self.about.made_now()  # of before a row is read: a later time would tell of them
        charge = self._charge()
        charged = self.budget is not None
        with suppress(MemoryError), spending(charged=charged):  # said once too often, perhaps
            draws = ExactDraws(bits)
            with self._shown(draws) as shown, phase("Selecting"):
                release = self._answered(shown, draws, bits, self._told_of(charge), about)
            return release if charge is None else _kept(release, charge)
        raise MemoryError(f"there is not enough memory for this table. {SPENT}")

    def kept(self, reuse: bool | Reuse = True) -> Release | None:  # noqa: FBT001, FBT002 - as `run`
        """What was released for the same before, if the budget has kept it; for nothing.

        Raises:
            InputError: There is no budget that keeps releases; or as `run`.
        """
        reuse = Reuse.of(reuse)
        if reuse is Reuse.NEVER:
            return None
        if isinstance(self.budget, Ledger):
            return self.budget.kept(self, reuse)
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

    def _charge(self) -> Charge | None:
        """What the budget has taken note of, which may wait for others who charge it."""
        if self.budget is None:
            return None
        with phase("Charging the budget"):
            try:
                return self.budget.charge(self)
            except KeyboardInterrupt as error:  # when, nobody knows: it may stand already
                error.add_note(SPENT)
                raise

    @contextmanager
    def _shown(self, draws: Draws) -> Iterator[ShownEvidence]:
        """What the mechanism may look at, for as long as the context lasts."""
        with ExitStack() as opened:
            with phase("Reading {origin}", origin=self.engine.origin):
                shown = opened.enter_context(self.engine.show(self.mechanism.wants, draws))
            yield shown

    @property
    def score_unit(self) -> str | None:
        """What the scores will measure, if any are released.

        Of a user who holds more than a bound only some items count. Then a count is no number of
        users, and no interval may say that it holds one.
        """
        unit = self.mechanism.score_unit
        bounded = self.engine.unit is not None and self.mechanism.wants.bound is not None
        in_part = bounded or self.engine.counts_in_part
        if self.engine.amounts is not None:
            return "noisy amount" if unit == "noisy count" and not in_part else None
        return "noisy clipped count" if in_part and unit == "noisy count" else unit

    def _in_units(self, selection: Selection) -> Selection:
        """Noisy amounts, of caps, in the unit of their column."""
        amounts = self.engine.amounts
        if amounts is None:
            return selection
        return selection._replace(score_step=selection.cap or amounts.cap)

    def _told_of(self, charge: Charge | None) -> str:
        if charge is not None:
            return charge.described
        return NONE_CHARGED if self.budget is None else f"charged, by {type(self.budget).__name__}"

    def _answered(
        self, shown: ShownEvidence, draws: Draws, bits: Bits, budget: str, about: About
    ) -> Release:
        k = None if self.engine.by else self.question.most_items  # a group may have fewer
        if k is not None:
            require_enough(self.question, shown.n_items)
        # A copy, so that nothing which a mechanism might keep of the rows is in the release.
        mechanism = copy(self.mechanism)
        selection = self._in_units(mechanism.concluded(mechanism.select(shown.evidence, draws)))
        items = shown.items(selection.positions)
        whole = self.engine.items_are_public and not self.question.leaves_out
        if whole and k is not None and items.height < k:
            # Without a number: what ids span may tell how often rows were replaced.
            raise InputError("there are not so many items", "ask for fewer", given={"k": k})
        guarantee = replace(self.guarantee, private=bits.private)
        return make_release(
            self.question,
            self.mechanism,
            selection,
            items,
            guarantee,
            score_unit=self.score_unit,
            by=self.engine.by,
            budget=budget,
            about=about,
        )


def _kept(release: Release, charge: Charge) -> Release:
    """The release, which is paid for, whether the budget can keep it or not."""
    try:
        with phase("Keeping the answer in the budget"):
            charge.keep(release)
    except BaseException as error:
        if not has_failed(error):
            raise
        lost = f"{release.budget}; it could not keep this answer: save it"
        return restated(release, budget=lost)
    return release


def priced(
    budget: Chargeable | None,
    share: Fraction | str | None,
    epsilon: float | None,
    delta: float,
    promise: Promise,
) -> tuple[float, float]:
    """The epsilon and delta that were asked for, or that follow from a share of the budget."""
    if share is None and epsilon is not None:
        return epsilon, delta
    if share is None:
        raise InputError(
            "one of {epsilon} and {share} is needed",
            'add {epsilon=1}; or, with a budget, {share="1/52"}',
        )
    part = require_part("share", share)
    for name, value in (("epsilon", epsilon), ("delta", delta or None)):
        if value is not None:
            raise InputError(
                "a share of the budget already says with which epsilon and delta to ask",
                "omit it, or omit {share}",
                given={name: value},
            )
    if not isinstance(budget, Ledger):
        raise InputError(
            "a share is one of the total of a budget, and there is none",
            "give {budget}, or {epsilon} in place of a share",
            given={"share": str(part)},
        )
    return budget.asked(part, promise)


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
