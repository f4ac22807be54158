"""Budgets in the shell: created, charged by every command, shown, exported, verified."""

import csv
import io
import json
import re

import polars as pl
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
        (
            ["budget", "show", "no.budget"],
            "create it by shortlist budget create; it is never created",
        ),
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


def test_a_retry_as_of_the_same_date_is_free_and_the_next_date_is_not(run, ledger, file):
    words = [*top_k(file, *SMALL), "--budget", ledger, "--reuse"]
    for week, number in (("2026-11-15", 1), ("2026-11-22", 2)):
        for times in range(2):
            status, out, err = run(*words, "--as-of", week)
            assert status == 0
            assert f"top-k: 2 items of plays-2026, as of {week}\n" in out
            assert re.search(rf"^budget +charge {number} of ", out, re.MULTILINE)
            assert err.startswith("This was answered before") is bool(times)
    assert [row["as_of"] for row in charges(run, ledger)] == ["2026-11-15", "2026-11-22"]
    shown = run("budget", "show", ledger)[1]
    assert re.search(r"^1 +\S+ +\S+ +top-k, k=2 +2026-11-15 +released", shown, re.MULTILINE)
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_where_the_data_changed_a_retry_is_refused_and_says_the_two_ways_on(
    run, complaint, ledger, file, plays
):
    words = [*top_k(file, *SMALL), "--budget", ledger, "--as-of", "week 1"]
    first = run(*words)[1]
    plays.with_columns(title=pl.lit("new")).write_parquet(file)
    assert complaint(*words, "--reuse") == (
        "--reuse: this was answered before, as of week 1, but the data changed since, or cannot be "
        "known again. To ask anew, say as of when the data is now, by --as-of; to take that answer "
        "all the same, ask with --reuse-changed."
    )
    assert "but the data changed since" in complaint(*words, "--reuse", "--dry-run")
    for flags in (["--reuse-changed"], ["--reuse", "--reuse-changed"]):
        assert run(*words, *flags, "--dry-run")[2].startswith("This was answered before,")
        status, again, err = run(*words, *flags)
        assert (status, err[:25]) == (0, "This was answered before,")
        assert again.split("\n\nprotects")[0] == first.split("\n\nprotects")[0]
    words[-1] = "week 2"
    assert re.search("^budget +charge 2 of ", run(*words, "--reuse")[1], re.MULTILINE)
    assert len(charges(run, ledger)) == 2


def test_a_retry_whose_answer_was_lost_is_charged_again_and_says_so(run, ledger, file):
    words = [*top_k(file, *SMALL), "--budget", ledger, "--as-of", "week 1", "--reuse"]
    source = sl.pairs(file, user="user", item="title", budget=sl.Budget(ledger), as_of="week 1")
    plan = source.plan(sl.TopK(2), epsilon=0.5, delta=1e-7)
    plan.budget.charge(plan)
    status, _, err = run(*words)
    assert (status, len(charges(run, ledger))) == (0, 2)
    assert "shortlist: warning: this was charged before, but no answer was kept" in err
    assert "It is charged again. See all charges by shortlist budget show." in err
    assert "warning" not in run(*words)[2]


def test_a_year_is_planned_before_it_begins(answered, complaint, ledger):
    out = answered("budget", "plan", ledger, "--questions", 52)
    assert out.startswith("52 questions in what is left of plays-2026\n")
    row = sl.Budget(ledger).plan(52).each[0]
    line = next(line for line in out.splitlines() if line.startswith("top-k"))
    assert line.split()[1:3] == [f"{row.epsilon:g}", f"{row.delta:g}"]
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "--questions 0: must be a whole number" in complaint(
        "budget", "plan", ledger, "--questions", 0
    )


def test_a_dry_run_that_would_be_refused_spells_options(run, file, tmp_path):
    place = tmp_path / "monthly"
    terms = ["--epsilon", 3, "--delta", "1e-6", "--protects", "user", "--dataset", "plays"]
    run("budget", "create", place, *terms, "--per", "month", "1/12")
    asked = ["domain", file, "--user", "user", "--item", "title", "--budget", place]
    for form in ([], ["--format", "json"]):
        status, out, _ = run(*asked, "--share", "1/6", "--dry-run", *form)
        assert status == 0
        assert 'Ask with --share "1/12"' in " ".join(out.replace("\\", "").split())
        assert 'share="' not in out


def test_a_share_is_asked_in_place_of_epsilon_and_delta(run, complaint, ledger, file, tmp_path):
    words = top_k(file)[:-4]
    assert run(*words, "--budget", ledger, "--share", "1/52")[0] == 0
    (charge,) = charges(run, ledger)
    assert 52 * float(charge["taken_rho"]) <= float(sl.Budget(ledger).terms.total.first)
    assert 52 * float(charge["taken_rho"]) > 0.999 * float(sl.Budget(ledger).terms.total.first)
    for more, said in (
        (["--share", "1/52"], "--share goes with --budget; give both, or omit it"),
        (["--budget", ledger], "one of --epsilon and --share is needed; add --epsilon 1; or,"),
        (["--budget", ledger, "--share", "1/52", "--epsilon", 1], "--share does not go with --eps"),
        (["--budget", ledger, "--share", "1/52", "--delta", 0], "--share does not go with --delta"),
        (["--budget", ledger, "--share", "5/4"], '"5/4" is no part of a whole, above 0 and at mos'),
    ):
        assert said in complaint(*words, *more)
    (tmp_path / "my.toml").write_text(f'budget = "{ledger}"\nshare = "1/52"\n')
    status, out, _ = run(*words, "--config", tmp_path / "my.toml", "--dry-run")
    assert (status, "enough for 50 more such" in " ".join(out.split())) == (0, True)
    typed = [*words, "--config", tmp_path / "my.toml", "--epsilon", 0.5, "--delta", "1e-7"]
    status, out, _ = run(*typed, "--dry-run")
    assert (status, "epsilon = 0.5 and delta = 1e-07" in out) == (0, True)
    assert "- Settings: budget: from" in out
    (tmp_path / "my.toml").write_text(f'budget = "{ledger}"\nepsilon = 1\ndelta = 1e-6\n')
    status, out, _ = run(*words, "--config", tmp_path / "my.toml", "--share", "1/52", "--dry-run")
    assert (status, "enough for 50 more such" in " ".join(out.split())) == (0, True)
