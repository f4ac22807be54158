"""The page on reports, done as it says."""

import re
import shlex
import sys
from pathlib import Path

import polars as pl

import shortlist as sl
from shortlist import cli

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reading-a-report.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
((_, SHELL), (_, PYTHON)) = BLOCKS


def test_the_commands_write_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"user": range(900), "title": ["Emma", "Ulysses", "Dune"] * 300}
    pl.DataFrame(rows).write_parquet("plays.parquet")
    install, ask = SHELL.strip().split("\n")
    assert install.endswith(' "shortlist[report]"')
    monkeypatch.setattr(sys, "argv", shlex.split(ask))
    assert cli.exit_status() == 0
    assert "How to read it" in Path("top.html").read_text(encoding="utf-8")


def test_the_python_draws_and_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(PYTHON, {})  # noqa: S102 - our own page
    assert Path("named.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "No data was read, and nothing was spent." in capsys.readouterr().out


def test_the_share_of_right_guesses_is_what_the_page_says():
    rows = {"user": [*range(500)], "title": ["Emma"] * 500}
    answer = sl.pairs(rows, user="user", item="title").domain(epsilon=1.0, delta=1e-6)
    from shortlist.release.report import report

    assert "73.2 % at epsilon 1" in " ".join(PAGE.split())
    assert "up to 73.2\N{NO-BREAK SPACE}% may be" in report(answer)


def test_the_picture_is_small():
    assert (DOCS / "report.png").stat().st_size < 200_000
