"""The tutorial, done as it says, in both databases."""

import re
from pathlib import Path

import pytest

from helpers.pages import blocks
from shortlist.sources.store import store

PAGE = "tutorial-database"
URL = "sqlite:///items.db"


def test_it_is_as_the_tutorial_says(database, run):
    """One database for all of it: its tables take a while."""
    *tables, index = blocks(PAGE, "sql")
    for text in tables:
        database.statements(text)
    require_an_index(database, index)
    dry, ask, shown, _ = (text.replace(URL, database.url) for text in blocks(PAGE, ""))
    assert run(dry).startswith("No row was read")
    printed = run(ask)
    assert printed[printed.index("protects") :] == shown
    assert Path("top.csv").read_text().count("\n") == 101
    require_that_a_delta_makes_it_less(dry, run)
    for text in blocks(PAGE, "python"):
        names = {}
        exec(text.replace(URL, database.url), names)  # noqa: S102 - our own tutorial
    assert len(names["release"]) == 100
    assert names["players"].accesses.sorted < 2000


def require_an_index(database, index):
    """The one that is shown, which is then there."""
    asked = store(database.url, table="items", item="name", count="players")
    with pytest.raises(ValueError, match="CREATE INDEX"):
        asked.top_k(1, epsilon=1.0)
    database.statements(index)
    assert len(asked.top_k(1, epsilon=1.0)) == 1


def require_that_a_delta_makes_it_less(command, run):
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
