"""Little memory is told in one line, whatever a library does without."""
# ruff: noqa: S603 - the program that is run is our own

import functools
import signal
import subprocess
import sys

import polars as pl
import pytest

from helpers.command import domain, top_k
from helpers.exhaustive import exhaustive
from shortlist.errors import InputError, lacks_memory
from shortlist.table.part import attempt

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no other system keeps the limit")
LONG = 300  # seconds in which nothing but a process that waits for ever is still there
START = "from shortlist.cli import limited_memory as memory, main\nimport os, sys, signal, time\n"


def limited(kilobytes, *words, code=None):
    """Exit status, standard output and standard error under `ulimit -v`."""
    program = ["-m", "shortlist"] if code is None else ["-c", START + code]
    bound = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (kilobytes * 1024,) * 2)
    done = subprocess.run(
        [sys.executable, *program, *map(str, words)],
        preexec_fn=bound,
        capture_output=True,
        timeout=LONG,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def rows(plays, tmp_path):
    path = tmp_path / "plays.csv"
    plays.write_csv(path)
    return path


@pytest.mark.parametrize(
    "megabytes",
    [
        *(50, 200, 600, 750, 1000),
        *(pytest.param(more, marks=pytest.mark.exhaustive) for more in (100, 400, 700, 1700)),
    ],
)
def test_a_small_table_is_answered_or_memory_is_said_to_be_short(rows, megabytes):
    question = top_k if megabytes % 100 else domain
    status, out, err = limited(megabytes * 1000, *question(rows))
    if status == 0:
        assert (out.count("epsilon=3.0"), err) == (1, "")
    else:
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert "memory" in err
    assert (status == 0) is (megabytes >= 1000) or megabytes in (700, 750)


def test_a_report_of_which_the_chart_cannot_be_drawn_is_without_it(rows, tmp_path):
    """V8 aborts where it cannot reserve address space: that ends a process that has no answer."""
    page = tmp_path / "top.html"
    status, out, err = limited(8_000_000, *domain(rows, "--noisy-counts", "--report", page))
    assert (status, out.count("epsilon=3.0")) == (0, 1)
    said, warned = err.splitlines()
    assert said == f"Saved as {page}."
    assert "warning: The chart could not be drawn here" in warned
    text = page.read_text(encoding="utf-8")
    assert "The chart could not be drawn here" in text
    assert "<svg" not in text


@pytest.mark.parametrize("megabytes", [750, *exhaustive(1000)])
def test_a_large_table_is_not_said_to_be_damaged(tmp_path, megabytes):
    path = tmp_path / "large.parquet"
    columns = [pl.int_range(0, 20_000_000, eager=True).alias(name) for name in ("user", "title")]
    pl.DataFrame(columns).write_parquet(path, compression="uncompressed", statistics=False)
    status, out, err = limited(megabytes * 1000, *domain(path))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "memory" in err
    assert "damaged" not in err
    assert "report" not in err


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("os.abort()", "a library ended the command by SIGABRT"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "a library ended the command by SIGSEGV"),
        ("os._exit(3)", "a library ended the command with status 3"),
    ],
)
@pytest.mark.parametrize("read", [False, True])
def test_how_a_library_ends_the_command_is_named(does, said, read):
    read_rows = "memory._tell(memory._PREPARED)\n    " if read else ""
    code = f"""
def run(**_):
    os.write(2, b"a library's own words")
    {read_rows}{does}

import shortlist.cli
shortlist.cli._run = run
main()
"""
    status, out, err = limited(1_000_000, code=code)
    spent = "Count the question's epsilon and delta as spent. " * read
    told = f"shortlist: memory is short: {said}. {spent}Allow more.\n"
    assert (status, out, err) == (1, "", told)


def test_libraries_that_wait_for_ever_are_ended():
    code = """
memory._PATIENCE = 0.5
memory._load = lambda: time.sleep(3600)
import shortlist.cli
shortlist.cli._run = lambda **_: memory.prepare()
main()
"""
    status, _, err = limited(1_000_000, code=code)
    told = "shortlist: memory is short: a library waited for ever and was ended. Allow more.\n"
    assert (status, err) == (1, told)


@pytest.mark.parametrize("status", [0, 2, 130])
def test_the_status_is_that_of_the_command(status):
    code = f"import shortlist.cli\nshortlist.cli._run = lambda **_: {status}\nmain()"
    assert limited(1_000_000, code=code) == (status, "", "")


def test_whoever_ends_the_command_ends_both():
    code = """
import shortlist.cli
def run(**_):
    print("ready", flush=True)
    time.sleep(3600)
shortlist.cli._run = run
main()
"""
    bound = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (10**9, 10**9))
    for number in (signal.SIGTERM, signal.SIGKILL):
        words = [sys.executable, "-c", START + code]
        with subprocess.Popen(words, preexec_fn=bound, stdout=subprocess.PIPE) as running:  # noqa: PLW1509
            assert running.stdout.readline() == b"ready\n"
            running.send_signal(number)
            assert running.communicate(timeout=LONG) == (b"", None)  # both have closed it
        assert running.returncode == {signal.SIGTERM: 143, signal.SIGKILL: -9}[number]


def test_help_and_refusals_load_nothing_more():
    status, out, err = limited(700_000, "top-k", "--help")
    assert (status, err, "Usage" in out) == (0, "", True)
    status, out, err = limited(700_000, *domain("none.csv", "--seed", 1))
    assert (status, out) == (2, "")
    assert err.startswith("shortlist: --seed 1: whoever knows the seed")


@pytest.mark.parametrize(
    ("error", "short"),
    [
        (MemoryError(), True),
        (OSError("Cannot allocate memory (os error 12)"), True),
        (BlockingIOError(11, "Resource temporarily unavailable"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("x.so: failed to map segment from shared object"), True),
        (OSError(2, "No such file"), False),
        (ValueError("out of memory"), False),  # it may quote a cell
        (pl.exceptions.ComputeError("could not parse `out of memory`"), False),
        (pl.exceptions.PanicException("memory allocation of 8 bytes failed"), True),
        (pl.exceptions.PanicException("index out of bounds"), False),
    ],
)
def test_which_errors_tell_of_memory(error, short):
    assert lacks_memory(error) is short

    def fail():
        raise error

    with pytest.raises(MemoryError if short else InputError) as raised:
        attempt(fail, InputError("damaged"))
    assert raised.value is error or raised.value.__context__ is None
