"""The normal distribution function and its inverse, of few values without loading SciPy's."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from shortlist.draws.contract import Floats

# Loading `scipy.special` takes 0.3 seconds of CPU, as long as more than a million values do here.
_FEW = 2**17


def normal_chances(values: Floats) -> Floats:
    """Φ of each value, off by at most 2 ulp of the value and of the result."""
    if len(values) > _FEW:
        from scipy.special import ndtr

        chances: Floats = ndtr(values)
        return chances
    scaled = (values * -math.sqrt(0.5)).tolist()
    return np.fromiter(map(math.erfc, scaled), np.float64, len(scaled)) / 2


def normal_quantiles(chances: Floats) -> Floats:
    """Φ⁻¹ of each chance from 0 to 1, off by at most 2^-49 times 1 more than its size."""
    if len(chances) > _FEW:
        from scipy.special import ndtri

        quantiles: Floats = ndtri(chances)
        return quantiles
    found = np.where(chances > 0, np.inf, -np.inf)
    within = (chances > 0) & (chances < 1)
    found[within] = list(map(NormalDist().inv_cdf, chances[within].tolist()))
    return found
