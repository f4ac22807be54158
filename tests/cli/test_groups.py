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
    k = [] if question == "domain" else ["-k", "2"]
    budget = ["--epsilon", "8", "--delta", "1e-6"]
    return [question, str(table), "--user", "user", "--item", "title", *k, *budget, *more]


def test_the_best_of_each_group_are_printed(answered, table):
    out = answered(*asked(table, "--by", "country"))
    assert out.startswith("top-k by country: 4 items in 2 groups\n")
    rows = [line.split()[:3] for line in out.split("\n")[5:9]]
    assert rows == [[c, str(n), t] for c, ts in HELD.items() for n, t in enumerate(ts, 1)]


def test_several_columns_and_public_groups(answered, table, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("country,year\nCH,7\nAT,7\n")
    more = ["--by", "country", "--by", "year", "--public-groups", str(groups)]
    out = answered(*asked(table, *more, "--max-groups-per-user", "2", "--json"))
    told = json.loads(out)
    assert told["columns"]["groups"] == ["country", "year"]
    assert {item["country"] for item in told["items"]} == {"CH"}
    assert told["mechanism"]["parameters"]["max_groups_per_user"] == 2


def test_groups_whose_items_are_their_own(answered, table):
    out = answered(*asked(table, "--by", "country", "--group-items", "own", "--json"))
    told = json.loads(out)
    assert [(item["country"], item["title"]) for item in told["items"]] == [
        (country, title) for country, titles in HELD.items() for title in titles
    ]
    assert told["mechanism"]["parameters"]["group_items"] == "own"


def test_a_domain_of_each_group(answered, table):
    out = answered(*asked(table, "--by", "country", question="domain"))
    assert out.startswith("domain by country: 4 items in 2 groups\n")


def test_a_dry_run_reads_nothing(answered, table):
    out = answered(*asked(table, "--by", "country", "--dry-run"))
    assert "top-k by PerGroup." in out
    assert "A group is found if about" in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--by", "contry"], 'contry" is not a column'),
        (["--by", "title"], '--by "title" and --item "title" are the same column'),
        (["--by", "country", "--count-share", "0.2"], "gives noisy counts with its ranks"),
        (["--by", "country", "--mechanism", "adaptive-top-k"], "does not look at items in groups"),
        (["--by", "country", "--group-items", "mine"], "It must be shared, own or unknown"),
        (["--group-items", "own"], "--by"),
    ],
)
def test_refusals(run, table, more, words):
    status, out, err = run(*asked(table, *more))
    assert (status, out) == (2, "")
    assert words in err


@pytest.fixture
def histogram(tmp_path):
    path = tmp_path / "readers.csv"
    path.write_text("country,title,n\nCH,Emma,900\nCH,Dune,600\nFR,Candide,800\nFR,Emma,700\n")
    return path


def counted(histogram, *more):
    of = ["--item", "title", "--count", "n", "--by", "country", "-k", "1", "--epsilon", "8"]
    return ["top-k", str(histogram), *of, *more]


def test_a_histogram_in_groups(answered, histogram):
    more = ["--max-groups-per-user", "2", "--delta", "1e-6", "--count-share", "0.3"]
    out = answered(*counted(histogram, *more))
    assert out.startswith("top-k by country: 2 items in 2 groups\n")
    assert [line.split()[:3] for line in out.split("\n")[5:7]] == [
        ["CH", "1", "Emma"],
        ["FR", "1", "Candide"],
    ]


def test_a_histogram_with_what_everybody_knows(run, answered, histogram, tmp_path):
    groups, items = tmp_path / "groups.csv", tmp_path / "items.csv"
    groups.write_text("country\nCH\nAT\n")
    items.write_text("title\nEmma\nDune\n")
    lists = ["--public-items", str(items), "--public-groups", str(groups)]
    out = answered(*counted(histogram, "--max-groups-per-user", "1", *lists, "--json"))
    told = json.loads(out)
    assert [item["country"] for item in told["items"]] == ["AT", "CH"]
    more = ["--max-groups-per-user", "1", "--public-items-in-table"]
    assert run(*counted(histogram, *more))[0] == 0


def test_a_histogram_needs_a_promise(run, histogram):
    status, _, err = run(*counted(histogram, "--delta", "1e-6"))
    assert status == 2
    assert "--max-groups-per-user" in err


def test_noisy_counts_change_nothing_in_groups_as_the_help_says(answered, table):
    seeded = ["--by", "country", "--json", "--seed", "3", "--not-private"]
    bare, counted = (
        json.loads(answered(*asked(table, *more, *seeded))) for more in ([], ["--noisy-counts"])
    )
    assert bare["items"] == counted["items"]
    assert bare["mechanism"] == counted["mechanism"]
    assert counted["scores"]["unit"] == "noisy clipped count"
    assert not any("low" in name for name in counted["items"][0])
    told = " ".join(answered("top-k", "--help").replace("│", " ").split())
    assert "With --by, rows of users have clipped counts anyway, for nothing and without" in told


def test_a_hitting_set_of_each_group(answered, complaint, table, tmp_path):
    out = answered(*asked(table, "--by", "country", question="hitting-set"))
    assert out.startswith("hitting-set by country: ")
    assert " ".join(out.split("\n")[5].split()[:3]) in ("CH 1 Emma", "CH 1 Dune")
    dry = ["--by", "country", "--max-groups-per-user", "2", "--dry-run"]
    out = answered(*asked(table, *dry, question="hitting-set"))
    assert "a user counts in 2 groups at most" in " ".join(out.split())
    listed = tmp_path / "listed.csv"
    listed.write_text("title\nEmma\n")
    alone = ["--by", "country", "--public-items", listed]
    assert "by --public-groups" in complaint(*asked(table, *alone, question="hitting-set"))
