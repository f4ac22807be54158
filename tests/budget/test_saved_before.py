"""Ledgers that earlier versions began are read, verified and charged."""

import shutil
from pathlib import Path

import pytest

import shortlist as sl

SAVED = Path(__file__).parents[1] / "saved"
LEFT = {"plays": 2.7128490594484447, "pure": 1.5, "basic": 1.5}
LEDGERS = sorted(SAVED.rglob("*.budget"))


@pytest.fixture(params=LEDGERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def ledger(request, tmp_path):
    """A copy, which may be charged."""
    return Path(shutil.copy(request.param, tmp_path))


def test_there_is_a_ledger_of_each_unit():
    assert {path.stem for path in LEDGERS} == set(LEFT)


def test_a_ledger_begun_before_says_what_is_left(ledger):
    budget = sl.Budget(ledger)
    assert budget.verify() == []
    assert budget.epsilon_left == pytest.approx(LEFT[ledger.stem], rel=1e-12)


def test_a_ledger_begun_before_is_charged(ledger):
    budget = sl.Budget(ledger)
    items = [f"Title {number}" for number in range(9)]
    counts = sl.pairs(
        {"user": [1, 2, 3], "item": items[:3]},
        user="user",
        item="item",
        public_items=items,
        budget=budget,
    )
    counts.top_k(2, epsilon=0.25)
    assert budget.epsilon_left < LEFT[ledger.stem]
    assert budget.verify() == []
