"""What is measured of an answer, for each kind of question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from math import inf

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines import Engine
from shortlist.errors import InputError
from shortlist.evidence import Contributions, View, Wants
from shortlist.metrics.discovery import missing_mass
from shortlist.metrics.hitting_set import greedy_hitting_set, missed_users
from shortlist.metrics.top_k import Places, largest
from shortlist.questions import Discoveries, Domain, HittingSet, Question, Rank, TopK

Measure = Callable[[Ints], dict[str, float]]
"""From the positions of an answer to its figures, the most telling one first."""


@dataclass(frozen=True)
class Truth:
    """The rows as they are, without bounds and without noise: what an answer is measured by.

    Attributes:
        counts: How many users hold each item, or how many comparisons it won, shape (n_items,).
        held: Each user's items, where that is known.
        n_items: How many items there are, where everybody knows them; None where not.
    """

    counts: Ints
    held: Contributions | None
    n_items: int | None

    @classmethod
    def of(cls, engine: Engine, draws: Draws) -> Truth:
        """Read all there is."""
        known = Contributions in engine.can_show
        kind = Contributions if known else engine.can_show[0]
        with engine.show(Wants(kind), draws) as shown:
            evidence = shown.evidence
            counts = _all_scores(evidence) if kind is View else evidence.counts
            return cls(counts, evidence if known else None, shown.n_items)


def _all_scores(view: View) -> Ints:
    ids, scores = view.sorted_access(0, view.size)
    counts = np.zeros(view.size, np.int64)
    counts[ids] = scores
    return counts


@singledispatch
def measuring(question: Question, truth: Truth) -> Measure:  # noqa: ARG001 - for those that are known
    """What is measured of the answers to a question; another kind registers its own.

    Raises:
        InputError: Nothing is.
    """
    raise _unmeasured(question)


def require_measured(question: Question) -> None:
    """Refuse a question of which nothing is measured, before a row is read.

    Raises:
        InputError: It is one.
    """
    if measuring.dispatch(type(question)) is measuring.dispatch(object):
        raise _unmeasured(question)


def _unmeasured(question: Question) -> InputError:
    if isinstance(question, Discoveries):
        return InputError(
            "{kind}: which items really go with the label, no table tells",
            "run it on invented tables of which you know that, with labels drawn at random for "
            "items without relation",
            kind=type(question),
        )
    return InputError(
        "{kind}: nothing is known to measure its answers by",
        "ask what each mechanism misses of another question",
        given={"question": ...},
        kind=type(question),
    )


@measuring.register(TopK)
@measuring.register(Rank)
def _of_best(question: TopK | Rank, truth: Truth) -> Measure:
    best, total = largest(truth.counts, question.k), max(int(truth.counts.sum()), 1)

    def measure(positions: Ints) -> dict[str, float]:
        places = Places.of(truth.counts, positions, best)
        return {
            "missing_mass": places.shortfall / total,
            "l1": places.l1,
            "linf": places.linf,
            "relative": places.relative,
            "items": len(positions),
        }

    return measure


@measuring.register
def _of_domain(_: Domain, truth: Truth) -> Measure:
    return lambda positions: {
        "missing_mass": missing_mass(truth.counts, positions),
        "largest_missed": missing_mass(truth.counts, positions, inf),
        "items": len(positions),
    }


@measuring.register
def _of_hitting_set(question: HittingSet, truth: Truth) -> Measure:
    held = truth.held
    if held is None:
        raise InputError("it needs to know who holds what", given={"question": ...})
    least = missed_users(held, greedy_hitting_set(held, question.k))

    def measure(positions: Ints) -> dict[str, float]:
        missed = missed_users(held, positions)
        return {
            "missed_users": missed,
            "beyond_greedy": missed - least,
            "items": len(positions),
        }

    return measure
