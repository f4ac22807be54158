"""What the command says of itself."""

import inspect
import re
import subprocess
import sys

import pytest

from shortlist.cli.commands import app
from shortlist.mechanisms.registry import mechanism_named, mechanism_names
from shortlist.questions import Domain, HittingSet, Rank, TopK

pytestmark = pytest.mark.usefixtures("plain_terminal")


def test_version(answered):
    out = answered("--version")
    assert re.fullmatch(r"shortlist \d+\.\d+\.\d+\n", out)


EXAMPLES = {
    "": "shortlist top-k plays.parquet --user user --item title",
    "top-k": "shortlist top-k plays.parquet --user user --item title",
    "domain": "shortlist domain plays.parquet --user user --item title",
    "hitting-set": "shortlist hitting-set plays.parquet --user user --item title",
    "user-counts": "shortlist user-counts plays.parquet --user user --item title",
    "scores": "shortlist scores hours.csv --item title --score hours",
    "associate": "shortlist associate taken.parquet --user patient --item drug",
    "rank": "shortlist rank games.csv --winner won --loser lost",
    "compare": "shortlist compare top-k plays.parquet --user user --item title",
    "budget": "shortlist budget create plays.budget --epsilon 3 --delta 3e-6",
    "budget create": "shortlist budget create plays.budget --epsilon 3 --delta 3e-6",
}


@pytest.mark.parametrize("command", [*EXAMPLES, "audit", "explain", "budget show", "series forget"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_fits_and_has_an_example(answered, command, option):
    out = answered(*command.split(), option)
    if command in EXAMPLES:
        assert f" {EXAMPLES[command]} \\\n" in re.sub(" +\n", "\n", out)
    assert all(len(line) <= 80 for line in out.split("\n"))
    assert "bool" not in out
    assert not set("<>{}") & set(re.sub(r"\{(dataset|as_of|title)\}", "", out))


@pytest.mark.parametrize("kind", [app.registered_callback, *app.registered_commands])
def test_no_line_of_prose_is_broken_in_a_terminal_of_80_columns(kind):
    lines = inspect.getdoc(kind.callback).splitlines()
    assert all(len(line) <= 78 for line in lines)


def test_help_names_the_mechanisms(run):
    names = set(mechanism_names())
    for question in (TopK, Domain, HittingSet, Rank):
        said = set(re.findall(r"[\w-]+", run(question.name, "--help")[1]))
        taken = {name for name in names if mechanism_named(name).question is question}
        assert said & names == taken != set()


def test_without_a_command_there_is_help(run):
    status, out, err = run()
    assert (status, err) == (2, "")
    assert "Usage: shortlist" in out


def test_a_group_without_a_command_has_its_help(run):
    status, out, err = run("budget")
    assert (status, err) == (2, "")
    assert "Usage: shortlist budget" in out


def test_help_of_a_command_is_its_own(run):
    for words in (["top-k"], ["budget", "create"]):
        assert run("help", *words) == run(*words, "--help")
    assert run("help") == run("--help")


def test_help_of_all_commands_is_printed_in_turn(run, answered):
    out = answered("help", "--all")
    for words in ([], ["rank"], ["budget"], ["budget", "verify"], ["explain"]):
        assert run(*words, "--help")[1] in out


def test_help_of_what_is_no_command_is_refused(complaint):
    assert complaint("help", "topk") == 'there is no command "topk". Did you mean "top-k"?'
    assert "Its help names all: shortlist --help." in complaint("help", "zzz")
    assert "there is no command" in complaint("help", "top-k", "more")


def test_help_of_all_is_of_all_within_the_command_that_is_named(run):
    usages = re.findall("Usage: (.*?)  ", run("help", "--all", "budget")[1])
    assert [usage.split(" [")[0] for usage in usages] == [
        "shortlist budget",
        *(f"shortlist budget {name}" for name in ("create", "show", "plan", "export", "verify")),
    ]
    assert run("help", "--all", "top-k")[1] == run("help", "top-k")[1]
    assert "shortlist rank [" in run("help", "--all")[1]


@pytest.mark.parametrize("command", ["explain", "completion", "help", "budget show", "top-k"])
def test_a_box_called_answer_is_about_the_answer(run, command):
    out = run(*command.split(), "--help")[1]
    assert ("─ Answer ─" in out) is (command == "top-k")
    assert ("─ Help ─" in out) is (command != "top-k")


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from shortlist.cli import exit_status; sys.argv[1:] = ['top-k', '--help'];"
        "exit_status();"
        "heavy = {'numpy', 'scipy', 'polars', 'numba', 'narwhals', 'flint', 'markdown_it'};"
        "print(heavy & set(sys.modules))"
    )
    assert _printed(code).endswith("\nset()\n")


def test_what_help_does_without_is_there_for_others():
    code = (
        "import sys; from shortlist.cli import exit_status; sys.argv[1:] = ['--help'];"
        "exit_status();"
        "from rich.markdown import Markdown; from rich.traceback import Traceback;"
        "print(Markdown('*a*').markup, Traceback.from_exception)"
    )
    assert "\n*a* <bound method Traceback" in _printed(code)


def test_help_comes_also_where_typer_takes_more_of_what_is_left_out():
    code = (
        "import sys; from shortlist.cli import exit_status, _typer_commands as made;"
        "made._LEFT_OUT['rich.markdown'] = 'Other';"
        "sys.argv[1:] = ['--help'];"
        "exit_status()"
    )
    assert "Usage: shortlist" in _printed(code)


def _printed(code):
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours
