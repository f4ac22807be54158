"""The clock is asked in one place, and is in UTC."""

import json
import re
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import shortlist as sl
from helpers.clock import stopped

ELSEWHERE = re.compile(r"datetime\.(?:now|today|utcnow)|date\.today|time\.time\(")


def test_it_is_now_in_utc(monkeypatch):
    telling = "from shortlist.runtime import clock; print(clock.now().isoformat())"
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    told = subprocess.run([sys.executable, "-c", telling], capture_output=True, check=True)  # noqa: S603
    then = datetime.fromisoformat(told.stdout.decode().strip())
    assert then.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - then) < timedelta(minutes=5)


def test_a_test_sets_it_in_one_place(monkeypatch, tmp_path):
    stopped(monkeypatch, "2031-01-02T23:59")
    budget = sl.Budget.create(tmp_path / "a.budget", epsilon=3.0, protects="user", dataset="plays")
    more = {"public_items": ["a"], "budget": budget, "as_of": "now"}
    rows = sl.pairs({"user": [1], "item": ["a"]}, user="user", item="item", **more)
    release = rows.top_k(1, epsilon=1.0)
    assert release.about.made_on == date(2031, 1, 2)
    assert rows.top_k(1, epsilon=1.0, reuse=True).given_before.day == date(2031, 1, 2)
    entries = [json.loads(entry["body"]) for entry in json.loads(budget.to_json())]
    assert {entry["time"] for entry in entries if "time" in entry} == {
        "2031-01-02T23:59:00.000+00:00"
    }


def test_nobody_else_asks_what_time_it_is():
    source = Path(sl.__file__).parent
    asking = {file.name for file in source.rglob("*.py") if ELSEWHERE.search(file.read_text())}
    assert asking == {"clock.py"}
