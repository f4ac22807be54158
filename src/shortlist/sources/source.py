"""What every source is: sensitive data with its unit, its bounds, and what is public of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack

from shortlist.draws.random_bits import Bits
from shortlist.engines import Engine
from shortlist.engines.tables.which_engine import connected, is_url
from shortlist.errors import InputError, Words, in_quotes
from shortlist.mechanisms.mechanism import Accounting, Mechanism
from shortlist.parameters import require_count
from shortlist.plan import Chargeable, Ledger, Plan, Reuse, priced, require_enough
from shortlist.planning import (
    Bounds,
    answering_mechanisms,
    default_mechanism,
    filled,
    mechanism_for,
    warn_of_weakness,
)
from shortlist.privacy.guarantee import Guarantee
from shortlist.questions import Question
from shortlist.release import NOTHING_SAID, About, Release
from shortlist.release.readable import harmless
from shortlist.release.rendering import html
from shortlist.release.sheet import Sheet
from shortlist.runtime.phases import phase
from shortlist.runtime.processes import StaysHere
from shortlist.sources._asking import PlanTerms, takes
from shortlist.table.public_items import IN_TABLE

LIST_IS_PUBLIC = "the list of public items does not depend on this table"
GROUPS_ARE_PUBLIC = "the list of public groups does not depend on this table"


class DataFacts(NamedTuple):
    """What belongs to the data, whatever is asked of it.

    Attributes:
        budget: What every question is charged to before anything is read; None for nothing.
        users: About how many users there are, if everybody may know that.
        about: The data set, and as of when it is.
    """

    budget: Chargeable | None = None
    users: int | None = None
    about: About = NOTHING_SAID


class Source(StaysHere):
    """Sensitive data; its methods are the questions that make sense for it.

    Questions may be asked from several threads.
    """

    known: ClassVar[tuple[str, ...]] = ("the names and types of the columns are public",)

    def __init__(
        self,
        engine: Engine,
        *,
        protects: str,
        assumes: tuple[str, ...] = (),
        bounds: Bounds | None = None,
        facts: DataFacts = DataFacts(),  # noqa: B008 - it cannot be changed
    ) -> None:
        """Hold what belongs to the data, not to a question.

        Args:
            engine: What has the rows.
            protects: The privacy unit, in words.
            assumes: What is public, or promised by the caller, one sentence each.
            bounds: Fields of a mechanism that are filled from here: what one user is in.
            facts: Its budget, and what is said of the data.
        """
        budget, users, about = facts
        if users is not None:
            require_count("users", users)
        self._engine = engine
        self._protects = protects
        self._assumes = assumes
        self._bounds = {} if bounds is None else dict(bounds)
        if budget is not None and not callable(getattr(budget, "charge", None)):
            raise InputError(
                "must have a method charge(plan), which refuses by raising an error",
                "omit it to charge nothing",
                given={"budget": budget},
            )
        if isinstance(budget, Ledger):
            about = about.within(budget.dataset)
        self._facts = DataFacts(budget, users, about)

    @takes(PlanTerms)
    def ask(
        self,
        question: Question,
        *,
        random: Bits | None = None,
        reuse: bool | Reuse = False,
        **terms: Unpack[PlanTerms],
    ) -> Release:
        """The answer to a question, with differential privacy: it is planned, and the plan is run.

        Every method that is named after a question, such as `top_k`, calls this with its question,
        and takes the same other arguments.

        Args:
            question: What is asked, such as `shortlist.TopK(20)`.
            epsilon: The privacy budget, above 0; 1 is usual, and less is more private.
            delta: From 0 to less than 1, far below one over the number of users; above 0 if items
                are private.
            share: In place of these two, the part of the source's budget that this may take, such
                as "1/52" or `Fraction(1, 52)`: of its total, whatever was spent. Epsilon and delta
                follow, and 52 such questions fit, to the last bit.
            mechanism: A class of `shortlist.mechanisms`, or a `functools.partial` of one with its
                own options; None for the default.
            title: What the list is called: a public text of one line, which its release shows.
            note: A remark for its readers, likewise.
            random: Where random bits come from: the operating system, unless this is a
                `shortlist.bits.SeededBits`, with which nothing is private.
            reuse: Whether to return, for nothing, the answer to the same question that the budget
                has kept, if there is one: True, if the data must not have changed since; else see
                `shortlist.Reuse`.

        Guarantee: `release.guarantee` states it. The methods state it for their questions.

        Raises:
            InputError: An argument cannot be used, or a problem shows only when rows are read, as
                of `Plan.run`.

        Warns:
            WeakPrivacyWarning: With this epsilon and delta protection is weak, or there is hardly
                any: epsilon is above 3, delta above 1e-4, or delta above 1 / `users`.

        >>> import shortlist as sl
        >>> rows = {"user": list(range(500)), "title": ["Emma", "Ulysses"] * 250}
        >>> plays = sl.pairs(rows, user="user", item="title")
        >>> sorted(plays.ask(sl.TopK(2), epsilon=1.0, delta=1e-6).items)
        ['Emma', 'Ulysses']
        """
        return self.plan(question, **terms).run(random, reuse=reuse)

    @takes(PlanTerms)
    def plan(self, question: Question, **terms: Unpack[PlanTerms]) -> Plan:
        """What would answer a question, and at which price; nothing is read, and nothing spent.

        Args:
            question: As of `ask`.
            **terms: As of `ask`, which takes two more when the plan is run.

        Raises:
            InputError: An argument cannot be used.

        Warns:
            WeakPrivacyWarning: As of `ask`.
        """
        require_question(question)
        engine = self._engine_for(question)
        question = question.asked_of(self._facts.users, by=engine.by)
        require_enough(question, engine.n_items)
        choose = partial(
            mechanism_for,
            question,
            engine,
            self._bounds,
            mechanism=terms["mechanism"],
            accounting=self._accounting,
        )
        epsilon, delta, share = terms["epsilon"], terms["delta"], terms["share"]
        with phase("Calibrating"):
            if share is not None or epsilon is None:

                def promise(epsilon: float, delta: float) -> Guarantee:
                    return self._guarantee(choose(epsilon=epsilon, delta=delta), engine)

                epsilon, delta = priced(self._facts.budget, share, epsilon, delta, promise)
            chosen = choose(epsilon=epsilon, delta=delta)
            if engine.n_items is not None and not engine.by:
                chosen.require_items(engine.n_items)
            guarantee = self._guarantee(chosen, engine)
        warn_of_weakness(guarantee.epsilon, guarantee.delta, self._facts.users)
        return Plan(
            question=question,
            mechanism=chosen,
            guarantee=guarantee,
            engine=engine,
            promises=self._guarantee,
            budget=self._facts.budget,
            about=replace(self._facts.about, title=terms["title"], note=terms["note"]),
        )

    def _repr_html_(self) -> str:
        """The columns, and what belongs to the data: no row is shown, and none was read."""
        budget, _, about = self._facts
        rows = [(harmless(name), str(dtype)) for name, dtype in self._engine.columns.items()]
        bounds = ", ".join(f"{name}={bound}" for name, bound in self._bounds.items() if bound)
        labels = {
            "protects": self._protects,
            "bounds": bounds or "none",
            "assumes": "; ".join((*self.known, *self._assumes)),
            **({"data set": about.of.removeprefix("of ")} if about.of else {}),
            "budget": "none" if budget is None else "charged before a row is read",
        }
        seen = Sheet(
            harmless(repr(self)),
            columns=("column", "type") if rows else (),
            numeric=(False, False),
            rows=tuple(rows),
            notes=tuple((label, harmless(text)) for label, text in labels.items()),
            lines=("No row was read for this.",),
        )
        return html(seen)

    def mechanisms_for(self, question: Question) -> list[type[Mechanism]]:
        """The mechanisms that can answer a question from this source."""
        return list(answering_mechanisms(question, self._engine_for(question)))

    def default_for(self, question: Question) -> type[Mechanism]:
        """The mechanism that answers a question where none is asked for.

        Raises:
            InputError: None does.
        """
        return default_mechanism(
            question, self._engine_for(question), self._bounds, self._accounting
        )

    def _engine_for(self, question: Question) -> Engine:  # noqa: ARG002 - for sources with several
        """What shows the rows to a question."""
        return self._engine

    @property
    def bounds(self) -> Bounds:
        """What one user is in at most, as a mechanism's fields; None where nothing bounds it."""
        return dict(self._bounds)

    def bounds_for(self, question: Question) -> dict[str, Any]:
        """The bounds where this is asked: without what nobody said and the default chooses."""
        try:
            return filled(self.default_for(question), self._bounds)
        except InputError:  # there is none that could choose
            return filled(None, self._bounds)

    def with_max_items_per_user(self, max_items_per_user: int) -> Source:
        """The same rows, read once for both, with another bound on the items of a user.

        Raises:
            InputError: Users are not bounded by this source.
        """
        raise InputError(
            "this source bounds no user",
            "omit it, or give rows, by {sl.pairs}, with private items",
            given={"max_items_per_user": max_items_per_user},
        )

    @property
    def _accounting(self) -> Accounting:
        """How stages are counted: for one release alone, or for one of many of a budget."""
        budget = self._facts.budget
        return budget.accounting if isinstance(budget, Ledger) else Accounting.EXACT

    def _guarantee(self, mechanism: Mechanism, engine: Engine) -> Guarantee:
        assumed = (*self._assumes, *engine.assumes(mechanism.wants), *mechanism.assumes)
        return Guarantee(
            epsilon=mechanism.epsilon,
            delta=mechanism.spent_delta,
            cost=mechanism.cost,
            adjacency=mechanism.adjacency,
            protects=self._protected(mechanism),
            assumes=(*self.known, *assumed),
        )

    def _protected(self, mechanism: Mechanism) -> str:  # noqa: ARG002 - for sources whose unit depends
        return self._protects


def opened(data: object, table: object) -> object:
    """The table of a database, where the data is its URL; otherwise the data, as it is.

    A refusal is returned, and not raised: whoever prints the variables of an error's trace would
    show the URL. So the caller has it in place of the data, and raises it.
    """
    try:
        return _in_database(data, table)
    except InputError as error:
        return error.with_traceback(None)


def _in_database(data: object, table: object) -> object:
    if not is_url(data):
        if table is None:
            return data
        raise InputError(
            "goes with the URL of a database, and {data} is none",
            "omit it",
            given={"table": in_quotes(table)},
        )
    if not isinstance(table, str):
        raise InputError(
            "{data} is the URL of a database, of which one table is read",
            "name it by {table=...}",
            given={"table": ...},
        )
    with phase("Connecting to the database"):
        return connected(str(data), table)


def require_no_items_in_table(public_items: object, otherwise: Words) -> None:
    """Refuse the items of the rows themselves as those that everybody knows."""
    if public_items is IN_TABLE:
        raise InputError(
            "{public_items=IN_TABLE}: in rows of users and items, one more user can add an item, "
            "so that the items of the table are not public",
            "{otherwise}",
            otherwise=otherwise,
        )


def require_engine_for_pull(pull: object, *, in_engine: bool) -> None:
    """Refuse to fetch, or to leave where they are, rows that are in no engine."""
    if pull is not None and not in_engine:
        raise InputError(
            "it is for a table in an engine, such as DuckDB, and these rows are read here anyway",
            "omit it",
            given={"pull": pull},
        )


def require_question(question: object) -> None:
    """Refuse what is no question."""
    if not isinstance(question, Question):
        raise InputError(
            "must be a question, such as shortlist.TopK(20) or shortlist.Domain()",
            given={"question": question},
        )


def known_before(engine: Engine) -> tuple[str, ...]:
    """What is assumed of the items that everybody knows, if there are any."""
    if engine.n_known:
        return (f"the list of {engine.n_known:,} known items was public before",)
    return (LIST_IS_PUBLIC,) if engine.items_are_public else ()
