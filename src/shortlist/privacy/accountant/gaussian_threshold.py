"""The noise and the threshold that a guarantee allows a single release of noisy weights."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import gaussian_curve, upper_quantiles
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.fitting import largest_share
from shortlist.privacy.accountant.items_of_one_user import ItemsByThreshold, Threshold, blocks
from shortlist.privacy.accountant.stages import GaussianStage, Stages
from shortlist.privacy.rounding import bisect

_REACHABLE = 2.0**29  # of the noisy weights that fixed-point integers can hold
_SMALLEST, _LARGEST = 2.0**-60, 2.0**60  # of standard deviations
_LEAST_SHARE = 1e-6  # of delta, for a threshold
_SPARE = [2.0**-n for n in range(36, 8, -2)]  # relative, of sigma
_LEFT = 1e-10  # of delta, at least, beside the noise


class GaussianThreshold(NamedTuple):
    """The parameters of a release of noisy weights.

    Attributes:
        sigma: The standard deviation of the noise, at ℓ2 sensitivity 1.
        threshold: The least noisy weight at which an item is named.
    """

    sigma: float
    threshold: float


def noisy_weights(
    release: GaussianThreshold, bound: int, *, drift: float = 0.0, by_policy: bool = False
) -> Composition:
    """The cost of the release, for users with at most `bound` items after bounding.

    Of a user with s items of weight 1/sqrt(s), t of which nobody else holds, delta is the larger of
    1 - q + q G(epsilon - ln q; mu) and G(epsilon + ln q; mu), where q is the probability that none
    of the t is named, G the curve of a Gaussian, and mu = sqrt(1 - t/s) / sigma. The worst user
    counts.

    Args:
        release: The noise and the threshold.
        bound: The most items of one user.
        drift: By how much rounding may change the weights of shared items (in ℓ2), beside what the
            user adds to them.
        by_policy: Whether weights are built by a policy; see `ItemsByThreshold`.

    >>> round(noisy_weights(GaussianThreshold(4.2247, 23.816), 100).delta(1.0) * 1e6, 2)
    1.0
    """
    mu = 1 / release.sigma * (1 + 2.0**-50)
    stages: Stages = (GaussianStage(mu, on_weights=True),)
    # Drift is the same where less is shared: nu + 2 drift + drift² >= (sqrt(nu) + drift)².
    if drift:
        stages += (GaussianStage(mu * math.sqrt(drift * (2 + drift)) * (1 + 2.0**-50)),)
    return Composition(stages, ItemsByThreshold((Threshold(*release),), bound, by_policy))


def least_noise(
    *, epsilon: float, delta: float, bound: int, drift: float = 0.0, by_policy: bool = False
) -> GaussianThreshold:
    """Nearly the least noise of one release, and the least threshold beside it.

    A user whose items are all shared needs delta for the noise; a user who alone holds all their
    items needs it for the threshold. So each gets nearly all of delta. Were a user between the two
    the worst, the threshold would be higher for that.

    `bound`, `drift` and `by_policy` are as in `noisy_weights`.

    Raises:
        InputError: Delta is too small, or nothing could reach the threshold.

    >>> sigma, threshold = least_noise(epsilon=1.0, delta=1e-6, bound=100)
    >>> round(sigma, 3), round(threshold, 2)
    (4.225, 23.81)
    """
    sigma = sigma_to_spare(epsilon=epsilon, delta=delta, drift=drift)

    def release(lost: float) -> GaussianThreshold:
        return GaussianThreshold(sigma, least_threshold(sigma, lost, bound))

    def spent(lost: float) -> float:
        whole = noisy_weights(release(lost), bound, drift=drift, by_policy=by_policy)
        return whole.delta(epsilon)

    lost = largest_share(spent, delta=delta, least=_LEAST_SHARE * delta)
    if lost == 0:
        raise InputError("no threshold can be fitted to it", given={"delta": delta})
    least = release(lost)
    if max(*least, -least.threshold) > _REACHABLE:
        raise InputError("nothing could reach the threshold", given={"epsilon": epsilon})
    return least


def sigma_to_spare(*, epsilon: float, delta: float, drift: float = 0.0) -> float:
    """A standard deviation hardly above the least, so that a little of delta is left."""
    least = least_sigma(epsilon=epsilon, delta=delta) * (1 + drift)
    for spare in _SPARE:
        sigma = least * (1 + spare)
        stage = GaussianStage((1 + drift) / sigma * (1 + 2.0**-50))
        if Composition((stage,)).delta(epsilon) <= delta * (1 - _LEFT):
            return sigma
    raise InputError("no noise can be fitted to it", given={"delta": delta})


def least_sigma(*, epsilon: float, delta: float) -> float:
    """The least standard deviation with which normal noise alone is within (epsilon, delta).

    >>> round(least_sigma(epsilon=1.0, delta=1e-6), 4)
    4.2247
    """
    if not (epsilon > 0 and 0 < delta < 1):
        raise InputError(
            "must be above 0, and in (0, 1)", given={"epsilon": epsilon, "delta": delta}
        )

    def holds(sigma: float) -> bool:
        mu = 1 / sigma * (1 + 2.0**-50)
        return float(gaussian_curve(epsilon * (1 - 2.0**-50), mu, up=True)) <= delta

    if not holds(_LARGEST) or holds(_SMALLEST):
        raise InputError(
            "no noise can be fitted to these", given={"epsilon": epsilon, "delta": delta}
        )
    return bisect(holds, bad=_SMALLEST, good=_LARGEST)


def least_threshold(sigma: float, lost: float, bound: int) -> float:
    """The threshold that one of a user's own items passes with probability `lost` at most.

    The maximum over 1 <= t <= bound of 1/sqrt(t) + sigma z, where z is the quantile that one of t
    standard normal numbers exceeds with probability `lost`; rounded up.
    """
    first, last = blocks(bound)
    quantile = upper_quantiles(-np.expm1(np.log1p(-lost) / last))
    levels = 1 / np.sqrt(first) + sigma * quantile
    return float(np.max(levels + (1 + sigma * (1 + np.abs(quantile))) * 1e-11))
