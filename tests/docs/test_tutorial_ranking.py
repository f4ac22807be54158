"""The tutorial of rankings, done as it says."""

from pathlib import Path

import pytest

from helpers.pages import blocks

WRITE, ASK, EXPERIMENT = blocks("tutorial-ranking", "python")
DRY, COMMAND, SHOWN, SPECTRAL = blocks("tutorial-ranking", "")


@pytest.fixture(autouse=True)
def _table(run):  # noqa: ARG001 - in its folder
    exec(WRITE, {})  # noqa: S102 - our own tutorial


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
