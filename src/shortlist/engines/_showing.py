"""What is shown of users' sets, in memory or in another engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.engines.engine import ShownEvidence
from shortlist.evidence import PublicCounts, UserSets, Wants
from shortlist.table.keys import Coding

if TYPE_CHECKING:
    import polars as pl

__all__ = ["shown_of"]


def shown_of(
    held: UserSets, items: Coding, wants: Wants, public: pl.DataFrame | None
) -> ShownEvidence:
    """Users' sets as what is wanted.

    Args:
        held: The sets, bounded as is wanted.
        items: What their codes stand for.
        wants: As `Engine.show` has it.
        public: What everybody knows, one row an item; None where items are private.
    """
    if public is None:
        return ShownEvidence(held.shown_as(wants), items.take)
    known = items.find(public)
    evidence: PublicCounts | UserSets
    if issubclass(wants.kind, UserSets):
        evidence = held.among(known)
    else:
        counts = held.counts if wants.bound is None else held.recount().counts
        # Code -1, of public items that nobody holds, is the count appended at the end.
        evidence = PublicCounts(np.append(counts, 0)[known], wants.bound)
    return ShownEvidence(evidence, public.__getitem__, public.height)
