"""The command as a user meets it: what it prints, where, and how it ends."""
# ruff: noqa: S603 - the program that is run is our own

import contextlib
import errno
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from shortlist import cli
from shortlist.cli import answer, failure, request
from shortlist.errors import InputError
from shortlist.mechanisms import Question
from shortlist.release import Release
from shortlist.sources.kinds import mechanism_named, mechanism_names
from shortlist.sources.pairs import Pairs

MARKER = "Zz-private-91"
ITEMS = ["007", "7", "[bold]x[/]", "\x1b[31m日本", "e\u0301te\u0301"]
PRIVACY = ["--epsilon", "5", "--delta", "1e-6"]
COLUMNS = ["--user", "user", "--item", "title"]
PROGRAM = [sys.executable, "-m", "shortlist"]
needs_sh = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes the streams")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "PYTHONIOENCODING", "TERMINAL_WIDTH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def plays():
    """Item number i of five has (5 - i) 80 people, who hold nothing else."""
    held = [item for i, item in enumerate(ITEMS) for _ in range((5 - i) * 80)]
    return pl.DataFrame({"user": [f"{i:04d}" for i in range(len(held))], "title": held})


@pytest.fixture
def file(plays, tmp_path):
    path = tmp_path / "plays.parquet"
    plays.with_columns(secret=pl.lit(MARKER)).write_parquet(path)
    return path


@pytest.fixture
def readers(tmp_path):
    """A histogram: item number i of five has (5 - i) 1000 readers."""
    path = tmp_path / "readers.csv"
    numbers = [(5 - i) * 1000 for i in range(5)]
    frame = pl.DataFrame({"readers": numbers, "title": ITEMS, "secret": [MARKER] * 5})
    frame.write_csv(path)
    return path


@pytest.fixture
def games(tmp_path):
    """Item number i of five wins (5 - i) 80 comparisons, each made by somebody else."""
    won = [item for i, item in enumerate(ITEMS) for _ in range((5 - i) * 80)]
    lost = [ITEMS[(ITEMS.index(item) + 1) % 5] for item in won]
    path = tmp_path / "games.parquet"
    frame = pl.DataFrame({"won": won, "lost": lost, "who": range(len(won))})
    frame.with_columns(secret=pl.lit(MARKER), number=pl.lit(1)).write_parquet(path)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process: exit status, standard output, standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, words)])
        try:
            status = cli.exit_status()
        except SystemExit as end:
            status = end.code
        streams = capsys.readouterr()
        assert "Traceback" not in streams.err
        return status, _plain(streams.out), streams.err

    return run


@pytest.fixture
def complaint(run):
    """The one line that a command complains with, its end being status 2."""

    def complaint(*words, status=2):
        ended, out, err = run(*words)
        assert (ended, out) == (status, "")
        assert err.startswith("shortlist: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert MARKER not in err
        return err.removeprefix("shortlist: ").removesuffix("\n")

    return complaint


def _plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def top_k(file, *more, k=2):
    return ["top-k", file, *COLUMNS, "-k", k, *PRIVACY, *more]


def domain(file, *more):
    return ["domain", file, *COLUMNS, *PRIVACY, *more]


def count(file, *more, k=2):
    words = ["--item", "title", "--count", "readers", "-k", k, "--epsilon", "5"]
    return ["top-k", file, *words, *more]


def in_store(url, *more, k=2):
    words = ["--table", "items", "--item", "name", "--count", "plays", "-k", k, "--epsilon", "5"]
    return ["top-k", "--store", url, *words, *more]


def rank(file, *more, k=2):
    words = ["--winner", "won", "--loser", "lost", "-k", k, "--epsilon", "5"]
    return ["rank", file, *words, *more]


IN_TABLE = "--public-items-in-table"
SPECTRAL = ["--mechanism", "spectral-ranking"]
STORED = [(item, (5 - i) * 1000) for i, item in enumerate(ITEMS)]


# Answers


def test_top_k_is_printed_with_its_guarantee(run, file):
    status, out, err = run(*top_k(file))
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert lines[0] == "top-k: 2 items"
    assert [line.split()[:2] for line in lines[4:6]] == [["1", "007"], ["2", "7"]]
    assert "epsilon=5.0, delta=1e-06" in out
    assert 'everything that one value of "user" holds' in out
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
    assert out.endswith("Fewer than 9 came out: no other item could be named with this privacy.\n")
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


def test_a_ranking(run, games, tmp_path):
    status, out, err = run(*rank(games, IN_TABLE))
    assert (status, err) == (0, "")
    assert out.startswith("rank: 2 items\n")
    assert [line.split()[:2] for line in out.split("\n")[4:6]] == [["1", "007"], ["2", "7"]]
    assert "protects    one comparison\n" in out
    assert "the items that the table compares are public" in " ".join(out.split())
    known = tmp_path / "known.csv"
    known.write_text("player\nnobody\n7\n007\n[bold]x[/]\n")
    users = ["--user", "who", "--max-comparisons-per-user", 3, "--public-items", known]
    status, out, _ = run(*rank(games, *users, "--json"))
    release = json.loads(out)
    assert (status, [item["item"] for item in release["items"]]) == (0, ["007", "7"])
    assert release["guarantee"]["protects"] == "one user, at most 3 comparisons"
    assert release["mechanism"]["parameters"]["max_comparisons_per_user"] == 3
    assert release["question"] == "rank"


def test_a_spectral_ranking(run, games):
    words = rank(games, IN_TABLE, *SPECTRAL, "--contraction", "0.9", "--degree", 4, k=5)
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    said = " ".join(out.split())
    assert "who won, in one comparison" in said
    assert "the ergodicity coefficient of the walk is at most 0.9: a promise" in said
    assert "SpectralRanking: k=5, contraction=0.9, degree=4" in said
    status, out, _ = run(*words, "--dry-run")
    assert (status, "without it nothing is private" in " ".join(out.split())) == (0, True)


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


def test_a_dry_run_reads_nothing(run):
    status, out, err = run(*top_k("no such.parquet", "--dry-run", "--public-items", "nor this"))
    assert (status, err) == (0, "")
    assert out.startswith("Nothing was read and nothing was spent.\n\nJointOrPeel would spend")
    status, out, err = run(*top_k("no such.parquet", "--dry-run"))
    assert (status, err) == (0, "")
    for part in ("epsilon=5, delta=1e-06", "ZCDP(rho=", "standard deviation", "at least"):
        assert part in out
    assert re.search(r"An item needs about \d+ people who hold nothing else to be named\.\s", out)
    assert all(len(line) <= 80 for line in out.split("\n"))


def test_a_dry_run_for_a_histogram_reads_nothing(run):
    for more, name in (
        ([IN_TABLE], "JointOrPeel"),
        (["--public-items", "none.csv"], "JointOrPeel"),
        (["--delta", "1e-6"], "LimitedDomain"),
    ):
        status, out, err = run(*count("no such.parquet", "--dry-run", *more))
        assert (status, err) == (0, "")
        assert out.startswith(f"Nothing was read and nothing was spent.\n\n{name} would spend")


def test_a_dry_run_for_a_store_connects_to_nothing(run):
    for url in ("sqlite:///no such.db", "postgresql://nobody:s3cret@127.0.0.1:1/x"):
        status, out, err = run(*in_store(url, "--dry-run"))
        assert (status, err) == (0, "")
        assert out.startswith("Nothing was read and nothing was spent.\n\nThresholdTopK would")


def test_a_dry_run_of_a_ranking_reads_nothing(run):
    status, out, err = run(*rank("no such.parquet", IN_TABLE, "--dry-run"))
    assert (status, err) == (0, "")
    assert out.startswith("Nothing was read and nothing was spent.\n\nWinCount would spend epsilon")
    assert "hides what one comparison changes" in " ".join(out.split())


def test_a_dry_run_in_json(run):
    status, out, _ = run(*domain("no such.parquet", "--dry-run", "--json"))
    assert status == 0
    plan = json.loads(out)
    assert plan["mechanism"]["name"] == "WeightedGaussian"
    assert plan["mechanism"]["parameters"]["sigma"] > 0
    assert plan["cost"]["name"] == "Gaussian"
    assert "people who hold nothing else" in plan["explanation"][-1]


def test_a_dry_run_checks_every_argument(complaint):
    assert "epsilon" in complaint(*domain("x.csv", "--dry-run", "--epsilon", 0))
    assert "no folder/x.csv" in complaint(
        *domain("x.csv", "--dry-run", "--output", "no folder/x.csv")
    )


def test_version(run):
    status, out, _ = run("--version")
    assert status == 0
    assert re.fullmatch(r"shortlist \d+\.\d+\.\d+\n", out)


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["top-k", "--help"], ["domain", "-h"], ["rank", "-h"]]
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
    for question in (Question.TOP_K, Question.DOMAIN, Question.RANK):
        said = set(re.findall(r"[\w-]+", run(question.value, "--help")[1]))
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\nset()\n")


# What can be mended: status 2, one line, before anything is spent


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["topk"], "No such command 'topk'. Did you mean 'top-k'? See shortlist --help."),
        (["--verbos"], "No such option: --verbos."),
        (["top-k"], "Missing option '--item'. See shortlist top-k --help."),
        (["domain"], "Missing argument 'FILE'. See shortlist domain --help."),
        (["top-k", "x.csv"], "Missing option '--item'"),
        (["domain", "x.csv"], "Missing option '--user'"),
        (["top-k", "x.csv", "--usr", "a"], "Did you mean --user? See shortlist top-k --help."),
        (["top-k", "x.csv", "--user"], "Option '--user' requires an argument."),
        (["domain", "x.csv", "y.csv", *COLUMNS, *PRIVACY], "unexpected extra argument"),
        (domain("x.csv")[:-2], "Missing option '--delta'"),
    ],
)
def test_words_that_do_not_fit(complaint, words, said):
    assert said in complaint(*words)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["-k", "2.5"], "'-k': \"2.5\" is not a whole number."),
        (["-k", "0"], "-k 0: must be a whole number, 1 or more."),
        (["--epsilon", "much"], "'--epsilon': \"much\" is not a number."),
        (["--epsilon", "0"], "--epsilon 0.0: must be a number above 0"),
        (["--epsilon", "nan"], "--epsilon nan: must be"),
        (["--epsilon", "inf"], "--epsilon inf: must be"),
        (["--delta", "1"], "--delta 1.0: must be"),
        (["--delta", "-1"], "--delta -1.0: must be"),
        (["--delta", "0"], "--delta 0: the items are private"),
        (["--max-items-per-user", "0"], "--max-items-per-user 0: must be"),
        (["--mechanism", "peling"], 'Did you mean "peeling"?'),
        (["--mechanism", "peeling"], "--mechanism peeling: it takes items that everybody knows;"),
        (["--mechanism", "weighted-gaussian"], "-gaussian: it answers domain, not top-k."),
        (["--user", "usr"], 'is not a column. The columns are "user", "title", "secret".'),
        (["--user", "usr"], 'Did you mean "user"?'),
        (["--item", "titel"], '--item "titel" is not a column.'),
        (["--user", "title"], "are the same column"),
        (["--output", "answer.xlsx"], ".json, .csv or .parquet"),
        (["--output", "/no/such/folder/x.csv"], "/no/such/folder/x.csv"),
        (["--public-items", "none.csv"], '--public-items "none.csv" does not exist'),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(complaint, file, more, said):
    assert said in complaint(*top_k(file), *more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "--delta 0: the items are private"),
        (["--delta", "2"], "--delta 2.0: must be"),
        (["--user", "title"], '--user "title" and --count "readers": a table has rows of users'),
        ([IN_TABLE, "--public-items", "x.csv"], "give one of the two."),
        ([IN_TABLE, "--count", "title"], '--count "title" and --item "title" are the same column'),
        ([IN_TABLE, "--count", "reader"], '--count "reader" is not a column.'),
        ([IN_TABLE, "--count", "reader"], 'Did you mean "readers"?'),
        ([IN_TABLE, "--count", "secret"], '--count "secret" holds a text that is no whole number'),
        ([IN_TABLE, "--count-share", "1"], "--count-share 1.0: must be a number from 1e-6"),
        ([IN_TABLE, "--count-share", "some"], "'--count-share': \"some\" is not a number."),
        ([IN_TABLE, "-k", "6"], "-k 6: there are only 5 public items; ask for at most so many."),
        ([IN_TABLE, "--max-items-per-user", "0"], "--max-items-per-user 0: must be"),
        ([IN_TABLE, "--mechanism", "limited-domain"], "limited-domain: it discovers private items"),
        ([IN_TABLE, "--delta", "0.1", "--mechanism", "joint"], "--delta 0.1: joint is pure and"),
        (["--mechanism", "peeling"], "items that everybody knows; give --public-items."),
        (["--mechanism", "weighted-gaussian"], "it needs to know who holds what"),
        (["--mechanism", "weighted-gaussian"], "give rows of users and items, by --user."),
    ],
)
def test_values_that_do_not_fit_a_histogram(complaint, readers, more, said):
    assert said in complaint(*count(readers), *more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--item", "other"], "--item: a store has one column of items; name it once."),
        (["--user", "name"], "--user does not go with --store: its table has one row for each"),
        (["--public-items", "x.csv"], "--public-items does not go with --store"),
        ([IN_TABLE], "--public-items-in-table does not go with --store"),
        (["--max-items-per-user", "3"], "--max-items-per-user does not go with --store"),
        (["--count-share", "0.5"], "--count-share does not go with --store"),
        (["x.csv"], "FILE does not go with --store"),
        (["--table", "item"], '--table "item" is not a table of this file. Did you mean "items"?'),
        (["--count", "play"], '--table "items": --count "play" is not a column. The columns are'),
        (["--mechanism", "joint"], "--mechanism joint: it needs every count, and of a store few"),
        (["--mechanism", "joint"], "take all counts out of the store, for --count."),
        ([], '--table "items": --count "plays" has no index'),
        ([], 'or run CREATE INDEX "items by plays" ON "items" ("plays");'),
        (["--store", "sqlite:///no.db"], '--store "sqlite:///no.db" does not exist'),
        (["--store", "mysql://me:s3cret@h/x"], '--store "mysql://…": is no kind of store;'),
        (["--store", "postgresql://me:s3cret@127.0.0.1:1/x"], '--store "postgresql://…" cannot be'),
    ],
)
def test_values_that_do_not_fit_a_store(complaint, sqlite, more, said):
    sqlite.store(STORED)
    message = complaint(*in_store(sqlite.url), *more)
    assert said in message
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "one of --public-items and --public-items-in-table is needed: a file"),
        ([IN_TABLE, "--public-items", "x.csv"], "give one of the two."),
        ([IN_TABLE, "--user", "who"], '--user "who": all comparisons of a user are protected'),
        ([IN_TABLE, "--user", "who"], "give --max-comparisons-per-user, such as 10, or leave"),
        ([IN_TABLE, "--max-comparisons-per-user", 3], "--max-comparisons-per-user 3: it bounds"),
        ([IN_TABLE, "--winner", "wno"], '--winner "wno" is not a column. The columns are "won"'),
        ([IN_TABLE, "--winner", "wno"], 'Did you mean "won"?'),
        ([IN_TABLE, "--loser", "won"], '--winner "won" and --loser "won" are the same column'),
        ([IN_TABLE, "--loser", "number"], '--winner "won" is of type String, and'),
        ([IN_TABLE, "--delta", "0.1"], "--delta 0.1: win-count is pure and uses none of it"),
        ([IN_TABLE, "--mechanism", "joint"], "--mechanism joint: it answers top-k, not rank."),
        ([IN_TABLE, "-k", 6], "-k 6: there are only 5 public items; ask for at most so many."),
        ([IN_TABLE, "--seed", 1], "--seed 1: whoever knows the seed"),
        ([IN_TABLE, "--degree", 3], "--degree: it goes with --mechanism spectral-ranking; leave"),
        ([IN_TABLE, *SPECTRAL], "--mechanism spectral-ranking: not every pair of items was"),
        ([IN_TABLE, *SPECTRAL], "give its option --contraction, or leave mechanism out"),
        ([IN_TABLE, *SPECTRAL, "--contraction", "1"], "--contraction 1.0: must be a number from 0"),
        ([IN_TABLE, *SPECTRAL, "--contraction", "0.9", "--degree", 1], "--degree 1: an item was"),
        ([IN_TABLE, *SPECTRAL, "--delta", "0.1"], "--delta 0.1: spectral-ranking is pure and uses"),
    ],
)
def test_values_that_do_not_fit_a_ranking(complaint, games, more, said):
    assert said in complaint(*rank(games, *more))


def test_more_than_a_store_has(complaint, database):
    database.store(STORED).prepare()
    said = complaint(*in_store(database.url, k=6))
    assert said == "-k 6: the store has not so many items; ask for fewer."


def test_a_table_is_in_one_place(complaint, file):
    said = complaint("top-k", "--item", "a", "--count", "b", "-k", 1, "--epsilon", 1)
    assert said.startswith("one of FILE and --store is needed: FILE for a table in a file")
    for more, option in ((["--table", "t"], '--table "t"'), (["--show-accesses"], "--show-acc")):
        said = complaint(*top_k(file, *more))
        assert said.startswith(option)
        assert "goes with --store; leave it out, or name the database." in said
    words = ["top-k", "--store", "sqlite:///x.db", "--item", "a", "-k", 1, "--epsilon", 1]
    assert complaint(*words, "--count", "b").endswith("add --table TABLE to it.")
    assert complaint(*words, "--table", "t").endswith("add --count COLUMN to it.")
    said = complaint(*top_k(file, "--mechanism", "threshold-top-k"))
    assert "give a store, by --store." in said


def test_the_output_is_not_the_database(complaint, sqlite, tmp_path):
    sqlite.store(STORED).prepare()
    path = sqlite.path.rename(tmp_path / "items.csv")
    words = in_store(f"sqlite:///{path}", "--output", path)
    assert complaint(*words).endswith("it is a file to be read; give another name.")


def test_a_table_is_of_one_kind(complaint, file):
    said = complaint("top-k", file, "--item", "title", "-k", 1, "--epsilon", 1)
    assert said.startswith("one of --user and --count is needed: --user COLUMN if each row")
    said = complaint(*top_k(file, IN_TABLE))
    assert said.startswith("--public-items-in-table goes with --count: ")
    for words in (
        ["domain", file, "--count", "n", "--item", "title"],
        domain(file, "--count", "n"),
    ):
        said = complaint(*words)
        assert said.startswith("--count: a domain is found by who holds what")
        assert "with --user" in said


def test_rows_of_users_that_are_given_as_a_histogram(complaint, tmp_path):
    rows = pl.DataFrame({"title": [MARKER, MARKER], "readers": [1, 2]})
    rows.write_parquet(tmp_path / "rows.parquet")
    said = complaint(*count(tmp_path / "rows.parquet", IN_TABLE))
    assert "an item stands in more than one row" in said
    assert said.endswith("If the rows are of users and items, use --user.")


def test_a_domain_of_public_items_is_refused(complaint, file):
    said = complaint(*domain(file, "--public-items", file))
    assert said.startswith("--public-items: everybody knows these items")
    assert "ask for top-k, or leave --public-items " in said


def test_more_than_there_are_public_items(complaint, file, tmp_path):
    (tmp_path / "known.csv").write_text("title\na\nb\n")
    said = complaint(*top_k(file, "--public-items", tmp_path / "known.csv", k=3))
    assert said == "-k 3: there are only 2 public items; ask for at most so many."


def test_files_that_cannot_be_read(complaint, tmp_path):
    assert "does not exist" in complaint(*domain(tmp_path / "no.csv"))
    assert "matches no file" in complaint(*domain(tmp_path / "no-*.csv"))
    assert "is a directory" in complaint(*domain(tmp_path))
    for name in ("text.txt", "foreign.parquet", "empty.csv", "ragged.csv", "bad.ndjson"):
        content = "" if name == "empty.csv" else f"user,title\n{MARKER},{MARKER},{MARKER}\n"
        (tmp_path / name).write_text(content)
        assert name in complaint(*domain(tmp_path / name))


def test_names_are_shown_harmlessly(complaint, tmp_path):
    pl.DataFrame({"user\n\x1b[31m": [1], "title": [2]}).write_parquet(tmp_path / "odd.parquet")
    assert r'"user\n\x1b[31m"' in complaint(*domain(tmp_path / "odd.parquet"))
    assert r"\x1b[31m.csv" in complaint(*domain("\x1b[31m.csv"))


def test_the_output_is_checked_before_data_is_read(complaint, tmp_path, monkeypatch, file):
    monkeypatch.setattr(Pairs, "__init__", lambda *_: pytest.fail("something was opened"))
    assert "its name must end" in complaint(*domain(file, "--output", tmp_path / "x.txt"))
    assert "folder does not exist" in complaint(*domain(file, "--output", tmp_path / "a" / "x.csv"))
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize(
    "given", ["plays.parquet", "play?.parquet", "**/*.parquet", "link.parquet"]
)
@pytest.mark.parametrize("output", ["plays.parquet", "folder/../plays.parquet", "link.parquet"])
def test_the_output_is_not_what_is_read(complaint, file, tmp_path, monkeypatch, given, output):
    monkeypatch.setattr(Pairs, "__init__", lambda *_: pytest.fail("something was opened"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.parquet").symlink_to(file)
    before = file.read_bytes()
    written = f"{tmp_path}/{output}"
    said = f"cannot write {written!r}: it is a file to be read; give another name."
    assert complaint(*domain(f"{tmp_path}/{given}", "--output", written)) == said
    public = ["--public-items", f"{tmp_path}/{given}", "--output", written]
    assert complaint(*top_k("none.csv", *public)) == said
    assert complaint(*top_k("none.csv", *public), "--dry-run") == said
    assert file.read_bytes() == before


def test_a_name_that_is_a_glob_is_only_a_name(run, plays, tmp_path):
    plays.write_parquet(tmp_path / "[p].parquet")
    status, _, _ = run(*domain(tmp_path / "[p].parquet", "--output", tmp_path / "p.parquet"))
    assert status == 0


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('user="Peeling" is no column: k=2.', '--user "Peeling" is no column: -k 2.'),
        ('data="Peeling.csv": item="k=1" is', '"Peeling.csv": --item "k=1" is'),
        ('data="data=Peeling.csv" is empty', '"data=Peeling.csv" is empty'),
        ('data="it"s k=2.parquet" is empty', '"it"s k=2.parquet" is empty'),
        ('data="x": the file "a: k=1.csv": user="u"', '"x": the file "a: k=1.csv": --user "u"'),
        ("cannot write 'epsilon=5.txt': no", "cannot write 'epsilon=5.txt': no"),
        ("cannot write 'it\\'s\" a: k=5.txt': no", "cannot write 'it\\'s\" a: k=5.txt': no"),
        ('user="a" and item="b" are', '--user "a" and --item "b" are'),
        ("epsilon=1.0, delta=0.5: no noise", "--epsilon 1.0, --delta 0.5: no noise"),
        ("max_items_per_user=0: must be", "--max-items-per-user 0: must be"),
        ('winner="k=1" is of', '--winner "k=1" is of'),
        ("max_comparisons_per_user=0: must", "--max-comparisons-per-user 0: must"),
        ("mechanism=DiscoverThenRank: it", "--mechanism discover-then-rank: it"),
        ("delta=0.1: Peeling needs none", "--delta 0.1: peeling needs none"),
        ("public_items holds 'public_items' twice", "--public-items holds 'public_items' twice"),
        ("public_items: ask for top_k, or", "--public-items: ask for top-k, or"),
        ("the public_items.csv of top_k.", "the public_items.csv of top-k."),
        ('count="k=1" is Int64', '--count "k=1" is Int64'),
        ('count="a" and item="a" are', '--count "a" and --item "a" are'),
        ("count_share=2: must be", "--count-share 2: must be"),
        ("it takes count_share of it.", "it takes --count-share of it."),
        ("public_items=IN_TABLE: in rows", "--public-items-in-table: in rows"),
        ("use sl.pairs, or give sl.IN_TABLE.", "use --user, or give --public-items-in-table."),
        ('url="sqlite:///k=1" is', '--store "sqlite:///k=1" is'),
        ('table="t": count="c" has', '--table "t": --count "c" has'),
    ],
)  # fmt: skip
def test_only_our_own_words_become_a_shells(message, said):
    assert failure._in_shell_words(message) == said


def test_an_answer_that_cannot_be_saved_is_printed(run, file, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Release, "save", full)
    status, out, err = run(*domain(file, "--output", tmp_path / "x.csv"))
    assert status == 2
    assert out.startswith("domain: 5 items\n")
    assert err.count("\n") == 1
    for part in ("could not be saved", "x.csv", "No space left", "keep what was printed"):
        assert part in err


# Other ends


def test_an_interruption_is_one_line(complaint, file, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Pairs, "domain", interrupted)
    assert complaint(*domain(file), status=130) == "interrupted; nothing was released."
    monkeypatch.undo()
    monkeypatch.setattr(Release, "__rich__", interrupted)
    assert complaint(*domain(file), status=130).endswith("the budget is spent.")
    monkeypatch.undo()
    monkeypatch.setattr(request.Request, "__init__", interrupted)
    assert complaint(*domain(file), status=130) == "interrupted; nothing was released."


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError(MARKER), "something went wrong inside (ValueError); please report it."),
        (BaseException(MARKER), "something went wrong inside (BaseException); please report it."),
        (MemoryError(MARKER), "there is not enough memory for this table."),
    ],
)
def test_errors_inside_quote_nothing(complaint, file, monkeypatch, error, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Pairs, "domain", fail)
    monkeypatch.setattr(failure, "discard_output", lambda: None)
    assert complaint(*domain(file), status=1) == said


def test_no_spinner_where_nobody_watches(monkeypatch, capfd):
    monkeypatch.setattr(threading, "Timer", lambda *_: pytest.fail("a spinner waits"))
    with answer._spinner():
        pass
    assert capfd.readouterr() == ("", "")


@contextlib.contextmanager
def terminal(monkeypatch):
    """Let standard error be a terminal; what it shows is read from the number that is given."""
    shown, screen = pytest.importorskip("pty").openpty()
    before = os.dup(2)
    os.dup2(screen, 2)
    try:
        with os.fdopen(screen, "w") as stderr, monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stderr)
            patch.setenv("TERM", "xterm")
            yield shown
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(shown)


def test_a_spinner_turns_after_one_second_and_what_a_library_writes_is_lost(monkeypatch):
    waits = []

    class Now:
        def __init__(self, seconds, action):
            waits.append(seconds)
            self.start, self.cancel, self.join = action, lambda: None, lambda: None

    monkeypatch.setattr(threading, "Timer", Now)
    with terminal(monkeypatch) as screen:
        with answer._spinner(), answer._without_panics():
            os.write(2, b"panicked")
        os.write(2, b"afterwards")
        shown = b""
        while not shown.endswith(b"afterwards"):  # a terminal hands over what it has, bit by bit
            shown += os.read(screen, 65536)
    assert waits == [1.0]
    assert b"Reading and selecting" in shown
    assert b"panicked" not in shown


def test_stderr_is_itself_again_after_a_failure(file, monkeypatch, capfd):
    def panic(*_, **__):
        os.write(2, b"thread panicked")
        raise InputError("damaged.")

    monkeypatch.setattr(Pairs, "domain", panic)
    monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, domain(file))])
    assert cli.exit_status() == 2
    os.write(2, b"heard")
    assert capfd.readouterr() == ("", "shortlist: damaged.\nheard")


# As a process


def process(*words, **options):
    environment = os.environ | options.pop("env", {})
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([*PROGRAM, *map(str, words)], env=environment, **streams)


def test_it_runs_as_a_module(file):
    running = process(*top_k(file))
    out, err = running.communicate()
    assert (running.returncode, err) == (0, b"")
    assert out.decode().startswith("top-k: 2 items\n")


def test_a_terminal_that_knows_no_unicode(file):
    running = process(*domain(file), env={"PYTHONIOENCODING": "ascii"})
    out, err = running.communicate()
    assert (running.returncode, err) == (0, b"")
    assert rb"\x1b[31m\u65e5\u672c" in out


def test_a_panic_inside_polars_is_one_line(tmp_path):
    path = tmp_path / "damaged.parquet"
    frame = pl.DataFrame({"user": [f"u{i}" for i in range(50)], "title": ["a"] * 50})
    frame.write_parquet(path, compression="uncompressed")
    fifty_values_of_six_bits = b"\x02\0\0\0\x64\x01\x06"
    of_too_many_bits = b"\x02\0\0\0\x64\x01\x44"
    path.write_bytes(path.read_bytes().replace(fifty_values_of_six_bits, of_too_many_bits))
    running = process(*domain(path))
    out, err = running.communicate()
    assert (running.returncode, out, err.count(b"\n")) == (2, b"", 1)
    assert b"cannot be read to its end" in err


def closed(stream, *words):
    """As a process started with that stream closed."""
    shell = ["sh", "-c", f'exec "$@" {stream}', "sh", *PROGRAM, *map(str, words)]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@needs_sh
@pytest.mark.parametrize("words", [["--help"], ["--version"], domain("none.csv")])
def test_stdout_is_closed(words):
    status, out, err = closed(">&-", *words)
    assert (status, out) == (2, "")
    assert err.startswith("shortlist: standard output is closed")
    assert err.count("\n") == 1


@needs_sh
def test_stdout_is_closed_and_there_is_an_output(file, tmp_path):
    saved = tmp_path / "kept.csv"
    assert closed(">&-", *domain(file, "--output", saved)) == (0, "", f"Saved as {saved}.\n")
    assert saved.read_text().count("\n") == 6


@needs_sh
@pytest.mark.parametrize("streams", ["2>&-", "<&- 2>&-"])
def test_stderr_is_closed(file, streams):
    status, out, _ = closed(streams, *domain(file))
    assert status == 0
    assert out.startswith("domain: 5 items\n")
    assert closed(streams, "domain") == (2, "", "")


def test_a_reader_that_goes_away(file, tmp_path):
    running = process(*domain(file, "--output", tmp_path / "kept.csv"))
    running.stdout.close()
    assert running.stderr.read().startswith(b"Saved as")
    running.stderr.close()
    assert running.wait() == 1
    assert (tmp_path / "kept.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_an_answer_that_cannot_be_printed_is_saved(file, tmp_path):
    with Path("/dev/full").open("wb") as full:
        running = process(*domain(file, "--output", tmp_path / "kept.csv"), stdout=full)
        _, err = running.communicate()
    assert running.returncode == 2
    assert b"could not be printed: No space left on device." in err
    assert (tmp_path / "kept.csv").exists()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_ctrl_c_while_data_is_read(file):
    code = """
import os, signal, sys
import polars as pl
from shortlist.cli import main

collect = pl.LazyFrame.collect

def interrupted(self, **options):
    signalled = lambda rows: (os.kill(os.getpid(), signal.SIGINT), rows)[1]
    return collect(self.map_batches(signalled), **options)

pl.LazyFrame.collect = interrupted
main()
"""
    words = [sys.executable, "-c", code, *map(str, domain(file))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == "shortlist: interrupted; nothing was released.\n"
