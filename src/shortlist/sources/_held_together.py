"""(user, item) rows, where an item is a pair, or a triple, of what a user holds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from shortlist.engines import Engine
from shortlist.engines.items_together import Combinations
from shortlist.errors import InputError, is_whole
from shortlist.planning import Bounds, Usual
from shortlist.questions import Domain, Question, TopK
from shortlist.runtime.processes import even_unmade
from shortlist.sources.source import DataFacts, Source

if TYPE_CHECKING:
    from shortlist.engines.rows_in_memory import RowsInMemory
    from shortlist.engines.rows_in_table import RowsInTable

_USUAL_ITEMS = {2: 64, 3: 24}
"""Of how many items of a user all combinations count, if nobody says: 2,016 pairs, 2,024 triples.

Measured on eight tables: with 105 pairs, as of items, most are dropped where users hold many items.
"""
_MOST_ITEMS = {2: 92_682, 3: 2_954}
"""Of more items there are more than `MOST_ITEMS` combinations, which a bound cannot be."""


def _bounds_of(of: int, bounds: Bounds) -> tuple[int, Bounds]:
    """Of how many items of a user all combinations count; and the bounds of a mechanism by that."""
    asked = bounds["max_items_per_user"]
    if not isinstance(asked, int):
        usual = _USUAL_ITEMS[of]
        return usual, {"max_items_per_user": Usual(math.comb(usual, of))}
    items = min(max(asked, of), _MOST_ITEMS[of])
    # `most_items` is for a mechanism that looks at single items, too.
    return items, {"max_items_per_user": math.comb(items, of), "most_items": items}


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
        facts: DataFacts,
    ) -> None:
        if not (is_whole(of) and of in _USUAL_ITEMS):
            raise InputError(
                "must be 2, for pairs of items, or 3, for triples",
                given={"of": of},
            )
        items, of_combinations = _bounds_of(int(of), bounds)
        super().__init__(
            rows.together(Combinations(int(of), items)),
            protects=protects,
            bounds=of_combinations,
            facts=facts._replace(about=replace(facts.about, together=int(of))),
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
