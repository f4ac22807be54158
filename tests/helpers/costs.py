"""Costs of every kind, for hypothesis."""

import math

from flint import arb
from hypothesis import settings
from hypothesis import strategies as st

from helpers.exactness import between
from shortlist import privacy
from shortlist.privacy import ZCDP, Approximate, Composed, Gaussian, Pure, Ways
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    GaussianStage,
    ItemsByThreshold,
    Threshold,
    ThresholdDelta,
)

fixed = settings(derandomize=True, deadline=None, max_examples=150)

COSTS = st.one_of(
    st.builds(ZCDP, between(1e-9, 100), st.sampled_from([0.0, 1e-300, 1e-7, 0.1])),
    st.builds(Gaussian, between(1e-9, 100), st.sampled_from([0.0, 1e-7])),
    st.builds(Pure, between(1e-9, 100)),
    st.builds(Pure.bounded_range, between(1e-9, 100)),
)

PICKS = BoundedRange(0.1067, times=20)
COMPOSED = {
    "picks": Composed(Composition((PICKS,)), Pure.bounded_range(0.1067) * 20, epsilon=1.0),
    "weights": Composed(
        Composition(
            (GaussianStage(0.2, on_weights=True),), ItemsByThreshold((Threshold(5.0, 30.0),), 10)
        ),
        Gaussian(0.02 * (1 + 1e-12), 1e-6),
        epsilon=1.0,
    ),
    "lost": Composed(
        Composition((PICKS,), ThresholdDelta(1e-7)),
        ZCDP((Pure.bounded_range(0.1067) * 20).rho, 1e-7),
        epsilon=1.0,
    ),
}
TWO_WAYS = {**COMPOSED, "ways": Ways(ZCDP(0.024, delta=1e-6), Approximate(1.0, 1e-6))}
EVERY_KIND = {
    "zcdp": ZCDP(0.01, delta=1e-8),
    "gaussian": Gaussian(0.02),
    "pure": Pure(0.3),
    "range": Pure.bounded_range(0.2) * 3,
    "either": privacy.max(Pure(0.5), Pure.bounded_range(0.25) * 4),
    "approximate": Approximate(0.5, 1e-7),
    "sum": Pure(0.2) + Gaussian(0.01),
    **TWO_WAYS,
}

BAD = [math.nan, math.inf, -math.inf, -1.0, -5e-324]


def true_gaussian_delta(rho, epsilon):
    """The curve of Gaussian noise (Balle & Wang 2018), in balls."""
    mu, root = (2 * arb(rho)).sqrt(), arb(2).sqrt()
    upper, lower = ((epsilon / mu + sign * mu / 2) / root for sign in (-1, 1))
    return (upper.erfc() - arb(epsilon).exp() * lower.erfc()) / 2


def response(epsilon, least=None):
    """Two outcomes, (P, Q) of each: of log ratios `least` and `least` + epsilon, or ±epsilon."""
    high, low = (epsilon, -epsilon) if least is None else (epsilon + least, least)
    q = -math.expm1(low) / (math.exp(high) - math.exp(low))
    return [(q * math.exp(high), q), ((1 - q) * math.exp(low), 1 - q)]
