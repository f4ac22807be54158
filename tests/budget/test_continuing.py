"""A budget is continued by another one: no total is ever changed, and the chain says why."""

import json
import shutil
import threading
from fractions import Fraction
from pathlib import Path

import pytest

import shortlist as sl
from helpers.budgets import TERMS, columns, created, plan_of, tampered
from helpers.refusals import refusal
from ledgers import PART
from shortlist.budget._entries import digest
from shortlist.budget._ledger_tables import LedgerTables
from shortlist.budget._units import Amount

SAVED = sorted((Path(__file__).parents[1] / "saved" / "0.2.0").glob("*.budget"))
WHY = "A second year"


@pytest.fixture
def two(place, tmp_path):
    """Where a budget is, and where one that continues it can be; both in one database, or files."""
    if "://" in str(place):
        return place, place, {"dataset": "plays-2027"}
    return place, tmp_path / "new.budget", {}


def continued(two, reason=WHY, **more):
    old, new, named = two
    budget = sl.Budget(old, dataset="plays-2026")
    terms = {"epsilon": 8 * PART, **named, **more}
    return sl.Budget.create(new, continues=budget, reason=reason, **terms)


def crash(*_):
    raise KeyboardInterrupt


def hash_of(budget, kind):
    """The hash of the one entry of a kind."""
    entries = json.loads(budget.to_json())
    (found,) = [one["hash"] for one in entries if json.loads(one["body"])["kind"] == kind]
    return found


def test_a_new_total_begins_and_the_old_one_ends(two):
    old = created(two[0], epsilon=4 * PART)
    kept = plan_of(old).run()
    new = continued(two)
    assert (new.terms.protects, new.terms.epsilon) == ("user", 8 * PART)
    assert old.terms.epsilon == 4 * PART
    (before,) = new.terms.earlier
    assert (before.dataset, before.total, before.spent, before.reason, before.head) == (
        "plays-2026", old.terms.total, Amount.of(PART, 0.0), WHY, hash_of(old, "closed")
    )  # fmt: skip
    for ask in (lambda: old.charge(plan_of(old)), plan_of(old).run, lambda: old.plan(3)):
        refusal(ask, f'"plays-2026" is closed, since another one continues it ({WHY}). Nothing was')
    assert "It would be refused: the budget" in old.explain(plan_of(old))
    assert plan_of(old).run(reuse=True).items == kept.items
    release = plan_of(new).run(reuse=True)
    assert release.given_before is None
    assert release.budget == (
        f'charge 1 of "{new.dataset}": epsilon = 0.007812; it continues "plays-2026" (epsilon = '
        "0.03125 and delta = 0): in all epsilon = 0.01562 were spent; all totals together are "
        "epsilon = 0.09375, worth epsilon = 0.0938 at delta = 0"
    )
    assert WHY in str(new)
    assert "in all epsilon = 0.01562 were spent" in " ".join(str(new).split())
    assert "Nothing more can be charged." in " ".join(str(old).split())
    assert new.standing().left == Amount.of(7 * PART, 0.0)
    assert old.verify() == new.verify() == []


def test_a_delta_that_does_not_suit_the_old_one_is_blamed_itself(path, tmp_path):
    old = created(path, epsilon=3.0, delta=1e-6)
    ask = lambda: sl.Budget.create(tmp_path / "n", continues=old, reason=WHY, epsilon=1.0)
    told = refusal(ask, "is counted in zcdp, so that this one needs delta above 0")
    assert "accounting" not in told
    old.charge(plan_of(old))


def test_what_is_left_of_a_closed_one_is_not_offered(path, tmp_path):
    old = created(path, epsilon=3.0, delta=1e-6)
    assert "in what is left" in str(old)
    sl.Budget.create(tmp_path / "n", continues=old, reason=WHY, epsilon=1.0, delta=1e-6)
    assert "in what is left" not in str(old)
    assert "What is left is worth" not in str(old)


def test_a_third_one_knows_both(path, tmp_path):
    created(path, epsilon=3.0, delta=1e-6)
    second, third = tmp_path / "second", tmp_path / "third"
    more = {"epsilon": 2.0, "delta": 1e-7}
    sl.Budget.create(second, continues=path, reason="first", **more)
    budget = sl.Budget.create(third, continues=second, reason="second", **more)
    assert [one.reason for one in budget.terms.earlier] == ["first", "second"]
    assert sl.Budget(third).terms == budget.terms
    totals = [one.total for one in budget.terms.earlier]
    rho = float(sum(amount.first for amount in (*totals, budget.terms.total)))
    assert f"all totals together are rho = {rho:.4g}" in " ".join(str(budget).split())


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"protects": "device"}, 'protects="device": the budget that it continues has "user"'),
        ({"adjacency": "change one user"}, "so that the two would not add up"),
        ({"delta": 1e-6, "accounting": "basic"}, 'accounting="basic"'),
        ({"reason": None}, "continues goes with reason"),
        ({"reason": ""}, "reason='': must be a text of one line"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
    ],
)
def test_what_cannot_continue_it_leaves_it_open(two, other, said):
    old = created(two[0])
    refusal(lambda: continued(two, **other), said)
    old.charge(plan_of(old))


def test_a_place_that_is_taken_leaves_it_open(place, tmp_path):
    old = created(place)
    taken = place if "://" in str(place) else tmp_path / "taken"
    if taken != place:
        created(taken)
    refusal(
        lambda: sl.Budget.create(taken, continues=old, reason=WHY, epsilon=1.0), "use that one"
        if taken == place else "give another name, or use it"
    )  # fmt: skip
    old.charge(plan_of(old))


def test_without_another_everything_must_be_given(path):
    for name in ("protects", "dataset"):
        refusal(lambda name=name: created(path, **{name: None}), f"{name} is needed of a budget")
    refusal(lambda: created(path, reason=WHY), "continues goes with reason")


def test_after_a_crash_the_same_one_continues_it_and_no_other(two, monkeypatch, tmp_path):
    """The old one is closed before the new one is there: so never both are open."""
    old = created(two[0])
    old.charge(plan_of(old))
    real = LedgerTables.create
    monkeypatch.setattr(LedgerTables, "create", crash)
    with pytest.raises(KeyboardInterrupt):
        continued(two)
    monkeypatch.setattr(LedgerTables, "create", real)
    refusal(lambda: old.charge(plan_of(old)), "is closed, since another one")
    elsewhere = (two[0], tmp_path / "elsewhere", {"dataset": "else"})
    refusal(lambda: continued(elsewhere), "was closed for one successor alone")
    new = continued(two)
    assert new.terms.earlier[0].spent == Amount.of(PART, 0.0)
    new.charge(plan_of(new))
    assert json.loads(json.loads(old.to_json())[-1]["body"])["continued"] == hash_of(new, "created")
    refusal(lambda: continued(elsewhere), "was closed for one successor alone")
    assert old.verify() == new.verify() == []


@pytest.mark.parametrize("name", ["/proc/new.budget", "n" * 252, "n" * 240])
def test_where_no_file_can_be_created_the_old_one_stays_open(path, tmp_path, name):
    old = created(path)
    terms = {"continues": old, "reason": WHY, "epsilon": 1.0}
    told = refusal(lambda: sl.Budget.create(tmp_path / name, **terms), "no file can be created as")
    assert "Nothing was done. Name one in a folder that you may write" in told
    old.charge(plan_of(old))
    sl.Budget.create(tmp_path / "new", **terms)
    assert sorted(file.name for file in tmp_path.iterdir() if file != path) == ["new"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"epsilon": 10.0}, "another epsilon"),
        ({"reason": "A third year"}, "another reason"),
        ({"per": ("week", "1/26")}, "another allowance"),
        ({"dataset": "plays", "epsilon": 2.0}, "another dataset, epsilon"),
    ],
)
def test_only_the_terms_that_it_was_closed_for_continue_it(two, monkeypatch, other, said):
    old = created(two[0])
    with monkeypatch.context() as failing:
        failing.setattr(LedgerTables, "create", crash)
        with pytest.raises(KeyboardInterrupt):
            continued(two)
    told = refusal(lambda: continued(two, **other), said)
    assert f"with epsilon = {8 * PART}, delta = 0.0 and the reason" in told
    assert "://" in str(two[1]) or str(two[1]) in told
    assert continued(two).terms.epsilon == 8 * PART
    assert old.verify() == []


def test_a_successor_that_was_moved_is_not_made_again(path, tmp_path):
    """Two could be charged, and each would leave out the other."""
    old, new = created(path), tmp_path / "new"
    terms = {"continues": old, "reason": WHY, "epsilon": 1.0}
    sl.Budget.create(new, **terms)
    moved = new.rename(tmp_path / "moved")
    for more in ({}, {"epsilon": 10.0, "reason": "Another"}):
        refusal(lambda more=more: sl.Budget.create(new, **(terms | more)))
    assert f'it was created in "{new}"' in refusal(lambda: sl.Budget.create(new, **terms))
    assert old.verify() == sl.Budget(moved).verify() == []
    assert not new.exists()


def test_nothing_is_charged_between_the_end_and_the_beginning(two):
    """Many charge the old one while it is closed: what they spent is what the new one says."""
    old = created(two[0], epsilon=1.0)
    done = []

    def ask():
        for _ in range(20):
            try:
                old.charge(plan_of(old))
            except sl.InputError:
                return
            done.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while not done:
        pass
    new = continued(two)
    for thread in threads:
        thread.join()
    assert new.terms.earlier[0].spent == Amount.of(len(done) * PART, 0.0) == old.standing().spent
    assert old.verify() == []


def test_a_charge_after_the_end_is_found(path, tmp_path):
    """As by a version of the library that does not know of ends, or by hand."""
    old = created(path)
    sl.Budget.create(tmp_path / "new", continues=old, reason=WHY, epsilon=1.0)
    entry = {"kind": "charge", "charges": 1, "spent": ["1/128", "0"], "amount": [PART, 0.0]}
    with tampered(path) as ledger:
        (version,) = ledger.execute("SELECT version FROM shortlist_budgets").fetchone()
        body = json.dumps({"number": 3, "previous": old.head, "time": "2026-11-22"} | entry)
        ledger.execute(
            "INSERT INTO shortlist_entries VALUES ('plays-2026', 3, ?, ?)", (body, digest(body))
        )
        ledger.execute("UPDATE shortlist_budgets SET entries = 4, head = ?", (digest(body),))
    assert version == 2
    assert old.verify() == ["entry 3: the ledger was closed before it"]


@pytest.mark.parametrize("saved", SAVED, ids=lambda path: path.stem)
def test_a_ledger_that_was_begun_before_is_continued(saved, tmp_path):
    old = sl.Budget(shutil.copy(saved, tmp_path))
    spent = old.standing().spent
    terms = {"epsilon": 1.0, "delta": 1e-6 if old.terms.delta else 0.0}
    new = sl.Budget.create(tmp_path / "new", continues=old, reason=WHY, **terms)
    assert new.terms.earlier[0].spent == spent > Amount(Fraction(0), Fraction(0))
    assert new.terms.taken_over == old.terms.taken_over
    assert old.verify() == new.verify() == []


def test_the_shell_continues_one(run, complaint, path, tmp_path):
    created(path)
    words = ["budget", "create", tmp_path / "new", "--continues", path, "--epsilon", 2]
    assert complaint(*words).startswith("--continues goes with --reason")
    status, out, _ = run(*words, "--reason", WHY)
    assert (status, WHY in out) == (0, True)
    assert columns(sl.Budget(tmp_path / "new"), "number") == []
    assert sl.Budget(tmp_path / "new").dataset == TERMS["dataset"]
