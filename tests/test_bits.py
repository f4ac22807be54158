"""Random bits: seeded ones, the system's, and those of a child process."""

import itertools
import math
import os

import numpy as np
import pytest

from shortlist.bits import SeededBits, SystemBits
from shortlist.draws import ExactDraws


def test_seeded_bits_repeat_and_say_that_they_are_not_private():
    assert SeededBits(3).words(5).tolist() == SeededBits(3).words(5).tolist()
    assert SeededBits(3).words(5).tolist() != SeededBits(4).words(5).tolist()
    one = SeededBits(3)
    parts = list(itertools.chain(one.words(2).tolist(), one.words(3).tolist()))
    assert parts == SeededBits(3).words(5).tolist()
    assert SeededBits(3).private is False
    assert SystemBits().private is True
    assert ExactDraws().bits.private is True


@pytest.mark.parametrize("bits", [SystemBits(), SeededBits(1)])
def test_words_are_64_bits_each(bits):
    words = bits.words(4000)
    assert words.dtype == np.uint64
    assert words.shape == (4000,)
    assert len(np.unique(words)) == 4000
    ones = [int((words >> np.uint64(b) & np.uint64(1)).sum()) for b in range(64)]
    assert all(abs(count - 2000) < 6.5 * math.sqrt(1000) for count in ones)
    assert bits.words(0).shape == (0,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_shares_no_bits_with_its_parent():
    bits = SystemBits()
    bits.words(3)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, bits.words(8).tobytes())
        os._exit(0)
    os.close(writer)
    mine = bits.words(8)
    with os.fdopen(reader, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(child, 0)
    assert len(theirs) == 8
    assert not set(mine.tolist()) & set(theirs.tolist())
