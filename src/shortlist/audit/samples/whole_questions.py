"""The statistical instrument from end to end: the public questions of every source, as asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from shortlist.audit.findings import Finding, worst_of_each_claim
from shortlist.audit.samples._frequencies import DOUBT, Seen, both_ways
from shortlist.draws.random_bits import Bits
from shortlist.release import Release
from shortlist.sources.comparisons import comparisons
from shortlist.sources.counts import counts
from shortlist.sources.pairs import Pairs, pairs
from shortlist.sources.store import store
from shortlist.stores import MemoryStore

_SAMPLES, _QUICK = 12_000, 200  # of each table
_BEHIND = (20, 22)  # the chance of what is rarely first changes by a larger factor
EPSILON, DELTA = 0.5, 0.02

Ask = Callable[[Bits | None], Release]


@dataclass(frozen=True)
class EndToEnd:
    """A question about items "a" and "b", of which one more user may hold "a".

    Attributes:
        name: Source and question.
        delta: Of the guarantee.
        about: From the number of users who hold "a" and "b" to a source that is asked again and
            again: from bits to a release.
        held: These numbers, without the one more.
    """

    name: str
    delta: float
    about: Callable[[int, int], Ask]
    held: tuple[tuple[int, int], ...] = (_BEHIND,)


def _pairs(a: int, b: int, **given: object) -> Pairs:
    import polars as pl

    users = [*range(a), *range(100, 100 + b)]
    table = pl.DataFrame({"user": users, "item": ["a"] * a + ["b"] * b})
    return pairs(table, user="user", item="item", **given)  # type: ignore[arg-type]


def _pairs_top_k(a: int, b: int) -> Ask:
    source = _pairs(a, b, public_items=["a", "b"])
    return lambda bits: source.top_k(1, epsilon=EPSILON, random=bits)


def _pairs_domain(a: int, b: int) -> Ask:
    source = _pairs(a, b, max_items_per_user=1)
    return lambda bits: source.domain(epsilon=EPSILON, delta=DELTA, random=bits)


def _pairs_hitting_set(a: int, b: int) -> Ask:
    source = _pairs(a, b, public_items=["a", "b"])
    return lambda bits: source.hitting_set(1, epsilon=EPSILON, random=bits)


def _counts_top_k(a: int, b: int) -> Ask:
    import polars as pl

    table = pl.DataFrame({"item": ["a", "b"], "n": [a, b]})
    source = counts(table, item="item", count="n", public_items=["a", "b"])
    return lambda bits: source.top_k(1, epsilon=EPSILON, random=bits)


def _store_top_k(a: int, b: int) -> Ask:
    held = MemoryStore(["a", "b"], [a, b])
    held.prepare()
    source = store(held)
    return lambda bits: source.top_k(1, epsilon=EPSILON, random=bits)


def _comparisons_rank(a: int, b: int) -> Ask:
    import polars as pl

    table = pl.DataFrame({"won": ["a"] * a + ["b"] * b, "lost": ["b"] * a + ["a"] * b})
    source = comparisons(table, winner="won", loser="lost", public_items=["a", "b"])
    return lambda bits: source.rank(1, epsilon=EPSILON, random=bits)


QUESTIONS = (
    EndToEnd("pairs.top_k", 0.0, _pairs_top_k),
    EndToEnd("pairs.domain", DELTA, _pairs_domain, held=((0, 20), (20, 0))),
    EndToEnd("pairs.hitting_set", 0.0, _pairs_hitting_set),
    EndToEnd("counts.top_k", 0.0, _counts_top_k),
    EndToEnd("store.top_k", 0.0, _store_top_k),
    EndToEnd("comparisons.rank", 0.0, _comparisons_rank),
)


def audit_question(
    question: EndToEnd,
    *,
    quick: bool = False,
    bits: Bits | None = None,
    samples: int | None = None,
) -> list[Finding]:
    """Find what the releases of a question say of its guarantee; no bits: the system's."""
    n = (samples or (_QUICK if quick else _SAMPLES)) // len(question.held)
    found = [_judged(question, a, b, bits, n) for a, b in question.held]
    return worst_of_each_claim(found)


def _judged(question: EndToEnd, a: int, b: int, bits: Bits | None, n: int) -> Finding:
    """Both ways: an event chosen on a quarter of the samples of a table, judged on the rest."""
    tables = [question.about(more, b) for more in (a, a + 1)]
    chosen_on = [_seen(ask, bits, n // 4) for ask in tables]
    judged_on = [_seen(ask, bits, n - n // 4) for ask in tables]
    doubt = DOUBT / (2 * len(question.held))
    losses = both_ways(chosen_on, [judged_on], question.delta, doubt)
    return Finding.of_samples(
        question.name,
        f"epsilon={EPSILON}, delta={question.delta}",
        epsilon=EPSILON,
        delta=question.delta,
        loss=max(loss for _, _, loss in losses),
        pair=(f"a: {a}, b: {b}", f"a: {a + 1}, b: {b}"),
        samples=2 * n,
    )


def _seen(ask: Ask, bits: Bits | None, n: int) -> Seen:
    return Counter(_outcome_of(ask(bits)) for _ in range(n))


def _outcome_of(release: Release) -> Hashable:
    """The items, and how the best score compares, in halves of its noise."""
    scores = release.scores
    best = [] if scores is None else [math.floor(x / scores.noise_sd * 2) for x in scores[:1]]
    return (*release.items, *best)
