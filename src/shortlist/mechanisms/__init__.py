"""The mechanisms. A question takes a class from here (or a `functools.partial` of one)."""

from shortlist.mechanisms.base import Mechanism, Selection
from shortlist.mechanisms.discover_then_rank import DiscoverThenRank
from shortlist.mechanisms.peeling import Peeling
from shortlist.mechanisms.weighted_gaussian import WeightedGaussian
from shortlist.mechanisms.weighted_gaussian_peeling import WeightedGaussianPeeling

__all__ = [
    "DiscoverThenRank",
    "Mechanism",
    "Peeling",
    "Selection",
    "WeightedGaussian",
    "WeightedGaussianPeeling",
]
