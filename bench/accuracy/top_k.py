"""Top-k of private items: the default beside what was published and what 0.1 had."""

from __future__ import annotations

from functools import partial

import polars as pl

import shortlist as sl
from bench.accuracy.study import Kinds, Measure, Study, lines
from bench.common import real, report
from bench.common.axes import MISSING_MASS
from bench.common.cells import SIZES
from bench.common.plotting import Look, against_k
from shortlist.mechanisms import (
    Accounting,
    DiscoverThenRank,
    LimitedDomain,
    WeightedGaussianPeeling,
)

__all__ = ["DEFAULT_NAME", "MASS", "PUBLISHED", "STUDY", "plot"]

MASS = "missing mass"
DEFAULT_NAME = "GreedyOrAdaptive"
PUBLISHED = "WeightedGaussianPeeling"
_FIRST = "DiscoverThenRank in zCDP"
_LIMITED, _WHOLE = "LimitedDomain", "LimitedDomain, whole counts"
_LIMITED_KIND = partial(LimitedDomain, second_try=None)  # as published
_OTHERS: Kinds = {
    PUBLISHED: WeightedGaussianPeeling,
    _LIMITED: _LIMITED_KIND,
    _FIRST: partial(DiscoverThenRank, accounting=Accounting.ZCDP),
    "DiscoverThenRank": DiscoverThenRank,
}
_NOTE = (
    f"k from {SIZES[0]} to {SIZES[-1]}, at most 100 items of a user where sets are bounded. "
    "Missing mass is that of `shortlist.metrics.top_k_missing_mass`, its ratios those of "
    f"mass + 1e-4. {PUBLISHED} is the published algorithm (Dick et al. 2026, Alg. 2), {_FIRST} the "
    "default of version 0.1. LimitedDomain (Durfee & Rogers 2019) gets bounded sets, or whole "
    "counts without any bound. The default, GreedyOrAdaptive, takes AdaptiveTopK on these tables "
    "in all but 1 of 1,000 runs."
)
_CHOSEN_ON = ("steam_200k", "amazon_magazine", "twitter_airline_tokens", "anime_5k")
"""What the parameters of `AdaptiveTopK` were chosen on, and on tables that are not here."""

_UNSEEN = tuple(name for name in real.TABLES if name not in _CHOSEN_ON)

STUDY = Study(
    title="Top-k",
    note=_NOTE,
    chosen_on=_CHOSEN_ON,
    unseen=_UNSEEN,
    questions=[sl.TopK(k) for k in SIZES],
    others=_OTHERS,
    of_counts={_WHOLE: _LIMITED_KIND},
    measures={MASS: Measure("missing_mass", 1e-4)},
)
_DEFAULT = f"{DEFAULT_NAME} (default)"
_LOOKS = {
    _LIMITED: Look("#9a9a9a"),
    _FIRST: Look("#8e4fa8"),
    PUBLISHED: Look("#d1701a"),
    _DEFAULT: Look("#0b6e99", width=3),
}


def plot(figures: pl.DataFrame, name: str) -> None:
    """Missing mass against k, a column for each table."""
    against_k(
        lines(figures, MASS, _LOOKS, _DEFAULT),
        report.path_of(name),
        axis=MISSING_MASS,
        looks=_LOOKS,
        title="Top-k of private items: what is missing from the answer",
        subtitle="Share of all (user, item) pairs that the true top k holds and the answer does "
        "not: less is better. Mean ± 2 standard errors, below 1e-5 drawn as 0; δ = 1e-5, at most "
        "100 items a user.",
    )
