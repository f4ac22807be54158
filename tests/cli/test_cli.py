"""The command as a user meets it: what it prints, and what it says of itself."""

import gzip
import io
import json
import re
import subprocess
import sys

import polars as pl
import pytest

from helpers.command import (
    COLUMNS,
    IN_TABLE,
    ITEMS,
    PRIVACY,
    STORED,
    count,
    domain,
    hitting_set,
    in_store,
    top_k,
)
from shortlist.engines.comparisons_in_memory import ComparisonsInMemory
from shortlist.engines.histogram_in_memory import HistogramInMemory
from shortlist.engines.indexed_store import IndexedStore
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.mechanisms.registry import mechanism_named, mechanism_names
from shortlist.questions import Domain, HittingSet, Rank, TopK

pytestmark = pytest.mark.usefixtures("plain_terminal")


# Answers


def test_top_k_is_printed_with_its_guarantee(run, file):
    status, out, err = run(*top_k(file))
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert lines[0] == "top-k: 2 items"
    assert [line.split()[:2] for line in lines[4:6]] == [["1", "007"], ["2", "7"]]
    assert "epsilon=5.0, delta=1e-06" in out
    assert 'all rows of any one "user"' in out
    assert out.endswith("\nRunning it again spends the budget again.\n")
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)


def test_domain_is_printed_harmlessly(run, file):
    status, out, err = run(*domain(file))
    assert (status, err) == (0, "")
    for item in ("007", "[bold]x[/]", r"\x1b[31m日本", "e\u0301te\u0301"):
        assert f"   {item} " in out


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
def test_a_glob_of_files(run, plays, tmp_path, suffix):
    for part in (0, 1):
        getattr(plays[part::2], f"write_{suffix}")(tmp_path / f"part-{part}.{suffix}")
    status, out, _ = run(*domain(tmp_path / f"part-*.{suffix}", "--json"))
    assert status == 0
    assert [item["title"] for item in json.loads(out)["items"]] == ITEMS


def test_items_of_several_columns(run, plays, tmp_path):
    path = tmp_path / "pages.csv"
    plays.with_columns(page=pl.lit(1)).write_csv(path)
    status, out, _ = run(*domain(path, "--item", "page", "--json"))
    release = json.loads(out)
    assert (status, release["columns"]["items"]) == (0, ["title", "page"])
    assert (release["items"][0]["title"], release["items"][0]["page"]) == ("007", "1")


def test_public_items_from_a_file(run, file, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("title\nnobody\n7\n007\n")
    words = ["top-k", file, *COLUMNS, "-k", 2, "--epsilon", 5, "--public-items", known]
    status, out, _ = run(*words)
    assert status == 0
    assert [line.split() for line in out.split("\n")[4:6]] == [["1", "007"], ["2", "7"]]
    assert "the list of public items does not depend on this table" in " ".join(out.split())
    assert run(*words, "--mechanism", "peeling")[0] == 0
    bound = ["--max-items-per-user", 1]
    status, out, _ = run(*words, "--mechanism", "one-shot-laplace", *bound)
    assert status == 0
    assert "max_items_per_user=1" in " ".join(out.split())
    assert run(*words, *bound)[0] == 2
    assert "no user is bounded" in run(*words, "--mechanism", "peeling", *bound)[2]


def test_a_hitting_set(run, file, tmp_path):
    # Nobody holds two items: the most common ones reach most people.
    status, out, err = run(*hitting_set(file))
    assert (status, err) == (0, "")
    assert out.startswith("hitting-set: 2 items\n")
    assert [line.split()[:2] for line in out.split("\n")[4:6]] == [["1", "007"], ["2", "7"]]
    known = tmp_path / "known.csv"
    known.write_text("title\nnobody\n7\n007\n")
    status, out, _ = run(*hitting_set(file, "--public-items", known, "--json"))
    assert (status, json.loads(out)["mechanism"]["name"]) == (0, "UserPeeling")
    assert [item["title"] for item in json.loads(out)["items"]] == ["007", "7"]
    bound = ["--max-items-per-user", 1]
    status, _, err = run(*hitting_set(file, "--public-items", known, *bound))
    assert (status, "no user is bounded; omit it." in err) == (2, True)


def test_a_hitting_set_of_fewer_items_says_so(run, file):
    for words in ([], ["--mechanism", "user-peeling"]):
        status, out, _ = run(*hitting_set(file, *words, k=9))
        assert (status, out.startswith("hitting-set: 5 items\n")) == (0, True)
        assert "Fewer than 9 came out: no other item" in out
        plan = run(*hitting_set(file, *words, "--dry-run", k=1))[1]
        assert "1 item is picked" in plan or "1 is picked one after another" in plan


@pytest.mark.parametrize("name", [None, "discover-then-hit", "user-peeling"])
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


def test_a_histogram_with_its_items_public(run, readers):
    status, out, err = run(*count(readers, IN_TABLE))
    assert (status, err) == (0, "")
    assert [line.split() for line in out.split("\n")[4:6]] == [["1", "007"], ["2", "7"]]
    words = " ".join(out.split())
    assert 'one user, who is in each count of "readers" at most once' in words
    assert 'the item column "title" is public' in words


def test_a_histogram_with_public_items_from_a_file(run, readers, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("title\nnobody\n7\n007\n")
    status, out, _ = run(*count(readers, "--public-items", known, "--json", k=3))
    assert status == 0
    assert [item["title"] for item in json.loads(out)["items"]] == ["007", "7", "nobody"]


def test_a_histogram_with_private_items(run, readers):
    status, out, _ = run(*count(readers, "--delta", "1e-6", "--max-items-per-user", 3, "--json"))
    assert status == 0
    release = json.loads(out)
    assert [item["title"] for item in release["items"]] == ["007", "7"]
    assert release["mechanism"]["name"] == "LimitedDomain"
    assert release["mechanism"]["parameters"]["max_items_per_user"] == 3
    assert release["guarantee"]["assumes"][-1] == "each user is in at most 3 counts"


def test_a_store(run, database):
    database.store(STORED).prepare()
    status, out, err = run(*in_store(database.url))
    assert (status, err) == (0, "")
    assert [line.split() for line in out.split("\n")[4:6]] == [["1", "007"], ["2", "7"]]
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


def test_noisy_counts(run, file, readers):
    for words in (count(readers, IN_TABLE), top_k(file)):
        status, out, _ = run(*words, "--count-share", "0.3", "--json")
        release = json.loads(out)
        assert status == 0
        assert release["scores"]["unit"] == "noisy count"
        assert all(float(item["score"]).is_integer() for item in release["items"])
        status, out, _ = run(*words, "--count-share", "0.3", "--dry-run")
        assert (status, "standard deviation" in out) == (0, True)


@pytest.mark.parametrize(
    "name",
    ["joint-or-peel", "joint", "joint-permute-and-flip", "permute-and-flip", "peeling", "gamma"],
)
def test_a_mechanism_for_public_items_by_name(run, readers, name):
    status, out, _ = run(*count(readers, IN_TABLE, "--json", "--mechanism", name))
    assert status == 0
    assert json.loads(out)["mechanism"]["name"].lower() == name.replace("-", "")


@pytest.mark.parametrize(
    "name", ["discover-then-rank", "weighted-gaussian-peeling", "limited-domain"]
)
def test_a_mechanism_by_name(run, file, name):
    status, out, _ = run(*top_k(file, "--json", "--mechanism", name))
    assert status == 0
    assert json.loads(out)["mechanism"]["name"].lower() == name.replace("-", "")


@pytest.mark.parametrize("name", ["weighted-gaussian", "policy-gaussian", "policy-greedy"])
def test_a_mechanism_of_a_domain_by_name(run, file, name):
    status, out, _ = run(*domain(file, "--json", "--mechanism", name))
    assert status == 0
    release = json.loads(out)
    assert release["mechanism"]["name"].lower() == name.replace("-", "")
    assert (release["scores"] is not None) is (name == "weighted-gaussian")


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


# Nothing but words


ENGINES = (RowsInMemory, HistogramInMemory, ComparisonsInMemory, IndexedStore)


@pytest.fixture
def unread(monkeypatch):
    """Nobody may read a row."""
    for kind in ENGINES:
        monkeypatch.setattr(kind, "show", lambda *_: pytest.fail("rows are read"))


@pytest.mark.usefixtures("unread")
def test_a_dry_run_reads_nothing(run, file, tmp_path):
    (tmp_path / "known.csv").write_text("title\na\nb\n")
    status, out, err = run(*top_k(file, "--dry-run", "--public-items", tmp_path / "known.csv"))
    assert (status, err) == (0, "")
    assert out.startswith("No row was read and nothing was spent.\n\ntop-k by JointOrPeel.\n")
    status, out, err = run(*top_k(file, "--dry-run"))
    assert (status, err) == (0, "")
    said = " ".join(out.split())
    for part in ("This run costs (5, 1e-06).", "as rho = 0.", "standard deviation", "at least"):
        assert part in said
    assert re.search(r"To be named, an item needs about \d+ people who hold nothing else\. ", said)
    assert all(len(line) <= 80 for line in out.split("\n"))


@pytest.mark.usefixtures("unread")
def test_a_dry_run_for_a_histogram_reads_nothing(run, readers):
    for more, name in (([IN_TABLE], "JointOrPeel"), (["--delta", "1e-6"], "LimitedDomain")):
        status, out, err = run(*count(readers, "--dry-run", *more))
        assert (status, err) == (0, "")
        assert out.startswith(f"No row was read and nothing was spent.\n\ntop-k by {name}.\n")


@pytest.mark.usefixtures("unread")
def test_a_dry_run_for_a_store_reads_no_row(run, database):
    database.store(STORED)
    status, out, err = run(*in_store(database.url, "--dry-run"))
    assert (status, err) == (0, "")
    assert out.startswith("No row was read and nothing was spent.\n\ntop-k by ThresholdTopK.\n")


@pytest.mark.usefixtures("unread")
def test_a_dry_run_in_json(run, file):
    status, out, _ = run(*domain(file, "--dry-run", "--json"))
    assert status == 0
    plan = json.loads(out)
    assert plan["question"] == {"name": "domain"}
    assert plan["mechanism"]["name"] == "WeightedGaussian"
    assert plan["mechanism"]["parameters"]["sigma"] > 0
    assert plan["guarantee"]["cost"]["name"] == "Gaussian"
    assert plan["guarantee"]["epsilon"] == 5
    assert "people who hold nothing else" in plan["explanation"][-1]


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


def test_version(run):
    status, out, _ = run("--version")
    assert status == 0
    assert re.fullmatch(r"shortlist \d+\.\d+\.\d+\n", out)


@pytest.mark.parametrize(
    "words",
    [
        *(["--help"], ["-h"], ["top-k", "--help"], ["domain", "-h"]),
        *(["hitting-set", "--help"], ["rank", "-h"]),
    ],
)
def test_help_fits_and_has_an_example(run, words):
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    command = words[0] if len(words) > 1 else "top-k"
    table = "plays.parquet --user user --item title"
    if command == "rank":
        table = "games.csv --winner won --loser lost"
    assert f" shortlist {command} {table} \\\n" in re.sub(" +\n", "\n", out)
    assert all(len(line) <= 80 for line in out.split("\n"))
    assert "bool" not in out
    assert not set("<>{}") & set(out)


def test_help_names_the_mechanisms(run):
    names = set(mechanism_names())
    for question in (TopK, Domain, HittingSet, Rank):
        said = set(re.findall(r"[\w-]+", run(question.name, "--help")[1]))
        taken = {name for name in names if mechanism_named(name).question is question}
        assert said & names == taken != set()


def test_without_a_command_there_is_help(run):
    status, out, err = run()
    assert (status, err) == (2, "")
    assert "Usage: shortlist" in out


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from shortlist.cli import exit_status; sys.argv[1:] = ['top-k', '--help'];"
        "exit_status();"
        "print({'numpy', 'scipy', 'polars', 'numba', 'narwhals', 'flint'} & set(sys.modules))"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout.endswith("\nset()\n")


@pytest.mark.parametrize(
    ("options", "separator"),
    [
        ([], ","),
        (["--input-format", "csv", "--separator", ";"], ";"),
        (["--input-format", "tsv"], "\t"),
        (["--separator", r"\t"], "\t"),
        (["--separator", "tab"], "\t"),
    ],
)
def test_what_is_piped_in(run, monkeypatch, options, separator):
    rows = "".join(f"u{i}{separator}007\n" for i in range(3000))
    content = f"user{separator}title\n{rows}".encode()
    for words in (top_k("-", *options, k=1), domain("-", *options)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        status, out, err = run(*words, "--json")
        assert (status, err) == (0, "")
        assert [item["title"] for item in json.loads(out)["items"]] == ["007"]


@pytest.mark.parametrize("given", ["directory", "gzip"])
def test_other_files(run, tmp_path, given):
    rows = b"".join(b"u%d;007\n" % i for i in range(3000))
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"user;title\n" + rows))
    given = tmp_path if given == "directory" else file
    status, out, _ = run(*top_k(given, "--separator", ";", "--json", k=1))
    assert (status, [item["title"] for item in json.loads(out)["items"]]) == (0, ["007"])


def test_a_ranking_of_what_is_piped_in(run, monkeypatch):
    content = b"won\tlost\n" + b"007\t7\n" * 900
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    words = ["rank", "-", "--winner", "won", "--loser", "lost", "--public-items-in-table"]
    status, out, _ = run(*words, "--input-format", "tsv", "-k", 1, "--epsilon", 1, "--json")
    assert (status, [item["item"] for item in json.loads(out)["items"]]) == (0, ["007"])
