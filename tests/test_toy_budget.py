"""A budget of one's own: charged before a row is read, and it may refuse. The package is as is."""

import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.engines.comparisons_in_memory import ComparisonsInMemory
from shortlist.engines.histogram_in_memory import HistogramInMemory
from shortlist.engines.indexed_store import IndexedStore
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.mechanisms import AdaptiveTopK

ENGINES = (RowsInMemory, HistogramInMemory, ComparisonsInMemory, IndexedStore)


class OverspentError(Exception):
    pass


class Purse:
    """So much epsilon, by the costs of all that was asked."""

    def __init__(self, epsilon, delta=1e-5):
        self.epsilon, self.delta, self.spent, self.log = epsilon, delta, 0, []

    def charge(self, plan):
        total = self.spent + plan.guarantee.cost
        if total.epsilon(self.delta) > self.epsilon:
            raise OverspentError("nothing is left.")
        self.spent = total
        self.log.append((plan.question, type(plan.mechanism).__name__))


FRAME = pl.DataFrame(
    {"user": range(600), "item": ["a", "b", "c"] * 200, "other": ["b", "c", "a"] * 200}
)
COUNTS = pl.DataFrame({"item": ["a", "b"], "held": [900, 100]})


def store(budget):
    held = sl.stores.MemoryStore(["a", "b"], [900, 100])
    held.prepare()
    return sl.store(held, budget=budget)


SOURCES = {
    "pairs": lambda budget: sl.pairs(FRAME, user="user", item="item", budget=budget),
    "counts": lambda budget: sl.counts(
        COUNTS, item="item", count="held", public_items=sl.IN_TABLE, budget=budget
    ),
    "comparisons": lambda budget: sl.comparisons(
        FRAME, winner="item", loser="other", public_items=sl.IN_TABLE, budget=budget
    ),
    "store": store,
}
ASK = {
    "pairs": lambda source: source.top_k(1, epsilon=1.0, delta=1e-6, mechanism=AdaptiveTopK),
    "counts": lambda source: source.top_k(1, epsilon=1.0),
    "comparisons": lambda source: source.rank(1, epsilon=1.0),
    "store": lambda source: source.top_k(1, epsilon=1.0),
}


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_overspent_is_refused_before_a_row_is_read(name, monkeypatch):
    purse = Purse(epsilon=1.5 if name == "pairs" else 2.5)  # zCDP adds up to less
    source = SOURCES[name](purse)
    for _ in range(2):
        assert len(ASK[name](source)) == 1
    for engine in ENGINES:
        monkeypatch.setattr(engine, "show", lambda *_: pytest.fail("rows are read"))
    with pytest.raises(OverspentError):
        ASK[name](source)
    assert len(purse.log) == 2


def test_a_plan_costs_nothing_until_it_is_run():
    purse = Purse(epsilon=10)
    source = SOURCES["pairs"](purse)
    plan = source.plan(sl.Domain(), epsilon=1.0, delta=1e-6)
    plan.explain()
    assert purse.log == []
    plan.run()
    plan.run()
    assert purse.log == [(sl.Domain(), "GreedyOrRounds")] * 2


def test_a_charge_stays_where_reading_fails(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.write_parquet(path)
    purse = Purse(epsilon=10)
    plan = sl.pairs(path, user="user", item="item", budget=purse).plan(
        sl.Domain(), epsilon=1.0, delta=1e-6
    )
    held = path.read_bytes()
    path.write_bytes(held[:4] + bytes(40) + held[44:])  # rows, and not what is known without them
    refusal(plan.run, "Count the question's epsilon and delta as spent.")
    assert len(purse.log) == 1


def test_what_is_no_budget_is_refused():
    for wrong in (3, "plays.budget", object()):
        refusal(lambda wrong=wrong: SOURCES["pairs"](wrong), "budget=", "charge(plan)")
