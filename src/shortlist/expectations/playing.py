"""How good an answer to expect of a table that is only guessed: the plan is played on one."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, ExactDraws
from shortlist.draws.random_bits import SeededBits
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.errors import InputError
from shortlist.expectations._zipf import ZipfTable
from shortlist.expectations.expectation import Expectation
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.parameters import require_count, require_number
from shortlist.questions import Domain, Question, TopK

if TYPE_CHECKING:
    import polars as pl

__all__ = ["expected"]

_SEED = 1  # of the noise: the same answer each time


def expected(
    question: Question,
    mechanism: Mechanism,
    *,
    users: int,
    items: int,
    exponent: float,
    items_per_user: int,
    runs: int,
    public: bool,
) -> Expectation:
    """As `Plan.expect`.

    Args:
        question: What is asked.
        mechanism: What answers.
        users: How many users the table has.
        items: How many items they may hold.
        exponent: How fast the items' shares fall with their ranks.
        items_per_user: How many draws each user has; what is drawn twice counts once.
        runs: How often it is asked.
        public: Whether everybody knows the items.
    """
    table = ZipfTable(
        require_count("users", users),
        require_count("items", items),
        _require_exponent(exponent),
        require_count("items_per_user", items_per_user),
    )
    require_count("runs", runs)
    k = _number_asked(question, mechanism, table)
    engine = table.engine(public=public)
    if not issubclass(mechanism.wants.kind, engine.can_show):
        raise InputError(
            "{kind} is shown what no invented table has",
            "use metrics.compare on a table that may be looked at",
            kind=type(mechanism),
        )
    draws = ExactDraws(SeededBits(_SEED))
    ranks = [table.ranks(_answered(mechanism, engine, draws)) for _ in range(runs)]
    named = np.bincount(np.concatenate(ranks), minlength=items) / runs
    return Expectation(
        told=f"{question.name} by {type(mechanism).__name__} of {table}",
        k=k,
        named=float(named.sum()),
        right=float(named[:k].sum()),
        chances=tuple(named.tolist()),
        runs=runs,
    )


def _require_exponent(value: float) -> float:
    exponent = require_number("exponent", value)
    if not 0 <= exponent <= 10:
        raise InputError("must be from 0 to 10", "1 is usual", given={"exponent": value})
    return exponent


def _number_asked(question: Question, mechanism: Mechanism, table: ZipfTable) -> int | None:
    if not isinstance(question, Domain | TopK):
        raise InputError(
            "what to expect of {kind} is not told by the counts of items",
            "use metrics.compare on a table that may be looked at",
            kind=type(question),
        )
    k = question.most_items
    if k is not None and k > table.items and not mechanism.names_private_items:
        raise InputError(
            "{items=} is less than the {k} items asked for",
            "give more",
            given={"items": table.items},
            k=k,
        )
    return k


def _answered(mechanism: Mechanism, engine: RowsInMemory, draws: Draws) -> pl.Series:
    with engine.show(mechanism.wants, draws) as shown:
        positions = copy(mechanism).select(shown.evidence, draws).positions
        return shown.items(positions).to_series()
