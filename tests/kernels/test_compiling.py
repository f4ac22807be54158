"""Loops are compiled once, and read from the cache without what only compiling needs."""

import ast
import logging
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache

import shortlist
from shortlist.kernels import _cache, compiling

ONLY_FOR_COMPILING = {"numba.np.linalg", "numba.np.arraymath"}
LOAD = """
import sys
from shortlist.kernels import rows_per_bucket
rows_per_bucket.compiled
print(*sys.modules)
"""


def run(code, cache):
    words = [sys.executable, "-c", code]
    where = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(words, env=where, capture_output=True, text=True, check=True)  # noqa: S603 - ours


def loaded(cache):
    return set(run(LOAD, cache).stdout.split())


def test_what_was_compiled_before_is_loaded_alone(tmp_path):
    assert loaded(tmp_path) >= ONLY_FOR_COMPILING
    assert not loaded(tmp_path) & ONLY_FOR_COMPILING


def test_compiling_loads_no_linear_algebra_but_for_loops_that_need_it(tmp_path):
    assert "scipy.linalg" not in loaded(tmp_path)
    ours = "from shortlist import kernels\nkernels.rows_per_bucket.compiled\n"
    theirs = "import numba, numpy as np\nprint(numba.njit(lambda a: np.dot(a, a))(np.ones(3)))"
    assert run(ours + theirs, tmp_path / "other").stdout == "3.0\n"


def test_a_line_says_that_loops_are_compiled_and_that_it_happens_once(tmp_path):
    two = "from shortlist import kernels\nkernels.rows_per_bucket.compiled, kernels.weigh.compiled"
    (line,) = run(two, tmp_path).stderr.splitlines()
    assert line == "compiling loops, which takes a few seconds and happens once after installing"
    assert run(two, tmp_path).stderr == ""
    # Which further loops are needed may depend on private rows.
    assert run("from shortlist import kernels\nkernels.mark.compiled", tmp_path).stderr == ""


def test_no_loop_copies_slices_at_once_which_takes_seconds_to_compile():
    """Numba compiles a message about shapes for it; a constant, as in `a[:] = 0`, needs none."""
    folder = Path(shortlist.__file__).parent
    loops = 0
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and "kernel" in "".join(
                map(ast.unparse, node.decorator_list)
            ):
                loops += 1
                assert not list(filter(copies_a_slice, ast.walk(node))), (path, node.name)
    assert loops > 30


def copies_a_slice(node):
    return (
        isinstance(node, ast.Assign)
        and any(isinstance(getattr(to, "slice", None), ast.Slice) for to in node.targets)
        and not isinstance(node.value, ast.Constant)
    )


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


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such rights")
def test_what_others_may_have_compiled_is_not_run(folder, caplog):
    (path,) = folder.rglob("*.nbi")
    path.parent.chmod(0o777)
    loop = compiling.Kernel(one_more, "void(int64[::1])", {})
    compiling._tell_each_time.cache_clear()
    with caplog.at_level(logging.WARNING, "shortlist"):
        assert raised(loop) == [1, 1]
    assert not loop.compiled.stats.cache_hits
    assert f"others can write to {path.parent}" in caplog.text
    path.parent.chmod(0o755)
    assert hits() == 1
