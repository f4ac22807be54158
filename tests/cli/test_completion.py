"""What shells complete: asked as their scripts do, and by the shells themselves."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shortlist
from shortlist.cli.completing import VARIABLE
from shortlist.mechanisms.registry import mechanism_named, mechanism_names

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def completed(run, monkeypatch):
    """What the last word of a line may become."""

    def completed(*words):
        monkeypatch.setenv(VARIABLE, "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(["shortlist", *map(str, words)]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        status, out, err = run()
        assert (status, err) == (0, "")
        return set(out.split())

    return completed


BUDGETS = {"create", "show", "plan", "export", "verify"}


def test_commands_and_options(completed):
    assert completed("to") == {"top-k"}
    assert completed("budget", "") == BUDGETS
    assert completed("top-k", "--max-i") == {"--max-items-per-user"}
    assert {"top-k", "audit", "budget", "help"} <= completed("help", "")
    assert completed("help", "budget", "") == BUDGETS
    assert completed("help", "top-k", "") == completed("help", "none", "") == set()


@pytest.mark.parametrize("question", ["top-k", "domain", "hitting-set", "rank"])
def test_mechanisms_are_those_of_the_question(completed, question):
    fitting = {
        name for name in mechanism_names() if mechanism_named(name).question.name == question
    }
    assert completed(question, "--mechanism", "") == fitting
    assert completed("audit", "") == set(mechanism_names())
    if question != "rank":
        assert completed("compare", question, "x.csv", "--mechanism", "") == fitting


@pytest.mark.parametrize("option", ["--user", "--item", "--count", "--by"])
def test_columns_are_those_of_the_file_on_the_line(completed, file, option):
    assert completed("top-k", file, option, "") == {"user", "title", "secret"}
    assert completed("top-k", file, "-k", "5", option, "t") == {"title"}


def test_columns_of_the_file_in_the_settings(completed, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    Path("shortlist.toml").write_text('file = "plays.parquet"')
    assert completed("domain", "--user", "") == {"user", "title", "secret"}
    assert completed("domain", "none.csv", "--user", "") == set()
    Path("shortlist.toml").write_text("wrong")
    assert completed("domain", "--user", "") == set()


@pytest.mark.parametrize("file", ["none.csv", "plays.xlsx", "-", "duckdb:///plays.db", "."])
def test_where_no_table_can_be_opened_nothing_is_offered(completed, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert completed("rank", file, "--winner", "") == set()


def test_a_column_that_a_shell_would_run_is_not_offered(completed, tmp_path):
    names = ["$(id)", "`id`", "a b", "c;d", "*", "-x", "e'f", "día", "up_to.date"]
    pl.DataFrame({name: ["a"] for name in names}).write_parquet(tmp_path / "odd.parquet")
    assert completed("domain", tmp_path / "odd.parquet", "--item", "") == {"día", "up_to.date"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["top-k", "--format"], {"table", "csv", "json", "markdown"}),
        (["top-k", "--input-format"], {"csv", "tsv", "ndjson", "parquet"}),
        (["budget", "export", "--format"], {"csv", "json"}),
        (["compare"], {"top-k", "domain", "hitting-set"}),
        (["completion"], {"bash", "zsh", "fish"}),
    ],
)
def test_words_of_which_there_are_few(completed, words, offered):
    assert completed(*words, "") == offered


def test_a_shell_that_is_not_known_is_refused(complaint):
    assert '"tcsh" is not known. It must be bash, zsh or fish.' in complaint("completion", "tcsh")


BASH = """
eval "$(shortlist completion bash)"
COMP_WORDS=(shortlist top-k plays.parquet --user t) COMP_CWORD=4
_shortlist_completion shortlist
echo "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { : }
_arguments() { print -r -- "$@" }
eval "$(shortlist completion zsh)"
words=(shortlist top-k plays.parquet --user t) CURRENT=5
_shortlist_completion
"""
FISH = """
shortlist completion fish | source
complete -C "shortlist top-k plays.parquet --user t"
"""


@pytest.mark.parametrize(("shell", "lines"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_the_shell_itself_completes(shell, lines, file, tmp_path):
    if not (program := shutil.which(shell)):
        pytest.skip(f"there is no {shell} here")
    command = tmp_path / "shortlist"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m shortlist "$@"\n')
    command.chmod(0o755)
    home = {"HOME": str(tmp_path), "PYTHONPATH": str(Path(shortlist.__file__).parents[1])}
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S603 - our own lines
        [program, "-c", lines],
        cwd=file.parent,
        env=os.environ | home | path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "title" in done.stdout
    assert "secret" not in done.stdout
