"""Loops are compiled once, and then loaded and called without Numba."""

import ast
import logging
import os
import struct
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import shortlist
from shortlist import kernels
from shortlist.kernels import _kept_code, _machine_code, compiling

LOAD = """
import sys
from shortlist import kernels
kernels.{name}.compiled
print(*sys.modules)
"""


def run(code, cache):
    words = [sys.executable, "-c", code]
    where = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(words, env=where, capture_output=True, text=True, check=True)  # noqa: S603 - ours


def loaded(cache, name="rows_per_bucket"):
    return set(run(LOAD.format(name=name), cache).stdout.split())


@pytest.mark.parametrize("name", ["rows_per_bucket", "sort_chunks", "combine"])
def test_what_was_compiled_before_is_loaded_without_numba(tmp_path, name):
    assert "numba" in loaded(tmp_path, name)
    assert "numba" not in loaded(tmp_path, name)


def test_compiling_loads_no_linear_algebra(tmp_path):
    assert "scipy.linalg" not in loaded(tmp_path)
    ours = "from shortlist import kernels\nkernels.rows_per_bucket.compiled\n"
    theirs = """
import numba, numpy as np
print(numba.njit(lambda a: np.dot(a, a))(np.ones(3)))
"""
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


def one_more_of_a_copy(numbers):
    copied = numbers.copy()
    for place in range(len(numbers)):
        numbers[place] = copied[place] + 1


def raised(loop):
    numbers = np.zeros(2, np.int64)
    loop(numbers)
    return numbers.tolist()


def anew(loop=one_more):
    return compiling.Kernel(loop, "void(int64[::1])", {})


def is_kept():
    """Whether it was found, and did not have to be compiled; it works in any case."""
    loop = anew()
    assert raised(loop) == [1, 1]
    return "for_kernels" not in vars(loop)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert (is_kept(), is_kept()) == (False, True)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_change_of_any_loop_compiles_all_again(monkeypatch):
    monkeypatch.setattr(_kept_code, "_of_all", lambda: b"of other files")
    assert (is_kept(), is_kept()) == (False, True)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("what", ["get_host_cpu_name", "get_process_triple"])
def test_another_machine_compiles_all_again(monkeypatch, what):
    monkeypatch.setattr(llvm, what, lambda: "another")
    _kept_code._of_all.cache_clear()
    assert not is_kept()
    _kept_code._of_all.cache_clear()


def test_the_stamp_is_of_every_file(monkeypatch, tmp_path):
    monkeypatch.setattr(_kept_code, "_KERNELS", tmp_path)
    for name in ("caller.py", "called.py"):
        (tmp_path / name).write_text("one")
    before = _kept_code._of_all.__wrapped__()
    (tmp_path / "called.py").write_text("two")
    assert _kept_code._of_all.__wrapped__() != before


@pytest.mark.parametrize("left", [0, 50, 200, 1000, -1])
def test_a_file_that_was_cut_off_is_written_again(folder, left):
    (path,) = folder.rglob("*.code")
    path.write_bytes(path.read_bytes()[:left])
    assert (is_kept(), is_kept()) == (False, True)


def test_a_file_with_another_bit_is_written_again(folder):
    (path,) = folder.rglob("*.code")
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    assert (is_kept(), is_kept()) == (False, True)


@pytest.mark.parametrize("loop", [one_more, one_more_of_a_copy])
def test_where_no_folder_can_be_written_to_loops_are_compiled(monkeypatch, loop):
    monkeypatch.setattr(_kept_code, "_folders", lambda _: [])
    assert raised(anew(loop)) == [1, 1]


@pytest.mark.usefixtures("folder")
def test_where_a_file_cannot_be_written_loops_are_compiled(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_kept_code.Shelf, "keep", full)
    assert raised(anew(one_more_of_a_copy)) == [1, 1]


@pytest.mark.parametrize("kept", [False, True])
def test_loops_make_arrays_also_where_numba_has_their_memory_elsewhere(monkeypatch, folder, kept):
    if kept:
        assert raised(anew(one_more_of_a_copy)) == [1, 1]
    monkeypatch.setattr(_machine_code, "PathFinder", None)
    _machine_code._engine.cache_clear()
    loop = anew(one_more_of_a_copy)
    assert raised(loop) == [1, 1]
    assert isinstance(loop.compiled, _machine_code.Loop)
    assert len(list(folder.rglob("*.code"))) == 2
    _machine_code._engine.cache_clear()


def test_arrays_that_loops_make_are_freed(tmp_path):
    code = """
import resource, numpy as np
from shortlist.kernels import compiling
def touched(n):
    made = np.zeros(n)
    for place in range(n):
        made[place] = place
    return made[n - 1]
loop = compiling.Kernel(touched, "float64(int64)", {})
for _ in range(2):
    loop(1_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(100):
    assert loop(1_000_000) == 999_999
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    (tmp_path / "freed.py").write_text(code)
    words = [sys.executable, str(tmp_path / "freed.py")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert int(done.stdout) < 100_000  # of 800 MB


def test_a_numba_that_calls_in_another_way_calls_its_loops_itself(monkeypatch):
    monkeypatch.setattr(_machine_code, "_fits", lambda *_: False)
    loop = anew()
    assert raised(loop) == [1, 1]
    assert not isinstance(loop.compiled, _machine_code.Loop)


@pytest.mark.usefixtures("folder")
def test_what_needs_something_that_is_not_there_is_left_to_numba():
    shelf = _kept_code.Shelf(one_more)
    code = shelf.read()
    assert not code.needs
    vars(code)["needs"] = ["no_such_function"]
    shelf.keep(code)
    loop = anew()
    assert raised(loop) == [1, 1]
    assert not isinstance(loop.compiled, _machine_code.Loop)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such rights")
def test_what_others_may_have_compiled_is_not_run(folder, caplog):
    (path,) = folder.rglob("*.code")
    path.parent.chmod(0o777)
    compiling._tell_each_time.cache_clear()
    with caplog.at_level(logging.WARNING, "shortlist"):
        assert not is_kept()
    assert f"others can write to {path.parent}" in caplog.text
    path.parent.chmod(0o755)
    assert is_kept()


ROWS = np.arange(10, dtype=np.uint32)


@pytest.mark.parametrize(
    "wrong",
    [
        (ROWS.astype(np.int64), 1, 0, 10, np.zeros(5, np.int64)),
        (ROWS.reshape(2, 5), 1, 0, 10, np.zeros(5, np.int64)),
        (ROWS, 1, 0, 10, np.zeros(10, np.int64)[::2]),
        (ROWS, 1, 0, 10.5, np.zeros(5, np.int64)),
        (ROWS, 1, 0, 10, [0] * 5),
        (ROWS, 1, 0, 2**63, np.zeros(5, np.int64)),
        (ROWS, 1, 0, np.zeros(5, np.int64)),
    ],
)
def test_what_is_of_another_type_is_refused(wrong):
    with pytest.raises((TypeError, ValueError, OverflowError, AttributeError, struct.error)):
        kernels.rows_per_bucket(*wrong)


def test_what_cannot_be_written_to_is_refused():
    sizes = np.zeros(5, np.int64)
    sizes.flags.writeable = False
    with pytest.raises(TypeError, match="not writable"):
        kernels.rows_per_bucket(ROWS, 1, 0, 10, sizes)
    assert not sizes.any()


def whole(one, other, yes, shape, tall):
    tall[0, 0] = other
    tall[1, 2] = shape[1, 0, 1]
    return one - np.uint64(3) if yes else one


def test_numbers_and_arrays_of_several_axes_arrive_as_they_are():
    signature = (
        "uint64(uint64, float64, boolean, Array(int16, 3, 'C', readonly=True), float64[:, ::1])"
    )
    loop = compiling.Kernel(whole, signature, {})
    shape, tall = np.arange(12, dtype=np.int16).reshape(2, 3, 2), np.zeros((2, 3))
    shape.flags.writeable = False
    assert isinstance(loop.compiled, _machine_code.Loop)
    assert loop(2**64 - 9, 0.1, False, shape, tall) == 2**64 - 9
    assert loop(2**64 - 9, 0.1, True, shape, tall) == 2**64 - 12
    assert tall.tolist() == [[0.1, 0, 0], [0, 0, 7]]


def divided(one, other):
    return one // other


def test_what_a_loop_raises_is_raised():
    with pytest.raises(RuntimeError, match="has failed"):
        compiling.Kernel(divided, "int64(int64, int64)", {})(1, 0)


def test_every_loop_is_called_without_numba():
    loops = [loop for loop in vars(kernels).values() if isinstance(loop, compiling.Kernel)]
    assert len(loops) > 30
    assert all(_machine_code.form_of(loop._signature) for loop in loops)
