"""How many scores a private top-k reads with one kind of access alone, on the family hard for it.

Nothing but accesses to scores is counted. So the noise of every item is known from the start, which
is as much as any such algorithm could hope for, and each stops at the first access at which the
answer is certain. Noise is in floats, from a seeded generator.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable

import numpy as np

from shortlist.draws import Floats, Ints

__all__ = ["N", "random_alone", "sorted_alone"]

N = 1000  # users: no count is larger


def sorted_alone(m: int, k: int, scale: float, rng: np.random.Generator) -> int:
    """By falling score, until no item further down can be among the best k.

    Wu et al. (2023), Theorem 5.3: half of all scores are N, but 1/k of these N - 1; the others 0.

    Args:
        m: How many items.
        k: How many are wanted.
        scale: Of the Gumbel noise.
        rng: Where the noise comes from.
    """
    half = m // 2
    scores = np.zeros(m, np.int64)
    scores[:half] = N
    scores[half - half // k : half] = N - 1
    noise = rng.gumbel(scale=scale, size=m)
    unseen = np.append(np.maximum.accumulate(noise[::-1])[::-1], -np.inf)
    return _first(m, k, scores + noise, lambda r: scores[r - 1] + unseen[r])


def random_alone(m: int, k: int, scale: float, rng: np.random.Generator) -> int:
    """By falling noise, until no item further down could be among the best k, were its score N.

    Wu et al. (2023), Theorem 5.1: each score is N with chance 2k / m, else 0. That none is larger
    than N is known beforehand.

    Args:
        m: How many items.
        k: How many are wanted.
        scale: Of the Gumbel noise.
        rng: Where the noise and the scores come from.
    """
    scores: Ints = np.where(rng.random(m) < 2 * k / m, N, 0)
    noise = np.append(np.sort(rng.gumbel(scale=scale, size=m))[::-1], -np.inf)
    return _first(m, k, scores + noise[:-1], lambda r: N + noise[r])


def _first(m: int, k: int, noisy: Floats, beyond: Callable[[int], float]) -> int:
    """After how many accesses k of the items read are at least as good as all beyond."""

    def certain(r: int) -> bool:
        return int(np.count_nonzero(noisy[:r] >= beyond(r))) >= k

    return 1 + bisect.bisect_left(range(1, m), x=True, key=certain)
