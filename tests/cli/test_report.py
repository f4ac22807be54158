"""The page that the command writes: refused before anything is spent, or there."""

import sys

import pytest

import shortlist as sl
from helpers.command import domain, top_k
from shortlist.plan import Plan
from shortlist.release import Release
from shortlist.release.report import report

pytestmark = pytest.mark.usefixtures("plain_terminal")


def test_a_report_is_written_beside_what_is_printed_and_saved(run, file, tmp_path):
    page, saved = tmp_path / "top.html", tmp_path / "top.json"
    status, out, err = run(*domain(file, "--report", page, "--output", saved))
    assert (status, err) == (0, f"Saved as {saved}.\nSaved as {page}.\n")
    assert "domain: " in out
    assert page.read_text(encoding="utf-8") == report(sl.load(saved))


def test_a_report_is_refused_before_anything_is_spent(complaint, file, tmp_path, monkeypatch):
    monkeypatch.setattr(Plan, "run", None)
    taken = tmp_path / "taken.html"
    taken.write_text("mine")
    said = complaint(*domain(file, "--report", tmp_path / "top.pdf"))
    assert said.endswith("its name must end in .html or .htm.")
    assert "give another name, or --overwrite" in complaint(*domain(file, "--report", taken))
    assert "the folder does not exist" in complaint(
        *domain(file, "--report", tmp_path / "a/b.html")
    )
    monkeypatch.setitem(sys.modules, "jinja2", None)
    missing = complaint(*domain(file, "--report", tmp_path / "top.html"))
    assert missing.endswith('run pip install "shortlist[report]".')
    assert taken.read_text() == "mine"


def test_overwrite_goes_with_a_report(run, file, tmp_path):
    page = tmp_path / "top.html"
    page.write_text("old")
    assert run(*domain(file, "--report", page, "--overwrite"))[0] == 0
    assert "<!doctype html>" in page.read_text(encoding="utf-8")


def test_a_dry_run_writes_no_report(run, file, tmp_path):
    assert run(*domain(file, "--dry-run", "--report", tmp_path / "top.html"))[0] == 0
    assert not (tmp_path / "top.html").exists()


def test_a_report_that_fails_loses_no_answer(run, file, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Release, "report", fail)
    status, out, err = run(*domain(file, "--report", tmp_path / "top.html"))
    assert status == 2
    assert "domain: " in out
    assert "could not be saved" in err
    assert "No space left on device" in err
    assert "the budget is spent: do not ask again." in err


def test_the_answer_is_printed_and_saved_before_anything_is_drawn(run, file, tmp_path, monkeypatch):
    seen = []
    saved = tmp_path / "top.json"

    def look(*_):
        seen.append(sl.load(saved).question)

    monkeypatch.setattr("shortlist.release.report.drawn", look)
    monkeypatch.setattr("shortlist.cli.publishing.print_text", lambda text, **_: seen.append(text))
    to = "--report", tmp_path / "top.html", "--output", saved
    status, _, err = run(*domain(file, "--noisy-counts", *to))
    assert status == 0
    printed, question = seen
    assert printed.startswith("domain: ")
    assert question == "domain"
    assert "The chart could not be drawn here" in err


class PanicException(BaseException):
    """As libraries that are written in Rust raise."""


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_panic_after_the_charge_keeps_the_answer_and_names_its_file(
    run, file, tmp_path, monkeypatch, form
):
    """Whatever panics, and even JSON: a Parquet file has the values as they lie in memory."""

    def panic(*_):
        raise PanicException("out-of-range date")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Release, "to_json", panic)
    monkeypatch.setattr("shortlist.cli.publishing._rendered", panic)
    monkeypatch.setattr("shortlist.cli.publishing.discard_output", lambda: None)
    status, _, err = run(*top_k(file, "--format", form))
    (kept,) = tmp_path.glob("shortlist-answer-*.parquet")
    assert status == 2
    assert f'It is in "{kept.name}"' in err
    assert "do not ask again" in err
    assert sl.load(kept).question == "top-k"


def test_a_panic_in_keeping_the_answer_leaves_it_to_the_caller(file, tmp_path, monkeypatch):
    def panic(*_):
        raise PanicException("out-of-range date")

    budget = sl.Budget.create(
        tmp_path / "b", epsilon=9.0, delta=1e-3, protects="user", dataset="plays"
    )
    monkeypatch.setattr("shortlist.budget.ledger.as_json", panic)
    source = sl.pairs(file, user="user", item="title", budget=budget)
    assert "could not keep this answer" in source.domain(epsilon=1.0, delta=1e-6).budget

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.budget.ledger.as_json", interrupt)
    with pytest.raises(KeyboardInterrupt):
        source.domain(epsilon=1.0, delta=1e-6)
