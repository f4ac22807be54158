"""Draws from fixed seeds, so that accuracy can be measured again: nothing here is private."""

from __future__ import annotations

import zlib

from shortlist.bits import SeededBits
from shortlist.draws import Draws, ExactDraws

__all__ = ["bits_of", "draws_of"]


def bits_of(*label: object) -> SeededBits:
    """The bits that belong to this label, the same every time."""
    return SeededBits(zlib.crc32(" ".join(map(str, label)).encode()))


def draws_of(*label: object) -> Draws:
    """The draws that belong to this label, the same every time."""
    return ExactDraws(bits_of(*label))
