"""Ledgers that earlier versions began are read, verified and charged."""

import shutil
from pathlib import Path

import pytest

import shortlist as sl
from helpers.refusals import refusal

SAVED = Path(__file__).parents[1] / "saved"
LEFT = {
    "0.2.0/plays": 2.7128490594484447,
    "0.2.0/pure": 1.5,
    "0.2.0/basic": 1.5,
    "0.2.0-2026-11/plays": 8.878026473185136,
    "0.2.0-2026-11/next": 2.8039941956272894,
}
CLOSED = "0.2.0-2026-11/plays"


def copied(ledger, folder):
    """A copy, which may be charged."""
    return sl.Budget(shutil.copy(SAVED / f"{ledger}.budget", folder))


def test_there_is_a_ledger_of_each_unit():
    found = {str(path.relative_to(SAVED).with_suffix("")) for path in SAVED.rglob("*.budget")}
    assert found == set(LEFT)


@pytest.mark.parametrize("ledger", LEFT)
def test_a_ledger_begun_before_says_what_is_left(ledger, tmp_path):
    budget = copied(ledger, tmp_path)
    assert budget.verify() == []
    assert budget.epsilon_left == pytest.approx(LEFT[ledger], rel=1e-12)


def test_what_a_ledger_of_dates_and_shares_says_it_says_still(tmp_path):
    old, new = (str(copied(f"0.2.0-2026-11/{name}", tmp_path)) for name in ("plays", "next"))
    assert "It is closed: another one continues it (another year)." in old
    assert "rho, this month" in old
    assert "2026-W46 released" in " ".join(old.split())
    assert 'It continues "plays-2026" (epsilon = 9 and delta = 1e-05)' in new


def test_a_closed_ledger_is_closed_still(tmp_path):
    refusal(lambda: charged(copied(CLOSED, tmp_path)), "closed", "another year")


@pytest.mark.parametrize("ledger", [name for name in LEFT if name != CLOSED])
def test_a_ledger_begun_before_is_charged(ledger, tmp_path):
    budget = charged(copied(ledger, tmp_path))
    assert budget.epsilon_left < LEFT[ledger]
    assert budget.verify() == []


def charged(budget):
    """After one question."""
    items = [f"Title {number}" for number in range(9)]
    counts = sl.pairs(
        {"user": [1, 2, 3], "item": items[:3]},
        user="user",
        item="item",
        public_items=items,
        budget=budget,
    )
    counts.top_k(2, epsilon=0.25)
    return budget
