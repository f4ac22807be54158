"""For experiments, on public or invented data: nothing here is private.

What a function of this package returns depends on its data without any noise.
"""

from shortlist.experiments.comparisons import bradley_terry, outcomes_of
from shortlist.experiments.spectral import (
    ergodicity_coefficient,
    spectral_scores,
    transition_matrix,
)

__all__ = [
    "bradley_terry",
    "ergodicity_coefficient",
    "outcomes_of",
    "spectral_scores",
    "transition_matrix",
]
