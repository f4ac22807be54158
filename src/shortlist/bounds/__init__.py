"""What a user can expect before spending anything: theorems with all their constants.

Upper bounds say how much a mechanism misses at most, on every table of a given shape; lower bounds
say how much every private algorithm misses at least. All are functions of numbers that the caller
gives. Those that describe a table (pairs, the largest set, C and s) must be true of it, and public.
Formulas and proofs: `docs/bounds.md`.
"""

from shortlist.bounds.rare_items import (
    least_missed_users,
    least_missing_mass,
    least_missing_mass_of_counts,
    least_top_k_missing_mass,
    rare_item_chance,
    rare_item_users,
)
from shortlist.bounds.weighted_gaussian import WeightedGaussianBounds, zipf_largest_set

__all__ = [
    "WeightedGaussianBounds",
    "least_missed_users",
    "least_missing_mass",
    "least_missing_mass_of_counts",
    "least_top_k_missing_mass",
    "rare_item_chance",
    "rare_item_users",
    "zipf_largest_set",
]
