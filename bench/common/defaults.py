"""Which mechanisms answer by default, so that no measurement goes on under an old one's name."""

from __future__ import annotations

import polars as pl

import shortlist as sl
from shortlist.mechanisms import Mechanism
from shortlist.questions import Question

__all__ = ["of_private_items"]


def of_private_items(question: Question) -> type[Mechanism]:
    """The default for rows of users and items that nobody knows."""
    frame = pl.DataFrame({"user": [0], "item": [0]})
    return sl.pairs(frame, user="user", item="item").default_for(question)
