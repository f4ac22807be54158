"""Sources of random bits: the operating system's, and a seeded one for tests."""

from shortlist.draws.random_bits import Bits, SeededBits, SystemBits

__all__ = ["Bits", "SeededBits", "SystemBits"]
