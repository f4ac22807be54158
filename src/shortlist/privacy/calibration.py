"""From (epsilon, delta) to the parameters of a mechanism, always at the safe end."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from shortlist.errors import InputError
from shortlist.privacy import ZCDP, Cost, Gaussian, Pure, bisect, round_up
from shortlist.privacy.rounding import blocks_up_to, largest_of_blocks

_REACHABLE = 2.0**29  # of the noisy weights that fixed-point integers can hold
_SCALES = 2.0**-900, 2.0**56  # between these, noise on integers below 2^62 fits floats
_LEAST = 1e-300  # no parameter is less
WORTH_A_DELTA = 1.01  # a parameter that is not larger by this factor is worth no delta


def largest(
    cost_of: Callable[[float], Cost], *, epsilon: float, delta: float, near: float = 1.0
) -> float:
    """The largest parameter, to the last bit, whose cost is within (epsilon, delta).

    The cost grows with the parameter, and that of the result was seen to be within. `near` is a
    guess at the result; it saves time and decides nothing.

    Raises:
        InputError: No parameter is small enough.
    """

    def spent(x: float) -> float:
        return cost_of(x).delta(epsilon)

    def fits(x: float) -> bool:
        return spent(x) <= delta

    good = max(near, _LEAST)
    while not fits(good):
        good /= 2
        if good < _LEAST:
            raise InputError("too small to be reached", given={"epsilon": epsilon, "delta": delta})
    bad = good
    while fits(bad):
        good, bad = bad, 2 * bad
    return bisect(fits, bad=bad, good=good, near=_crossing(spent, delta, good, bad) or near)


def _crossing(spent: Callable[[float], float], delta: float, good: float, bad: float) -> float:
    """About the x that spends delta, by secants between logarithms; 0 if they lead nowhere."""
    # Only a guess: its rounding errors do not matter.
    if delta == 0:
        return 0.0
    (x, excess), (last, last_excess) = (
        (point, math.log(max(spent(point), _LEAST) / delta)) for point in (good, bad)
    )
    for _ in range(10):
        if excess == last_excess:
            break
        new = x - excess * (x - last) / (excess - last_excess)
        if not good <= new <= bad:
            return 0.0
        if abs(new - x) <= 2.0**-49 * x:
            return new
        x, excess, last, last_excess = new, math.log(max(spent(new), _LEAST) / delta), x, excess
    return x


def zcdp_rho(*, epsilon: float, delta: float, lost: float = 0.0) -> float:
    """The largest rho with which `lost`-approximate rho-zCDP implies (epsilon, delta)-DP.

    >>> round(zcdp_rho(epsilon=1.0, delta=1e-6), 5)
    0.02436
    """
    near = _textbook_rho(epsilon, delta - lost)
    return largest(lambda rho: ZCDP(rho, lost), epsilon=epsilon, delta=delta, near=near)


def gaussian_rho(*, epsilon: float, delta: float, lost: float = 0.0) -> float:
    """The largest rho of one Gaussian release, by its exact curve (Balle & Wang 2018).

    `lost` is the part of delta that is not for the noise.
    """
    near = _textbook_rho(epsilon, delta - lost)
    return largest(lambda rho: Gaussian(rho, lost), epsilon=epsilon, delta=delta, near=near)


def _textbook_rho(epsilon: float, delta: float) -> float:
    """The rho that solves rho + 2 sqrt(rho ln(1/delta)) = epsilon: a guess that is hardly less."""
    if not delta > 0:
        return 1.0
    log_term = -math.log(delta)
    return (epsilon / (math.sqrt(log_term + epsilon) + math.sqrt(log_term))) ** 2


def gaussian_sigma(rho: float) -> float:
    """The standard deviation 1/sqrt(2 rho) of `rho`-zCDP at ℓ2 sensitivity 1, rounded up."""
    sigma = 1 / math.sqrt(2 * rho)
    while 2 * Fraction(rho) * Fraction(sigma) ** 2 < 1:
        sigma = math.nextafter(sigma, math.inf)
    return sigma


def threshold(*, sigma: float, delta: float, max_items_per_user: int) -> float:
    """The least noisy weight at which to name an item (Dick et al. 2026, Theorem 3.2), rounded up.

    The maximum over 1 <= t <= max_items_per_user of 1/sqrt(t) + sigma Φ⁻¹((1-delta)^(1/t)): where
    a user alone holds t items, each of weight 1/sqrt(t), all their noisy weights stay below it
    with probability at least 1 - delta.

    Raises:
        InputError: The threshold is larger than any weight can be.

    >>> round(threshold(sigma=5.0, delta=5e-7, max_items_per_user=100), 3)
    28.754
    """

    def reached(weight: float, items: float) -> float:
        noise = sigma * _quantile_of_largest(delta, items)
        return weight + noise + (weight + abs(noise)) * 2.0**-50

    firsts, lasts = blocks_up_to(max_items_per_user, alone=100, part=100)
    best = largest_of_blocks([1 / math.sqrt(first) for first in firsts], lasts, reached)
    if abs(best) > _REACHABLE or sigma > _REACHABLE:
        raise InputError(
            "nothing could reach a threshold of {best}", given={"sigma": sigma}, best=f"{best:.3g}"
        )
    return best


def peeling_epsilon(k: int, *, epsilon: float, delta: float) -> float:
    """The largest local epsilon of k exponential mechanisms, by the better of pure and zCDP.

    k mechanisms of bounded range e cost pure k e and k e²/8 zCDP. Where delta is 0, or buys less
    than 1 % more, it is epsilon / k, and no delta is spent.

    >>> [round(peeling_epsilon(k, epsilon=1.0, delta=1e-6), 4) for k in (20, 200)]
    [0.0987, 0.0312]
    """
    near = peeling_epsilon_lemma_b1(k, epsilon=epsilon, delta=delta)
    local = largest(lambda e: Pure.bounded_range(e) * k, epsilon=epsilon, delta=delta, near=near)
    pure = divide_down(epsilon, k)
    return local if local > WORTH_A_DELTA * pure else pure


def bounded_range_epsilon(k: int, rho: float) -> float:
    """The largest local epsilon with which k exponential mechanisms are rho-zCDP together."""
    near = math.sqrt(8 * rho / k)
    return bisect(
        lambda e: (Pure.bounded_range(e) * k).rho <= rho,
        bad=near * 1.01,
        good=near * 0.99,
        near=near,
    )


def peeling_epsilon_lemma_b1(k: int, *, epsilon: float, delta: float) -> float:
    """The published local epsilon: Dick et al. (2026), Lemma B.1; Gillenwater et al., Lemma 4.2.

    >>> round(peeling_epsilon_lemma_b1(10, epsilon=1.1, delta=0.1), 5)
    0.29264
    """
    log_term = math.inf if delta == 0 else -math.log(delta)
    # This is sqrt(8(L+e)/k) - sqrt(8L/k), without the difference of near numbers.
    approximate = (
        8 * epsilon / math.sqrt(8 * k) / (math.sqrt(log_term + epsilon) + math.sqrt(log_term))
    )
    return max(divide_down(epsilon, k), approximate * (1 - 2.0**-48))


def one_shot_laplace_scale(
    k: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    n_items: int | None = None,
    spread: float = 1.0,
    total: float = math.inf,
) -> float:
    """The scale of Laplace noise, added once to all scores to name the k largest; rounded up.

    The least of those that are proved (`docs/proofs/one-shot-laplace.md`):

    - k spread / epsilon: pure, for the k largest in their order; Qiao et al. (2021), Theorem 2.1.
    - total / epsilon: pure, for all noisy scores, and so for any k and what is computed from them.
    - 4 spread sqrt(k ln(n_items / delta)) / epsilon: for the set of the k largest alone; Theorem
      2.2. Only with a delta, and smaller than the first where k > 16 ln(n_items / delta).

    Args:
        k: How many items are named.
        epsilon: The epsilon of the guarantee.
        delta: The delta of the guarantee.
        n_items: The public number of scores; None for a scale that is enough for any number.
        spread: The most by which one score rises more than another between neighbours: 1 for counts
            that one user more raises by 0 or 1; twice the sensitivity where scores move either way.
        total: The most that all scores change in sum.

    Raises:
        InputError: `require_one_shot_delta` refuses, or no noise of that size can be drawn.

    >>> one_shot_laplace_scale(10, epsilon=0.5), one_shot_laplace_scale(10, epsilon=0.5, total=3)
    (20.0, 6.0)
    """
    require_one_shot_delta(epsilon, delta)
    whole = min(k * Fraction(spread), Fraction(total)) if total < math.inf else k * Fraction(spread)
    scale = round_up(whole / Fraction(epsilon))
    if delta > 0 and n_items is not None and n_items >= 2:
        log_term = math.log(n_items) - math.log(delta)
        as_a_set = 4 * spread * math.sqrt(k * log_term) / epsilon
        scale = min(scale, as_a_set * (1 + 2.0**-48))
    return _drawable(scale, epsilon)


def cube_noise_scale(*, epsilon: float, spread: float = 1.0) -> float:
    """The scale of noise uniform in a cube that makes a ranking `epsilon`-DP, rounded up.

    spread / (2 epsilon), with `spread` as for `one_shot_laplace_scale`: a change of all scores
    alike changes no ranking, and up to such a one no score changes by more than spread / 2. The
    half side is the sum of n_items + 1 exponentials of that mean (`docs/proofs/gamma.md`).

    >>> cube_noise_scale(epsilon=0.5)
    1.0
    """
    return _drawable(round_up(Fraction(spread) / 2 / Fraction(epsilon)), epsilon)


def _drawable(scale: float, epsilon: float) -> float:
    if not _SCALES[0] < scale < _SCALES[1]:
        raise InputError(
            "noise of scale {scale} cannot be drawn",
            given={"epsilon": epsilon},
            scale=f"{scale:.3g}",
        )
    return scale


def require_one_shot_delta(epsilon: float, delta: float) -> None:
    """Refuse an epsilon and a delta for which no theorem on one-shot Laplace noise is known."""
    if delta > 0 and not (epsilon <= 0.2 and delta <= 0.05):
        raise InputError(
            "with a delta, one-shot Laplace noise is proved private for epsilon up to 0.2 and "
            "delta up to 0.05 only",
            "give {delta=0}, or take {Peeling} or {JointOrPeel}, which make use of a delta at any "
            "epsilon",
            given={"epsilon": epsilon, "delta": delta},
        )


def subtract_down(total: float, part: float) -> float:
    """The total less a part, rounded down: with the part, it is at most the total."""
    rest = total - part
    fits = Fraction(rest) + Fraction(part) <= Fraction(total)
    return rest if fits else math.nextafter(rest, 0.0)


def divide_down(epsilon: float, k: int) -> float:
    """The largest float of which k make at most epsilon."""
    share = epsilon / k
    return share if k * Fraction(share) <= Fraction(epsilon) else math.nextafter(share, 0.0)


@lru_cache(maxsize=1024)
def _quantile_of_largest(delta: float, t: float) -> float:
    """A z with P(the largest of t standard normals > z) <= delta, hardly above the least such z.

    The tail of each is 1 - (1-delta)^(1/t), computed so that a small delta does not cancel.
    """
    log_tail = math.log(delta) - math.log(t)
    # Of delta / t, a lower bound of the tail. Near the end of the floats, P(Z > z) is at most
    # exp(-z²/2) / 2.
    if log_tail < -680:
        return math.sqrt(-2 * (log_tail + math.log(2))) * (1 + 2.0**-40)
    tail = -math.expm1(math.log1p(-delta) / t) * (1 - 2.0**-46)
    return bisect(
        lambda z: math.erfc(z / math.sqrt(2)) / 2 * (1 + 2.0**-40) <= tail,
        bad=-40.0,
        good=40.0,
        near=-NormalDist().inv_cdf(tail),
    )
