"""The tutorial of rankings, done as it says."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from shortlist import cli

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = (DOCS / "tutorial-ranking.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
WRITE, ASK, EXPERIMENT = (text for name, text in BLOCKS if name == "python")
DRY, COMMAND, SHOWN, SPECTRAL = (text for name, text in BLOCKS if name == "")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command beside the table of the tutorial."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    exec(WRITE, {})  # noqa: S102 - our own tutorial

    def run(command):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        assert cli.exit_status() == 0
        return capsys.readouterr().out

    return run


def test_the_commands_print_what_is_shown(run):
    assert run(DRY).startswith("No row was read")
    printed = run(COMMAND)
    assert printed[printed.index("protects") :] == SHOWN
    assert Path("best.csv").read_text().count("\n") == 11
    printed = run(SPECTRAL)
    assert printed.startswith("rank: 10 items\n")
    assert "who won, in one comparison" in printed


def test_the_python_runs(run):
    names = {}
    exec(ASK, names)  # noqa: S102 - our own tutorial
    best = {f"song {number}" for number in range(14)}
    assert len(names["release"]) == 10
    assert set(names["release"].items) <= best
    assert "song 0" in run(COMMAND)
    exec(EXPERIMENT, names)  # noqa: S102 - our own tutorial
    assert names["scores"].argmax() == 0
    assert 0 < names["coefficient"] < 1


def test_what_it_points_to_is_there():
    for link in re.findall(r"\]\(([^)]+)\)", TUTORIAL):
        assert (DOCS / link).exists(), link
