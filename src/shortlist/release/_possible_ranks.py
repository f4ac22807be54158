"""Which ranks listed items may have by their numbers of users, all at once, from noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from shortlist.draws import Floats
from shortlist.draws.normal_law import normal_chances

OFTEN = 0.95
_FARTHEST = 64.0  # standard deviations: no range of as many draws as there can be is larger
_STEP = 2.0**-7
_UP = 1 + 1e-3  # more than the error of a sum of these steps


def often_in_each(parts: int) -> float:
    """How often each of so many parts must be right, so that all are together as `OFTEN`.

    The chances of being wrong add up at most. Fewer than one part count as one.

    >>> often_in_each(1), often_in_each(20)
    (0.95, 0.9975)
    """
    return 1 - (1 - OFTEN) / max(parts, 1)


def possible_ranks(
    counts: Sequence[float], own_sd: float, law: str, often: float = OFTEN, of: int | None = None
) -> tuple[list[int], list[int]]:
    """The best and the worst rank of each item among all of them, by their numbers of users.

    All these ranks are right together as often as asked: two items may be in either order unless
    their counts lie farther apart than the largest and the least of as many draws of noise. Items
    that as many users hold may be ranked in any order.

    Args:
        counts: Whole numbers with noise.
        own_sd: The standard deviation of the noise that each has alone.
        law: Of that noise, "Normal" or "Laplace".
        often: The chance with which they are.
        of: Of how many items these are some that were chosen when their noise was seen; None if
            they are all.

    >>> possible_ranks([900.0, 510.0, 500.0], 10.0, "Normal")
    ([1, 2, 2], [1, 3, 3])
    """
    values = np.asarray(counts, np.float64)
    spread = spread_of_noise(len(values) if of is None else of, law, often)
    apart = spread * own_sd + 1  # rounding moves each by up to 1/2
    rising = np.sort(values)
    ahead = len(values) - np.searchsorted(rising, values + apart, side="right")
    behind = np.searchsorted(rising, values - apart, side="left")
    best: list[int] = (1 + ahead).tolist()
    worst: list[int] = (len(values) - behind).tolist()
    return best, worst


@lru_cache(maxsize=64)
def spread_of_noise(n: int, law: str, often: float = OFTEN) -> float:
    """How far the largest and the least of n draws lie apart as `often`, rounded up.

    Args:
        n: How many; 0 for less than two.
        law: Of noise of standard deviation 1, "Normal" or "Laplace".
        often: A chance.

    >>> round(spread_of_noise(3, "Normal"), 2)
    3.32
    """
    if n < 2:
        return 0.0
    low, high = 0.0, _FARTHEST
    while high - low > _STEP**2:
        middle = (low + high) / 2
        too_near = _chance_beyond(n, middle, law) > 1 - often
        low, high = (middle, high) if too_near else (low, middle)
    return high * _UP


def _chance_beyond(n: int, apart: float, law: str) -> float:
    """That some of n draws lies farther than so much from the least, x.

    It is n ∫ f(x) ((1 - F(x))^(n-1) - (F(x + apart) - F(x))^(n-1)) dx. Of many groups it is small,
    and the chance that none does, which is close to 1, would not be exact enough.
    """
    x = np.arange(-_FARTHEST / 2, _FARTHEST / 2, _STEP) + _STEP / 2
    density, below = _LAWS[law]
    above = below(-x)  # the laws are symmetric
    within = np.maximum(above - below(-x - apart), 0)
    return float(np.sum(n * density(x) * (above ** (n - 1) - within ** (n - 1))) * _STEP)


def _normal_density(x: Floats) -> Floats:
    density: Floats = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return density


def _laplace_density(x: Floats) -> Floats:
    density: Floats = np.exp(-np.sqrt(2) * np.abs(x)) / np.sqrt(2)
    return density


def _laplace_below(x: Floats) -> Floats:
    tail: Floats = np.exp(-np.sqrt(2) * np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


_LAWS = {
    "Normal": (_normal_density, normal_chances),
    "Laplace": (_laplace_density, _laplace_below),
}
