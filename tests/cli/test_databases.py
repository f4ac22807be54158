"""The command on a table that stays in its database."""

import duckdb
import polars as pl
import pytest

from helpers.command import ITEMS, count, domain, hitting_set, top_k
from helpers.exhaustive import exhaustive
from helpers.refusals import MARKER

pytestmark = pytest.mark.usefixtures("plain_terminal")

COUNTED = {item: (5 - i) * 1000 for i, item in enumerate(ITEMS)}


@pytest.fixture
def url(file, tmp_path):
    """The rows of the file in DuckDB, and counts beside them."""
    rows = pl.read_parquet(file)
    counts = pl.DataFrame({"title": list(COUNTED), "readers": list(COUNTED.values())})
    with duckdb.connect(tmp_path / "a b.db") as connection:
        for name, frame in {"plays": rows, "readers": counts}.items():
            connection.register("frame", frame.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS FROM frame")
            connection.unregister("frame")
    return f"duckdb:///{tmp_path}/a b.db"


WAYS = [(), ("--pull",), ("--push",)]


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        *zip([top_k, domain, hitting_set], WAYS, strict=True),
        *exhaustive(*zip([domain, hitting_set, top_k], WAYS, strict=True)),
        *exhaustive(*zip([hitting_set, top_k, domain], WAYS, strict=True)),
    ],
)
def test_questions_are_answered_where_the_rows_are(run, answered, file, url, asked, more):
    out = answered(*asked(url, "--table", "plays", *more))
    bounded = "users are bounded in DuckDB" in " ".join(out.split())
    assert bounded is (more != ("--pull",))
    assert ("or in memory" in " ".join(out.split())) is (more == ())
    here = run(*asked(file, "--format", "csv"))[1]
    there = run(*asked(url, "--table", "plays", "--format", "csv", *more))[1]
    assert len(there.splitlines()) == len(here.splitlines())


@pytest.mark.parametrize("more", [("--public-groups",), ("--max-groups-per-user", "2")])
def test_groups_are_answered_where_the_rows_are(run, tmp_path, more):
    held = [(f"{c}{user}", c, t) for c in ("CH", "FR") for t in ("Emma", c) for user in range(300)]
    plays = pl.DataFrame(held, schema=["user", "country", "title"], orient="row")
    with duckdb.connect(tmp_path / "plays.db") as connection:
        connection.register("frame", plays.to_arrow())
        connection.execute("CREATE TABLE plays AS FROM frame")
    if more == ("--public-groups",):
        more = (*more, tmp_path / "countries.csv")
        pl.DataFrame({"country": ["FR", "CH"]}).write_csv(more[1])
    words = ["--table", "plays", "--by", "country", "--format", "csv", *more]
    status, out, _ = run(*top_k(f"duckdb:///{tmp_path}/plays.db", *words))
    assert status == 0
    named = {tuple(line.split(",")[:3:2]) for line in out.splitlines()[1:]}
    assert named == {(c, title) for c in ("CH", "FR") for title in ("Emma", c)}


def test_counts_are_fetched(answered, url):
    out = answered(*count(url, "--table", "readers", "--public-items-in-table"))
    assert [line.split()[1] for line in out.splitlines()[5:7]] == ["007", "7"]


def test_nothing_is_read_for_what_would_happen(answered, url):
    out = answered(*top_k(url, "--table", "plays", "--dry-run"))
    assert "This run costs epsilon = 3" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "FILE is the URL of a database, of which one table is read; name it by --table"),
        (("--table", "play"), '--table "play" is not a table of this database'),
        (("--table", "plays", "--by", "title"), '--by "title"'),
        (
            ("--table", "plays", "--user", "usr"),
            'shortlist: the table "plays": --user "usr" is not a column',
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_remedy(run, url, words, complaint):
    status, out, err = run(*top_k(url, *words))
    assert (status, out) == (2, "")
    assert complaint in err.replace("\n", " ")
    assert str(url) not in err


def test_a_file_that_is_not_there_is_told_of_and_not_made(complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = "a path from the root has one slash more, as in duckdb:////data/plays.db"
    none, never = "there is no such file", " (a DuckDB file is never created)"
    for path, said in {
        "playz.db": f"{none} in this folder{never}; {root}.",
        "a/playz.db": f"{none}{never}; {root}.",
        f"{tmp_path}/playz.db": f"{none}{never}; check its path.",
        "playz.db?key=hush": f"{none} in this folder{never}; {root}.",
    }.items():
        found = complaint(*top_k(f"duckdb:///{path}", "--table", "plays"))
        assert found == f'"duckdb://…": {said}'
        assert "hush" not in found
    assert not list(tmp_path.iterdir())
    (tmp_path / "text.db").write_text("no database")
    found = complaint(*top_k("duckdb:///text.db", "--table", "plays"))
    assert found.startswith('"duckdb://…" cannot be opened; check that the file is of DuckDB')


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nobody@localhost:1/x", "the connection was refused; check that the server runs, and "),
        ("nobody@no.such.host.invalid/x", "the host was not found; check its name."),
    ],
)
def test_a_server_that_is_not_reached_is_told_of(complaint, address, said):
    told = complaint(*top_k(f"postgresql://{address}", "--table", "plays"))
    assert told.startswith(f'"postgresql://…" cannot be connected to: {said}')
    assert "duckdb" not in told.lower()


def test_options_of_databases_need_one(run, file):
    for words in (("--table", "plays"), ("--pull",)):
        status, _, err = run(*top_k(file, *words))
        assert status == 2
        assert words[0] in err


def test_no_password_is_shown(run):
    address = f"postgresql://me:{MARKER}@127.0.0.1:1/none?password={MARKER}"
    status, out, err = run(*top_k(address, "--table", "plays"))
    assert (status, out) == (2, "")
    assert "cannot be connected to" in err
    assert MARKER not in err
