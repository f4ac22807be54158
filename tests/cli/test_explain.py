"""What a saved release means, explained by the command."""

import errno
import io
import json
import os
import sys
import threading

import pytest

import shortlist as sl
from helpers.command import top_k
from helpers.releases import release

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_saved_release_is_explained_as_the_release_itself(run, answered, file, tmp_path, suffix):
    saved = tmp_path / f"top.{suffix}"
    assert run(*top_k(file, "--output", saved))[0] == 0
    out = answered("explain", saved)
    assert out == sl.load(saved).explain()
    assert 'Who is protected?\n  Protected: all rows of any one "user".' in out
    assert "The list ends here because 2 were asked for." in out


def test_a_release_of_a_seed_is_explained_loudly(run, file, tmp_path):
    saved = tmp_path / "top.json"
    assert run(*top_k(file, "--output", saved, "--seed", "1", "--not-private"))[0] == 0
    assert (
        "\nNOT PRIVATE: THE NOISE CAME FROM A SEED. Nobody is protected" in run("explain", saved)[1]
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.json", None, "No such file or directory."),
        ("top.csv", "rank,item", "a whole release is in a .json or .parquet file"),
        ("top.json", "{", "it is not JSON."),
        ("top.json", json.dumps({"a": 1}), "it is not a release that shortlist saved."),
        ("top.parquet", "PAR1", "it is not a Parquet file."),
    ],
)
def test_what_is_no_release_is_refused(complaint, tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    assert said in complaint("explain", tmp_path / name)


def test_what_is_explained_moves_no_cursor(run, tmp_path):
    hostile = "\x1b[31mred\u202e"
    release(["a"], question=hostile, unit=hostile).save(tmp_path / "top.json")
    assert "\x1b" not in (told := run("explain", tmp_path / "top.json")[1])
    assert "\u202e" not in told


def test_where_it_cannot_be_printed_the_reason_is_told(complaint, tmp_path, monkeypatch):
    release(["a"]).save(tmp_path / "top.json")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout.write", full)
    said = "the explanation could not be printed: No space left on device."
    assert complaint("explain", tmp_path / "top.json") == said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_release_is_explained_from_a_pipe(run, complaint, file, monkeypatch, tmp_path):
    saved = run(*top_k(file, "--json"))[1].encode()

    def piped(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    piped(saved)
    assert run("explain", "-")[1].startswith("The items that the most users hold\nMade on: ")
    named = tmp_path / "pipe"
    os.mkfifo(named)
    writer = threading.Thread(target=named.write_bytes, args=(saved,))
    writer.start()
    assert run("explain", named)[1].startswith("The items that the most users hold")
    writer.join()
    for wrong in (b"", b"user,item\n", b"{}"):
        piped(wrong)
        assert "print it by --json, and write --json | shortlist explain -." in complaint(
            "explain", "-"
        )
