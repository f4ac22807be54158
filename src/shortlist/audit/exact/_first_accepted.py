"""The law of permute-and-flip: whose first accepted arrival is the earliest."""

from __future__ import annotations

import dataclasses

import numpy as np
from flint import arb, arb_poly

from shortlist.algorithms.slack import SlackClasses
from shortlist.draws import Candidates
from shortlist.draws.reals import ExponentialWeights

__all__ = ["law_of_first"]


def law_of_first(candidates: Candidates) -> list[arb]:
    """The chance of each class, by an integral over the time of the first accepted arrival.

    An item that is accepted with chance p has not come by the time 1 - z with probability
    1 - p + p z, so that the integrand is a polynomial.
    """
    if isinstance(candidates, ExponentialWeights):
        candidates = dataclasses.replace(candidates, at_most=np.inf)
    if isinstance(candidates, SlackClasses):
        candidates = candidates.every()
    shift = arb(candidates.shift).exp()
    chances = [candidates.chance(i).ball(0) for i in range(len(candidates))]
    sizes = [int((candidates.ball(i) * shift / p).unique_fmpz()) for i, p in enumerate(chances)]
    masses = []
    for i, p in enumerate(chances):
        waiting = arb_poly([1])
        for j, q in enumerate(chances):
            waiting *= arb_poly([1 - q, q]) ** (sizes[j] - (i == j) if sizes[j] else 0)
        masses.append(sizes[i] * p * waiting.integral()(arb(1)) if sizes[i] else arb(0))
    return masses
