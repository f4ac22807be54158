"""A dry run says what would be asked, checks it, and reads no row."""

import json
import re

import pytest

from helpers.command import IN_TABLE, PRIVACY, STORED, count, domain, in_store, top_k
from shortlist.engines.comparisons_in_memory import ComparisonsInMemory
from shortlist.engines.histogram_in_memory import HistogramInMemory
from shortlist.engines.indexed_store import IndexedStore
from shortlist.engines.rows_in_memory import RowsInMemory

pytestmark = pytest.mark.usefixtures("plain_terminal")

ENGINES = (RowsInMemory, HistogramInMemory, ComparisonsInMemory, IndexedStore)


@pytest.fixture
def unread(monkeypatch):
    """Nobody may read a row."""
    for kind in ENGINES:
        monkeypatch.setattr(kind, "show", lambda *_: pytest.fail("rows are read"))


@pytest.mark.usefixtures("unread")
def test_a_dry_run_reads_nothing(answered, file, tmp_path):
    (tmp_path / "known.csv").write_text("title\na\nb\n")
    out = answered(*top_k(file, "--dry-run", "--public-items", tmp_path / "known.csv"))
    assert out.startswith("No row was read and nothing was spent.\n\ntop-k by JointOrPeel.\n")
    out = answered(*top_k(file, "--dry-run"))
    said = " ".join(out.split())
    for part in (
        "costs epsilon = 3 and delta = 1e-06: protection is moderate, since epsilon is above 1.",
        "in zCDP, add rho = 4.5 and",
        "standard deviation",
        "at least",
    ):
        assert part in said
    assert re.search(
        r"To be named, an item needs about \d+ users, if each holds only this item\.", said
    )
    assert all(len(line) <= 80 for line in out.split("\n"))


@pytest.mark.usefixtures("unread")
def test_a_dry_run_for_a_histogram_reads_nothing(answered, readers):
    for more, name in (([IN_TABLE], "JointOrPeel"), (["--delta", "1e-6"], "LimitedDomain")):
        out = answered(*count(readers, "--dry-run", *more))
        assert out.startswith(f"No row was read and nothing was spent.\n\ntop-k by {name}.\n")


@pytest.mark.usefixtures("unread")
def test_a_dry_run_for_a_store_reads_no_row(run, answered, database):
    held = database.store(STORED)
    status, _, err = run(*in_store(database.url, "--dry-run"))
    assert (status, "has no index" in err) == (2, True)
    held.prepare()
    out = answered(*in_store(database.url, "--dry-run"))
    assert out.startswith("No row was read and nothing was spent.\n\ntop-k by ThresholdTopK.\n")


@pytest.mark.usefixtures("unread")
def test_a_dry_run_in_json(answered, file):
    out = answered(*domain(file, "--dry-run", "--json"))
    plan = json.loads(out)
    assert plan["question"] == {"name": "domain", "count_share": None, "noisy_counts": False}
    assert plan["mechanism"]["name"] == "GreedyOrRounds"
    assert plan["mechanism"]["parameters"]["threshold"] > 0
    assert plan["guarantee"]["cost"]["name"] == "Approximate"
    assert plan["guarantee"]["epsilon"] == 3
    assert "users, if each holds only this item" in plan["explanation"][-1]


def test_a_dry_run_checks_that_file_and_columns_exist(complaint, file):
    said = complaint(*domain("no such.parquet", "--dry-run"))
    assert said == '"no such.parquet" does not exist; check the path.'
    words = ["domain", file, "--user", "usr", "--item", "title", *PRIVACY, "--dry-run"]
    assert '--user "usr" is not a column' in complaint(*words)
    said = complaint(*in_store("sqlite:///no such.db", "--dry-run"))
    assert said.startswith('--store "sqlite:///no such.db" does not exist')


def test_a_dry_run_checks_every_argument(complaint, file):
    assert "epsilon" in complaint(*domain(file, "--dry-run", "--epsilon", 0))
    assert "no folder/x.csv" in complaint(*domain(file, "--dry-run", "--output", "no folder/x.csv"))


@pytest.mark.usefixtures("unread")
def test_it_says_the_margins_of_a_floor(answered, complaint, file, tmp_path):
    for ask in (top_k, domain):
        said = " ".join(answered(*ask(file, "--dry-run", "--min-users", 100)).split())
        assert "an item that fewer than 100 users hold is named in at most 1 of 100 cases" in said
        assert "is named in at least 99 of 100 cases if" in said
    assert "--min-users 0: must be a whole number, 1 or more" in complaint(
        *domain(file, "--min-users", 0)
    )
    url = f"sqlite:///{tmp_path}/items.db"
    assert "--min-users" in complaint(*in_store(url, "--min-users", 5))
