"""What a user can expect before spending anything: theorems with all their constants.

Upper bounds of what a mechanism misses, which hold for all tables of some shape, and lower bounds
that no private algorithm gets below. All are functions of numbers that the caller writes. Where a
number describes a table (pairs, the largest set, C and s), a bound holds for the tables of which it
is true: take it from what is public. Formulas and proofs: `docs/bounds.md`.
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
