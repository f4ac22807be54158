"""The tutorial, done as it says, in both databases."""

import re
from pathlib import Path

import pytest

from helpers.pages import blocks
from shortlist.sources.store import store

PAGE = "tutorial-database"
URL = "sqlite:///items.db"


@pytest.fixture
def url(database, run):  # noqa: ARG001 - in its folder
    """The database with the tables of the tutorial."""
    for text in blocks(PAGE, "sql"):
        database.statements(text)
    return database.url


def test_the_commands_print_what_is_shown(url, run):
    dry, ask, shown, _ = blocks(PAGE, "")
    assert run(dry.replace(URL, url)).startswith("No row was read")
    printed = run(ask.replace(URL, url))
    assert printed[printed.index("protects") :] == shown
    assert Path("top.csv").read_text().count("\n") == 101


def test_a_delta_makes_what_is_shown_less(url, run):
    command = blocks(PAGE, "")[0].replace(URL, url)

    def planned(more, **parts):
        text = command
        for old, new in parts.values():
            text = text.replace(old, new)
        return run(f"{text} {more}")

    def deviation(text):
        return float(re.search(r"standard\s+deviation\s+([\d.]+)", text)[1])

    without, with_delta = planned(""), planned("--delta 1e-6")
    assert deviation(with_delta) < deviation(without) / 3
    assert "delta = 1e-06:" in with_delta
    for k, spent in ((1, "0"), (2, "0"), (6, "1e-06")):
        text = planned("--delta 1e-6", k=("-k 100", f"-k {k}"))
        assert f"delta = {spent}:" in " ".join(text.split())
        assert ("No use is made of delta=1e-06" in " ".join(text.split())) == (spent == "0")


def test_the_python_runs(url):
    for text in blocks(PAGE, "python"):
        names = {}
        exec(text.replace(URL, url), names)  # noqa: S102 - our own tutorial
    assert len(names["release"]) == 100
    assert names["players"].accesses.sorted < 2000


def test_the_index_of_the_tutorial_is_the_one_that_is_needed(database):
    *tables, index = blocks(PAGE, "sql")
    for text in tables:
        database.statements(text)
    asked = store(database.url, table="items", item="name", count="players")
    with pytest.raises(ValueError, match="CREATE INDEX"):
        asked.top_k(1, epsilon=1.0)
    database.statements(index)
    assert len(asked.top_k(1, epsilon=1.0)) == 1
