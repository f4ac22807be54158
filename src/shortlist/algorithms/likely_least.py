"""A private choice between ways to go on, by what all users lose at each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shortlist.algorithms.rounding_grids import UNIT_OF_WEIGHTS
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import ExponentialWeights


def likely_least(
    lost: Ints, epsilon: float, draws: Draws, factors: Sequence[float] | Floats | None = None
) -> int:
    """The place of a loss that is likely to be among the least, by an exponential mechanism.

    One user more adds to all losses, to each from 0 to 1: so its range is epsilon.

    Args:
        lost: What all users lose, each way to go on, in multiples of 2^-20.
        epsilon: The range.
        draws: All randomness.
        factors: Of the odds of each, public; None for none.
    """
    of_each = np.ones(len(lost)) if factors is None else np.array(factors)
    per_unit = epsilon * UNIT_OF_WEIGHTS  # exact
    return ExponentialWeights.of_ways(-lost, of_each, per_unit).pick_way(draws)
