"""Counts of the items of a list from the shell: what is printed and what is refused."""

import json

import pytest

from helpers.command import COLUMNS, instead

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def listed(tmp_path):
    path = tmp_path / "listed.csv"
    path.write_text("title\nnobody\n7\n007\n")
    return path


def user_counts(file, listed, *more):
    words = ["user-counts", file, *COLUMNS, "--public-items", listed, "--epsilon", "3"]
    return instead(words, more)


def test_counts_of_a_list(answered, file, listed):
    out = answered(*user_counts(file, listed))
    assert out.startswith("user-counts: 3 items\n")
    assert [line.split()[0] for line in out.split("\n")[5:8]] == ["nobody", "7", "007"]
    assert "95\N{NO-BREAK SPACE}% interval" in out
    assert "the list of items was public before" in " ".join(out.split())


def test_a_list_may_be_an_earlier_answer(run, answered, file, listed, tmp_path):
    first, then = tmp_path / "first.json", tmp_path / "then.csv"
    assert run(*user_counts(file, listed, "--output", first))[0] == 0
    told = json.loads(first.read_text())
    assert told["columns"]["rank"] is None
    assert [item["title"] for item in told["items"]] == ["nobody", "7", "007"]
    assert run(*user_counts(file, first, "--output", then))[0] == 0
    assert then.read_text().startswith("title,count,count_low,count_high\nnobody,")
    domain = ["domain", file, *COLUMNS, "--epsilon", "3", "--delta", "1e-3"]
    assert run(*domain, "--output", tmp_path / "domain.json")[0] == 0
    assert len(answered(*user_counts(file, tmp_path / "domain.json"), "--format", "json")) > 0
    words = answered("explain", first)
    assert "listed as they were asked for" in " ".join(words.split())


def test_a_plan_and_where(answered, file, listed):
    out = answered(*user_counts(file, listed, "--dry-run", "--delta", "1e-6"))
    assert "The list has 3 items." in out
    assert "No row was read and nothing was spent." in out
    assert "off by at most 3" in out
    out = answered(*user_counts(file, listed, "--where", "\"user\" = '0001'"))
    assert "where \"user\" = '0001'" in " ".join(out.split())


def test_what_is_refused(run, complaint, file, listed, tmp_path):
    twice = tmp_path / "twice.csv"
    twice.write_text("title\n7\n7\n")
    assert "--public-items holds an item twice" in complaint(*user_counts(file, twice))
    assert "--public-items: this is the sensitive table" in complaint(*user_counts(file, file))
    ended, _, err = run("user-counts", file, *COLUMNS, "--epsilon", "3")
    assert ended == 2
    assert "--public-items" in err
    own = "--mechanism", "count-each", "--option", "n_items=2"
    assert "give --public-items" in complaint(*user_counts(file, listed, *own))
    zcdp = "--mechanism", "count-each", "--option", "accounting=zcdp"
    assert run(*user_counts(file, listed, *zcdp))[0] == 0


def test_counts_in_groups(run, answered, complaint, tmp_path):
    plays, titles, groups = (tmp_path / name for name in ("plays.csv", "titles.csv", "lands.csv"))
    plays.write_text("user,title,land\n" + "".join(f"{n},Emma,NO\n" for n in range(90)))
    titles.write_text("title\nEmma\nDune\n")
    groups.write_text("land\nSE\nNO\n")
    words = ["user-counts", plays, "--user", "user", "--item", "title", "--by", "land"]
    words += ["--public-items", titles, "--epsilon", "3"]
    known = ["--public-groups", groups]
    out = answered(*words, *known)
    assert out.startswith("user-counts by land: 4 items in 2 groups\n")
    rows = [line.split()[:2] for line in out.split("\n")[5:9]]
    assert rows == [["NO", "Emma"], ["NO", "Dune"], ["SE", "Emma"], ["SE", "Dune"]]
    assert run(*words, *known, "--output", tmp_path / "counts.csv")[0] == 0
    assert (tmp_path / "counts.csv").read_text().startswith("land,title,count,count_low")
    dry = answered(*words, *known, "--dry-run", "--max-groups-per-user", "2")
    assert "a user counts in 2 groups at most" in " ".join(dry.split())
    assert "by --public-groups" in complaint(*words)
    assert "--by" in complaint(*words[:6], *words[8:], *known)


def test_shares_of_users(run, answered, complaint, file, listed):
    _, out, _ = run(*user_counts(file, listed, "--share-of-users", "counted", "--format", "csv"))
    assert out.startswith("title,count,count_low,count_high,users,share,share_low,share_high\n")
    stated = "--share-of-users", "stated"
    out = answered(*user_counts(file, listed, *stated, "--users", "50"))
    assert "of 50 users, as was stated" in " ".join(out.split())
    assert "give it by --users" in complaint(*user_counts(file, listed, *stated))
