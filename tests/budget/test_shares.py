"""Many questions in one budget: with what each may be asked, so that all of them fit."""

from fractions import Fraction
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import columns, created, plan_of
from helpers.exhaustive import exhaustive
from helpers.refusals import refusal
from shortlist import mechanisms
from shortlist.budget._questions_ahead import _share
from shortlist.budget._units import Amount
from shortlist.mechanisms.mechanism import Accounting
from shortlist.plan import Ledger

ROWS = {"user": [1, 1, 2, 3], "item": ["a", "b", "a", "a"]}
NUMBERS = (1, 7, 52, 365, 1000)


def asked(budget, kind, epsilon, delta):
    """The plan of such a question."""
    known = [f"title {number}" for number in range(30)] if kind == "public top-k" else None
    source = sl.pairs(ROWS, user="user", item="item", public_items=known, budget=budget)
    question = {"domain": sl.Domain(), "hitting set": sl.HittingSet(20)}.get(kind, sl.TopK(20))
    return source.plan(question, epsilon=epsilon, delta=delta)


def named_share(budget, n):
    """As `Budget.plan` names it, which takes longer for what it says of each kind."""
    return _share(budget.standing(), n)


def times(amount, n):
    return Amount(n * amount.first, n * amount.delta)


@pytest.mark.parametrize("questions", [7, 365, *exhaustive(1, 52, 1000)])
def test_all_planned_questions_fit_and_hardly_anything_is_left(path, questions):
    budget = created(path, epsilon=3.0, delta=1e-6)
    left = budget.standing().left
    for row in budget.plan(questions).each:
        cost = times(budget._cost(asked(budget, row.kind, row.epsilon, row.delta)), questions)
        assert cost.within(left)
        used = {"rho": cost.first / left.first, "delta": cost.delta / left.delta}
        assert all(used[name] > 0.97 for name in row.first.split(" and "))
        assert all(n < 0.99 for name, n in used.items() if name not in row.first)
        alone = budget._cost(asked(budget, row.kind, *row.alone))
        assert alone.within(left)
        assert alone.first > 0.98 * left.first


@pytest.mark.parametrize("spent", [0.0, 0.01, 0.5])
def test_the_share_that_is_named_fits_as_often_as_asked(path, spent):
    budget = created(path, epsilon=3.0, delta=1e-6)
    if spent:
        budget.charge(plan_of(budget, spent))
    for n in NUMBERS:
        share, left, total = named_share(budget, n), budget.standing().left, budget.terms.total
        assert times(Amount(*(whole * share for whole in total)), n).within(left)
        larger = Fraction(1, share.denominator - 1) if share < 1 else Fraction(2)
        assert not times(Amount(*(whole * larger for whole in total)), n).within(left)
    assert named_share(budget, 7) == Fraction(1, 7) or spent
    assert spent or budget.plan(7).share == named_share(budget, 7)


@pytest.mark.parametrize("accounting", ["basic", "pure"])
def test_where_epsilons_add_up_each_has_its_part(path, accounting):
    budget = created(path, epsilon=3.0, delta=1e-6 * (accounting == "basic"), accounting=accounting)
    (row,) = budget.plan(7).each
    assert (row.kind, row.epsilon) == ("any", 0.428)
    assert row.delta == (1.42e-07 if accounting == "basic" else 0)
    assert row.alone == (3.0, budget.terms.delta)


def test_what_is_left_is_planned_and_not_the_total(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    fresh = {row.kind: row.epsilon for row in budget.plan(20).each}
    budget.charge(plan_of(budget, 0.5))
    left = budget.standing().left
    for row in budget.plan(20).each:
        assert row.epsilon < fresh[row.kind]
        cost = budget._cost(asked(budget, row.kind, row.epsilon, row.delta))
        assert times(cost, 20).within(left)


def test_without_delta_only_questions_that_need_none_are_planned(path, monkeypatch):
    budget = created(path, epsilon=3.0, delta=1e-6)
    total = budget.terms.total
    balance = type(budget.standing())(budget.terms, Amount(Fraction(0), total.delta))
    monkeypatch.setattr(budget, "_balance", lambda _: balance)
    assert [row.kind for row in budget.plan(5).each] == ["public top-k"]
    assert budget.plan(5).share is None


def test_what_cannot_be_planned_is_refused(path):
    budget = created(path, epsilon=1.0)
    for wrong in (0, -1, 1.5, "52"):
        refusal(lambda wrong=wrong: budget.plan(wrong), "questions=", "must be a whole number")
    budget.charge(plan_of(budget, 1.0))
    refusal(lambda: budget.plan(3), 'the budget of "plays-2026" is used up')


# Shares

FRAME = pl.DataFrame(
    {"user": range(60), "item": ["a", "b", "c"] * 20, "place": ["x", "y"] * 30, "n": range(60)}
)
KNOWN = ["a", "b", "c"]


def pairs(budget, **more):
    return sl.pairs(FRAME, user="user", item="item", budget=budget, **more)


def counts(budget, **more):
    held = pl.DataFrame({"item": KNOWN, "place": ["x", "y", "x"], "n": [900, 100, 10]})
    return sl.counts(held, item="item", count="n", budget=budget, **more)


def compared(budget):
    rows = pl.DataFrame({"won": ["a", "b"], "lost": ["b", "c"], "user": [1, 2]})
    by = {"user": "user", "max_comparisons_per_user": 2}
    known = {"winner": "won", "loser": "lost", "public_items": KNOWN}
    return sl.comparisons(rows, **known, **by, budget=budget)


def stored(budget):
    held = sl.stores.MemoryStore(KNOWN, [900, 100, 10])
    held.prepare()
    return sl.store(held, budget=budget)


def known(budget):
    return pairs(budget, public_items=KNOWN)


IN_GROUPS = {"by": "place", "max_groups_per_user": 2}
DEFAULTS = {
    "top-k": (pairs, sl.TopK(2), None),
    "top-k with counts": (pairs, sl.TopK(2, 0.3), None),
    "domain": (pairs, sl.Domain(), None),
    "domain with counts": (pairs, sl.Domain(0.3), None),
    "hitting set": (pairs, sl.HittingSet(2), None),
    "groups": (lambda budget: pairs(budget).grouped("place"), sl.TopK(2), None),
    "groups of a domain": (lambda budget: pairs(budget).grouped("place"), sl.Domain(), None),
    "public": (known, sl.TopK(2), None),
    "public with counts": (known, sl.TopK(2, 0.3), None),
    "private counts": (partial(counts, max_items_per_user=3), sl.TopK(1), None),
    "private counts, unbounded": (counts, sl.TopK(1), None),
    "counts in groups": (partial(counts, **IN_GROUPS), sl.TopK(1), None),
    "public counts": (partial(counts, public_items=sl.IN_TABLE), sl.TopK(2), None),
    "rank": (compared, sl.Rank(2), None),
    "store": (stored, sl.TopK(2), None),
}
OTHERS = {
    "limited domain": (pairs, sl.TopK(2), mechanisms.LimitedDomain),
    "discover": (pairs, sl.TopK(2), mechanisms.DiscoverThenRank),
    "weighted Gaussian": (pairs, sl.Domain(), mechanisms.WeightedGaussian),
    "greedy": (pairs, sl.Domain(), mechanisms.PolicyGreedy),
    "Laplace": (known, sl.TopK(2), mechanisms.OneShotLaplace),
    "exponential": (known, sl.TopK(2), mechanisms.OneShotExponential),
    "joint": (known, sl.TopK(2), mechanisms.Joint),
    "peeling": (known, sl.TopK(2), mechanisms.Peeling),
    "users": (pairs, sl.HittingSet(2), mechanisms.UserPeeling),
}
QUESTIONS = DEFAULTS | OTHERS


def shared(budget, name, share):
    make, question, mechanism = QUESTIONS[name]
    return make(budget).plan(question, share=share, mechanism=mechanism)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("accounting", ["zcdp", "basic"])
def test_so_many_parts_of_a_budget_fit_to_the_last_bit(path, name, accounting):
    protects = {"protects": "user", "accounting": accounting}
    budget = created(path, epsilon=3.0, delta=1e-6, **protects)
    total = budget.terms.total
    for n in (1, 52, 1000):
        plan = shared(budget, name, Fraction(1, n))
        cost = budget.terms.unit.cost(plan.guarantee)
        assert times(cost, n).within(total)
        assert plan.guarantee.delta <= 1e-6
        used = max(n * cost.first / total.first, n * cost.delta / total.delta)
        assert used > 1 - 3e-5


@pytest.mark.parametrize("name", ["public", "joint", "rank"])
def test_shares_of_a_pure_budget(path, name):
    budget = created(path, epsilon=1.0)
    for n in NUMBERS:
        cost = budget._cost(shared(budget, name, f"1/{n}"))
        assert times(cost, n).within(budget.terms.total)
        assert cost.first * n > 1 - Fraction(1, 10**4)
    refusal(lambda: shared(budget, "top-k", "1/7"), "delta=", "is needed")


def test_fifty_two_questions_of_all_kinds_are_answered_and_then_none(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    names = [name for name in DEFAULTS if "counts" not in name and name != "store"]
    for week in range(52):
        shared(budget, names[week % len(names)], "1/52").run()
    assert len(columns(budget, "number")) == 52
    assert budget.verify() == []
    assert budget.standing().left.first < budget.terms.total.first / 1000
    refusal(shared(budget, "top-k", "1/52").run, "left, and this question costs")


def test_parts_of_any_size_fit_together(path):
    budget = created(path, epsilon=1.0, delta=1e-6)
    for share in ("1/2", Fraction(1, 3), "0.1", "1/15"):  # which make one
        shared(budget, "domain", share).run()
    assert not Amount.of(1e-5, 0.0).within(budget.standing().left)


def test_a_share_that_is_rounded_up_would_overspend(path):
    """That the tests above would see it."""
    budget = created(path, epsilon=3.0, delta=1e-6)
    plan = shared(budget, "top-k", Fraction(1, 52) * (1 + Fraction(1, 10**4)))
    assert not times(budget._cost(plan), 52).within(budget.terms.total)


def test_a_tiny_share_is_blamed_itself(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    told = refusal(lambda: pairs(budget).top_k(2, share="1/100000000000000000"), "share")
    assert "cannot be asked with so little" in told
    assert "epsilon" not in told


def test_the_same_share_is_the_same_question(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    first = pairs(budget, as_of="now").top_k(2, share="1/52")
    again = pairs(sl.Budget(path), as_of="now").top_k(2, share=Fraction(1, 52), reuse=True)
    assert again.given_before.charge == 1
    assert again.items == first.items


ASK = {
    "top-k": lambda budget, **more: pairs(budget).top_k(2, **more),
    "domain": lambda budget, **more: pairs(budget).domain(**more),
    "hitting set": lambda budget, **more: pairs(budget).hitting_set(2, **more),
    "groups": lambda budget, **more: pairs(budget).top_k(2, by="place", **more),
    "grouped": lambda budget, **more: pairs(budget).grouped("place").top_k(2, **more),
    "grouped domain": lambda budget, **more: pairs(budget).grouped("place").domain(**more),
    "counts": lambda budget, **more: counts(budget, public_items=sl.IN_TABLE).top_k(2, **more),
    "rank": lambda budget, **more: compared(budget).rank(2, **more),
    "store": lambda budget, **more: stored(budget).top_k(2, **more),
}


@pytest.mark.parametrize("name", ASK)
def test_every_question_takes_a_share(path, name):
    budget = created(path, epsilon=3.0, delta=1e-6)
    release = ASK[name](budget, share="1/2")
    assert release.budget.startswith('charge 1 of "plays-2026"')
    wrong = {
        "omit it, or omit share": {"share": "1/2", "epsilon": 1.0},
        "one of epsilon and share is needed": {},
        'must be a part of a whole, above 0 and at most 1, such as "1/52"': {"share": "1/0"},
        'write it as a text, such as "1/52"': {"share": 1 / 52},
    }
    for said, given in wrong.items():
        refusal(lambda given=given: ASK[name](budget, **given), said)
    refusal(lambda: ASK[name](None, share="1/52"), "and there is none", "give budget")
    refusal(lambda: ASK[name](budget, share="1/52", delta=1e-7), "omit it, or omit share")
    assert len(columns(budget, "number")) == 1


@pytest.mark.parametrize(
    "wrong", ["", "-1/2", "3/2", "0", "1e-3", "½", "1/2/3", True, None.__class__]
)
def test_what_is_no_part_is_refused(path, wrong):
    budget = created(path, epsilon=3.0, delta=1e-6)
    refusal(lambda: ASK["top-k"](budget, share=wrong), "must be a part of a whole")


class Purse(Ledger):
    """A ledger from outside, which knows no shares."""

    accounting = Accounting.EXACT

    def charge(self, plan):
        raise NotImplementedError

    kept = explain = charge


def test_a_ledger_without_shares_says_so():
    refusal(lambda: ASK["top-k"](Purse(), share="1/2"), "knows no shares", "give epsilon")
