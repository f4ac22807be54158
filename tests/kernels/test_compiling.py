"""Loops are compiled once, and read from the cache without what only compiling needs."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache

from shortlist.kernels import _cache, compiling

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


def hits():
    """How often it was found in the cache, anew."""
    return sum(
        compiling.Kernel(one_more, "void(int64[::1])", {}).compiled.stats.cache_hits.values()
    )


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert (hits(), hits()) == (0, 1)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_change_of_any_loop_compiles_all_again(monkeypatch):
    monkeypatch.setattr(_cache, "_digest", lambda _: b"of other files")
    assert (hits(), hits()) == (0, 1)


def test_the_stamp_is_of_every_file(tmp_path):
    for name in ("caller.py", "called.py"):
        (tmp_path / name).write_text("one")
    before = _cache._digest(tmp_path)
    (tmp_path / "called.py").write_text("two")
    assert _cache._digest.__wrapped__(tmp_path) != before


@pytest.mark.parametrize(("kind", "left"), [("nbi", 100), ("nbi", 0), ("nbc", 0), ("nbc", 50)])
def test_a_cache_that_was_cut_off_is_written_again(folder, kind, left):
    (path,) = folder.rglob(f"*.{kind}")
    path.write_bytes(path.read_bytes()[:left])
    assert (hits(), hits()) == (0, 1)


def test_where_no_folder_can_be_written_to_loops_are_compiled(monkeypatch):
    def nowhere(*_):
        raise RuntimeError("no locator available")

    monkeypatch.setattr(FunctionCache, "__init__", nowhere)
    assert raised(compiling.Kernel(one_more, "void(int64[::1])", {})) == [1, 1]
