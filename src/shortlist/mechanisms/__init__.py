"""The mechanisms. A question takes a class from here (or a `functools.partial` of one)."""

import importlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian
    from shortlist.mechanisms.adaptive_gaussian_peeling import AdaptiveGaussianPeeling
    from shortlist.mechanisms.adaptive_hitting_set import AdaptiveHittingSet
    from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK
    from shortlist.mechanisms.association import Association
    from shortlist.mechanisms.chosen_bound import ChosenBound
    from shortlist.mechanisms.clipped_count_each import ClippedCountEach
    from shortlist.mechanisms.count_each import CountEach
    from shortlist.mechanisms.discover_then_rank import DiscoverThenRank
    from shortlist.mechanisms.gamma import Gamma
    from shortlist.mechanisms.greedy_or_adaptive import GreedyOrAdaptive
    from shortlist.mechanisms.greedy_or_rounds import GreedyOrRounds
    from shortlist.mechanisms.items_then_pairs import ItemsThenPairs
    from shortlist.mechanisms.joint import Joint
    from shortlist.mechanisms.joint_or_peel import JointOrPeel
    from shortlist.mechanisms.joint_permute_and_flip import JointPermuteAndFlip
    from shortlist.mechanisms.limited_domain import LimitedDomain
    from shortlist.mechanisms.mechanism import (
        Accounting,
        Adjacency,
        AuditHints,
        Mechanism,
        Selection,
    )
    from shortlist.mechanisms.one_shot_exponential import OneShotExponential
    from shortlist.mechanisms.one_shot_laplace import Extreme, OneShotLaplace
    from shortlist.mechanisms.peeling import Peeling
    from shortlist.mechanisms.per_group import PerGroup
    from shortlist.mechanisms.permute_and_flip import PermuteAndFlip
    from shortlist.mechanisms.policy_gaussian import PolicyGaussian
    from shortlist.mechanisms.policy_greedy import PolicyGreedy
    from shortlist.mechanisms.set_or_peel import SetOrPeel
    from shortlist.mechanisms.spectral_ranking import SpectralRanking
    from shortlist.mechanisms.threshold_top_k import AddedNoise, ThresholdTopK
    from shortlist.mechanisms.user_peeling import UserPeeling
    from shortlist.mechanisms.weighted_gaussian import WeightedGaussian
    from shortlist.mechanisms.weighted_gaussian_peeling import WeightedGaussianPeeling
    from shortlist.mechanisms.win_count import WinCount

__all__ = [
    "Accounting",
    "AdaptiveGaussian",
    "AdaptiveGaussianPeeling",
    "AdaptiveHittingSet",
    "AdaptiveTopK",
    "AddedNoise",
    "Adjacency",
    "Association",
    "AuditHints",
    "ChosenBound",
    "ClippedCountEach",
    "CountEach",
    "DiscoverThenRank",
    "Extreme",
    "Gamma",
    "GreedyOrAdaptive",
    "GreedyOrRounds",
    "ItemsThenPairs",
    "Joint",
    "JointOrPeel",
    "JointPermuteAndFlip",
    "LimitedDomain",
    "Mechanism",
    "OneShotExponential",
    "OneShotLaplace",
    "Peeling",
    "PerGroup",
    "PermuteAndFlip",
    "PolicyGaussian",
    "PolicyGreedy",
    "Selection",
    "SetOrPeel",
    "SpectralRanking",
    "ThresholdTopK",
    "UserPeeling",
    "WeightedGaussian",
    "WeightedGaussianPeeling",
    "WinCount",
]

_BESIDE = {
    "Accounting": "mechanism",
    "AddedNoise": "threshold_top_k",
    "Adjacency": "mechanism",
    "AuditHints": "mechanism",
    "Extreme": "one_shot_laplace",
    "Mechanism": "mechanism",
    "Selection": "mechanism",
}
"""The modules of what has none of its own name."""


def __getattr__(name: str) -> object:
    """Load a mechanism when it is first named: a question needs one of them."""
    if name in __all__:
        own = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        return getattr(importlib.import_module(f"{__name__}.{_BESIDE.get(name, own)}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
