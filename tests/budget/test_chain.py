"""What was changed, removed or inserted in a ledger is found; what is in order is not blamed."""

import json

import pytest

import shortlist as sl
from helpers.budgets import columns, created, plan_of, tampered
from helpers.refusals import refusal
from shortlist.budget._entries import digest

CHARGES = 4


@pytest.fixture
def ledger(path):
    """A ledger of four charges, of which the last has no release."""
    budget = created(path, epsilon=1.0)
    for _ in range(CHARGES - 1):
        plan_of(budget).run()
    budget.charge(plan_of(budget))
    return path


def change(path, statement, *values):
    with tampered(path) as connection:
        connection.execute(statement, values)


def body(path, number):
    with tampered(path) as connection:
        query = "SELECT body FROM shortlist_entries WHERE number = ?"
        return connection.execute(query, [number]).fetchone()[0]


def test_a_ledger_in_order(ledger):
    budget = sl.Budget(ledger)
    assert budget.verify() == []
    head = budget.head
    assert columns(budget, "outcome") == [("released",)] * 3 + [("unknown",)]
    plan_of(budget).run()
    assert budget.verify(head) == []
    assert budget.head != head


LAST = 2 * (CHARGES - 1) + 1


@pytest.mark.parametrize("number", range(LAST + 1))
def test_every_change_of_an_entry_is_found(ledger, number):
    said = body(ledger, number).replace('"who": "', '"who": "x', 1)
    change(ledger, "UPDATE shortlist_entries SET body = ? WHERE number = ?", said, number)
    assert any(f"entry {number}: it was changed" in fault for fault in sl.Budget(ledger).verify())


@pytest.mark.parametrize("said", ["", "{", "[]", "7", "null", "{}", '{"number": 3}', '{"kind": 1}'])
def test_an_entry_that_says_nothing_is_found(ledger, said):
    change(ledger, "UPDATE shortlist_entries SET body = ? WHERE number = 3", said)
    budget = sl.Budget(ledger)
    assert any("entry 3: it was changed" in fault for fault in budget.verify())
    refusal(budget.show, "entries of this ledger were changed")


@pytest.mark.parametrize("number", range(LAST + 1))
def test_a_change_with_its_hash_is_found_by_the_next(ledger, number):
    said = body(ledger, number).replace('"who": "', '"who": "x', 1)
    statement = "UPDATE shortlist_entries SET body = ?, hash = ? WHERE number = ?"
    change(ledger, statement, said, digest(said), number)
    found = "\n".join(sl.Budget(ledger).verify())
    where = f"entry {number + 1}: the one before" if number < LAST else "the last entry is not"
    assert where in found


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_a_removed_entry_is_found(ledger, number):
    change(ledger, "DELETE FROM shortlist_entries WHERE number = ?", number)
    budget = sl.Budget(ledger)
    assert budget.verify()
    refusal(budget.show, "entries of this ledger were changed", "sl.Budget.verify")


def test_an_inserted_entry_is_found(ledger):
    said = body(ledger, LAST)
    statement = "INSERT INTO shortlist_entries VALUES ('plays-2026', ?, ?, ?)"
    change(ledger, statement, LAST + 1, said, digest(said))
    assert any("inserted" in fault for fault in sl.Budget(ledger).verify())


def test_a_cost_made_smaller_is_found_even_where_all_hashes_are_made_again(ledger):
    """Whoever can write everything can make a new chain: but not with a hash that was noted."""
    noted = sl.Budget(ledger).head
    previous = None
    with tampered(ledger) as connection:
        rows = connection.execute("SELECT number, body FROM shortlist_entries ORDER BY number")
        for number, old in rows.fetchall():
            said = json.loads(old)
            said["who"] = "forged"
            if previous:
                said["previous"] = previous
            text = json.dumps(said)
            previous = digest(text)
            connection.execute(
                "UPDATE shortlist_entries SET body = ?, hash = ? WHERE number = ?",
                [text, previous, number],
            )
        connection.execute("UPDATE shortlist_budgets SET head = ?", [previous])
    budget = sl.Budget(ledger)
    assert budget.verify() == []
    assert "no entry has the hash that was known" in budget.verify(noted)[0]


def test_sums_that_do_not_add_up_are_found(ledger):
    said = json.loads(body(ledger, LAST))
    said["spent"][0] = "1/128"
    text = json.dumps(said)
    statement = "UPDATE shortlist_entries SET body = ?, hash = ? WHERE number = ?"
    change(ledger, statement, text, digest(text), LAST)
    change(ledger, "UPDATE shortlist_budgets SET head = ?", digest(text))
    assert sl.Budget(ledger).verify() == [f"entry {LAST}: its sum is not that of the charges"]


@pytest.mark.parametrize("statement", [
    "UPDATE shortlist_releases SET content = replace(content, 'a', 'b') WHERE charge = 2",
    "DELETE FROM shortlist_releases WHERE charge = 2",
])  # fmt: skip
def test_an_answer_that_was_changed_is_found(ledger, statement):
    change(ledger, statement)
    (fault,) = sl.Budget(ledger).verify()
    assert "the answer that was kept was changed or removed" in fault


def test_an_answer_that_was_changed_is_not_given_again(ledger):
    plan = plan_of(sl.Budget(ledger))
    assert plan.kept() is not None
    change(ledger, "UPDATE shortlist_releases SET content = replace(content, 'top-k', 'domain')")
    refusal(plan.kept, "entries of this ledger were changed")


@pytest.mark.parametrize("statement", [
    "UPDATE shortlist_budgets SET head = 'x'",
    "UPDATE shortlist_budgets SET entries = entries - 1",
    "UPDATE shortlist_entries SET body = '{' WHERE number = 7",
])  # fmt: skip
def test_nothing_is_charged_to_a_ledger_that_was_changed(ledger, statement):
    budget = sl.Budget(ledger)
    change(ledger, statement)
    plan = plan_of(budget)
    refusal(plan.run, "entries of this ledger were changed, so that its sum cannot be believed")
    assert plan.engine.times_read == 0
    assert budget.verify()


CELLS = [
    *(f"UPDATE shortlist_budgets SET {name} = {wrong}"
      for name in ("version", "entries", "head") for wrong in ("'x'", "x'00'", "0.5")),
    *(f"UPDATE shortlist_entries SET {name} = x'00' WHERE number = {number}"
      for name in ("number", "body", "hash") for number in (0, 2, LAST)),
    "UPDATE shortlist_budgets SET dataset = x'00'",
    "UPDATE shortlist_releases SET content = x'00'",
    "UPDATE shortlist_releases SET charge = 'x' WHERE charge = 2",
    *(f"UPDATE shortlist_entries SET body = '{body}' WHERE number = 0"
      for body in ("", "{", "7", "null", "{}", "[]")),
    *(f"UPDATE shortlist_entries SET body = replace(body, '{said}', '{wrong}')"
      for said, wrong in (
          ('"epsilon": 1.0', '"epsilon": "x"'), ('"total": [', '"total": [1.0, '), ("pure", "x"))),
]  # fmt: skip


@pytest.mark.parametrize("statement", CELLS)
def test_a_cell_that_cannot_be_one_is_refused_in_words(ledger, statement):
    """Whatever a hand has put there: no error of the language comes out."""
    budget, plan = sl.Budget(ledger), plan_of(sl.Budget(ledger))
    change(ledger, statement)
    told = []
    for action in (
        lambda: sl.Budget(ledger), plan.run, plan.kept, budget.show, budget.verify, budget.to_csv,
    ):  # fmt: skip
        try:
            told.append(action())
        except sl.InputError as error:
            told.append(error)
    assert any(isinstance(one, sl.InputError) for one in told) or told[4]


def test_a_total_smaller_than_what_was_spent_is_refused(ledger):
    budget = sl.Budget(ledger)
    said = json.loads(body(ledger, 0))
    said["total"] = [1 / 128, 0.0]
    change(ledger, "UPDATE shortlist_entries SET body = ? WHERE number = 0", json.dumps(said))
    plan = plan_of(sl.Budget(ledger))
    refusal(plan.run, "its total is smaller than what was spent", "sl.Budget.verify")
    assert plan.engine.times_read == 0
    assert budget.verify()
