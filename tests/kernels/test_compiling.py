"""Loops are compiled once, and read from the cache without what only compiling needs."""

import os
import subprocess
import sys

import numpy as np
from numba.core.caching import FunctionCache

from shortlist.kernels import compiling

ONLY_FOR_COMPILING = {"numba.np.linalg", "numba.np.arraymath", "scipy.linalg"}
LOAD = """
import sys
from shortlist.kernels import rows_per_bucket
rows_per_bucket.compiled
print(*sys.modules)
"""


def loaded(cache):
    words = [sys.executable, "-c", LOAD]
    where = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(words, env=where, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return set(done.stdout.split())


def test_what_was_compiled_before_is_loaded_alone(tmp_path):
    assert loaded(tmp_path) >= ONLY_FOR_COMPILING
    assert not loaded(tmp_path) & ONLY_FOR_COMPILING


def one_more(numbers):
    numbers += 1


def raised(loop):
    numbers = np.zeros(2, np.int64)
    loop(numbers)
    return numbers.tolist()


def test_a_numba_with_another_cache_compiles_all_the_same(monkeypatch):
    monkeypatch.delattr(FunctionCache.__mro__[1], "_load_overload")
    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: None)
    assert raised(compiling.Kernel(one_more, "void(int64[::1])", {})) == [1, 1]


def test_where_no_folder_can_be_written_to_loops_are_compiled(monkeypatch):
    def nowhere(*_):
        raise RuntimeError("no locator available")

    monkeypatch.setattr(FunctionCache, "__init__", nowhere)
    assert raised(compiling.Kernel(one_more, "void(int64[::1])", {})) == [1, 1]
