"""Sources of random bits: the operating system's, and a seeded one for tests."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError, is_whole


class Bits(Protocol):
    """Where random bits come from."""

    @property
    def private(self) -> bool:
        """Whether nobody can know the bits beforehand; a release says so if not."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """`n` independent uniform 64-bit words, shape (n,)."""


@dataclass(frozen=True)
class SystemBits:
    """The operating system's cryptographic generator, read afresh at every call.

    Nothing is kept between calls, so a forked process shares no bits with its parent.
    """

    private = True

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * n), np.uint64)


@dataclass(frozen=True)
class SeededBits:
    """The same words for the same seed: for tests. A release drawn from it is not private.

    >>> SeededBits(7).words(1) == SeededBits(7).words(1)
    array([ True])
    """

    seed: int
    _generator: np.random.Generator = field(init=False, repr=False, compare=False)
    private = False

    def __post_init__(self) -> None:
        if not (is_whole(self.seed) and self.seed >= 0):
            raise InputError("must be a whole number, 0 or more", given={"seed": self.seed})
        object.__setattr__(self, "_generator", np.random.default_rng(self.seed))

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._generator.bytes(8 * n), np.uint64)
