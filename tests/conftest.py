"""Databases, and the command, for all tests that ask for them."""

import gc
import itertools
import os
import re
import signal
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import settings

import postgres
from helpers.clock import stopped
from helpers.command import ITEMS
from helpers.databases import Memory, Postgres, Sqlite
from helpers.refusals import MARKER
from shortlist import cli, kernels
from shortlist.privacy import _delta_curves
from shortlist.privacy.accountant._bounded_range import sweep

# No test hangs on how fast a machine is, nor on what was drawn before.
settings.register_profile("everywhere", deadline=None, derandomize=True)
settings.load_profile("everywhere")

# Interpreters that tests start need not compile the package each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Shells turn Ctrl-C off for jobs in the background, where tests of it would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)

_NUMBERS = itertools.count(1)
_BEGAN = time.monotonic()
WEAK = re.compile(
    r"^shortlist: warning: --(?:epsilon|delta) \S+: "
    r"(?:protection is weak|this protects|one user in).*\n",
    re.MULTILINE,
)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Without doctests: tests have none, and to look for them runs all helpers a second time."""
    return [found for found in (yield) if type(found) is pytest.Module]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What takes long waits for the exhaustive run; a case of each test does not."""
    waiting = set((Path(__file__).parent / "exhaustive.txt").read_text().splitlines())
    for item in items:
        if item.nodeid in waiting:
            item.add_marker(pytest.mark.exhaustive)


def pytest_addoption(parser):
    parser.addoption(
        "--minutes", type=float, default=float("inf"), help="after these, skip what has not begun"
    )


def pytest_runtest_setup(item):
    """Where time is short, as on a busy machine, what has passed by then is what counts."""
    minutes = item.config.getoption("minutes")
    if time.monotonic() - _BEGAN > 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes that these tests may take are over")


def pytest_sessionstart(session):
    """Compile all loops, where tests are run: a line on standard error would tell of the first."""
    if session.config.getoption("numprocesses", None):
        return
    loops = [getattr(kernels, name) for name in kernels.__all__]
    loops += [sweep, _delta_curves._halves_of_erfc]
    # Two processes meet in the middle, and find there what the other has compiled.
    second = os.environ.get("PYTEST_XDIST_WORKER") == "gw1"
    for loop in reversed(loops) if second else loops:
        getattr(loop, "compiled", None)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop():
    """Tests themselves are no garbage, and looking through all of them takes half a second."""
    gc.freeze()
    try:
        return (yield)
    finally:
        gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _one_day():
    """Every test takes place on one day, however long it takes; but not what it starts."""
    with pytest.MonkeyPatch.context() as patch:
        stopped(patch, "2026-11-22")
        yield


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server, started by the first test that needs it."""
    if why := postgres.why_not():
        pytest.skip(why)
    running = postgres.Server()
    try:
        running.start()
        yield running
    finally:
        running.remove()


@pytest.fixture
def sqlite(tmp_path):
    return Sqlite(tmp_path / "items.db")


@pytest.fixture
def postgresql(server):
    return Postgres(server, f"test_{next(_NUMBERS)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    """A database of either kind, without a table."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request):
    """Where a store can be: in memory, or in a database of either kind."""
    return Memory() if request.param == "memory" else request.getfixturevalue(request.param)


@pytest.fixture
def plain_terminal(monkeypatch):
    """A terminal of 80 columns that the environment says nothing of."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "PYTHONIOENCODING", "TERMINAL_WIDTH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def plays():
    """Item number i of five has (5 - i) 80 people, who hold nothing else."""
    held = [item for i, item in enumerate(ITEMS) for _ in range((5 - i) * 80)]
    return pl.DataFrame({"user": [f"{i:04d}" for i in range(len(held))], "title": held})


@pytest.fixture
def file(plays, tmp_path):
    path = tmp_path / "plays.parquet"
    plays.with_columns(secret=pl.lit(MARKER)).write_parquet(path)
    return path


@pytest.fixture
def readers(tmp_path):
    """A histogram: item number i of five has (5 - i) 1000 readers."""
    path = tmp_path / "readers.csv"
    numbers = [(5 - i) * 1000 for i in range(5)]
    frame = pl.DataFrame({"readers": numbers, "title": ITEMS, "secret": [MARKER] * 5})
    frame.write_csv(path)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process: exit status, standard output, standard error.

    Tests ask with little noise: that this protects weakly is in `run.warned` alone.
    """

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, words)])
        try:
            status = cli.exit_status()
        except SystemExit as end:
            status = end.code
        streams = capsys.readouterr()
        assert "Traceback" not in streams.err
        run.warned = "".join(WEAK.findall(streams.err))
        return status, _plain(streams.out), WEAK.sub("", streams.err)

    return run


@pytest.fixture
def complaint(run):
    """The one line that a command complains with, its end being status 2."""

    def complaint(*words, status=2):
        ended, out, err = run(*words)
        assert (ended, out) == (status, "")
        assert err.startswith("shortlist: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert MARKER not in err
        return err.removeprefix("shortlist: ").removesuffix("\n")

    return complaint


def _plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)
