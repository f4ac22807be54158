"""Top-k by what users spent, from the shell."""

import polars as pl
import pytest

from helpers.command import count, domain, top_k

pytestmark = pytest.mark.usefixtures("plain_terminal")

SPENT = "--amount", "minutes", "--cap", "60"


@pytest.fixture
def plays(tmp_path):
    held = [("often", "1"), ("long", "45.5"), ("long", "oops"), ("long", "")]
    rows = [(u, *each, "NO") for u in range(300) for each in held]
    path = tmp_path / "plays.csv"
    names = ["user", "title", "minutes", "country"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    return path


def test_items_are_ranked_by_what_users_spent(in_json, plays):
    found = in_json(*top_k(plays, *SPENT, "--noisy-counts", "--epsilon", "30"))
    assert [row["title"] for row in found["items"]] == ["long", "often"]
    assert found["items"][0]["amount"] == pytest.approx(300 * 45.5, rel=0.1)
    assert found["about"]["amount"] == (
        '"minutes", capped at 60 per user and item, in steps of 5.72e-05'
    )


def test_a_dry_run_says_what_would_count(run, plays):
    status, out, _ = run(*top_k(plays, *SPENT, "--dry-run"))
    assert status == 0
    assert "A count below is the sum of an item in units of 60" in out


def test_one_goes_with_the_other(complaint, plays):
    assert "--cap goes with --amount" in complaint(*top_k(plays, "--cap", "60"))
    assert "give --cap 600" in complaint(*top_k(plays, "--amount", "minutes"))
    assert "--cap 0" in complaint(*top_k(plays, "--amount", "minutes", "--cap", "0"))


def test_it_is_of_rows_of_users_and_of_top_k(complaint, plays):
    assert "--amount goes with --user" in complaint(*count(plays, *SPENT))
    assert "--amount" in complaint(*domain(plays, *SPENT))
    assert "are the same column" in complaint(*top_k(plays, *SPENT, "--by", "minutes"))


def test_a_cap_is_chosen_from_several(in_json, complaint, plays):
    several = "--amount", "minutes", "--cap", "2, 60,500"
    found = in_json(*top_k(plays, *several, "--epsilon", "40"))
    assert found["cap"] == 60
    assert "capped at 2, 60 or 500 (chosen privately)" in found["about"]["amount"]
    said = complaint(*top_k(plays, *several[:-1], "2,60,much"))
    assert '"much" is not a number' in said
    assert "--cap 2,90000" in complaint(*top_k(plays, *several[:-1], "2,90000"))
    in_groups = in_json(*top_k(plays, *several, "--by", "country", "--epsilon", "80"))
    assert in_groups["cap"] == 60
    assert {row["country"] for row in in_groups["items"]} == {"NO"}
