"""How the command ends, when it is interrupted, fails or cannot print."""
# ruff: noqa: S603 - the program that is run is our own

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from helpers.command import PROGRAM, domain, process, started, top_k
from helpers.refusals import MARKER
from shortlist import cli
from shortlist.cli import failure, request
from shortlist.errors import SPENT, InputError
from shortlist.plan import Plan

needs_sh = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes the streams")
pytestmark = pytest.mark.usefixtures("plain_terminal")


# Other ends


def test_an_interruption_is_one_line(complaint, file, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan, "run", interrupted)
    assert complaint(*domain(file), status=130) == "interrupted; nothing was released."
    monkeypatch.undo()
    monkeypatch.setattr(request.Request, "__init__", interrupted)
    assert complaint(*domain(file), status=130) == "interrupted; nothing was released."


@pytest.mark.parametrize("command", ["audit", "compare"])
def test_an_interruption_of_what_releases_nothing(complaint, file, monkeypatch, command):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.audit.run", interrupted)
    monkeypatch.setattr("shortlist.metrics.compare", interrupted)
    words = ["compare", *domain(file), "--not-private"] if command == "compare" else ["audit"]
    assert complaint(*words, status=130) == "interrupted."


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError(MARKER), "something went wrong inside (ValueError); please report it."),
        (BaseException(MARKER), "something went wrong inside (BaseException); please report it."),
        (MemoryError(MARKER), "there is not enough memory for this table."),
    ],
)
def test_errors_inside_quote_nothing(complaint, file, monkeypatch, error, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Plan, "run", fail)
    monkeypatch.setattr(failure, "discard_output", lambda: None)
    assert complaint(*domain(file), status=1) == said


def test_stderr_is_itself_again_after_a_failure(file, monkeypatch, capfd):
    def panic(*_, **__):
        os.write(2, b"thread panicked")
        raise InputError("damaged.")

    monkeypatch.setattr(Plan, "run", panic)
    monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, domain(file))])
    assert cli.exit_status() == 2
    os.write(2, b"heard")
    assert capfd.readouterr() == ("", "shortlist: damaged.\nheard")


# As a process


def test_what_the_library_logs_is_a_line_even_where_stderr_is_diverted():
    code = """
import logging
from shortlist.cli.publishing import without_panics
from shortlist.cli.failure import noting
with noting(), without_panics():
    logging.getLogger("shortlist").warning("loops are %s", "compiled")
logging.getLogger("shortlist").warning("as Python prints it")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == "shortlist: loops are compiled.\nas Python prints it\n"


def test_it_runs_as_a_module(file):
    status, out, err = process(*top_k(file))
    assert (status, err) == (0, "")
    assert out.startswith("top-k: 2 items\n")


def test_a_terminal_that_knows_no_unicode(file):
    status, out, err = process(*domain(file), env={"PYTHONIOENCODING": "ascii"})
    assert (status, err) == (0, "")
    assert r"\x1b[31m\u65e5\u672c" in out


def test_a_panic_inside_polars_is_one_line(tmp_path):
    path = tmp_path / "damaged.parquet"
    frame = pl.DataFrame({"user": [f"u{i}" for i in range(50)], "title": ["a"] * 50})
    frame.write_parquet(path, compression="uncompressed")
    fifty_values_of_six_bits = b"\x02\0\0\0\x64\x01\x06"
    of_too_many_bits = b"\x02\0\0\0\x64\x01\x44"
    path.write_bytes(path.read_bytes().replace(fifty_values_of_six_bits, of_too_many_bits))
    status, out, err = process(*domain(path))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "cannot be read to its end" in err


def closed(stream, *words):
    """As a process started with that stream closed."""
    shell = ["sh", "-c", f'exec "$@" {stream}', "sh", *PROGRAM, *map(str, words)]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@needs_sh
@pytest.mark.parametrize("words", [["--help"], ["--version"], domain("none.csv")])
def test_stdout_is_closed(words):
    status, out, err = closed(">&-", *words)
    assert (status, out) == (2, "")
    assert err.startswith("shortlist: standard output is closed")
    assert ("save the answer by --output" in err) is (words[0] == "domain")
    assert err.count("\n") == 1


@needs_sh
def test_stdout_is_closed_and_there_is_an_output(file, tmp_path):
    saved = tmp_path / "kept.csv"
    assert closed(">&-", *domain(file, "--output", saved)) == (0, "", f"Saved as {saved}.\n")
    assert saved.read_text().count("\n") == 6


@needs_sh
@pytest.mark.parametrize("streams", ["2>&-", "<&- 2>&-"])
def test_stderr_is_closed(file, streams):
    status, out, _ = closed(streams, *domain(file))
    assert status == 0
    assert out.startswith("domain: 5 items\n")
    assert closed(streams, "domain") == (2, "", "")


def test_a_reader_that_goes_away(file, tmp_path):
    running = started(*domain(file, "--output", tmp_path / "kept.csv"))
    running.stdout.close()
    assert running.stderr.read().startswith(b"Saved as")
    running.stderr.close()
    assert running.wait() == 1
    assert (tmp_path / "kept.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_an_answer_that_cannot_be_printed_is_saved(file, tmp_path):
    with Path("/dev/full").open("wb") as full:
        words = domain(file, "--output", tmp_path / "kept.csv")
        status, _, err = process(*words, stdout=full)
    assert status == 2
    assert "could not be printed: No space left on device." in err
    assert (tmp_path / "kept.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("words", [["--help"], ["help", "--all"], ["help", "top-k"]])
def test_a_help_that_cannot_be_printed(words):
    with Path("/dev/full").open("wb") as full:
        status, _, err = process(*words, stdout=full)
    said = "shortlist: the output cannot be written: No space left on device.\n"
    assert (status, err) == (2, said)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_ctrl_c_while_data_is_read(file):
    code = """
import os, signal, sys
import polars as pl
from shortlist.cli import main

collect = pl.LazyFrame.collect

def interrupted(self, **options):
    signalled = lambda rows: (os.kill(os.getpid(), signal.SIGINT), rows)[1]
    return collect(self.map_batches(signalled), **options)

pl.LazyFrame.collect = interrupted
main()
"""
    words = [sys.executable, "-c", code, *map(str, domain(file))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == f"shortlist: interrupted; nothing was released. {SPENT}\n"
