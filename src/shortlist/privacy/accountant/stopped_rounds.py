"""Rounds that may stop early, for something else that looks at users' whole rows: their cost.

All of it costs no more than normal noise, whenever the rounds stop. Only the first round is sure to
be run, and to spend less on others' items where a user alone holds some. Proof note:
`docs/proofs/adaptive-hitting-set.md`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.fitting import noise_on_weights, normal_noise
from shortlist.privacy.accountant.rounds import ItemsInRounds, RoundsRelease, noise_then_loss
from shortlist.privacy.rounding import round_down

__all__ = ["fitted_with_a_stop", "with_a_stop", "zcdp_of_noise"]


def zcdp_of_noise(sigma: float) -> float:
    """Of normal noise of this standard deviation, at ℓ2 sensitivity 1; rounded down."""
    return round_down(1 / (2 * Fraction(sigma) ** 2))


def with_a_stop(release: RoundsRelease, first: float, bound: int) -> Composition:
    """The rounds and what follows them.

    Args:
        release: The noise that all of it is worth together, and what is lost.
        first: At most the share of the first round.
        bound: The most items of one user.
    """
    rho = zcdp_of_noise(release.sigma)
    stages = noise_on_weights(rho * first), normal_noise(rho * (1 - first))
    return Composition(stages, ItemsInRounds(release.lost, 1.0, bound))


def fitted_with_a_stop(first: float, *, epsilon: float, delta: float, bound: int) -> RoundsRelease:
    """The least noise that the guarantee allows, and then nearly the most that may be lost.

    Args:
        first: At most the share of the first round.
        epsilon: Of the guarantee, above 0.
        delta: Of the guarantee, in (0, 1).
        bound: The most items of one user.

    Raises:
        InputError: Delta is too small.
    """
    composition = partial(with_a_stop, first=first, bound=bound)
    return noise_then_loss(composition, epsilon=epsilon, delta=delta)
