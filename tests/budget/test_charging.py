"""A question is charged before a row is read, or refused; and its answer is kept."""

import contextlib
import csv
import io
import itertools
import json
import re
from dataclasses import replace
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import Fragile, TinyCounts, as_new, columns, created, plan_of
from helpers.databases import NAMES
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.budget._printing import _cell
from shortlist.engines.comparisons_in_memory import ComparisonsInMemory
from shortlist.engines.histogram_in_memory import HistogramInMemory
from shortlist.engines.indexed_store import IndexedStore
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.mechanisms import (
    AdaptiveGaussian,
    AdaptiveTopK,
    Peeling,
    PolicyGreedy,
)
from shortlist.mechanisms.mechanism import Accounting
from shortlist.mechanisms.registry import every_mechanism
from shortlist.privacy import ZCDP

FRAME = pl.DataFrame(
    {"user": range(600), "item": ["a", "b", "c"] * 200, "other": ["b", "c", "a"] * 200}
)
COUNTS = pl.DataFrame({"item": ["a", "b", "c"], "held": [900, 100, 10]})


def pairs(budget, **more):
    return sl.pairs(FRAME, user="user", item="item", budget=budget, as_of="now", **more)


def counts(budget):
    known = {"public_items": sl.IN_TABLE, "as_of": "now"}
    return sl.counts(COUNTS, item="item", count="held", budget=budget, **known)


def comparisons(budget):
    columns = {"winner": "item", "loser": "other", "user": "user"}
    known = {"public_items": sl.IN_TABLE, "as_of": "now"}
    return sl.comparisons(FRAME, **columns, max_comparisons_per_user=1, budget=budget, **known)


def store(budget):
    held = sl.stores.MemoryStore(["a", "b"], [900, 100])
    held.prepare()
    return sl.store(held, budget=budget, as_of="now")


ASK = {"epsilon": 0.5, "delta": 1e-7}
QUESTIONS = {
    "top-k of rows": lambda budget, **more: pairs(budget).top_k(1, **ASK, **more),
    "domain": lambda budget, **more: pairs(budget).domain(**ASK, **more),
    "hitting set": lambda budget, **more: pairs(budget).hitting_set(1, **ASK, **more),
    "with counts": lambda budget, **more: pairs(budget).top_k(1, count_share=0.3, **ASK, **more),
    "top-k of counts": lambda budget, **more: counts(budget).top_k(1, epsilon=0.5, **more),
    "rank": lambda budget, **more: comparisons(budget).rank(1, epsilon=0.5, **more),
    "store": lambda budget, **more: store(budget).top_k(1, epsilon=0.5, **more),
}
ENGINES = (RowsInMemory, HistogramInMemory, ComparisonsInMemory, IndexedStore)


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_would_overspend_is_refused_before_a_row_is_read(name, path, monkeypatch):
    budget, ask = created(path, epsilon=2.6, delta=1e-6), QUESTIONS[name]
    answered = 0
    with contextlib.suppress(sl.InputError):
        for answered in itertools.count():  # noqa: B007 - as many as there is room for
            ask(budget)
    assert answered >= 1
    for engine in ENGINES:
        monkeypatch.setattr(engine, "show", lambda *_: pytest.fail("rows are read"))
    refusal(lambda: ask(budget), "left, and this question costs", "sk with a smaller")
    assert len(columns(budget, "number")) == answered
    assert budget.verify() == []


def test_what_a_refusal_proposes_can_be_asked(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    with pytest.raises(sl.InputError, match=r'a share of the total, such as share="1/2"; all'):
        pairs(budget).plan(sl.TopK(1), epsilon=30.0, delta=1e-7).run()
    assert pairs(budget).plan(sl.TopK(1), share="1/2").run().items


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_given_again_byte_for_byte(name, path, monkeypatch):
    budget, ask = created(path, epsilon=3.0, delta=1e-6), QUESTIONS[name]
    first = ask(budget)
    spent = budget.standing().spent
    for engine in ENGINES:
        monkeypatch.setattr(engine, "show", lambda *_: pytest.fail("rows are read"))
    again = ask(sl.Budget(path, who="somebody else"), reuse=True)
    assert again.given_before.charge == 1
    assert as_new(again) == first != again
    assert as_new(again).to_json() == first.to_json()
    assert str(as_new(again)) == str(first)
    assert budget.standing().spent == spent


def test_the_ledger_says_all_that_is_public_and_nothing_else(path):
    budget = created(path, epsilon=3.0, delta=1e-6, who="Ann")
    pairs(sl.Budget(path, who="Bob")).top_k(2, **ASK)
    created_, charge, release = [json.loads(e["body"]) for e in json.loads(budget.to_json())]
    assert (created_["who"], charge["who"], release["kind"]) == ("Ann", "Bob", "release")
    assert charge["asked"] == ASK
    asked = {"name": "top-k", "k": 2, "count_share": None, "noisy_counts": False}
    assert charge["question"] == asked
    assert charge["mechanism"]["name"] == "AdaptiveTopK"
    assert charge["mechanism"]["parameters"]["accounting"] == "zcdp"
    assert charge["data"]["columns"] == [["user", "Int64"], ["item", "String"]]
    assert charge["library"] == sl.__version__
    assert set(charge) == {
        *("number", "previous", "kind", "charges", "spent", "time", "who", "library", "nonce"),
        *("question", "mechanism", "asked", "adjacency", "protects", "assumes", "data"),
        *("amount", "plan", "as_of"),
    }
    hashes = {"previous", "nonce", "plan", "spent", "amount"}  # digits of any kind
    said = json.dumps({name: charge[name] for name in charge.keys() - hashes})
    assert "600" not in said  # no number of rows


def test_a_plan_costs_nothing_until_it_is_run_and_says_what_it_leaves(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    plan = pairs(budget).plan(sl.Domain(), **ASK)
    told = plan.explain()
    assert 'of the budget of "plays-2026", and leaves epsilon = ' in told
    assert " of 3 (rho = " in told
    assert " more such questions." in told
    assert columns(budget, "number") == []
    dear = pairs(budget).plan(sl.Domain(), epsilon=8.0, delta=1e-7)
    assert "It would be refused: the budget of" in dear.explain()
    assert "leaves epsilon" not in plan.to_dict()["explanation"][0]


def test_under_zcdp_a_mechanism_is_made_to_be_added_to_others(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    alone = pairs(None).plan(sl.TopK(1), mechanism=AdaptiveTopK, **ASK)
    summed = pairs(budget).plan(sl.TopK(1), **ASK)
    assert alone.mechanism.accounting is Accounting.EXACT
    assert summed.mechanism.accounting is Accounting.ZCDP
    lost, rho = summed.guarantee.cost.lost, summed.guarantee.cost.rho
    assert ZCDP(rho, lost).delta(0.5) <= 1e-7 < ZCDP(1.02 * rho, lost).delta(0.5)
    as_exact = alone.guarantee.cost
    assert ZCDP(as_exact.rho, as_exact.lost).delta(0.5) > 1e-7  # it would cost more
    chosen = partial(AdaptiveTopK, accounting=Accounting.EXACT)
    assert pairs(budget).plan(sl.TopK(1), mechanism=chosen, **ASK).mechanism == alone.mechanism


def test_other_units_count_by_the_exact_worst_case(path):
    budget = created(path, epsilon=3.0, delta=1e-6, accounting="basic")
    plan = pairs(budget).plan(sl.TopK(1), mechanism=AdaptiveTopK, **ASK)
    assert plan.mechanism.accounting is Accounting.EXACT
    plan.run()
    assert columns(budget, "taken_epsilon", "taken_delta") == [("0.5", "1e-07")]
    assert budget.epsilon_left == 2.5


@pytest.mark.parametrize("kind", every_mechanism(), ids=lambda kind: kind.__name__)
def test_every_mechanism_can_be_charged(kind, path):
    """By what it is in zCDP, whichever kind of cost it has."""
    budget = created(path, epsilon=20.0, delta=1e-4)
    usual = {"k": 3, "n_items": 3, "epsilon": 0.1, "delta": 1e-6, "fdr": 0.1}
    usual["max_items_per_user"] = 10
    given = {name: usual[name] for name in kind.fields() if name in usual}
    if "accounting" in kind.fields() and Accounting.ZCDP in kind.accountings:
        given["accounting"] = Accounting.ZCDP
    made = kind(**given)
    budget.charge(plan_of(budget, engine=Fragile(), cost=made.cost, delta=made.spent_delta))
    (taken,) = columns(budget, "taken_rho", "taken_delta")
    rho, lost = map(float, taken)
    assert (rho, lost) == (made.cost.rho, made.cost.lost)
    assert made.cost.delta(0.1) <= 1e-6  # what was asked holds


@pytest.mark.parametrize(
    ("engine", "changed", "said"),
    [
        (TinyCounts("device"), {}, 'protects "user", and this source "device"'),
        (TinyCounts("comparison"), {}, 'protects "user", and this source "comparison"'),
        (
            TinyCounts(),
            {"adjacency": "add, remove or change one user"},
            'tables that "add or remove one user", and in this question that "add, remove or',
        ),
    ],
)
def test_another_unit_or_adjacency_is_refused(path, engine, changed, said):
    budget = created(path)
    plan = plan_of(budget, engine=engine, **changed)
    refusal(plan.run, said)
    assert engine.times_read == 0
    assert columns(budget, "number") == []
    assert "It would be refused" in plan.explain()


def test_counts_take_their_callers_word_but_not_for_comparisons(path):
    plan_of(created(path), engine=TinyCounts(None)).run()
    games = created(f"{path}-2", protects="comparison")
    refusal(plan_of(games, engine=TinyCounts(None)).run, 'protects "comparison"')
    wins = sl.comparisons(
        FRAME, winner="item", loser="other", public_items=sl.IN_TABLE, budget=games
    )
    wins.rank(1, epsilon=0.5)
    assert columns(games, "outcome") == [("released",)]


def test_a_seeded_release_is_not_charged(path):
    budget = created(path, delta=1e-6)
    refusal(
        lambda: pairs(budget).domain(**ASK, random=SeededBits(1)), "a seeded release is not private"
    )
    assert columns(budget, "number") == []


def test_a_plan_keeps_its_budget(path):
    """A copy without one would be answered for nothing, and say that none was charged."""
    budget, other = created(path, epsilon=9.0, delta=1e-5), created(f"{path}-2", epsilon=9.0)
    groups = pairs(budget).grouped("other")
    for plan in (
        pairs(budget).plan(sl.Domain(), **ASK),
        counts(budget).plan(sl.TopK(1), epsilon=0.5),
        comparisons(budget).plan(sl.Rank(1), epsilon=0.5),
        store(budget).plan(sl.TopK(1), epsilon=0.5),
        *(groups.plan(question, **ASK) for question in (sl.TopK(1), sl.Domain())),
    ):
        for wrong in (None, other):
            refusal(lambda plan=plan, wrong=wrong: replace(plan, budget=wrong), "cannot be changed")
        assert replace(plan).run().budget.startswith("charge ")
    free = pairs(None).plan(sl.Domain(), **ASK)
    refusal(lambda: replace(free, budget=budget), "build another source")


def test_a_plan_keeps_its_price(path):
    """A copy with the guarantee of another mechanism would be charged for that."""
    source = pairs(created(path, epsilon=9.0, delta=1e-5))
    cheap, dear = (source.plan(sl.Domain(), epsilon=e, delta=1e-7) for e in (0.1, 3.0))
    refusal(lambda: replace(dear, guarantee=cheap.guarantee), "guarantee of a plan is that of its")
    refusal(lambda: replace(cheap, mechanism=dear.mechanism), "ask the source for another plan")
    assert len(replace(cheap, guarantee=cheap.guarantee).run()) <= 3


def test_a_plan_refuses_a_mechanism_of_another_design(path):
    """The cost may not follow a design, and neither release nor ledger says which it was."""
    budget = created(path, epsilon=9.0, delta=1e-5)

    def coarse(mechanism):
        return replace(mechanism, design=mechanism.design.coarse)

    def around(mechanism):
        return replace(mechanism, selection=coarse(mechanism.selection))

    rows = pairs(budget)
    for plan, changed in [
        (rows.plan(sl.Domain(), **ASK), coarse),
        (rows.plan(sl.TopK(1, count_share=0.5), **ASK), around),
        (store(budget).plan(sl.TopK(1), epsilon=0.5), lambda right: replace(right, leading_bits=3)),
    ]:
        with pytest.raises(sl.InputError, match="design of a mechanism"):
            replace(plan, mechanism=changed(plan.mechanism))
        assert replace(plan, mechanism=replace(plan.mechanism)).mechanism == plan.mechanism


@pytest.mark.parametrize(
    "other", [{"protects": 'one row of any one "user"'}, {"assumes": ()}, {"private": False}]
)
def test_a_plan_keeps_its_unit_and_what_it_assumes(path, other):
    """A copy with another unit would be charged to a budget of that, and say what does not hold."""
    budget = created(path, epsilon=9.0, delta=1e-5)
    for plan in (
        pairs(budget).plan(sl.Domain(), **ASK),
        comparisons(budget).plan(sl.Rank(1), epsilon=0.5),
        pairs(budget).grouped("other").plan(sl.TopK(1), **ASK),
    ):
        false = replace(plan.guarantee, **other)
        refusal(lambda plan=plan, false=false: replace(plan, guarantee=false), "cannot be changed")


def test_a_charge_stays_where_reading_fails(path):
    budget = created(path)
    with pytest.raises(AssertionError, match="a row was read"):
        plan_of(budget, engine=Fragile()).run()
    assert columns(budget, "outcome") == [("unknown",)]
    assert budget.verify() == []


def test_an_answer_that_cannot_be_kept_is_not_lost(path, monkeypatch):
    budget = created(path)

    def full(*_):
        raise sl.InputError("the disk is full")

    monkeypatch.setattr(sl.Budget, "_keep", full)
    release = plan_of(budget).run()
    assert len(release) == 1
    assert release.budget.endswith("; it could not keep this answer: save it")
    assert columns(budget, "outcome") == [("unknown",)]


def test_a_release_says_whether_a_budget_was_charged(path, tmp_path):
    free, charged = pairs(None).domain(**ASK), pairs(created(path, 3.0, 1e-6)).domain(**ASK)
    assert free.budget == "none was charged"
    assert charged.budget.startswith('charge 1 of "plays-2026": rho = ')
    assert "budget      none was charged" in str(free)
    for name in ("a.json", "a.parquet"):
        charged.save(tmp_path / name)
        assert sl.load(tmp_path / name) == charged
    assert charged.budget in charged.to_markdown().replace("\\", "")


def test_releases_of_version_0_2_are_still_read(tmp_path):
    release = pairs(None).domain(**ASK)
    said = release.to_dict()
    del said["budget"]
    (tmp_path / "old.json").write_text(json.dumps(said))
    old = sl.load(tmp_path / "old.json")
    assert (old.items, old.guarantee, old.budget) == (release.items, release.guarantee, "")
    assert "budget " not in str(old).split("Running")[0].replace("the budget", "")
    assert old.to_dict() == said


def test_a_budget_prints_as_a_table(path):
    budget = created(path, 3.0, 1e-6, who="Ann")
    plan_of(budget).run()
    printed = str(budget)
    assert printed.startswith("plays-2026: epsilon = 3 and delta = 1e-06\n")
    assert re.search(
        r"^1 +\d{4}-\d\d-\d\d +Ann +top-k, k=1 +released +0.0078", printed, re.MULTILINE
    )
    assert max(map(len, printed.split("\n"))) <= 80
    assert repr(budget) == "<Budget of 'plays-2026': epsilon=3.0, delta=1e-06>"


def test_a_budget_that_was_not_opened_can_be_shown_in_a_traceback(path):
    with pytest.raises(sl.InputError) as caught:
        sl.Budget(path)
    seen = [value for frame in caught.traceback for value in frame.frame.f_locals.values()]
    told = {repr(value) for value in seen if isinstance(value, sl.Budget)}
    assert told == {"<Budget that was not opened>"}


@pytest.mark.parametrize("text", ["\u200b=1", "\ufeff=1", " \ufeff\u200b @A1", "\u200b\ufe661"])
def test_what_cannot_be_seen_hides_no_formula(text):
    """No ledger of ours takes such a name; a damaged one may hold it."""
    assert _cell(text) == f"'{text}"
    assert _cell("\u200bAnn=1") == "\u200bAnn=1"


@pytest.mark.parametrize(
    "who", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "\uff1d1", "\ufe621", "\uff0b1"]
)
def test_no_cell_of_an_export_is_a_formula(who, path):
    plan_of(created(path, who=who)).run()
    (row,) = csv.DictReader(io.StringIO(sl.Budget(path).to_csv()))
    assert row["who"] == f"'{who}"
    assert who in [json.loads(e["body"])["who"] for e in json.loads(sl.Budget(path).to_json())]
    assert float(row["epsilon"]) > 0


def test_where_the_delta_alone_is_used_up_the_refusal_says_so(path):
    budget = created(path, 3.0, 1e-6)
    lost = float(budget.standing().left.delta)
    plan_of(budget, cost=ZCDP(1e-3, lost), delta=1e-6).run()
    refusal(
        plan_of(budget, cost=ZCDP(1e-3, 1e-9), delta=1e-6).run,
        "and delta = 0 left",
        "Its delta is used up: ask a question that needs none",
    )
    plan_of(budget).run()


def test_a_budget_is_not_pickled(path):
    import pickle

    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(created(path))


def test_mechanisms_of_the_callers_choice_are_charged(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    source = pairs(budget, public_items=["a", "b", "c"])
    source.top_k(2, epsilon=0.5, delta=1e-7, mechanism=Peeling)
    ((rho, lost),) = columns(budget, "taken_rho", "taken_delta")
    assert float(lost) == 0
    assert 0 < float(rho) < 0.5**2 / 2


def test_what_is_refused_behind_the_charge_says_that_it_is_spent(path, sqlite, monkeypatch):
    """Even where no row was read, as of an index that was dropped just now: nothing comes back."""
    monkeypatch.setattr(sl.stores.SqliteStore, "check", lambda _: None)
    sqlite.store([("a", 3), ("b", 2)])  # without an index
    budget = created(path, epsilon=3.0, delta=1e-6)
    source = sl.store(sqlite.url, **NAMES, budget=budget)
    refusal(
        lambda: source.top_k(1, epsilon=0.5), "Count the question's epsilon and delta as spent."
    )
    assert columns(budget, "outcome") == [("unknown",)]


def test_under_zcdp_the_default_is_one_that_adds_up(path):
    """Where one item of each user counts, the default alone costs twenty times as much in zCDP."""
    budget = created(path, epsilon=3.0, delta=1e-6)
    one = {"max_items_per_user": 1}
    alone = pairs(None, **one).plan(sl.Domain(), **ASK)
    summed = pairs(budget, **one).plan(sl.Domain(), **ASK)
    assert type(alone.mechanism) is PolicyGreedy
    assert type(summed.mechanism) is AdaptiveGaussian
    assert pairs(budget, **one).default_for(sl.Domain()) is AdaptiveGaussian
    assert alone.guarantee.cost.rho > 20 * summed.guarantee.cost.rho
    assert len(summed.run()) == 3
