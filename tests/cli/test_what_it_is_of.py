"""What an answer is of, from the command line and from the settings."""

import json
from pathlib import Path

import pytest

import shortlist as sl
from helpers.budgets import created, fast_folder
from helpers.command import domain, top_k
from shortlist.plan import Plan

pytestmark = pytest.mark.usefixtures("plain_terminal")

GIVEN = [
    "--dataset",
    "plays",
    "--as-of",
    "2026-11-22",
    "--title",
    "Most played",
    "--note",
    "By us.",
]


def test_what_it_is_of_is_printed_and_saved(run, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["--output", "{dataset}-{as_of}.json", "--report", "{title}, {as_of}.html"]
    status, out, err = run(*top_k(file, *GIVEN, *names))
    assert (status, err) == (
        0,
        "Saved as plays-2026-11-22.json.\nSaved as Most played, 2026-11-22.html.\n",
    )
    assert out.startswith(
        "Most played\ntop-k: 2 items of plays, as of 2026-11-22\nMade on 2026-11-22 by "
    )
    about = sl.load("plays-2026-11-22.json").about
    assert (about.dataset, about.as_of, about.title, about.note) == tuple(GIVEN[1::2])
    assert "<h1><bdi>Most played</bdi></h1>" in Path("Most played, 2026-11-22.html").read_text()


def test_a_name_has_the_data_set_of_the_budget(run, complaint, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with fast_folder() as folder:
        path = f"{folder}/plays.budget"
        budget = created(path, epsilon=9.0, delta=1e-5)
        names = ["--output", "{dataset}.json", "--report", "of {dataset}.html"]
        assert run(*top_k(file, *names, "--budget", path))[0] == 0
        assert sl.load(f"{budget.dataset}.json").about.dataset == budget.dataset
        assert Path(f"of {budget.dataset}.html").exists()
    assert "{dataset} stands for what was not given" in complaint(*top_k(file, *names))


def test_what_stays_the_same_is_in_the_settings(in_json, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shortlist.toml").write_text(
        'dataset = "plays"\n[domain]\ntitle = "All titles"\nnote = "By us."\n'
    )
    monkeypatch.setattr("shortlist.cli.publishing._say", lambda _: None)
    about = in_json(*domain(file, "--as-of", "week 47", "--title", "Some"))["about"]
    assert {name: about[name] for name in ("dataset", "as_of", "title", "note")} == {
        "dataset": "plays", "as_of": "week 47", "title": "Some", "note": "By us.",
    }  # fmt: skip


def test_a_date_is_typed_for_each_answer(complaint, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shortlist.toml").write_text('as-of = "2026-11-22"\n')
    assert "as-of is for the command line alone; it is meant for one answer" in complaint(
        *domain(file)
    )


@pytest.mark.parametrize("name", ["{as_of}.csv", "{week}.csv", "x/{title}.csv"])
@pytest.mark.parametrize("option", ["--output", "--report"])
def test_a_bad_name_is_refused_before_anything_is_spent(complaint, file, name, option, monkeypatch):
    monkeypatch.setattr(Plan, "run", None)
    said = complaint(*domain(file, option, name, "--title", "../up"))
    assert said.startswith(f"cannot write '{name}': ")


def test_a_bad_text_is_refused_in_the_words_of_the_shell(complaint, file, monkeypatch):
    monkeypatch.setattr(Plan, "run", None)
    for option in ("--dataset", "--as-of", "--title", "--note"):
        assert complaint(*domain(file, option, " ")).startswith(
            f"{option} ' ': must be a text of one line"
        )


def test_every_question_says_what_it_is_of(in_json, file, readers):
    words = ["top-k", readers, "--item", "title", "--count", "readers", "-k", 1, "--epsilon", 3]
    counted = [*words, "--public-items-in-table"]
    for asked in (domain(file), top_k(file, "--by", "secret"), counted):
        assert in_json(*asked, "--as-of", "now")["about"]["as_of"] == "now"


def test_a_dry_run_shows_it(run, file):
    status, out, _ = run(*domain(file, *GIVEN, "--dry-run", "--json"))
    assert status == 0
    assert json.loads(out)["about"]["title"] == "Most played"
