"""The statistical instrument from end to end: questions of every source, and whole series."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np

from shortlist.audit.findings import Finding, worst_of_each_claim
from shortlist.audit.samples._frequencies import DOUBT, Seen, both_ways
from shortlist.audit.universes import SeriesClass, WholeSeries
from shortlist.audit.universes.of_histories import Histories
from shortlist.audit.visible_answers import VisibleLists
from shortlist.draws import ExactDraws
from shortlist.draws.random_bits import Bits, SystemBits
from shortlist.release import Release
from shortlist.series.kinds import KINDS
from shortlist.sources.comparisons import comparisons
from shortlist.sources.counts import counts
from shortlist.sources.pairs import Pairs, pairs
from shortlist.sources.store import store
from shortlist.stores import MemoryStore

_SAMPLES, _QUICK = 12_000, 200  # of each table
_BEHIND = (20, 22)  # the chance of what is rarely first changes by a larger factor
EPSILON, DELTA = 0.5, 0.02

_RUNS, _HELD = 12, 13  # of a series, and so many users that an item is named in some run or in none
_SERIES_SAMPLES = 4_000  # of each table: a sample takes milliseconds

Ask = Callable[[Bits | None], Hashable]


@dataclass(frozen=True)
class EndToEnd:
    """A question about items "a" and "b", of which one more user may hold "a".

    Attributes:
        name: Source and question.
        delta: Of the guarantee.
        about: From the number of users who hold "a" and "b" to a source that is asked again and
            again: from bits to what its release shows.
        held: These numbers, without the one more.
        samples: How many are drawn, of all tables without the one more.
    """

    name: str
    delta: float
    about: Callable[[int, int], Ask]
    held: tuple[tuple[int, int], ...] = (_BEHIND,)
    samples: int = _SAMPLES


def _pairs(a: int, b: int, **given: object) -> Pairs:
    import polars as pl

    users = [*range(a), *range(100, 100 + b)]
    table = pl.DataFrame({"user": users, "item": ["a"] * a + ["b"] * b})
    return pairs(table, user="user", item="item", **given)  # type: ignore[arg-type]


def _pairs_top_k(a: int, b: int) -> Ask:
    source = _pairs(a, b, public_items=["a", "b"])
    return lambda bits: _outcome_of(source.top_k(1, epsilon=EPSILON, random=bits))


def _pairs_domain(a: int, b: int) -> Ask:
    source = _pairs(a, b, max_items_per_user=1)
    return lambda bits: _outcome_of(source.domain(epsilon=EPSILON, delta=DELTA, random=bits))


def _pairs_hitting_set(a: int, b: int) -> Ask:
    source = _pairs(a, b, public_items=["a", "b"])
    return lambda bits: _outcome_of(source.hitting_set(1, epsilon=EPSILON, random=bits))


def _counts_top_k(a: int, b: int) -> Ask:
    import polars as pl

    table = pl.DataFrame({"item": ["a", "b"], "n": [a, b]})
    source = counts(table, item="item", count="n", public_items=["a", "b"])
    return lambda bits: _outcome_of(source.top_k(1, epsilon=EPSILON, random=bits))


def _store_top_k(a: int, b: int) -> Ask:
    held = MemoryStore(["a", "b"], [a, b])
    held.prepare()
    source = store(held)
    return lambda bits: _outcome_of(source.top_k(1, epsilon=EPSILON, random=bits))


def _comparisons_rank(a: int, b: int) -> Ask:
    import polars as pl

    table = pl.DataFrame({"won": ["a"] * a + ["b"] * b, "lost": ["b"] * a + ["a"] * b})
    source = comparisons(table, winner="won", loser="lost", public_items=["a", "b"])
    return lambda bits: _outcome_of(source.rank(1, epsilon=EPSILON, random=bits))


def _all_runs(series: WholeSeries, a: int, b: int) -> Ask:
    """From bits to the lists of all runs, where each user holds the same in each of them."""
    runs = series.terms.runs
    held = np.repeat(np.arange(2), [a, b])
    users, items = np.tile(np.arange(a + b), runs), np.tile(held, runs)
    evidence = Histories(users, items, np.repeat(np.arange(1, runs + 1), a + b))

    def asked(bits: Bits | None) -> Hashable:
        draws = ExactDraws(SystemBits() if bits is None else bits)
        return _outcome_of_lists(series.select(evidence, draws))

    return asked


def _outcome_of_lists(lists: VisibleLists) -> Hashable:
    """When each item was named, and how the estimates of the last list compare."""
    *_, last = lists.runs
    named = ((item, run) for item, run, more in last if isinstance(more, tuple))
    listed = ((item, math.floor(x / sd * 2)) for item, x, sd in last if isinstance(sd, float))
    return (*sorted(named), *sorted(listed))


def of_series(series: WholeSeries) -> EndToEnd:
    """All runs of a series: on one item, and on an item that only the one more holds."""
    return EndToEnd(
        type(series).__name__,
        series.delta,
        partial(_all_runs, series),
        held=((_HELD, 0), (0, _HELD)),
        samples=_SERIES_SAMPLES,
    )


def sampled_series(kind: SeriesClass) -> WholeSeries:
    """One of twelve runs, on the grid that users have."""
    terms = KINDS[kind.kind].terms(
        epsilon=EPSILON, delta=DELTA, periods=_RUNS, max_items_per_user=1
    )
    return kind(terms=terms)


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
    n = (samples or (_QUICK if quick else question.samples)) // len(question.held)
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
    return Counter(ask(bits) for _ in range(n))


def _outcome_of(release: Release) -> Hashable:
    """The items, and how the best score compares, in halves of its noise."""
    scores = release.scores
    best = [] if scores is None else [math.floor(x / scores.noise_sd * 2) for x in scores[:1]]
    return (*release.items, *best)
