"""Budgets in the shell: created, charged by every command, shown, exported, verified."""

import csv
import io
import json
import re

import pytest

import shortlist as sl
from helpers.budgets import fast_folder
from helpers.command import IN_TABLE, STORED, count, domain, hitting_set, in_store, top_k
from helpers.databases import Sqlite
from shortlist.engines.rows_in_memory import RowsInMemory

pytestmark = pytest.mark.usefixtures("plain_terminal")

SMALL = ["--epsilon", "0.5", "--delta", "1e-7"]


@pytest.fixture
def ledger(run):
    """A budget of the table of users and titles."""
    with fast_folder() as folder:
        path = f"{folder}/plays.budget"
        status, out, err = run(*create(path))
        assert (status, err) == (0, "")
        assert "Nothing was charged yet." in out
        yield path


def create(path, *more):
    words = ["budget", "create", path, "--epsilon", "20", "--delta", "1e-5"]
    return [*words, "--protects", "user", "--dataset", "plays-2026", *more]


def charges(run, ledger):
    status, out, _ = run("budget", "export", ledger)
    assert status == 0
    return list(csv.DictReader(io.StringIO(out)))


def test_every_command_charges_and_says_so(run, answered, ledger, file, readers, tmp_path, sqlite):
    sqlite.store(STORED).prepare()
    games = tmp_path / "games.csv"
    games.write_text("won,lost,user\n" + "a,b,1\nb,c,2\n" * 20)
    ranking = ["rank", games, "--winner", "won", "--loser", "lost", IN_TABLE, "-k", 1]
    asked = [
        top_k(file, *SMALL),
        domain(file, *SMALL),
        hitting_set(file, *SMALL),
        count(readers, IN_TABLE, "--epsilon", "0.5"),
        in_store(sqlite.url, "--epsilon", "0.5"),
        [*ranking, "--user", "user", "--max-comparisons-per-user", 1, "--epsilon", "0.5"],
    ]
    for number, words in enumerate(asked, start=1):
        out = answered(*words, "--budget", ledger, "--who", "Ann")
        assert re.search(rf'^budget +charge {number} of "plays-2026": rho', out, re.MULTILINE)
        _, again, err = run(*words, "--budget", ledger, "--reuse")
        said = rf"by charge {number}, of \d{{4}}-\d\d-\d\d: no row was read again"
        assert re.match(rf"This was answered before, {said}, and nothing was spent\.\n$", err)
        assert re.search(rf"^given before +{said}", again, re.MULTILINE)
        assert again.startswith(out.split("\n\nprotects")[0])
    found = charges(run, ledger)
    assert [row["question"] for row in found] == [
        *("top-k", "domain", "hitting-set", "top-k", "top-k", "rank")
    ]
    assert {row["who"] for row in found} == {"Ann"}
    assert run("budget", "verify", ledger)[0] == 0


def test_a_dry_run_says_what_is_left_and_charges_nothing(run, answered, ledger, file, monkeypatch):
    monkeypatch.setattr(RowsInMemory, "show", lambda *_: pytest.fail("rows are read"))
    out = answered(*top_k(file, *SMALL), "--budget", ledger, "--dry-run")
    assert out.startswith("No row was read and nothing was spent.")
    assert 'of the budget of "plays-2026", and leaves epsilon = ' in " ".join(out.split())
    assert charges(run, ledger) == []


def test_what_would_overspend_is_refused_unread(run, complaint, ledger, file, monkeypatch):
    monkeypatch.setattr(RowsInMemory, "show", lambda *_: pytest.fail("rows are read"))
    said = complaint(*top_k(file, "--epsilon", 20, "--delta", "1e-4"), "--budget", ledger)
    assert 'the budget of "plays-2026" has rho = ' in said
    assert "Nothing was read and nothing was spent." in said
    assert charges(run, ledger) == []


def test_a_table_with_a_bar_fits_a_terminal_and_a_pipe(run, answered, ledger, file):
    run(*top_k(file), "--budget", ledger, "--who", "[b]Ann[/]")
    out = answered("budget", "show", ledger)
    assert "━" in out
    assert "[b]Ann[/]" in out
    assert all(len(line) <= 80 and line == line.rstrip() for line in out.split("\n"))
    shown = [line for line in out.splitlines() if line.startswith(("rho", "delta"))]
    assert len(shown) == 2
    assert all(re.search(r"━.* +\d+%$", line) for line in shown)


def test_what_is_exported_can_be_checked_elsewhere(run, answered, ledger, file):
    run(*top_k(file), "--budget", ledger)
    out = answered("budget", "export", ledger, "--format", "json")
    entries = json.loads(out)
    assert [json.loads(entry["body"])["kind"] for entry in entries] == [
        *("created", "charge", "release")
    ]
    previous = "0" * 64
    for entry in entries:
        assert json.loads(entry["body"])["previous"] == previous
        previous = entry["hash"]
    out = answered("budget", "verify", ledger, "--known", previous)
    assert out.endswith(f"\n{previous}\n")


def test_a_changed_ledger_ends_with_status_1(run, ledger):
    with Sqlite(ledger).connect() as connection:
        connection.execute("UPDATE shortlist_entries SET body = replace(body, 'user', 'item')")
    connection.close()
    status, out, _ = run("budget", "verify", ledger)
    assert status == 1
    assert "entry 0: it was changed" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "no.budget"], '"no.budget" does not exist; check the path, or create it by '),
        (["--budget", "mysql://u:Zz-private-91@h/d"], "BUDGET: must be the path of an SQLite file"),
        (["--budget", "LEDGER", "--dataset", "x"], 'has no budget of --dataset "x"; name the data'),
        (["--budget", "LEDGER", "--seed", 1, "--not-private"], "a seeded release is not private"),
        (["--budget", "LEDGER", "--output", "LEDGER"], "it is a file to be read; give another"),
    ],
)
def test_options_that_do_not_go_together(complaint, ledger, file, words, said):
    words = [ledger if word == "LEDGER" else word for word in words]
    assert said in complaint(*top_k(file), *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["budget", "show", "no.budget"], "create it by shortlist budget create; it is never made"),
        (["budget", "verify", "FILE"], "is no budget; name the file of one"),
        (["budget", "export", "LEDGER", "--format", "xml"], '"xml" is not known. It must be csv'),
        (create("LEDGER"), "exists, and what was spent is never overwritten"),
        (create("new", "--accounting", "x"), '--accounting \'x\': must be "zcdp", "basic" or'),
        (create("new", "--lost-share", "2"), "--lost-share 2.0: must be a number from 1e-6"),
    ],
)
def test_commands_that_cannot_be_done(complaint, ledger, file, words, said):
    known = {"LEDGER": ledger, "FILE": file}
    assert said in complaint(*[known.get(word, word) for word in words])


@pytest.mark.parametrize("command", ["show", "export", "verify"])
def test_the_budget_of_the_settings_need_not_be_named(
    run, complaint, ledger, tmp_path, monkeypatch, command
):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert complaint("budget", command).endswith("give it here, or as budget in shortlist.toml.")
    settings = tmp_path / "shortlist.toml"
    settings.write_text(f'k = 1\nbudget = "{ledger}"\ndataset = "plays-2026"')
    status, out, err = run("budget", command)
    assert (status, err) == (0, "The budget is that of ../shortlist.toml.\n")
    assert run("budget", command, ledger) == (0, out, "")
    settings.write_text(f'budget = "{ledger}"\ndataset = "other"')
    assert "other" in run("budget", command)[2]
    settings.write_text("budget = 5")
    assert "budget must be a path in quotes, not 5." in complaint("budget", command)


def test_the_same_budget_in_python(run, ledger, file):
    run(*top_k(file, *SMALL), "--budget", ledger)
    budget = sl.Budget(ledger)
    source = sl.pairs(file, user="user", item="title", budget=budget)
    plan = source.plan(sl.TopK(2), epsilon=0.5, delta=1e-7)
    assert plan.kept() is not None
