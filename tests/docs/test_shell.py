"""The page on the shell, done as it says."""

import re
import shlex
import sys
from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from shortlist import cli
from shortlist.cli._options import OPTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "shell.md").read_text()
SETTINGS, QUESTIONS, WEEKLY, DIFF, EXPLAIN = re.findall(
    r"^```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.fixture
def done(tmp_path, monkeypatch, capsys):
    """Run each line of a block, as the shell would; what each printed."""
    monkeypatch.chdir(tmp_path)
    rows = {"user": range(900), "title": ["Emma", "Ulysses", "Dune"] * 300}
    pl.DataFrame(rows).write_parquet("plays.parquet")
    Path("shortlist.toml").write_text(SETTINGS)

    def done(block):
        printed = []
        for line in block.strip().split("\n"):
            monkeypatch.setattr(sys, "argv", shlex.split(line))
            assert cli.exit_status() == 0
            printed.append(capsys.readouterr().out)
        return printed

    return done


def test_the_questions_are_answered_and_the_answer_is_explained(done):
    _, answer, plan = done(QUESTIONS)
    assert "settings" in answer
    assert "from shortlist.toml" in answer
    assert "epsilon = 0.5" in plan
    assert "Settings: file, user, item, delta, max-items-per-user, budget: from" in plan
    assert "Who is protected?" in done(EXPLAIN)[0]


def test_a_list_says_what_it_is_of_and_so_do_the_names_of_its_files(done):
    done(QUESTIONS.splitlines()[0])
    assert done(WEEKLY)[0].startswith(
        "Most played titles\ntop-k: 3 items of plays-2026, as of 2026-11-22\n"
    )
    assert sl.load("top-2026-11-22.json").about.title == "Most played titles"
    assert "<dt>As of</dt><dd><bdi>2026-11-22</bdi></dd>" in Path("top-2026-11-22.html").read_text()


def test_two_lists_are_compared(done):
    create, top_k, _ = QUESTIONS.splitlines()
    done(create)
    for name in ("last", "this"):
        done(top_k)
        Path("top.json").rename(f"{name}.json")
    assert "new" in done(DIFF)[0]


def test_what_must_be_typed_is_named():
    less_private = {o.in_shell for o in OPTIONS if o.less_private}
    assert less_private <= set(re.findall(r"`(--[\w-]+)`", PAGE))
