"""The commands that only tell: explain and help."""

import errno
import json

import pytest

import shortlist as sl
from helpers.command import top_k
from helpers.releases import release

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_saved_release_is_explained_as_the_release_itself(run, file, tmp_path, suffix):
    saved = tmp_path / f"top.{suffix}"
    assert run(*top_k(file, "--output", saved))[0] == 0
    status, out, err = run("explain", saved)
    assert (status, err) == (0, "")
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


def test_help_of_a_command_is_its_own(run):
    for words in (["top-k"], ["budget", "create"]):
        assert run("help", *words) == run(*words, "--help")
    assert run("help") == run("--help")


def test_help_of_all_commands_is_printed_in_turn(run):
    status, out, err = run("help", "--all")
    assert (status, err) == (0, "")
    for words in ([], ["rank"], ["budget"], ["budget", "verify"], ["explain"]):
        assert run(*words, "--help")[1] in out


def test_help_of_what_is_no_command_is_refused(complaint):
    assert complaint("help", "topk") == 'there is no command "topk". Did you mean "top-k"?'
    assert "Its help names all: shortlist --help." in complaint("help", "zzz")
    assert "there is no command" in complaint("help", "top-k", "more")


def test_where_it_cannot_be_printed_the_reason_is_told(complaint, tmp_path, monkeypatch):
    release(["a"]).save(tmp_path / "top.json")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout.write", full)
    said = "the explanation could not be printed: No space left on device."
    assert complaint("explain", tmp_path / "top.json") == said
