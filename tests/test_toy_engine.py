"""An engine of one's own: rows are grouped where they are. The package is as it is."""

from contextlib import contextmanager

import polars as pl
import pytest

import shortlist as sl
from helpers.light import keeping_back
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.engines import Engine, ShownEvidence
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.evidence import PrivateCounts
from shortlist.mechanisms import DiscoverThenRank, LimitedDomain, Peeling, WeightedGaussian
from shortlist.sources.pairs import Pairs
from shortlist.sources.source import DataFacts, Source
from shortlist.table import open_table


class Grouped(Engine):
    """A lazy frame, of which nothing is collected but how many users hold each item."""

    can_show = (PrivateCounts,)
    items_are_public = False

    def __init__(self, rows):
        self._rows = rows
        self.collected = []

    @contextmanager
    def show(self, wants, _):
        assert wants.kind is PrivateCounts
        held = self._rows.unique().group_by("item").len().sort("item").collect()
        self.collected.append(held.columns)
        counts = held["len"].cast(pl.Int64).to_numpy()
        yield ShownEvidence(PrivateCounts(counts, wants.bound), held.select("item").__getitem__)


ROWS = pl.DataFrame(
    {"user": [*range(500), *range(300), 7], "item": ["a"] * 500 + ["b"] * 300 + ["mine"]}
)


@pytest.fixture
def engine():
    return Grouped(ROWS.lazy())


@pytest.fixture
def source(engine):
    return Source(engine, protects="one user", assumes=("users are in one shard",))


def test_a_question_is_answered_where_the_rows_are(source, engine):
    plan = source.plan(sl.TopK(3), epsilon=1.0, delta=1e-6)
    assert type(plan.mechanism) is LimitedDomain
    assert engine.collected == []
    release = plan.run()
    assert release.items == ["a", "b"]
    assert engine.collected == [["item", "len"]]
    assert release.guarantee.protects == "one user"
    assert "users are in one shard" in release.guarantee.assumes


def test_the_answer_is_that_of_rows_in_memory(source):
    counts = ROWS.group_by("item").len("held").sort("item")
    known = sl.counts(counts, item="item", count="held")
    asked = {"epsilon": 0.5, "delta": 1e-3}
    for seed in range(20):
        one, other = (
            s.plan(sl.TopK(2), **asked).run(SeededBits(seed)).items for s in (source, known)
        )
        assert one == other


def test_what_it_cannot_show_is_refused_before_anything_is_read(source, engine):
    asked = {"epsilon": 1.0, "delta": 1e-6}
    refusal(lambda: source.plan(sl.TopK(3), **asked, mechanism=Peeling), "everybody knows")
    refusal(lambda: source.plan(sl.TopK(3), **asked, mechanism=DiscoverThenRank), "who holds what")
    refusal(lambda: source.plan(sl.Rank(3), epsilon=1.0), "rank: nothing answers it")
    assert engine.collected == []


class Discreet(RowsInMemory):
    """Rows of which only heavy items are shown; `asked` is how many light ones were fetched."""

    asked = 0

    @contextmanager
    def show(self, wants, draws):
        with super().show(wants, draws) as shown:
            evidence = keeping_back(shown.evidence, wants.show_from)
            yield shown._replace(evidence=evidence)
            self.asked += sum(evidence.below_threshold.asked)


def test_light_items_are_named_by_their_own_names():
    n, users = 4000, 9  # of weight 9: a little less than is shown
    rows = pl.DataFrame(
        {
            "user": [*range(n * users), *range(100)],
            "item": [f"light {i // users}" for i in range(n * users)] + ["heavy"] * 100,
        }
    )
    engine = Discreet(open_table(rows, user="user", items="item"), None)
    source = Pairs(engine, ["item"], "user", 100, DataFacts())
    plan = source.plan(sl.Domain(), epsilon=1.0, delta=1e-6, mechanism=WeightedGaussian)
    assert 9 * 2**32 < plan.mechanism.wants.show_from < 9.1 * 2**32
    named = [item for seed in range(10) for item in plan.run(SeededBits(seed)).items]
    light = [item for item in named if item.startswith("light ")]
    assert named.count("heavy") == 10
    assert 1 <= len(light) <= 30
    assert {int(item.split()[1]) for item in light} <= set(range(n))
    assert len(light) <= engine.asked < 0.001 * 10 * n
