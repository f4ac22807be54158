"""The tutorial of groups, done as it says."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from shortlist import cli

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = (DOCS / "tutorial-groups.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
WRITE, *STEPS = (text for name, text in BLOCKS if name == "python")
(COMMAND,) = (text for name, text in BLOCKS if name == "")


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the tutorial's Python knows after it wrote the table."""
    monkeypatch.chdir(tmp_path)
    known = {}
    exec(WRITE, known)  # noqa: S102 - our own tutorial
    return known


@pytest.mark.usefixtures("names")
def test_the_command_answers(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", shlex.split(COMMAND))
    assert cli.exit_status() == 0
    assert capsys.readouterr().out.startswith("top-k by country: 9 items in 3 groups\n")


def test_the_python_runs(names, capsys):
    for step in STEPS:
        exec(step, names)  # noqa: S102 - our own tutorial
    assert [group for group, _ in names["release"].groups()] == ["CH", "FR", "IT"]
    assert all("1" in part for _, part in names["release"].groups())
    assert all(f"{country} 2" in part for country, part in names["known"].groups())
    assert set(names["held"].to_polars()["country"]) == {"CH", "FR", "IT"}
    assert {country: len(part) for country, part in names["counted"].groups()} == dict.fromkeys(
        ["CH", "FR", "IT"], 3
    )
    assert "2 groups count at most" in capsys.readouterr().out


def test_what_it_points_to_is_there():
    for link in re.findall(r"\]\(([^)]+)\)", TUTORIAL):
        assert (DOCS / link).exists(), link
