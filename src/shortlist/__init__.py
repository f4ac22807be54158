"""Which items? Differentially private top-k, domain, hitting set and ranking of sensitive tables.

>>> import polars as pl
>>> import shortlist as sl
>>> rows = pl.DataFrame({"user": range(500), "title": ["Emma", "Ulysses"] * 250})
>>> release = sl.pairs(rows, user="user", item="title").domain(epsilon=1.0, delta=1e-6)
>>> sorted(release.items)
['Emma', 'Ulysses']
"""

import importlib
from typing import TYPE_CHECKING

import shortlist.runtime.processes  # noqa: F401 - it watches for forks from here on

if TYPE_CHECKING:
    from shortlist import (
        audit,
        bits,
        bounds,
        experiments,
        mechanisms,
        metrics,
        privacy,
        progress,
        stores,
    )
    from shortlist._version import __version__
    from shortlist.budget.ledger import Budget
    from shortlist.errors import InputError, WeakPrivacyWarning
    from shortlist.parameters import Direction, GroupItems, SeriesKind, ShareOfUsers, Side
    from shortlist.plan import Plan, Reuse
    from shortlist.privacy.guarantee import Guarantee
    from shortlist.questions import (
        BottomScores,
        Discoveries,
        Domain,
        HittingSet,
        Rank,
        TopK,
        TopScores,
        UserCounts,
    )
    from shortlist.release import Release
    from shortlist.release.differences import Difference, diff
    from shortlist.release.loading import load
    from shortlist.series.series_plan import SeriesPlan
    from shortlist.series.weekly_series import Series
    from shortlist.sources.comparisons import Comparisons, comparisons
    from shortlist.sources.counts import Counts, counts
    from shortlist.sources.labelled_pairs import LabelledPairs, association
    from shortlist.sources.pairs import Pairs, pairs
    from shortlist.sources.pairs_in_groups import Groups
    from shortlist.sources.scores import ItemScores, scores
    from shortlist.sources.source import Source
    from shortlist.sources.store import Store, store
    from shortlist.table.public_items import IN_TABLE
    from shortlist.table.row_filters import days

__all__ = [
    "IN_TABLE",
    "BottomScores",
    "Budget",
    "Comparisons",
    "Counts",
    "Difference",
    "Direction",
    "Discoveries",
    "Domain",
    "GroupItems",
    "Groups",
    "Guarantee",
    "HittingSet",
    "InputError",
    "ItemScores",
    "LabelledPairs",
    "Pairs",
    "Plan",
    "Rank",
    "Release",
    "Reuse",
    "Series",
    "SeriesKind",
    "SeriesPlan",
    "ShareOfUsers",
    "Side",
    "Source",
    "Store",
    "TopK",
    "TopScores",
    "UserCounts",
    "WeakPrivacyWarning",
    "__version__",
    "association",
    "audit",
    "bits",
    "bounds",
    "comparisons",
    "counts",
    "days",
    "diff",
    "experiments",
    "load",
    "mechanisms",
    "metrics",
    "pairs",
    "privacy",
    "progress",
    "scores",
    "store",
    "stores",
]

_HOMES = {
    "BottomScores": "shortlist.questions",
    "Budget": "shortlist.budget.ledger",
    "Comparisons": "shortlist.sources.comparisons",
    "Counts": "shortlist.sources.counts",
    "Difference": "shortlist.release.differences",
    "Direction": "shortlist.parameters",
    "Discoveries": "shortlist.questions",
    "Domain": "shortlist.questions",
    "GroupItems": "shortlist.parameters",
    "ShareOfUsers": "shortlist.parameters",
    "Groups": "shortlist.sources.pairs_in_groups",
    "Guarantee": "shortlist.privacy.guarantee",
    "HittingSet": "shortlist.questions",
    "IN_TABLE": "shortlist.table.public_items",
    "InputError": "shortlist.errors",
    "ItemScores": "shortlist.sources.scores",
    "LabelledPairs": "shortlist.sources.labelled_pairs",
    "Pairs": "shortlist.sources.pairs",
    "Plan": "shortlist.plan",
    "Rank": "shortlist.questions",
    "Release": "shortlist.release",
    "Reuse": "shortlist.plan",
    "Series": "shortlist.series.weekly_series",
    "SeriesKind": "shortlist.parameters",
    "SeriesPlan": "shortlist.series.series_plan",
    "Side": "shortlist.parameters",
    "Source": "shortlist.sources.source",
    "Store": "shortlist.sources.store",
    "TopK": "shortlist.questions",
    "TopScores": "shortlist.questions",
    "UserCounts": "shortlist.questions",
    "WeakPrivacyWarning": "shortlist.errors",
    "__version__": "shortlist._version",
    "association": "shortlist.sources.labelled_pairs",
    "comparisons": "shortlist.sources.comparisons",
    "counts": "shortlist.sources.counts",
    "days": "shortlist.table.row_filters",
    "diff": "shortlist.release.differences",
    "load": "shortlist.release.loading",
    "pairs": "shortlist.sources.pairs",
    "scores": "shortlist.sources.scores",
    "store": "shortlist.sources.store",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use, so that importing the package stays light."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:
        return importlib.import_module(f"shortlist.{name}")
    raise AttributeError(f"module 'shortlist' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
