"""What is not in a list, from the shell: what is printed and what is refused."""

import json

import pytest

from helpers.command import COLUMNS

pytestmark = pytest.mark.usefixtures("plain_terminal")
PRICE = "--epsilon", "3", "--delta", "1e-3"


@pytest.mark.parametrize(
    "question", [("top-k", "-k", "1"), ("domain",)], ids=lambda words: words[0]
)
def test_it_stands_below_the_list_and_in_json(run, answered, file, question):
    name, *more = question
    words = [name, file, *COLUMNS, *more, *PRICE, "--others"]
    assert "users hold none of these items" in " ".join(answered(*words).split())
    told = json.loads(answered(*words, "--format", "json"))
    assert {"users_without", "coverage"} <= told["others"].keys()
    with_others, without = (run(*asked, "--format", "csv")[1] for asked in (words, words[:-1]))
    assert with_others.split("\n")[0] == without.split("\n")[0]


def test_a_plan_says_it_before_anything_is_spent(answered, file):
    out = answered("top-k", file, *COLUMNS, "-k", "1", *PRICE, "--others", "--dry-run")
    assert "how many users hold none of its items" in " ".join(out.split())
    assert "0.05 of the budget is withheld for that" in " ".join(out.split())


def test_what_is_refused(complaint, file, tmp_path):
    listed = tmp_path / "listed.csv"
    listed.write_text("title\n7\n")
    words = ["top-k", file, *COLUMNS, "-k", "1", *PRICE, "--others"]
    assert "user-counts" in complaint(*words, "--public-items", listed)
    assert "of one list, not of groups" in complaint(*words, "--by", "title")
    counted = ["top-k", file, "--item", "title", "--count", "user", "-k", "1", *PRICE, "--others"]
    assert "do not tell who holds what" in complaint(*counted)
    refused = complaint("hitting-set", file, *COLUMNS, "-k", "1", *PRICE, "--others")
    assert "--others" in refused
