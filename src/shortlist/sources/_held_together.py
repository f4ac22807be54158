"""(user, item) rows, where an item is a pair, or a triple, of what a user holds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from shortlist.engines import Engine
from shortlist.engines.items_together import ItemsTogether
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.errors import InputError, is_whole
from shortlist.parameters import MOST_ITEMS
from shortlist.plan import Chargeable
from shortlist.planning import Bounds, Usual
from shortlist.questions import Domain, Question, TopK
from shortlist.release import About
from shortlist.runtime.processes import even_unmade
from shortlist.sources.source import Source

if TYPE_CHECKING:
    from shortlist.engines.rows_in_table import RowsInTable

_MOST = 3
MAX_TOGETHER_PER_USER = 2_000
"""The most combinations of one user that count, if nobody says: the pairs of 63 items.

Measured on eight tables: with 105, as of items, most pairs are dropped where users hold many items.
"""


def _bound_of(of: int, bounds: Bounds) -> int | Usual:
    """How many combinations of one user count: as many as so many items have, or a usual number."""
    most = bounds["max_items_per_user"]
    if not isinstance(most, int):
        return Usual(MAX_TOGETHER_PER_USER)
    return min(max(math.comb(most, of), 1), MOST_ITEMS)


class HeldTogether(Source):
    """Rows where an item is what users hold together: `plan` asks for the best or for all of them.

    Built by `Pairs.together`. Questions may be asked from several threads; the data is read by the
    first.
    """

    def __init__(
        self,
        rows: RowsInMemory | RowsInTable,
        of: int,
        bounds: Bounds,
        *,
        protects: str,
        budget: Chargeable | None,
        users: int | None,
        about: About,
    ) -> None:
        if not (is_whole(of) and 2 <= of <= _MOST):
            raise InputError(
                "must be 2, for pairs of items, or 3, for triples",
                given={"of": of},
            )
        bound = _bound_of(int(of), bounds)
        most = bound.bound if isinstance(bound, Usual) else bound
        super().__init__(
            _engine(rows, int(of), most),
            protects=protects,
            bounds={"max_items_per_user": bound},
            budget=budget,
            users=users,
            about=replace(about, together=int(of)),
        )
        self._of = int(of)

    @even_unmade
    def __repr__(self) -> str:
        most = self.bounds["max_items_per_user"]
        return f"<HeldTogether: of={self._of}, max_items_per_user={most}>"

    def _engine_for(self, question: Question) -> Engine:
        """The engine, of what is asked of pairs; of users, of whom a part is seen, nothing is."""
        if not isinstance(question, TopK | Domain):
            raise InputError(
                "{question}: it is asked of single items, not of pairs",
                "omit {of}",
                question=question.name,
            )
        if question.others:
            raise InputError(
                "of a user who holds many pairs only some count, so that nobody can tell whether "
                "that user holds none of those named",
                "omit it, or omit {of}",
                given={"others": True},
            )
        return self._engine


def _engine(rows: RowsInMemory | RowsInTable, of: int, most: int) -> ItemsTogether:
    if not isinstance(rows, RowsInMemory):
        raise InputError(
            "pairs of items are found in memory, and these rows stay in an engine",
            "give {pull=True}, which fetches them, or omit it",
            given={"of": of},
        )
    return rows.together(of, most)
