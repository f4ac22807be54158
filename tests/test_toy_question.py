"""A question of one's own, with a mechanism that wraps another. The package is as it is."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Mechanism, Peeling, Selection
from shortlist.mechanisms.wrappers import answering
from shortlist.parameters import Delta, Epsilon, Whole
from shortlist.questions import KItems

KNOWN = [f"{group}{i}" for group in "xy" for i in range(5)]


@dataclass(frozen=True)
class TopKOfBoth(KItems):
    """The k most common items of each of two groups: the first and the second half of a list."""

    name: ClassVar[str] = "top-k-of-both"

    @property
    def most_items(self):
        return 2 * self.k

    def parameters(self):
        return {"k": self.k}


@answering.register
def _in_both(question: TopKOfBoth, asked):
    epsilon, delta = asked.epsilon, asked.delta
    inner = asked(epsilon / 2, delta / 2)  # a user may be in both groups
    return InBoth(inner=inner, k=question.k, epsilon=epsilon, delta=delta)


@dataclass(frozen=True, kw_only=True)
class InBoth(Mechanism):
    """The same mechanism in either group."""

    inner: Any
    k: Whole
    epsilon: Epsilon
    delta: Delta

    question: ClassVar[type] = TopKOfBoth
    evidence: ClassVar[type] = PublicCounts

    @property
    def cost(self):
        return self.inner.cost * 2

    def explain(self):
        return ["In each of two groups:", *self.inner.explain()]

    def select(self, evidence, draws):
        half = len(evidence.counts) // 2
        picked = [
            self.inner.select(PublicCounts(part), draws).positions
            for part in (evidence.counts[:half], evidence.counts[half:])
        ]
        return Selection(np.concatenate([picked[0], picked[1] + half]))


@dataclass(frozen=True, kw_only=True)
class Each(Peeling):
    """Peeling, for the question above."""

    question: ClassVar[type] = TopKOfBoth


@pytest.fixture
def source():
    users = {item: (9 - int(item[1])) * 40 for item in KNOWN}
    rows = [(user, item) for item, held in users.items() for user in range(held)]
    frame = pl.DataFrame(rows, schema=["user", "item"], orient="row")
    return sl.pairs(frame, user="user", item="item", public_items=KNOWN)


def test_it_is_asked_as_any_other(source):
    plan = source.plan(TopKOfBoth(2), epsilon=4.0, delta=1e-6, mechanism=Each)
    assert type(plan.mechanism) is InBoth
    assert plan.mechanism.inner.epsilon == 2.0
    assert "In each of two groups:" in plan.explain()
    assert plan.guarantee.cost.delta(4.0) <= 1e-6
    assert plan.to_dict()["question"] == {"name": "top-k-of-both", "k": 2}
    release = plan.run(SeededBits(1))
    assert release.items == ["x0", "x1", "y0", "y1"]
    assert release.question == "top-k-of-both"


def test_it_is_checked_as_any_other(source):
    refusal(lambda: TopKOfBoth(0), "k=0: must be a whole number")
    ask = {"epsilon": 1.0, "delta": 1e-6}
    refusal(lambda: source.plan(TopKOfBoth(6), **ask, mechanism=Each), "only 10 public items")
    refusal(lambda: source.plan(TopKOfBoth(2), **ask), "top-k-of-both: nothing answers it")
    refusal(
        lambda: source.plan(sl.TopK(2), **ask, mechanism=Each), "answers top_k_of_both, not top_k"
    )
    refusal(
        lambda: source.plan(TopKOfBoth(2), **ask, mechanism=Peeling),
        "answers top_k, not top_k_of_both",
    )
