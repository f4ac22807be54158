"""Units and scores of exact draws."""

from flint import arb
from hypothesis import settings

fixed = settings(derandomize=True, deadline=None, max_examples=150)
ONE = 2**32  # 1.0 in units
TOP = 2**64 - 1


def noise_at(uniform, sd, weight, bound, above):
    """The noise whose uniform is this exact fraction: conditioned and weighted."""
    cap, sign, root = arb(1), 1, arb(2).sqrt()
    if bound is not None:
        sign = -1 if above else 1
        cap = (-sign * arb(bound) / 2**32 / arb(sd) / root).erfc() / 2
    value = -root * (2 * arb(uniform) * cap).erfcinv()
    return sign * value * arb(sd) * arb(weight)
