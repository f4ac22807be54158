"""The weekly list, made as its tutorial says, on Mondays of a clock that is set."""

import os
import shlex
import shutil
import subprocess
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

import shortlist as sl
from helpers.budgets import columns
from helpers.clock import stopped
from helpers.pages import blocks
from shortlist.budget.ledger import Charged

(TABLE,), (SETTINGS,) = (blocks("tutorial-every-week", language) for language in ("python", "toml"))
JOB, SINCE, NEW_DATE, OLD_LIST, *SERIES = blocks("tutorial-every-week", "sh")
(IN_PYTHON,) = blocks("tutorial-every-week", "py")
CREATE, PLAN, SCRIPT, CRON, SHOW, CHARGES = blocks("tutorial-every-week", "")
FIRST, TITLE = date(2026, 11, 16), "Most played titles"


@pytest.fixture
def write(run):  # noqa: ARG001 - in its folder
    """Write the table of a week, as the tutorial does."""
    names = {}
    exec(TABLE, names)  # noqa: S102 - our own tutorial
    Path("shortlist.toml").write_text(SETTINGS)
    return names["write_plays"]


@pytest.fixture
def job(run, write, monkeypatch):  # noqa: ARG001 - what it reads
    """The job of a week, as it is typed: what it prints."""

    def job(week, command=JOB):
        monday = FIRST + timedelta(weeks=week - 1)
        stopped(monkeypatch, f"{monday}T06:00")
        return run(command.replace(str(FIRST), str(monday)))

    run(CREATE)
    return job


def charges():
    return columns(sl.Budget("plays.budget"), "number", "as_of", "outcome")


def test_every_week_has_its_list_and_each_is_charged_once(job, run, write):
    assert "56 questions in what is left of plays-2026" in run(PLAN)
    for week in range(1, 5):
        write(week)
        first = job(week)
        monday = FIRST + timedelta(weeks=week - 1)
        title, asked, made, *_ = first.split("\n")
        assert (title, asked) == (TITLE, f"top-k: 10 items of plays-2026, as of {monday}")
        assert made.startswith(f"Made on {monday} by shortlist ")
        saved = sl.load(f"top-{monday}.json")
        again = job(week)  # as after a crash in saving
        assert again.startswith(first.split("\n\nprotects")[0])
        assert sl.load(f"top-{monday}.json").items == saved.items
        page = Path(f"top-{monday}.html").read_text()
        assert f"<dt>As of</dt><dd><bdi>{monday}</bdi></dd>" in page
    mondays = [str(FIRST + timedelta(weeks=week)) for week in range(4)]
    assert charges() == [(str(n), day, "released") for n, day in enumerate(mondays, start=1)]
    shown = run(SHOW)
    assert shown[shown.index("charge ") :].startswith(CHARGES)
    assert len(shown[shown.index("charge ") :].splitlines()) == 2 + 4
    spent, total = (getattr(sl.Budget("plays.budget").standing(), x) for x in ("spent", "terms"))
    assert all(a <= b * Fraction(4, 56) for a, b in zip(spent, total.total, strict=True))


def test_what_was_lost_is_charged_again_and_what_changed_is_refused(job, run, write, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Charged, "keep", property(lambda _: killed))
        assert run(JOB, status=130)
    job(1)
    assert charges() == [("1", str(FIRST), "unknown"), ("2", str(FIRST), "released")]
    before = sl.load(f"top-{FIRST}.json")
    write(2)
    assert "but the data changed since" in run(JOB, status=2)
    assert len(charges()) == 2
    run(OLD_LIST)
    assert sl.load(f"top-{FIRST}.json").items == before.items
    run(NEW_DATE)
    assert charges()[2:] == [("3", str(FIRST + timedelta(days=1)), "released")]


def test_a_page_says_what_changed_since_the_week_before(job, run, write):
    job(1)
    write(2)
    run(SINCE)
    second = FIRST + timedelta(weeks=1)
    page = Path(f"top-{second}.html").read_text()
    assert f"as of {FIRST}" in page
    assert f"as of {FIRST}" not in Path(f"top-{FIRST}.html").read_text()
    assert run(f"shortlist diff top-{FIRST}.json top-{second}.json")


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no such shell")
def test_the_script_types_the_same_job(tmp_path):
    """A command of that name notes with what it was called."""
    (tmp_path / "shortlist").write_text('#!/bin/sh\necho "$@" >> said; touch "top-$3.json"\n')
    (tmp_path / "shortlist").chmod(0o755)
    script = SCRIPT.replace("/srv/plays", str(tmp_path))
    second, third = (FIRST + timedelta(weeks=week) for week in (1, 2))
    for day in (FIRST, second, second, third, second):  # the last is a late retry
        path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
        subprocess.run(["sh", "-c", script, "weekly.sh", str(day)], check=True, env={"PATH": path})  # noqa: S603, S607 - ours
    said = (tmp_path / "said").read_text().splitlines()
    later = SINCE.replace(str(second), str(third)).replace(str(FIRST), str(second))
    typed = [" ".join(shlex.split(line)[1:]) for line in (JOB, SINCE, SINCE, later, SINCE)]
    assert said == typed
    assert CRON.startswith("0 6 * * 1 ")
    assert FIRST.weekday() == 0


def test_a_series_has_its_list_every_week(run, write):
    create, following, of_weeks, recover, forget = SERIES
    write(1)
    for line in create.splitlines():
        run(line)
    first = run(following)
    assert "series: 10 items of plays-2026, as of 2026-W47" in first
    assert run(following).startswith(first.split("\n\nprotects")[0])
    Path("plays.series").replace("older.series")
    assert "1 made, 51 left" in run(recover)
    assert "hash and two numbers" in run(forget)
    write(2)
    second = run(following.replace("2026-W47", "2026-W48"))
    assert len(sl.load("top-2026-W48.json")) == 10
    assert "as of 2026-W47" in Path("top-2026-W48.html").read_text()
    assert "0 made, 52 left" in run(of_weeks)
    assert "run 2 of 52" in " ".join(second.split())
    names = {"sl": sl}
    exec(IN_PYTHON, names)  # noqa: S102 - our own tutorial
    assert names["release"].given_before is not None
