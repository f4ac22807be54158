"""What the command prints, and that no answer that was paid for is lost."""

import csv
import io
import json
import os
import sys
from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from helpers.command import COLUMNS, domain, process, started, top_k
from shortlist.cli import publishing
from shortlist.release import Release

FULL = Path("/dev/full")
TOTAL = 150
ODD = ["a|b", "line\nend", "<b>x</b>", "=1+1", "\x1b[31mred", "x" * 300, "日本"]
SPENT = "the budget is spent: do not ask again."
pytestmark = pytest.mark.usefixtures("plain_terminal")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
needs_pty = pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal")


@pytest.fixture
def many(tmp_path):
    """A table of 150 items, odd ones among them, each held by 60 people."""
    items = [*ODD, *(f"item {i}" for i in range(TOTAL - len(ODD)))]
    held = [item for item in items for _ in range(60)]
    path = tmp_path / "many.parquet"
    pl.DataFrame({"user": range(len(held)), "title": held}).write_parquet(path)
    return path


def in_terminal(*words, cwd):
    """As `process`, with standard output on a terminal."""
    shown, screen = pytest.importorskip("pty").openpty()
    with started(*words, cwd=cwd, stdout=screen) as running:
        os.close(screen)
        out = b""
        while block := read(shown):
            out += block
        err = running.stderr.read()
    os.close(shown)
    return running.returncode, out.decode().replace("\r\n", "\n"), err.decode()


def read(number):
    try:
        return os.read(number, 65536)
    except OSError:  # the other end was closed
        return b""


# All rows


def test_all_rows_are_printed_where_stdout_is_no_terminal(many, tmp_path):
    status, out, err = process(*domain(many), cwd=tmp_path)
    assert (status, err) == (0, "")
    assert sum(f"item {i}\n" in out for i in range(TOTAL - len(ODD))) == TOTAL - len(ODD)
    assert "x" * 300 in out
    assert r"line\nend" in out
    assert "\x1b" not in out
    assert "epsilon=3.0" in out


@pytest.mark.parametrize("form", ["table", "csv", "json", "markdown"])
@pytest.mark.parametrize("output", [[], ["--output", "-"], ["--output", "kept.json"]])
def test_every_form_has_all_rows(run, many, tmp_path, monkeypatch, form, output):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*domain(many, "--format", form, *output))
    assert (status, out.count("item ")) == (0, TOTAL - len(ODD))
    assert ("Saved" in err) is ("kept.json" in output)
    assert (tmp_path / "kept.json").exists() is ("kept.json" in output)
    assert list(tmp_path.glob("-*")) == []


def test_the_forms_say_the_same(run, many, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seeded = domain(many, "--seed", 1, "--not-private")
    _, as_json, none = run(*seeded, "--format", "json")
    whole = json.loads(as_json)
    assert (none, len(whole["items"])) == ("", TOTAL)
    assert run(*seeded, "--json")[1] == as_json
    _, as_csv, err = run(*seeded, "--format", "csv", "--output", "-")
    head, *rows = csv.reader(io.StringIO(as_csv))
    assert head == ["rank", "title"]  # weights are no numbers of users
    assert whole["columns"]["score"] == "weight"
    assert "CSV leaves the guarantee out; json and markdown have it." in err
    assert "not private: the noise came from a seed" in err
    run(*seeded, "--output", "kept.json")
    kept = sl.load(tmp_path / "kept.json")
    assert run(*seeded, "--format", "markdown")[1] == kept.to_markdown()
    assert kept.to_json() == as_json
    assert [int(row[0]) for row in rows] == list(range(1, TOTAL + 1))


def test_csv_is_faithful_and_utf_8_wherever_a_program_reads_it(many, tmp_path):
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    status, out, _ = process(*domain(many, "--format", "csv"), cwd=tmp_path, env=ascii_only)
    assert status == 0
    _, *rows = csv.reader(io.StringIO(out, newline=""))
    assert {row[1] for row in rows} > set(ODD)
    assert ",日本\n" in out


def test_the_words_about_printing_fit(complaint, file, tmp_path):
    said = complaint(*domain(file, "--json", "--format", "csv"))
    assert said == "--json and --format csv: give one of the two."
    said = complaint(*domain(file, "--format", "xml"))
    assert '"xml" is not known. It must be table, csv, json or markdown.' in said
    said = complaint(*domain(file, "--dry-run", "--format", "csv"))
    assert said == "--format csv: --dry-run prints words, or JSON; omit it."
    for words in (["--overwrite"], ["--overwrite", "--output", "-"]):
        said = complaint(*domain(file, *words))
        assert said == "--overwrite goes with --output FILE or --report FILE; omit it."
    assert list(tmp_path.iterdir()) == [file]


def test_fewer_than_asked_for_is_said_beside_a_form_for_programs(run, file):
    for form in ("json", "csv"):
        assert "Fewer than 9 came out" in run(*top_k(file, "--format", form, k=9))[2]
    assert run(*top_k(file, "--json", k=5))[2] == ""


def test_empty_items_can_be_seen_and_joined_emoji_are_whole(run, tmp_path):
    family = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}"
    items = ["", "  ", family, "a\N{ZERO WIDTH JOINER}b"]
    path = tmp_path / "items.parquet"
    pl.DataFrame({"user": range(2000), "title": items * 500}).write_parquet(path)
    words = domain(path)
    for form in ("table", "markdown"):
        out = run(*words, "--format", form)[1].replace("\\\\", "\\")
        assert family in out
        assert ' ""' in out
        assert ' "  "' in out
        assert r"a\u200db" in out
    release = sl.pairs(str(path), user="user", item="title").domain(epsilon=1.0, delta=1e-6)
    assert '"  "' in str(release)
    assert "&quot;&quot;</td>" in release._repr_html_()


# A terminal


@needs_pty
@pytest.mark.parametrize("more", [[], ["--format", "csv"], ["--output", "kept.json"]])
def test_a_terminal_shows_all_but_what_is_saved(many, tmp_path, more):
    status, out, err = in_terminal(*domain(many, *more), cwd=tmp_path)
    assert status == 0
    saved = "--output" in more
    assert (out.count("item ") > 130) is not saved
    assert ("… and 120 more" in out) is saved
    assert err.endswith("To keep a long list, add --output FILE the next time.\n") is not saved
    assert "Ctrl-C" not in err
    assert "\x1b[31mred" not in out


@needs_pty
def test_only_long_answers_are_told_of(file, many, tmp_path):
    told = "add --output FILE"
    assert told not in in_terminal(*top_k(file, k=101), cwd=tmp_path)[2]  # five come out
    assert told not in in_terminal(*domain(many, "--output", "-"), cwd=tmp_path)[2]


# What fails


@needs_full
@pytest.mark.parametrize("form", ["table", "csv"])
def test_what_cannot_be_printed_is_kept(many, tmp_path, form):
    with FULL.open("wb") as full:
        words = domain(many, "--format", form)
        status, _, err = process(*words, cwd=tmp_path, stdout=full)
    assert status == 2
    (kept,) = tmp_path.glob("shortlist-answer-*.json")
    assert len(sl.load(kept)) == TOTAL
    said = "shortlist: the answer could not be printed: No space left on device."
    assert err == f'{said} It is in "{kept.name}", and {SPENT}\n'


@needs_full
def test_what_cannot_be_printed_is_in_the_file_that_was_asked_for(many, tmp_path):
    with FULL.open("wb") as full:
        words = domain(many, "--output", "kept.parquet")
        status, _, err = process(*words, cwd=tmp_path, stdout=full)
    assert status == 2
    assert 'It is in "kept.parquet"' in err
    assert len(sl.load(tmp_path / "kept.parquet")) == TOTAL
    assert not list(tmp_path.glob("shortlist-answer-*"))


def test_a_reader_that_goes_away_loses_nothing(many, tmp_path):
    with started(*domain(many, "--json"), cwd=tmp_path) as running:
        running.stdout.close()
        err = running.stderr.read().decode()
    assert running.returncode == 1
    (kept,) = tmp_path.glob("shortlist-answer-*.json")
    assert len(sl.load(kept)) == TOTAL
    assert "could not be printed: Broken pipe." in err
    assert err.endswith(f"{SPENT}\n")


def test_where_no_file_can_be_written_the_answer_is_on_stderr(run, file, monkeypatch):
    def fail(*_, **__):
        raise OSError

    monkeypatch.setattr(Release, "save", fail)
    monkeypatch.setattr(publishing, "_rendered", fail)
    monkeypatch.setattr(publishing, "discard_output", lambda: None)
    status, _, err = run(*domain(file))
    assert status == 2
    answer, said = err.split("\nshortlist: ")
    assert len(json.loads(answer)["items"]) == 5
    assert said == f"the answer could not be printed: OSError. It is above, and {SPENT}\n"


def test_whatever_fails_in_printing_loses_nothing(run, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(publishing, "discard_output", lambda: None)
    for error, ended in ((MemoryError, 2), (KeyboardInterrupt, 130), (UnicodeError, 2)):

        def fail(*_, error=error, **__):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(publishing, "_rendered", fail)
            status, out, err = run(*domain(file))
        (kept,) = tmp_path.glob("shortlist-answer-*.json")
        assert (status, out, len(sl.load(kept))) == (ended, "", 5)
        assert err.endswith(f"{SPENT}\n")
        kept.unlink()


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, MemoryError])
def test_what_cannot_be_saved_is_printed_whole(run, many, tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Release, "save", fail)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    status, out, err = run(*domain(many, "--output", tmp_path / "x.csv"))
    assert status == 2
    assert out.count("item ") == TOTAL - len(ODD)
    assert "keep what was printed, which is all of it" in err
    assert err.endswith(f"{SPENT}\n")


def test_an_output_that_exists_is_refused_before_anything_is_read(complaint, run, file, tmp_path):
    path = tmp_path / "kept.json"
    path.write_text("paid for")
    said = complaint(*domain("none.csv", "--output", path))
    assert said == (
        f"cannot write '{path}': it exists, and may hold an answer; give another name, or "
        "--overwrite."
    )
    assert path.read_text() == "paid for"
    assert run(*domain(file, "--output", path, "--overwrite"))[0] == 0
    assert len(sl.load(path)) == 5


# Words that were meant otherwise


@pytest.mark.parametrize(
    "number", ["1_0", "\uff11", "\u0661", " 1", "1 ", "0x1", "1e", "infinity", "", "1_0.0", "+-1"]
)
def test_numbers_are_written_in_digits(complaint, file, number):
    said = complaint(*top_k(file, "--epsilon", number))
    assert f"'--epsilon': \"{number}\" is not a number. Write it in digits, as 0.5 or 1e-6." in said
    for option in ("-k", "--max-items-per-user"):
        said = complaint(*top_k(file, option, number))
        assert f'"{number}" is not a whole number. Write it in digits, such as 20.' in said


@pytest.mark.parametrize("number", ["1", "+1", "1.", ".5", "1e0", "1E+0", "5e-1", "01"])
def test_numbers_in_digits_are_taken(run, file, number):
    assert run(*top_k(file, "--epsilon", number, "--dry-run"))[0] == 0


@pytest.mark.parametrize(
    ("again", "option"),
    [
        (["--epsilon", "1"], "--epsilon"),
        (["--epsilon=1"], "--epsilon"),
        (["-k", "3"], "-k"),
        (["-k3"], "-k"),
        (["--user", "user"], "--user"),
        (["--json", "--json"], "--json"),
        (["--format", "csv", "--format", "csv"], "--format"),
        (["--output", "a.csv", "--output", "b.csv"], "--output"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(complaint, file, again, option):
    words = ["top-k", file, *COLUMNS, "-k", 2, "--epsilon", 5, "--delta", "1e-6", *again]
    said = complaint(*words)
    assert said == f"Option '{option}' is given 2 times. See shortlist top-k --help."


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--json"]])
def test_a_weak_guarantee_is_warned_of(run, file, more):
    status, out, err = run(*domain(file, "--epsilon", "20.5", "--delta", "0.001", *more))
    assert (status, bool(out)) == (0, True)
    assert err == ""
    first, second = run.warned.splitlines()
    assert first.startswith("shortlist: warning: --epsilon 20.5: this protects hardly at all; ")
    assert second == (
        "shortlist: warning: --delta 0.001: one user in 1,000 may be published whole. "
        "Take one far below 1 / (number of users), such as 1e-06."
    )
    assert run(*domain(file, "--epsilon", 3, "--delta", "0.0001", *more))[2] == run.warned == ""
