"""Items of every group from the shell."""

import json

import polars as pl
import pytest

pytestmark = pytest.mark.usefixtures("plain_terminal")
HELD = {"CH": ["Emma", "Dune"], "FR": ["Emma", "Candide"]}


@pytest.fixture
def table(tmp_path):
    rows = [
        (f"{country}{user}", country, 7, title)
        for country, titles in HELD.items()
        for user in range(400)
        for place, title in enumerate(titles)
        if place == 0 or user % 4
    ]
    path = tmp_path / "plays.csv"
    pl.DataFrame(rows, schema=["user", "country", "year", "title"], orient="row").write_csv(path)
    return path


def asked(table, *more, question="top-k"):
    k = ["-k", "2"] if question == "top-k" else []
    budget = ["--epsilon", "8", "--delta", "1e-6"]
    return [question, str(table), "--user", "user", "--item", "title", *k, *budget, *more]


def test_the_best_of_each_group_are_printed(run, table):
    status, out, err = run(*asked(table, "--by", "country"))
    assert (status, err) == (0, "")
    assert out.startswith("top-k by country: 4 items in 2 groups\n")
    rows = [line.split()[:3] for line in out.split("\n")[4:8]]
    assert rows == [[c, str(n), t] for c, ts in HELD.items() for n, t in enumerate(ts, 1)]


def test_several_columns_and_public_groups(run, table, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("country,year\nCH,7\nAT,7\n")
    more = ["--by", "country", "--by", "year", "--public-groups", str(groups)]
    status, out, _ = run(*asked(table, *more, "--max-groups-per-user", "2", "--json"))
    told = json.loads(out)
    assert status == 0
    assert told["columns"]["groups"] == ["country", "year"]
    assert {item["country"] for item in told["items"]} == {"CH"}
    assert told["mechanism"]["parameters"]["max_groups_per_user"] == 2


def test_a_domain_of_each_group(run, table):
    status, out, _ = run(*asked(table, "--by", "country", question="domain"))
    assert status == 0
    assert out.startswith("domain by country: 4 items in 2 groups\n")


def test_a_dry_run_reads_nothing(run, table):
    status, out, _ = run(*asked(table, "--by", "country", "--dry-run"))
    assert status == 0
    assert "top-k by PerGroup." in out
    assert "A group is found if about" in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--by", "contry"], 'contry" is not a column'),
        (["--by", "title"], '--by "title" and --item "title" are the same column'),
        (["--max-groups-per-user", "2"], "--max-groups-per-user goes with --by"),
        (["--public-groups", "groups.csv"], "--public-groups goes with --by"),
        (["--by", "country", "--count-share", "0.2"], "gives noisy counts with its ranks"),
        (["--by", "country", "--mechanism", "adaptive-top-k"], "does not look at items in groups"),
    ],
)
def test_refusals(run, table, more, words):
    status, out, err = run(*asked(table, *more))
    assert (status, out) == (2, "")
    assert words in err


def test_counts_know_no_groups_of_users(run, table):
    budget = ["-k", "2", "--epsilon", "8", "--delta", "1e-6"]
    given = ["--item", "title", "--count", "year", "--by", "country", *budget]
    status, _, err = run("top-k", str(table), *given)
    assert status == 2
    assert "--by goes with --user" in err
