"""Normal variables from 32 random bits each, rounded down where so many bits are enough."""

from __future__ import annotations

import math

import numpy as np

from shortlist.kernels.compiling import kernel

CELLS = 64
"""In how many parts an octave of uniforms is cut, from 2^(e - 32) to twice that."""
FIRST_OCTAVE = 8
"""The first e of the table: what is below it is unclear."""
OCTAVES = 31 - FIRST_OCTAVE

UNCLEAR = -(2**63)
"""In place of what more bits have to decide."""

_FIT = 2.0**-31  # standard deviations that a cubic of the table, and its evaluation, are off by
_HALF_WIDTH = 0.627  # half of 1.2534 > Φ / φ, from 0 downwards, and a little more
_LOW_BITS = 46  # of a float's 52, behind those that say the cell
_FLOATS = 2.0**-48  # a few float operations
_BIAS = 1023


@kernel(
    "void(uint32[::1], int64[::1], int64, int64, int64, float64, float64[:, ::1], int64, int64, "
    "int64[::1])"
)
def round_normals(words, scores, first, last, shift, sd, cubics, lowest, highest, multiples):
    """How many steps fit into score + noise, rounded down, for the items first .. last - 1.

    The noise is Φ⁻¹(U) · sd steps, and U lies between w and w + 1 in units of 2^-32. In the lower
    half of the uniforms a cubic of the table gives Φ⁻¹ at the middle of this; in the upper half it
    is that of 1 - U. The two ends are as far from the middle as Φ / φ, which is below 1.2534, times
    the difference of their logarithms. Where both are in one step, its number is known, and kept
    within the grid; elsewhere `UNCLEAR` is written.

    `scores` are in parts of a step, of which there are 2^shift.
    """
    part = 2.0**-shift
    for i in range(first, last):
        word = np.int64(words[i])
        upper = word >> 31
        word ^= -upper & 0xFFFFFFFF
        multiples[i] = UNCLEAR
        if word >> FIRST_OCTAVE == 0:
            continue
        bits = np.float64(word + 0.5).view(np.int64)
        cell = (bits >> _LOW_BITS) - (_BIAS + FIRST_OCTAVE) * CELLS
        at = (bits & ((1 << _LOW_BITS) - 1)) * 2.0**-_LOW_BITS
        noise = cubics[cell, 0] + at * (
            cubics[cell, 1] + at * (cubics[cell, 2] + at * cubics[cell, 3])
        )
        noise *= -sd if upper else sd
        value = (scores[i] & ((1 << shift) - 1)) * part + noise
        off = (_FIT + _HALF_WIDTH / word) * sd + (abs(noise) + 1.0) * _FLOATS
        steps = math.floor(value - off)
        if steps == math.floor(value + off):
            multiples[i] = min(max((scores[i] >> shift) + np.int64(steps), lowest - 1), highest)
