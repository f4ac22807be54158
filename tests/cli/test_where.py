"""A filter of rows, typed or set."""

from pathlib import Path

import polars as pl
import pytest

from helpers.command import domain, in_store, top_k

pytestmark = pytest.mark.usefixtures("plain_terminal")

WHERE = "land = 'NO' and try_cast(age as bigint) >= 18"


@pytest.fixture
def people(tmp_path):
    held = [("a", "NO", "18"), ("b", "SE", "40"), ("c", "NO", "?")]
    rows = [(u, *each) for u in range(300) for each in held]
    path = tmp_path / "people.csv"
    pl.DataFrame(rows, schema=["user", "title", "land", "age"], orient="row").write_csv(path)
    return path


def test_only_rows_for_which_it_is_true_count(in_json, people):
    found = in_json(*top_k(people, "--where", WHERE, k=1))
    assert [row["title"] for row in found["items"]] == ["a"]
    assert found["about"]["where"] == "land = 'NO' AND TRY_CAST(age AS BIGINT) >= 18"


def test_a_dry_run_says_which_rows_would_count(run, people):
    status, out, _ = run(*domain(people, "--where", WHERE, "--dry-run"))
    assert status == 0
    assert "Only rows count where land = 'NO' AND TRY_CAST(age AS BIGINT) >= 18." in out


def test_it_may_be_set(in_json, people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shortlist.cli.publishing._say", lambda _: None)
    Path("shortlist.toml").write_text("where = \"land = 'SE'\"\n")
    assert [row["title"] for row in in_json(*top_k(people, k=1))["items"]] == ["b"]


def test_a_refusal_quotes_the_piece(complaint, people):
    assert '--where "age > 17": "age > 17": age is text' in complaint(
        *top_k(people, "--where", "age > 17")
    )
    assert '"RAND()" is no part of' in complaint(*top_k(people, "--where", "rand() < 1"))


def test_an_index_has_one_order_of_all_items(complaint, tmp_path):
    line = in_store(f"sqlite:///{tmp_path}/items.db", "--where", "name = 'a'")
    found = complaint(*line)
    assert "--where does not go with --store: its index has one order" in found
    assert "give a table of the items that count" in found


def test_counts_are_filtered_by_what_items_are_called(in_json, complaint, tmp_path):
    path = tmp_path / "counts.csv"
    pl.DataFrame({"title": ["a", "b"], "readers": [9_000, 8_000]}).write_csv(path)
    asked = ("top-k", str(path), "--item", "title", "--count", "readers", "-k", "1")
    asked += ("--epsilon", "1", "--public-items-in-table")
    found = in_json(*asked, "--where", "title <> 'a'")
    assert [row["title"] for row in found["items"]] == ["b"]
    assert found["about"]["where"] == "title <> 'a'"
    refused = complaint(*asked, "--where", "try_cast(readers as bigint) > 8500")
    assert '"readers" holds what is protected' in refused
    assert "--item and --by alone" in refused
    assert "--min-users" in refused


@pytest.fixture
def dated(tmp_path):
    held = [("a", "2026-10-31"), ("b", "2026-11-01"), ("c", "2026-11-07 23:59")]
    rows = [(u, *each) for u in range(300) for each in held]
    path = tmp_path / "dated.csv"
    pl.DataFrame(rows, schema=["user", "title", "a day"], orient="row").write_csv(path)
    return path


def test_only_some_days_count(in_json, dated):
    span = ("--time", "a day", "--from", "2026-11-01", "--to", "2026-11-07")
    found = in_json(*domain(dated, *span, "--where", "title <> 'b'"))
    assert [row["title"] for row in found["items"]] == ["c"]
    assert found["about"]["where"] == (
        "title <> 'b' AND TRY_CAST(\"a day\" AS DATE) >= DATE '2026-11-01' "
        "AND TRY_CAST(\"a day\" AS DATE) <= DATE '2026-11-07'"
    )


def test_days_that_are_none_are_refused(complaint, dated):
    asked = domain(dated, "--time", "a day")
    assert "--from and --to: there is no day" in complaint(*asked)
    assert '--to "7.11.26": must be a day' in complaint(*asked, "--to", "7.11.26")
    assert "--from goes with --time" in complaint(*domain(dated, "--from", "2026-11-01"))
