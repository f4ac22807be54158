"""Scores in the shell."""

import pytest

pytestmark = pytest.mark.usefixtures("plain_terminal")

ASK = ("--item", "title", "--score", "hours", "-k", "2", "--epsilon", "3")
STATED = ("--sensitivity", "0.5", "--direction", "one", "--missing", "0")
KNOWN = "--public-items-in-table"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hours.csv"
    path.write_text("title,hours\nEmma,900.5\nDune,-40\nUlysses,nan\nPersuasion,-700\n")
    return path


def test_the_largest_and_the_smallest(answered, in_json, file):
    out = answered("scores", file, *ASK, *STATED, KNOWN)
    assert out.startswith("top-scores: 2 items\n")
    told = in_json("scores", file, *ASK, *STATED, KNOWN, "--bottom", "--noisy-scores")
    assert told["question"] == "bottom-scores"
    assert told["columns"]["low"] == "score_low"
    assert told["mechanism"]["parameters"]["sensitivity"] == 0.5


def test_a_list_says_what_is_public(answered, file, tmp_path):
    (tmp_path / "titles.csv").write_text("title\nEmma\nNew\n")
    out = answered("scores", file, *ASK, *STATED, "--public-items", tmp_path / "titles.csv")
    assert "Emma" in out
    assert "New" in out


@pytest.mark.parametrize("left_out", [0, 2, 4])
def test_what_is_stated_must_be_typed(complaint, file, left_out):
    stated = STATED[:left_out] + STATED[left_out + 2 :]
    assert STATED[left_out] in complaint("scores", file, *ASK, *stated, KNOWN)


def test_refusals_are_in_words_of_the_shell(complaint, file):
    said = complaint("scores", file, *ASK, *STATED)
    assert "one of --public-items and --public-items-in-table is needed" in said
    said = complaint("scores", file, *ASK, *STATED[:3], "both", *STATED[4:], KNOWN)
    assert "It must be one or any" in said
    said = complaint("scores", file, *ASK, *STATED, KNOWN, "--mechanism", "limited-domain")
    assert "it discovers private items, and these are public" in said
    said = complaint("scores", file, *ASK, *STATED, KNOWN, "--table", "hours")
    assert '--table "hours" goes with a database' in said


def test_a_dry_run_says_what_stands_for_a_person(answered, file):
    out = answered("scores", file, *ASK, *STATED, KNOWN, "--dry-run")
    assert "One user moves a score by at most 0.5." in " ".join(out.split())
