"""The page that the command writes: refused before anything is spent, or there."""

import sys

import polars as pl
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


def test_three_commands_from_nothing_to_a_report(run, tmp_path):
    """After the first, which installs: a table, and the page."""
    rows = {"user": range(900), "title": ["Emma", "Ulysses", "Dune"] * 300}
    pl.DataFrame(rows).write_csv(tmp_path / "plays.csv")
    words = top_k(tmp_path / "plays.csv", "--report", tmp_path / "top.html")
    assert run(*words)[0] == 0
    assert "Who is protected?" in (tmp_path / "top.html").read_text(encoding="utf-8")
