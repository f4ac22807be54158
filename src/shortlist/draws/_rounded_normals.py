"""Very many normal variables added to scores and rounded down: most by 32 random bits and a table.

The quantile function is a cubic in each of many cells. Its error is at most (1/64)^4 / 3072 times
the largest of (6 z³ + 7 z) (Φ / φ)⁴, which is below 13, as a cubic through Chebyshev's four points
is; `kernels.round_normals` takes a little more, for the floats. What that leaves open is settled by
balls, which ask for more bits where 32 are not enough.
"""

from __future__ import annotations

from functools import cache
from typing import TypeGuard

import numpy as np

from shortlist import kernels
from shortlist.draws.contract import Floats, Ints, Noise, RoundingGrid
from shortlist.draws.noise import Normal
from shortlist.draws.noisy_values import steps_in
from shortlist.draws.normal_law import normal_quantiles
from shortlist.draws.random_bits import Bits
from shortlist.draws.uniform import Uniform, settle
from shortlist.runtime.threads import parts, share

_WORTH_A_TABLE = 4096  # items: of fewer, other ways take less than loading the kernel
_FINEST = 2.0**14  # steps in a standard deviation: of finer ones, 32 bits leave too many open


def are_quick(noise: Noise, n: int, size: float) -> TypeGuard[Normal]:
    """Whether n noises are normal, and as many and as coarsely rounded as is worth a table."""
    if not isinstance(noise, Normal) or noise.bounds is not None or noise.weight != 1:
        return False
    return n >= _WORTH_A_TABLE and noise.sd <= _FINEST * size


def rounded_normals(
    scores: Ints, noise: Normal, grid: RoundingGrid, unit: float, bits: Bits, *, by_balls: bool
) -> Ints:
    """As `Draws.rounded_down`; `by_balls` alone, for tests, it ends the same."""
    words = bits.words(-(-len(scores) // 2)).view(np.uint32)[: len(scores)].copy()
    multiples = np.full(len(scores), kernels.UNCLEAR)
    shift, size = grid.step.bit_length() - 1, grid.step * unit

    def look(first: int, last: int) -> None:
        sd = noise.sd / size
        ends = grid.lowest, grid.highest
        kernels.round_normals(words, scores, first, last, shift, sd, _cubics(), *ends, multiples)

    def look_closely(i: int) -> int:
        from flint import arb

        uniform = Uniform(bits, int(words[i]), 32)
        whole, rest = divmod(int(scores[i]), grid.step)

        def steps() -> int | None:
            return steps_in(size, arb(rest) * arb(unit) + noise.ball(i, uniform.ball()))

        return whole + settle([uniform], steps)

    if not by_balls:
        share(parts(len(scores)), look, list)
    # In this thread: which bits each value gets must follow from the seed alone.
    unclear = np.flatnonzero(multiples == kernels.UNCLEAR)
    closely = np.array([look_closely(i) for i in unclear.tolist()], np.int64)
    multiples[unclear] = grid.clipped(closely)
    return multiples


@cache
def _cubics() -> Floats:
    """Φ⁻¹ from cell to cell, by the powers of how far into the cell a uniform is."""
    nodes = (1 + np.cos((2 * np.arange(4) + 1) * np.pi / 8)) / 2
    octaves = np.arange(kernels.OCTAVES)[:, None, None] + kernels.FIRST_OCTAVE
    cells = np.arange(kernels.CELLS)[:, None]
    chances = 2.0 ** (octaves - 32) * (1 + (cells + nodes) / kernels.CELLS)
    values = normal_quantiles(chances.ravel()).reshape(-1, 4)
    powers = np.vander(nodes, increasing=True)
    return np.ascontiguousarray(np.linalg.solve(powers, values.T).T)
