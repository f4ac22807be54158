"""The page on choosing epsilon, k and a bound, done as it says."""

import re
import shlex
import sys
from pathlib import Path

from shortlist import cli
from shortlist.metrics.trials import NOT_PRIVATE

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "choosing.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMPARE, DRAW = (text for name, text in BLOCKS if name == "python")
(COMMAND,) = (text for name, text in BLOCKS if name == "sh")
(SHOWN,) = (text for name, text in BLOCKS if name == "")


def test_the_python_runs_and_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(COMPARE, names)  # noqa: S102 - our own page
    printed, shown = (text.strip("\n").split("\n") for text in (repr(names["found"]), SHOWN))
    assert printed[0] == shown[0]
    assert printed[1].split() == shown[1].split()
    asked = [line.split()[:4] for line in shown[3:9]]  # what comes after them is drawn at random
    assert [line.split()[:4] for line in printed[3:9]] == asked
    assert printed[-1] == shown[-1] == NOT_PRIVATE
    exec(DRAW, names)  # noqa: S102 - our own page
    assert (tmp_path / "choosing.png").exists()
    names["rows"].write_parquet("plays.parquet")
    monkeypatch.setattr(sys, "argv", shlex.split(COMMAND))
    assert cli.exit_status() == 0
    assert capsys.readouterr().out.endswith(f"{NOT_PRIVATE}\n")


def test_what_it_points_to_is_there():
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        assert (DOCS / link).exists(), link
