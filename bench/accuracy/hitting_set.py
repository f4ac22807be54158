"""Hitting sets: the users whom the default misses, beside `UserPeeling`."""

from __future__ import annotations

from functools import partial

import shortlist as sl
from bench.accuracy import top_k
from bench.accuracy.study import Kinds, Measure, Study
from bench.common import real
from bench.common.cells import SIZES
from shortlist.mechanisms import Accounting, UserPeeling

__all__ = ["STUDY"]

_PUBLISHED, _ZCDP = "UserPeeling, as published", "UserPeeling in zCDP"
_OTHERS: Kinds = {
    _PUBLISHED: partial(UserPeeling, accounting=Accounting.PUBLISHED),
    _ZCDP: partial(UserPeeling, accounting=Accounting.ZCDP),
    "UserPeeling": UserPeeling,
}
_NOTE = (
    f"k from {SIZES[0]} to {SIZES[-1]}, at most 100 items of a user where items are "
    "discovered. Ratios are those of missed users + 1. UserPeeling as published is Algorithm 4 of "
    "Dick et al. (2026)."
)
_CHOSEN_ON = top_k.STUDY.chosen_on
"""What the parameters of `AdaptiveHittingSet` were chosen on, whole and thinned."""

_LARGE = ("imdb_reviews_tokens", "reddit_title_tokens")  # where a few words reach everybody
_UNSEEN = tuple(name for name in real.TABLES if name not in (*_CHOSEN_ON, *_LARGE))

STUDY = Study(
    title="Hitting set",
    note=_NOTE,
    chosen_on=_CHOSEN_ON,
    unseen=_UNSEEN,
    questions=[sl.HittingSet(k) for k in SIZES],
    others=_OTHERS,
    measures={"missed users": Measure("missed_users", 1.0)},
)
