"""Hitting sets: the users whom the default misses, beside `UserPeeling`."""

from __future__ import annotations

from functools import partial

import shortlist as sl
from bench.accuracy.study import Kinds, Measure, Study
from bench.common.cells import SIZES
from shortlist.mechanisms import Accounting, UserPeeling

__all__ = ["STUDY", "UNSEEN"]

PUBLISHED, ZCDP = "UserPeeling, as published", "UserPeeling in zCDP"
_OTHERS: Kinds = {
    PUBLISHED: partial(UserPeeling, accounting=Accounting.PUBLISHED),
    ZCDP: partial(UserPeeling, accounting=Accounting.ZCDP),
    "UserPeeling": UserPeeling,
}
_NOTE = (
    f"k from {SIZES[0]} to {SIZES[-1]}, at most 100 items of a user where items are "
    "discovered. Ratios are those of missed users + 1. UserPeeling as published is Algorithm 4 of "
    "Dick et al. (2026)."
)
STUDY = Study(
    title="Hitting set",
    note=_NOTE,
    questions=[sl.HittingSet(k) for k in SIZES],
    others=_OTHERS,
    measures={"missed users": Measure("missed_users", 1.0)},
)

UNSEEN = (
    "amazon_video_games_5core",
    "anime_5k",
    "fimi_retail",
    "reddit_askreddit_1pct_bigrams",
    "reddit_askreddit_1pct_tokens",
    "twitter_airline_tokens",
)
"""The default was tuned on Steam, Amazon magazines and Amazon grocery."""
