"""A series before it is created: what it would cost, and what its lists need, by public numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shortlist.errors import PYTHON, Face
from shortlist.parameters import SeriesKind
from shortlist.plan import priced
from shortlist.planning import warn_of_weakness
from shortlist.runtime.phases import phase
from shortlist.series._facts import SeriesFacts
from shortlist.series._played import Played, SeriesExpectation
from shortlist.strength import strength, why

if TYPE_CHECKING:
    from fractions import Fraction

    from shortlist.budget.ledger import Budget
    from shortlist.budget.series_account import SeriesAccount
    from shortlist.privacy.guarantee import Guarantee
    from shortlist.series.terms import SeriesPromise

_EXAMPLE = 10_000_000  # items, or users, by which the size of a state is told
_KEPT = {
    SeriesKind.SO_FAR: (
        "each item that ever counted and each run, besides who holds what",
        "items",
    ),
    SeriesKind.PERIOD: ("each user, besides the names of users", "users"),
}
_USERS = {
    SeriesKind.SO_FAR: ("by", "hold others too"),
    SeriesKind.PERIOD: ("in", "hold others too, or were there in earlier runs"),
}


@dataclass(frozen=True)
class SeriesPlan:
    """What a series would cost, and what to expect of it. Made by `Series.plan`.

    Nothing is read, and nothing is spent or written.

    Attributes:
        facts: What it would be fixed to.
    """

    facts: SeriesFacts = field(repr=False)
    _account: SeriesAccount | None = field(repr=False)

    @property
    def terms(self) -> SeriesPromise:
        """What it would be created with, and what follows from it."""
        return self.facts.terms

    @property
    def guarantee(self) -> Guarantee:
        """Of all lists of all runs together."""
        return self.facts.guarantee

    def explain(self, face: Face = PYTHON) -> str:
        """The price of all lists, what an item needs to be named, and how large the file grows.

        Args:
            face: How arguments are spelled if the budget would refuse it: by default as in Python.
        """
        facts, account = self.facts, self._account
        left = account.explain(facts.user, facts.guarantee, face) if account is not None else None
        return "\n".join(
            [
                *_price(facts),
                *([] if left is None else [left]),
                needed(facts, 1, facts.terms.periods),
                size_of_state(facts),
            ]
        )

    def expect(
        self,
        *,
        users: int,
        items: int,
        exponent: float = 1.0,
        items_per_user: int = 10,
    ) -> SeriesExpectation:
        """How many items to expect on the list of each run, by simulating the series once.

        It runs on an invented table. Each user draws items: the item of rank r has odds of
        1/r^exponent. Each drawn item appears in one of the runs, with equal chances. The table of a
        list so far has what appeared by then, and that of a period what appeared in it. No data is
        read, and nothing is spent. Base your guesses on what everybody knows, as for `Plan.expect`.

        Args:
            users: How many users.
            items: How many items they may hold.
            exponent: How fast items become rarer with their rank; 1 is usual.
            items_per_user: How often each user draws; an item that is drawn twice counts once.

        Raises:
            InputError: A number is out of range, or the table too large to be invented.

        >>> import shortlist as sl
        >>> terms = {"periods": 4, "user": "user", "item": "title"}
        >>> plan = sl.Series.plan(**terms, epsilon=3.0, delta=1e-6)
        >>> print(plan.expect(users=3_000, items=1_000))
        A list so far in each of 4 runs, of 3,000 users who each draw 10 of 1,000 items, Zipf \
exponent 1:
        - run 1: 31 items on the list
        - run 2: 76
        - run 3: 116
        - run 4: 152
        1 series. No data was read, and nothing was spent.
        """
        return Played(self.facts, users, items, exponent, items_per_user).expectation()


def planned(
    fixed: Callable[[float, float], SeriesFacts],
    paying: Budget | None,
    share: Fraction | str | None,
    epsilon: float | None,
    delta: float,
    users: int | None,
) -> SeriesPlan:
    """What a series would cost, and what of: see `Series.plan`.

    Args:
        fixed: What it would be fixed to, by epsilon and delta.
        paying: The budget that would pay.
        share: Of the budget, in place of epsilon and delta.
        epsilon: Of all lists together.
        delta: Likewise.
        users: About how many there are, if that is known.
    """
    with phase("Calibrating"):
        promise = lambda epsilon, delta: fixed(epsilon, delta).guarantee
        asked = priced(paying, share, epsilon, delta, promise)
        facts = fixed(*asked)
    warn_of_weakness(*asked, users)
    return SeriesPlan(facts, None if paying is None else paying.for_series())


def _price(facts: SeriesFacts) -> list[str]:
    promise, terms = facts.guarantee, facts.terms
    runs = (
        "The list of the one run costs"
        if terms.periods == 1
        else (f"All lists of its {terms.periods} runs together cost")
    )
    lost = f" and delta = {promise.cost.lost:.4g}" if promise.cost.lost else ""
    return [
        (
            f"{runs} epsilon = {promise.epsilon:g} and delta = {promise.delta:g}: "
            f"{strength(promise.epsilon, promise.delta).described}, since "
            f"{why(promise.epsilon, promise.delta)}."
        ),
        f"In zCDP that is rho = {promise.cost.rho:.4g}{lost}. It is charged at once.",
        f"The noise in each run has a standard deviation of {terms.sigma:.4g}.",
    ]


def needed(facts: SeriesFacts, *runs: int) -> str:
    """How many users an item needs to be named in each of these runs."""
    terms = facts.terms
    when, others = _USERS[facts.kind]
    first, *later = [
        (run, f"about {terms.thresholds[run - 1] / terms.weight_alone(run):.0f}")
        for run in sorted(set(runs))
    ]
    more = "".join(f", and {when} run {run} {number}" for run, number in later)
    return (
        f"To be named {when} run {first[0]}, an item needs {first[1]} users{more}, if each holds "
        f"only this item. If they {others}, it needs more."
    )


def of_next(facts: SeriesFacts, run: int) -> str:
    """What a run costs and takes."""
    costs = f"This would be run {run} of {facts.terms.runs}, which costs nothing more."
    return "\n".join([costs, needed(facts, run), size_of_state(facts)])


def size_of_state(facts: SeriesFacts) -> str:
    """What a run keeps, by an example: the true size tells about the table."""
    each, examples = _KEPT[facts.kind]
    runs = facts.terms.runs if facts.kind is SeriesKind.SO_FAR else 1
    size = 8 * _EXAMPLE * runs
    return (
        f"Its file takes 8 bytes for {each}: with {_EXAMPLE:,} {examples}, about "
        f"{size / 1e9:.2g} GB by the last run. A run takes as much memory."
    )
