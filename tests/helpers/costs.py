"""Costs of every kind, for hypothesis."""

import math

from hypothesis import settings
from hypothesis import strategies as st

from helpers.exactness import between
from shortlist.privacy import ZCDP, Gaussian, Pure

fixed = settings(derandomize=True, deadline=None, max_examples=150)

COSTS = st.one_of(
    st.builds(ZCDP, between(1e-9, 100), st.sampled_from([0.0, 1e-300, 1e-7, 0.1])),
    st.builds(Gaussian, between(1e-9, 100), st.sampled_from([0.0, 1e-7])),
    st.builds(Pure, between(1e-9, 100)),
    st.builds(Pure.bounded_range, between(1e-9, 100)),
)

BAD = [math.nan, math.inf, -math.inf, -1.0, -5e-324]


def response(epsilon, least=None):
    """Two outcomes, (P, Q) of each: of log ratios `least` and `least` + epsilon, or ±epsilon."""
    high, low = (epsilon, -epsilon) if least is None else (epsilon + least, least)
    q = -math.expm1(low) / (math.exp(high) - math.exp(low))
    return [(q * math.exp(high), q), ((1 - q) * math.exp(low), 1 - q)]
