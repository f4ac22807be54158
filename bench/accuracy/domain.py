"""Domains: how many items the default names, and what it leaves out, beside other mechanisms."""

from __future__ import annotations

import polars as pl

import shortlist as sl
from bench.accuracy.study import Kinds, Measure, Study, lines
from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.plotting import Look, against
from shortlist.mechanisms import AdaptiveGaussian, PolicyGaussian, PolicyGreedy, WeightedGaussian

__all__ = ["DEFAULT_NAME", "ITEMS", "MASS", "PUBLISHED", "STUDY", "plot"]

ITEMS, MASS = "items named", "missing mass"
DEFAULT_NAME = "GreedyOrRounds"
PUBLISHED = "WeightedGaussian"
_BOUNDS = (10, 100, 1000)
_OTHERS: Kinds = {
    PUBLISHED: WeightedGaussian,
    "PolicyGaussian": PolicyGaussian,
    "PolicyGreedy": PolicyGreedy,
    "AdaptiveGaussian": AdaptiveGaussian,
}
_NOTE = (
    f"max_items_per_user {', '.join(f'{bound:,}' for bound in _BOUNDS)}; more items and "
    "less missing mass are better. Missing mass is the share of all (user, item) pairs that are of "
    "items not named; ratios are those of items + 1, and of mass + 1e-4. All mechanisms are at "
    "their exact calibration. `PolicyGreedy` has no bound and gets whole sets."
)
_UNSEEN = (
    "amazon_grocery_5core",
    "amazon_video_games_5core",
    "amazon_magazine",
    "reddit_askreddit_1pct_tokens",
    "reddit_askreddit_1pct_bigrams",
)
_CHOSEN_ON = tuple(name for name in real.TABLES if name not in _UNSEEN)
"""Tables that were looked at while the rounds of `AdaptiveGaussian` were designed."""

STUDY = Study(
    title="Domain",
    note=_NOTE,
    chosen_on=_CHOSEN_ON,
    unseen=_UNSEEN,
    questions=[sl.Domain()],
    across="max_items_per_user",
    bounds=_BOUNDS,
    others=_OTHERS,
    measures={
        ITEMS: Measure("items", 1.0, more_is_better=True),
        MASS: Measure("missing_mass", 1e-4),
    },
)
_DEFAULT = f"{DEFAULT_NAME} (default)"
_LOOKS = {
    "PolicyGreedy": Look("#8a9a01"),
    "PolicyGaussian": Look("#8e4fa8"),
    PUBLISHED: Look("#d1701a"),
    "AdaptiveGaussian": Look("#7fb6cc"),
    _DEFAULT: Look("#0b6e99", width=3),
}


def plot(figures: pl.DataFrame, name: str) -> None:
    """Items named against the bound, a column for each table."""
    against(
        lines(figures, ITEMS, _LOOKS, _DEFAULT),
        report.path_of(name),
        across=Across("max_items_per_user", "max_items_per_user", _BOUNDS, (8, 1250)),
        axis=Axis("items named", [1, 10, 100, 1000, 10_000, 100_000]),
        looks=_LOOKS,
        title="Domain: how many items are named",
        subtitle="More is better. Mean ± 2 standard errors; δ = 1e-5.",
    )
