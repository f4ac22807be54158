"""The statistical instrument from end to end: the public questions of every source, as asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from shortlist.audit.findings import Finding, Verdict
from shortlist.audit.sampled import lower_bound
from shortlist.bits import Bits
from shortlist.release import Release
from shortlist.sources.counts import counts
from shortlist.sources.pairs import pairs
from shortlist.sources.store import store
from shortlist.stores import MemoryStore

__all__ = ["QUESTIONS", "Question", "audit_question"]

_SAMPLES, _QUICK = 3_000, 200  # of each table
_HELD = 20  # users of each item, but for the one more
EPSILON, DELTA = 0.5, 0.1


@dataclass(frozen=True)
class Question:
    """A question about items "a" and "b", which as many users hold, or one more holds "a".

    Attributes:
        name: Source and question.
        delta: Of the guarantee.
        ask: From the number of users who hold "a" and "b", and bits, to the release.
    """

    name: str
    delta: float
    ask: Callable[[int, int, Bits | None], Release]


def _rows(a: int, b: int) -> dict[str, list[object]]:
    return {"user": [*range(a), *range(100, 100 + b)], "item": ["a"] * a + ["b"] * b}


def _histogram(a: int, b: int) -> dict[str, list[object]]:
    return {"item": ["a", "b"], "n": [a, b]}


def _pairs_top_k(a: int, b: int, bits: Bits | None) -> Release:
    import polars as pl

    source = pairs(pl.DataFrame(_rows(a, b)), user="user", item="item", public_items=["a", "b"])
    return source.top_k(1, epsilon=EPSILON, random=bits)


def _pairs_domain(a: int, b: int, bits: Bits | None) -> Release:
    import polars as pl

    few = _rows(a - _HELD, b)  # whoever holds "a" is alone
    source = pairs(pl.DataFrame(few), user="user", item="item", max_items_per_user=1)
    return source.domain(epsilon=EPSILON, delta=DELTA, random=bits)


def _counts_top_k(a: int, b: int, bits: Bits | None) -> Release:
    import polars as pl

    source = counts(pl.DataFrame(_histogram(a, b)), item="item", count="n", public_items=["a", "b"])
    return source.top_k(1, epsilon=EPSILON, random=bits)


def _store_top_k(a: int, b: int, bits: Bits | None) -> Release:
    held = MemoryStore(["a", "b"], [a, b])
    held.prepare()
    return store(held).top_k(1, epsilon=EPSILON, random=bits)


QUESTIONS = (
    Question("pairs.top_k", 0.0, _pairs_top_k),
    Question("pairs.domain", DELTA, _pairs_domain),
    Question("counts.top_k", 0.0, _counts_top_k),
    Question("store.top_k", 0.0, _store_top_k),
)


def audit_question(
    question: Question,
    *,
    quick: bool = False,
    bits: Bits | None = None,
    samples: int | None = None,
) -> Finding:
    """What the releases of a question say of its guarantee; bits are the system's, if None."""
    n = samples or (_QUICK if quick else _SAMPLES)

    def outcomes(a: int) -> list[Hashable]:
        return [tuple(question.ask(a, _HELD, bits).items) for _ in range(n)]

    sides = outcomes(_HELD), outcomes(_HELD + 1)
    bounds = [lower_bound(*pair, question.delta) for pair in (sides, sides[::-1])]
    loss = max(bound.loss for bound in bounds)
    return Finding(
        mechanism=question.name,
        setting=f"epsilon={EPSILON}, delta={question.delta}",
        claim="epsilon",
        limit=EPSILON,
        loss=loss,
        pair=(f"a: {_HELD}, b: {_HELD}", f"a: {_HELD + 1}, b: {_HELD}"),
        pairs=2 * n,
        verdict=Verdict.BROKEN if loss > EPSILON else Verdict.UNDECIDED,
        at=f"delta {question.delta:.4g}, certain by samples",
    )
