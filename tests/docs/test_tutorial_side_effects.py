"""The tutorial of side effects, done as it says."""

import re
from pathlib import Path

import pytest

from helpers.pages import blocks

WRITE, ASK = blocks("tutorial-side-effects", "python")
CREATE, DRY, NOISE, COMMAND, SHOWN = blocks("tutorial-side-effects", "")
GO_WITH_IT = {f"drug {number}" for number in range(1, 7)}


@pytest.fixture(autouse=True)
def _study(run):
    exec(WRITE, {})  # noqa: S102 - our own tutorial
    run(CREATE)


def parted(printed):
    """The drugs that a terminal shows, and what stands below them."""
    listed, promised = printed.split("\n\nprotects", 1)
    return set(re.findall(r"drug \d+", listed)), promised


def test_it_is_as_the_tutorial_says(run, capsys):
    plan = run(DRY)
    assert plan.startswith("No row was read")
    assert NOISE in plan
    named, promised = parted(run(COMMAND))
    assert (named, promised) == parted(SHOWN)
    assert named == GO_WITH_IT
    assert "How sure is it that an item goes with the label?" in Path("rash.html").read_text()
    names = {}
    exec(ASK, names)  # noqa: S102 - our own tutorial
    assert "10 items are picked" in capsys.readouterr().out
    release = names["release"]
    assert set(release.items) == named
    assert release.to_polars().height == 10
    assert release.given_before.charge == 1
