"""Series in the shell: created, asked every week, shown, and recovered from a backup."""

import shutil
from pathlib import Path

import pytest

import shortlist as sl
from helpers.budgets import fast_folder

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def folder(run):
    """Where there is a budget, and a series that it has paid for."""
    with fast_folder() as name:
        made = Path(name)
        total = ["--epsilon", "3", "--delta", "1e-5", "--protects", "user", "--dataset", "plays"]
        assert run("budget", "create", made / "plays.budget", *total)[0] == 0
        status, out, err = run(*create(made, "plays.series"))
        assert (status, err) == (0, "")
        assert "A series of 4 runs: 0 made, 4 left" in out
        yield made


def create(folder, name, *more):
    terms = ["--periods", "4", "--share", "1/2", "--user", "user", "--item", "title"]
    return ["series", "create", folder / name, *terms, "--budget", folder / "plays.budget", *more]


def following(folder, file, week, *more):
    return ["series", "next", folder / "plays.series", file, "--as-of", f"2026-W{week}", *more]


def test_every_week_has_its_list(run, complaint, folder, file):
    status, first, err = run(*following(folder, file, 47, "-k", "5", "--title", "Most played"))
    assert (status, err) == (0, "")
    assert first.startswith("Most played\nseries: 5 items of plays, as of 2026-W47")
    assert "The next run of its series costs nothing more." in first
    saved, page = folder / "top.json", folder / "top.html"
    status, _, err = run(
        *following(folder, file, 48, "-k", "5", "--output", saved, "--report", page)
    )
    assert (status, err) == (0, f"Saved as {saved}.\nSaved as {page}.\n")
    assert sl.load(saved).about.as_of == "2026-W48"
    assert "as of 2026-W47" in page.read_text()
    status, again, err = run(*following(folder, file, 47, "--json"))
    assert (status, "This was answered before, by charge 1" in err) == (0, True)
    assert '"series"' in again
    status, out, _ = run("series", "show", folder / "plays.series")
    assert (status, "2 made, 2 left" in out) == (0, True)
    show = ["series", "show", folder / "plays.series"]
    status, out, _ = run(*show, "--as-of", "2026-W47")
    assert (status, "of plays, as of 2026-W47" in out) == (0, True)
    status, out, _ = run(*show, "--as-of", "2026-W48", "--since", "2026-W47")
    assert (status, "2026-W47" in out, "2026-W48" in out) == (0, True, True)
    assert "this series has no such list; shortlist series show lists those it has" in complaint(
        *show, "--as-of", "2026-W40"
    )
    assert "give the dates of both; add --as-of" in complaint(*show, "--since", "2026-W47")


def test_a_dry_run_writes_nothing(run, folder, file):
    ledger = (folder / "plays.budget").read_bytes()
    status, out, _ = run(*create(folder, "other", "--dry-run"))
    assert (status, out.startswith("No row was read and nothing was spent.")) == (0, True)
    assert "All lists of its 4 runs together cost epsilon = " in " ".join(out.split())
    assert not (folder / "other").exists()
    status, out, _ = run(*following(folder, file, 47, "--dry-run"))
    assert (status, "This would be run 1 of 4, which costs nothing more" in out) == (0, True)
    status, out, _ = run(*following(folder, file, 47, "--dry-run", "--json"))
    assert (status, '"explanation"' in out) == (0, True)
    assert (folder / "plays.budget").read_bytes() == ledger
    assert "0 made, 4 left" in run("series", "show", folder / "plays.series")[1]


def test_each_period_has_a_list_of_its_own(run, folder):
    day = lambda day, title: [f"u{user},{title},2026-11-{day}" for user in range(300)]
    (folder / "plays.csv").write_text(
        "\n".join(["user,title,day", *day("09", "Emma"), *day("16", "Ulysses")])
    )
    series = folder / "news.series"
    status, out, _ = run(*create(folder, "news.series", "--kind", "period"))
    assert (status, "in run 1, an item needs about" in " ".join(out.split())) == (0, True)
    asked = ["series", "next", series, folder / "plays.csv", "--as-of", "2026-W47"]
    status, out, _ = run(*asked, "--time", "day", "--from", "2026-11-16", "--to", "2026-11-22")
    assert status == 0
    assert "period: 1 item of plays, as of 2026-W47" in out
    assert ("Ulysses" in out, "Emma" in out) == (True, False)


def test_an_older_file_is_refused_in_the_words_of_a_shell(run, complaint, folder, file):
    series = folder / "plays.series"
    shutil.copy(series, folder / "backup")
    run(*following(folder, file, 47))
    shutil.copy(folder / "backup", series)
    said = complaint(*following(folder, file, 48))
    assert "it is an older copy, such as a restored backup" in said
    assert "go on with this one by shortlist series recover" in said
    status, out, _ = run("series", "recover", series, "--budget", folder / "plays.budget")
    assert (status, "1 made, 3 left" in out) == (0, True)
    assert run(*following(folder, file, 48))[0] == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--share", "1/2", "--epsilon", "1"], "--epsilon 1.0: a share of the budget already says"),
        (["--epsilon", "9", "--delta", "1e-6"], "Nothing was read and nothing was spent"),
        (["--periods", "0"], "--periods 0: must be a whole number from 1 to 500"),
    ],
)
def test_what_cannot_be_paid_is_refused(complaint, folder, more, said):
    words = create(folder, "other", *more)
    del words[5:7]
    if "--periods" in more:
        words = [*words[:3], *words[5:], "--share", "1/4"]
    assert said in complaint(*words)
    assert not (folder / "other").exists()


def test_columns_are_those_of_the_series(run, complaint, folder, file):
    assert "No such option: --user" in complaint(*following(folder, file, 47, "--user", "user"))
    said = complaint("series", "next", folder / "none", file, "--as-of", "1")
    assert "create it by shortlist series create" in said
    assert "Missing option" in complaint("series", "next", folder / "plays.series", file)
    assert run("series")[0] == 2


def test_a_user_is_erased(run, complaint, folder, file):
    run(*following(folder, file, 47))
    series = folder / "plays.series"
    status, out, err = run("series", "forget", series, "1", "2")
    assert (status, err) == (0, "")
    assert out.startswith("Of these users, if they were there, only a keyed hash")
    assert run(*following(folder, file, 48))[0] == 0
    assert "Missing argument" in complaint("series", "forget", series)


def test_a_series_is_prolonged(run, folder):
    status, out, err = run("series", "prolong", folder / "plays.series", "--periods", "1")
    assert (status, err) == (0, "")
    assert "A series of 5 runs: 0 made, 5 left" in out


def test_a_series_is_closed(run, complaint, folder, file):
    run(*following(folder, file, 47))
    status, out, err = run("series", "close", folder / "plays.series", "--who", "Ann")
    assert (status, err) == (0, "")
    assert "1 made, closed" in out
    assert "It was closed after 1 run, and rho = " in " ".join(out.split())
    said = complaint(*following(folder, file, 48))
    assert "came back to the budget. Give the --as-of of one of its lists" in said


SETTINGS = """
file = "plays.parquet"
user = "user"
item = "title"
k = 1
title = "Most played"
budget = "of-questions.budget"
epsilon = 1
delta = 1e-6
max-items-per-user = 7

[series]
series = "plays.series"
budget = "plays.budget"
periods = 4
epsilon = 1.5
delta = 4e-6
"""


@pytest.fixture
def in_folder(folder, file, monkeypatch):
    """Where there are settings too, and a table, but no series."""
    monkeypatch.chdir(folder)
    (folder / "plays.series").unlink()
    shutil.copy(file, "plays.parquet")
    Path("shortlist.toml").write_text(SETTINGS)
    return folder


@pytest.mark.usefixtures("in_folder")
def test_what_stays_the_same_need_not_be_typed(run):
    said = "settings: series, periods, user, item, epsilon, delta, budget: from shortlist.toml\n"
    status, out, err = run("series", "create")
    assert (status, err) == (0, said)
    assert "epsilon=1.5, delta=4e-06" in out
    assert "at most 100 items count" in " ".join(out.split())
    status, out, err = run("series", "next", "--as-of", "2026-W47")
    assert (status, err) == (0, "settings: series, file, k, title, budget: from shortlist.toml\n")
    assert out.startswith("Most played\nseries: 1 item of plays, as of 2026-W47")
    status, out, err = run("series", "show")
    assert (status, err) == (0, "settings: series, budget: from shortlist.toml\n")
    assert "1 made, 3 left" in out


def test_what_is_typed_comes_before_them(run, in_folder):
    _, out, err = run("series", "create", "--share", "1/4", "--dry-run", "--periods", "9")
    assert err == "settings: series, user, item, budget: from shortlist.toml\n"
    assert "A series of 9 runs" in out
    (in_folder / "other.toml").write_text("[series]\nperiods = 3\n")
    _, out, err = run(*create(in_folder, "new", "--dry-run", "--config", "other.toml"))
    assert (err, "4 runs" in out) == ("", True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-noise = true", "[series]: no-noise is not a setting here"),
        ("charge = 1", "[series]: charge is not a setting here"),
        ('periods = "4"', "periods must be a whole number, not '4'"),
        ('as-of = "2026"', "as-of is for the command line alone"),
    ],
)
def test_a_wrong_setting_is_refused(complaint, in_folder, line, said):
    Path("shortlist.toml").write_text(f"[series]\n{line}\n")
    assert said in complaint("series", "show", in_folder / "plays.series")


@pytest.mark.usefixtures("in_folder")
def test_what_one_answer_may_cost_says_nothing_of_a_series(run, complaint):
    Path("shortlist.toml").write_text(SETTINGS.split("[series]", maxsplit=1)[0])
    lacks = ["series", "create", "new", "--periods", "4"]
    assert "Missing option '--budget'" in complaint(*lacks)
    status, _, err = run(*lacks, "--budget", "plays.budget")
    assert (status, "one of --epsilon and --share is needed" in err) == (2, True)
