"""What the README shows is what happens."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import shortlist as sl
from shortlist import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def sample(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("demo", ROOT / "demo" / "demo.py")
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    monkeypatch.chdir(tmp_path)
    Path("demo").mkdir()
    monkeypatch.setattr(demo, "PLAYS", Path("demo/plays.parquet"))
    demo.write_plays()
    monkeypatch.setenv("COLUMNS", "80")
    return demo


def run(command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    assert cli.exit_status() == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("sample")
def test_the_commands_print_what_is_shown(monkeypatch, capsys):
    make, path, top_k, domain = BLOCKS[0][1].splitlines()
    assert make.split("#")[0].strip() == "make demo"
    assert 'PATH="$PWD/.venv/bin:$PATH"' in path  # where the Makefile installs the command
    assert "VENV ?= .venv\n" in (ROOT / "Makefile").read_text()
    printed, shown = run(top_k, monkeypatch, capsys), BLOCKS[1][1]
    # All but the rows, whose scores are drawn anew each time.
    assert printed.splitlines()[:3] == shown.splitlines()[:3]
    assert printed[printed.index("protects") :] == shown[shown.index("protects") :]
    run(domain, monkeypatch, capsys)
    assert Path("titles.csv").read_text().startswith("rank,title\n1,")


def test_the_demo_prints_the_beginning_of_a_long_list_and_how_to_have_all(sample, capfd):
    table = "demo/plays.parquet --user user --item title"
    sample.run(f"domain {table} --epsilon 1 --delta 1e-6 --output titles.csv", most=20)
    named = len(Path("titles.csv").read_text().splitlines()) - 1
    shown = capfd.readouterr().out
    assert f"domain: {named:,} items" in shown
    more = f"… and {named - 20:,} more: with --output - the command prints all."
    assert f"{more}\n\nprotects" in shown
    assert len(shown.splitlines()) < 50


@pytest.mark.usefixtures("sample")
def test_the_first_weekly_list_is_followed_by_a_second(monkeypatch, capsys):
    (weekly,) = (text for language, text in BLOCKS if "budget create" in text)
    for command in weekly.replace("\\\n", "").splitlines():
        run(command, monkeypatch, capsys)
    assert len(sl.load("top-2026-W47.json")) > 0
    page = Path("top-2026-W48.html").read_text()
    assert "2026-W47" in page


@pytest.mark.usefixtures("sample")
def test_the_python_runs():
    (python,) = (block for language, block in BLOCKS if language == "python")
    names = {}
    exec(python, names)  # noqa: S102 - our own README
    assert len(names["release"]) == 20


def test_the_commands_stand_near_the_top():
    lines = README.splitlines()
    assert next(i for i, line in enumerate(lines, 1) if line.startswith("shortlist domain")) <= 20
    assert next(i for i, line in enumerate(lines, 1) if line.startswith("protects")) <= 30


def test_the_demo_ends_quietly_where_nobody_reads_on(sample, monkeypatch):
    """As in `| head`: its own output is closed, or that of the command which it runs."""
    monkeypatch.setattr(sample.os, "dup2", lambda *_: None)
    for error, status in ((BrokenPipeError(), 1), (subprocess.CalledProcessError(2, "x"), 2)):
        monkeypatch.setattr(sample, "main", Mock(side_effect=error))
        assert sample.ended() == status
