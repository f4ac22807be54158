"""The command as a user meets it: its answers."""

import json
import re

import polars as pl
import pytest

from helpers.command import (
    COLUMNS,
    IN_TABLE,
    ITEMS,
    STORED,
    count,
    domain,
    hitting_set,
    in_store,
    top_k,
)

pytestmark = pytest.mark.usefixtures("plain_terminal")


def test_top_k_is_printed_with_its_guarantee(answered, file):
    out = answered(*top_k(file))
    lines = out.split("\n")
    assert lines[0] == "top-k: 2 items"
    assert [line.split()[:2] for line in lines[5:7]] == [["1", "007"], ["2", "7"]]
    assert "epsilon=3.0, delta=1e-06" in out
    assert 'all rows of any one "user"' in out
    assert out.endswith("\nA new run costs as much again.\n")
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)


def test_domain_is_printed_harmlessly(answered, file):
    out = answered(*domain(file))
    for item in ("007", "[bold]x[/]", r"\x1b[31m日本", "e\u0301te\u0301"):
        assert f"   {item}\n" in out


def test_numbers_have_sensible_digits(run, file):
    _, out, _ = run(*top_k(file))
    numbers = re.findall(r"\d+\.\d+", out)
    assert max(len(number.lstrip("0.").replace(".", "")) for number in numbers) <= 5


def test_fewer_than_asked_for_is_said(run, file):
    _, out, _ = run(*top_k(file, k=9))
    assert out.startswith("top-k: 5 items\n")
    fewer = (
        "Fewer than 9 came out: no other item could be named with this privacy. A larger epsilon"
    )
    assert fewer in " ".join(out.split())
    assert "Fewer" not in run(*top_k(file, k=5))[1]


def test_json_and_nothing_else(run, file, tmp_path):
    saved = tmp_path / "saved.json"
    status, out, err = run(*top_k(file, "--json", "--output", saved))
    assert status == 0
    release = json.loads(out)
    assert [item["title"] for item in release["items"]] == ["007", "7"]
    assert release["guarantee"]["private"] is True
    assert err == f"Saved as {saved}.\n"
    assert json.loads(saved.read_text()) == release


def test_what_is_printed_can_be_saved(run, file, tmp_path):
    saved = tmp_path / "titles.csv"
    status, out, err = run(*domain(file, "--output", saved))
    assert (status, err) == (0, f"Saved as {saved}.\n")
    assert out.startswith("domain: 5 items\n")
    assert pl.read_csv(saved, infer_schema=False)["title"].to_list() == ITEMS


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson"])
def test_a_glob_of_files(answered, plays, tmp_path, suffix):
    for part in (0, 1):
        getattr(plays[part::2], f"write_{suffix}")(tmp_path / f"part-{part}.{suffix}")
    out = answered(*domain(tmp_path / f"part-*.{suffix}", "--json"))
    assert [item["title"] for item in json.loads(out)["items"]] == ITEMS


def test_items_of_several_columns(run, plays, tmp_path):
    path = tmp_path / "pages.csv"
    plays.with_columns(page=pl.lit(1)).write_csv(path)
    status, out, _ = run(*domain(path, "--item", "page", "--json"))
    release = json.loads(out)
    assert (status, release["columns"]["items"]) == (0, ["title", "page"])
    assert (release["items"][0]["title"], release["items"][0]["page"]) == ("007", "1")


def test_public_items_from_a_file(run, answered, file, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("title\nnobody\n7\n007\n")
    words = ["top-k", file, *COLUMNS, "-k", 2, "--epsilon", 5, "--public-items", known]
    out = answered(*words)
    assert [line.split() for line in out.split("\n")[5:7]] == [["1", "007"], ["2", "7"]]
    assert "the list of public items does not depend on this table" in " ".join(out.split())
    assert run(*words, "--mechanism", "peeling")[0] == 0
    bound = ["--max-items-per-user", 1]
    out = answered(*words, "--mechanism", "one-shot-laplace", *bound)
    assert "of each user 1 item counts" in " ".join(out.split())
    assert run(*words, *bound)[0] == 2
    assert "no user is bounded" in run(*words, "--mechanism", "peeling", *bound)[2]


def test_a_hitting_set(run, answered, file, tmp_path):
    # Nobody holds two items: the most common ones reach most people.
    out = answered(*hitting_set(file))
    assert out.startswith("hitting-set: 2 items\n")
    assert [line.split()[:2] for line in out.split("\n")[5:7]] == [["1", "007"], ["2", "7"]]
    known = tmp_path / "known.csv"
    known.write_text("title\nnobody\n7\n007\n")
    status, out, _ = run(*hitting_set(file, "--public-items", known, "--json"))
    assert (status, json.loads(out)["mechanism"]["name"]) == (0, "UserPeeling")
    assert [item["title"] for item in json.loads(out)["items"]] == ["007", "7"]
    bound = ["--max-items-per-user", 1]
    status, _, err = run(*hitting_set(file, "--public-items", known, *bound))
    assert (status, "no user is bounded; omit it." in err) == (2, True)


def test_a_hitting_set_of_fewer_items_says_so(run, answered, file):
    for words in ([], ["--mechanism", "user-peeling"]):
        out = answered(*hitting_set(file, *words, k=9))
        assert out.startswith("hitting-set: 5 items\n")
        assert "Fewer than 9 came out: no other item" in out
        plan = run(*hitting_set(file, *words, "--dry-run", k=1))[1]
        assert "1 item is picked" in plan or "1 is picked one after another" in plan


@pytest.mark.parametrize("name", [None, "adaptive-hitting-set", "user-peeling"])
def test_a_hitting_set_of_private_items_without_delta_says_why(complaint, file, name):
    words = [] if name is None else ["--mechanism", name]
    told = complaint("hitting-set", file, *COLUMNS, "-k", 2, "--epsilon", 1, *words)
    assert told.startswith("--delta is needed, because the items are private: add --delta 1e-6.")
    assert told.endswith("If everybody knows the items, give --public-items FILE instead.")


def test_a_bound_that_has_no_effect_is_said_to_have_none(run, file):
    words = ["--mechanism", "policy-greedy", "--max-items-per-user", 2, "--dry-run"]
    assert "a bound on items per user has no effect" in " ".join(
        run(*domain(file, *words))[1].split()
    )


def test_a_histogram_with_its_items_public(answered, readers):
    out = answered(*count(readers, IN_TABLE))
    assert [line.split() for line in out.split("\n")[5:7]] == [["1", "007"], ["2", "7"]]
    words = " ".join(out.split())
    assert 'one user, who is in each count of "readers" at most once' in words
    assert 'the item column "title" is public' in words


def test_a_histogram_with_public_items_from_a_file(answered, readers, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("title\nnobody\n7\n007\n")
    out = answered(*count(readers, "--public-items", known, "--json", k=3))
    assert [item["title"] for item in json.loads(out)["items"]] == ["007", "7", "nobody"]


def test_a_histogram_with_private_items(answered, readers):
    out = answered(*count(readers, "--delta", "1e-6", "--max-items-per-user", 3, "--json"))
    release = json.loads(out)
    assert [item["title"] for item in release["items"]] == ["007", "7"]
    assert release["mechanism"]["name"] == "LimitedDomain"
    assert release["mechanism"]["parameters"]["max_items_per_user"] == 3
    assert release["guarantee"]["assumes"][-1] == "each user is in at most 3 counts"


def test_a_store(answered, database):
    database.store(STORED).prepare()
    out = answered(*in_store(database.url))
    assert [line.split() for line in out.split("\n")[5:7]] == [["1", "007"], ["2", "7"]]
    assert "the items of the store are public" in " ".join(out.split())
    assert "s3cret" not in out


def test_accesses_are_shown_on_request_beside_the_release(run, database):
    database.store(STORED).prepare()
    status, out, err = run(*in_store(database.url, "--show-accesses", "--json"))
    assert status == 0
    assert json.loads(out)["guarantee"]["private"] is True
    assert re.fullmatch(
        r"Counts read: \d+ in falling order, \d+ by id\. That depends on private data: keep it to "
        r"yourself\.\n",
        err,
    )
    assert "read" not in out


def test_noisy_counts(answered, in_json, file, readers):
    for words in (count(readers, IN_TABLE), top_k(file)):
        release = in_json(*words, "--count-share", "0.3")
        assert release["scores"]["unit"] == "noisy count"
        assert all(float(item["count"]).is_integer() for item in release["items"])
        out = answered(*words, "--count-share", "0.3", "--dry-run")
        assert "standard deviation" in out


def test_noisy_counts_of_a_domain(answered, file):
    out = answered(*domain(file, "--count-share", "0.3"))
    told = " ".join(out.split())
    assert "noisy clipped count: a user who holds many items adds less than 1" in told
    out = answered(*domain(file, "--count-share", "0.3", "--dry-run"))
    assert "adds sqrt(D / n) to each count" in " ".join(out.split())


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (top_k, ["discover-then-rank", "weighted-gaussian-peeling", "limited-domain"]),
        (domain, ["weighted-gaussian", "policy-gaussian", "policy-greedy"]),
        (count, ["joint-or-peel", "joint", "joint-permute-and-flip"]),
        (count, ["permute-and-flip", "peeling", "gamma"]),
    ],
)
def test_a_mechanism_by_name(in_json, file, readers, asked, names):
    words = asked(readers, IN_TABLE) if asked is count else asked(file)
    for name in names:
        release = in_json(*words, "--mechanism", name)
        assert release["mechanism"]["name"].lower() == name.replace("-", "")
        assert asked is not domain or (release["scores"] is None) is (name == "policy-gaussian")


def test_a_seed_needs_a_word(run, complaint, file):
    seeded = [*domain(file), "--seed", 1]
    assert complaint(*seeded).startswith("--seed 1: whoever knows the seed can undo the noise")
    assert "--not-private" in complaint(*seeded, "--dry-run")
    assert "0 or more" in complaint(*domain(file), "--seed", -1, "--not-private")
    assert complaint(*domain(file), "--not-private").startswith("--not-private goes with --seed")
    first = run(*seeded, "--not-private")
    assert first[0] == 0
    assert first[1].count("not private: the noise came from a seed") == 2
    assert first == run(*seeded, "--not-private")
    assert run(*domain(file), "--json")[1] != run(*domain(file), "--json")[1]


@pytest.mark.parametrize("more", [[], ["--mechanism", "set-or-peel"]])
def test_a_list_without_order_has_no_ranks(answered, tmp_path, more):
    held = pl.DataFrame({"title": list("ebdca"), "readers": [900, 800, 700, 9, 3]})
    held.write_csv(tmp_path / "readers.csv")
    asked = count(tmp_path / "readers.csv", "--public-items-in-table", "--unordered", *more, k=3)
    lines = answered(*asked).splitlines()
    assert lines[3:8] == ["title", "─────", "b", "d", "e"]
