"""A budget at one moment: what was spent of it, and what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from typing import TYPE_CHECKING

from shortlist.budget._allowances import Allowance, Spell
from shortlist.budget._budget_terms import BudgetTerms
from shortlist.budget._entries import Entry
from shortlist.budget._units import Amount, BasicUnit, Unit, ZcdpUnit, sum_of
from shortlist.errors import InputError, Words, in_quotes, named
from shortlist.privacy import ZCDP
from shortlist.privacy.calibration import zcdp_rho
from shortlist.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from datetime import datetime


_LITTLE = 0.05  # of an allowance: with less nothing sensible can be asked
_PARTS_OF_TOTAL = (30, 10, 3)
# Most mechanisms that name private items take so much of a question's delta for their thresholds.
_SHARE_OF_THRESHOLDS = 0.25


@dataclass(frozen=True)
class Balance:
    """A budget at one moment.

    Attributes:
        terms: What it is fixed to.
        spent: All that was charged.
        spell: The period that lasts, where only a part may be spent in each.
    """

    terms: BudgetTerms
    spent: Amount
    spell: Spell | None = None

    @classmethod
    def at(cls, terms: BudgetTerms, last: Entry, now: datetime) -> Balance:
        """At a moment that is not before the last entry."""
        allowance = terms.allowance
        return cls(
            terms, last.spent, None if allowance is None else last.spell_of_next(allowance, now)
        )

    @property
    def left(self) -> Amount:
        """What can still be charged, in this period or a later one."""
        return self.terms.total.less(self.spent)

    @property
    def left_now(self) -> Amount:
        """What can still be charged in this period."""
        if self.terms.allowance is None or self.spell is None:
            return self.left
        allowed = self.terms.allowance.of(self.terms.total)
        return allowed.less(self.spent.less(self.spell.before)).least(self.left)

    @property
    def in_all(self) -> str:
        """What it continues, both totals, and what was spent of all; nothing if it is the first."""
        terms, earlier = self.terms, self.terms.earlier
        if not earlier:
            return ""
        totals = ", ".join(
            f'"{one.dataset}" (epsilon = {one.epsilon:g} and delta = {one.delta:g})'
            for one in earlier
        )
        spent = sum_of(self.spent, *(one.spent for one in earlier))
        total = sum_of(terms.total, *(one.total for one in earlier))
        delta = min(terms.delta + sum(one.delta for one in earlier), 1 - 2.0**-53)
        worth = terms.unit.epsilon(total, delta)
        return (
            f"continues {totals}: in all {terms.in_words(spent)} were spent; all totals together "
            f"are {terms.in_words(total)}, worth epsilon = {worth:.3g} at delta = {delta:g}"
        )

    def require_sense(self, place: Words) -> None:
        """Refuse a total that is smaller than what was spent."""
        if not self.spent.within(self.terms.total):
            raise InputError(
                "{place}: its total is smaller than what was spent, so that it was changed by hand",
                "see what by {sl.Budget.verify}, and restore it",
                place=place,
            )

    def require_room(self, cost: Amount) -> None:
        """Refuse what would overspend."""
        if not cost.within(self.left):
            digits = _telling_apart(cost, self.left)
            raise InputError(
                "the budget of {dataset} has {left} left, and this question costs {cost}. Nothing "
                "was read and nothing was spent",
                "{remedy}",
                dataset=in_quotes(self.terms.dataset),
                left=self.terms.in_words(self.left, digits=digits),
                cost=self.terms.in_words(cost, digits=digits),
                remedy=self._remedy(cost),
            )
        self._require_allowed(cost)

    def _require_allowed(self, cost: Amount) -> None:
        """Refuse what is too much for this period."""
        allowance, spell = self.terms.allowance, self.spell
        if allowance is None or spell is None or cost.within(self.left_now):
            return
        digits = _telling_apart(cost, self.left_now)
        raise InputError(
            "the budget of {dataset} allows {share} of its total per {period}. Of that, {left} is "
            "left until {next} (UTC), and this question costs {cost}. Nothing was read and nothing "
            "was spent",
            "{remedy}{or_less}",
            dataset=in_quotes(self.terms.dataset),
            share=str(allowance.share),
            period=allowance.period.value,
            left=self.terms.in_words(self.left_now, digits=digits),
            next=allowance.period.next(spell.begin).isoformat(),
            cost=self.terms.in_words(cost, digits=digits),
            remedy=allowance.remedy(ever=cost.within(allowance.of(self.terms.total))),
            or_less=self._or_less(allowance),
        )

    def _or_less(self, allowance: Allowance) -> str:
        """What else to do: nothing, where hardly anything is left of this period."""
        worth = self._worth(self.left_now)
        if worth < _LITTLE * self._worth(allowance.of(self.terms.total)):
            return f": nothing is left for this {allowance.period}"
        return (
            f", or with a smaller epsilon and delta: all that is left of this {allowance.period} "
            f"is worth epsilon = {cut(worth):g}"
        )

    @property
    def allowed(self) -> str | None:
        """What may be spent in this period, in words."""
        allowance, spell = self.terms.allowance, self.spell
        if allowance is None or spell is None:
            return None
        ends = allowance.period.next(spell.begin)
        worth = self._worth(self.left_now)
        return (
            f"At most {allowance.share} of the total may be spent per {allowance.period}: until "
            f"{ends} (UTC) there is left what is worth epsilon = {worth:.3g}."
        )

    def _remedy(self, cost: Amount) -> str | Words:
        if not (self.left.first and self.worth):
            return "It is used up"
        if self.terms.total.delta and not self.left.delta:
            return "Its delta is used up: ask a question that needs none"
        if cost.first <= self.left.first:
            return "Its epsilon would fit: ask with a smaller delta"
        both = " and delta" if cost.delta > self.left.delta else ""
        return Words(
            "Ask with a smaller epsilon{both}, or for a share of the total, such as {share}; all "
            "that is left is worth {worth}, spent on one question alone",
            both=both,
            share=named("share", "1/2"),  # as a text: a float would be refused
            worth=f"epsilon = {cut(self.worth):g}",
        )

    @property
    def worth(self) -> float:
        """The epsilon that all that is left is worth at once, at the delta of the total."""
        return self._worth(self.left)

    def _worth(self, amount: Amount) -> float:
        if amount.first <= 0:
            return 0.0
        return min(self.terms.unit.epsilon(amount, self.terms.delta), self.terms.epsilon)

    def after(self, cost: Amount) -> str:
        """What a question would leave, in words."""
        terms = self.terms
        taken, dataset = terms.in_words(cost), terms.dataset
        if not cost.within(self.left):
            return (
                f'It would be refused: the budget of "{dataset}" has '
                f"{terms.in_words(self.left)} left, and it costs {taken}."
            )
        self._require_allowed(cost)
        then = Balance(terms, self.spent.plus(cost), self.spell)
        more = cost.times_in(then.left)
        again = f"{more:,} more such question{'s' * (more != 1)}" if more else "no other such one"
        if terms.allowance is not None:
            again += f", {cost.times_in(then.left_now):,} of them in this {terms.allowance.period}"
        left = f"epsilon = {then.worth:.3g} of {terms.epsilon:g} ({terms.in_words(then.left)})"
        return (
            f'It takes {taken} of the budget of "{dataset}", and leaves {left}: enough for {again}.'
        )


def _telling_apart(cost: Amount, left: Amount) -> str:
    """A format with digits enough that what is too large looks larger."""
    pairs = [(float(a), float(b)) for a, b in zip(cost, left, strict=True) if a > b]
    apart = all(f"{a:.4g}" != f"{b:.4g}" for a, b in pairs)
    return ".4g" if apart else ""


def cut(number: float, digits: int = 3) -> float:
    """To so many digits, downwards: so much can be asked for."""
    return float(Context(prec=digits, rounding=ROUND_DOWN).create_decimal(repr(number)))


def more_questions(balance: Balance) -> list[tuple[float, float, int, int, int]]:
    """How many questions of some sizes a budget is good for.

    Returns:
        Of each size epsilon and delta; how many fit in what is left; and how many the whole total
        would buy in zCDP (0 without a delta), and by adding up epsilons and deltas.
    """
    terms = balance.terms
    zcdp, basic = ZcdpUnit(), BasicUnit()
    rows = []
    for part in _PARTS_OF_TOTAL:
        epsilon, delta = _rounded(terms.epsilon / part), _rounded(terms.delta / part)
        whole = zcdp.total(terms.epsilon, terms.delta) if terms.delta else None
        added = basic.total(terms.epsilon, terms.delta)
        rows.append(
            (
                *(epsilon, delta),
                _usual(terms.unit, epsilon, delta).times_in(balance.left),
                _usual(zcdp, epsilon, delta).times_in(whole) if whole else 0,
                _usual(basic, epsilon, delta).times_in(added),
            )
        )
    return rows


def _rounded(number: float) -> float:
    """To one digit, downwards."""
    if not number:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(number))
    return float(f"{math.floor(number / unit * (1 + 1e-9)) * unit:.0e}")


def _usual(unit: Unit, epsilon: float, delta: float) -> Amount:
    """What a question costs that names private items; without a delta, what a pure one costs."""
    if unit.name != "zcdp" or not delta:
        return Amount.of(epsilon, delta)
    lost = delta * _SHARE_OF_THRESHOLDS
    cost = ZCDP(zcdp_rho(epsilon=epsilon, delta=delta, lost=lost), lost)
    return unit.cost(
        Guarantee(epsilon=epsilon, delta=delta, cost=cost, adjacency="", protects="", assumes=())
    )
