"""The tutorial of groups, done as it says."""

import pytest

from helpers.pages import blocks

WRITE, *STEPS = blocks("tutorial-groups", "python")
(COMMAND,) = blocks("tutorial-groups", "")


@pytest.fixture
def names(run):  # noqa: ARG001 - in its folder
    """What the tutorial's Python knows after it wrote the table."""
    known = {}
    exec(WRITE, known)  # noqa: S102 - our own tutorial
    return known


@pytest.mark.usefixtures("names")
def test_the_command_answers(run):
    assert run(COMMAND).startswith("top-k by country: 9 items in 3 groups\n")


def test_the_python_runs(names, capsys):
    for step in STEPS:
        exec(step, names)  # noqa: S102 - our own tutorial
    assert [group for group, _ in names["release"].groups()] == ["CH", "FR", "IT"]
    assert all("1" in part for _, part in names["release"].groups())
    assert all(f"{country} 2" in part for country, part in names["known"].groups())
    assert set(names["held"].to_polars()["country"]) == {"CH", "FR", "IT"}
    assert {country: len(part) for country, part in names["own"].groups()} == dict.fromkeys(
        ["CH", "FR", "IT"], 3
    )
    assert {country: len(part) for country, part in names["counted"].groups()} == dict.fromkeys(
        ["CH", "FR", "IT"], 3
    )
    assert "2 groups count at most" in capsys.readouterr().out
