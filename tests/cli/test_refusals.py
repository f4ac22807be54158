"""What the command refuses: status 2, one line, before anything is spent."""

import errno
import os
from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from helpers.command import COLUMNS, IN_TABLE, PRIVACY, STORED, count, domain, in_store, top_k
from helpers.refusals import MARKER
from shortlist.errors import SPENT
from shortlist.release import Release
from shortlist.sources.pairs import Pairs

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["topk"], "No such command 'topk'. Did you mean 'top-k'? See shortlist --help."),
        (["--verbos"], "No such option: --verbos."),
        (["top-k"], "Missing option '--item'. See shortlist top-k --help."),
        (["domain"], "Missing argument 'FILE'. See shortlist domain --help."),
        (["explain"], "Name a saved release, or write - to read one from the pipe."),
        (["top-k", "x.csv"], "Missing option '--item'"),
        (["domain", "x.csv"], "Missing option '--user'"),
        (["top-k", "x.csv", "--usr", "a"], "Did you mean --user? See shortlist top-k --help."),
        (
            ["top-k", "x.csv", "--user"],
            "Option '--user' requires an argument. See shortlist top-k --help.",
        ),
        (["hitting-set", "--k", "4"], "No such option: --k. Did you mean -k? See shortlist hit"),
        (["hitting-set", "--epsilom", "4"], "Did you mean --epsilon?"),
        (["domain", "x.csv", "y.csv", *COLUMNS, *PRIVACY], "unexpected extra argument"),
        (domain("x.csv")[:-2], "--delta is needed, because the items are private: add"),
        (["rank", "--where", "x"], "Rows are not filtered here. Write those that count to a file"),
        (["rank", "--where", "x"], "choose them without looking at the data."),
        (["top-k", "--filter", "x"], "--where CONDITION, as in --where \"country = 'NO'\""),
        (["top-k", "--limit", "x"], "How many items: -k N."),
        (["top-k", "--group-by", "x"], "By groups: --by COLUMN."),
        (["domain", "--out", "x"], "No such option: --out. To save the answer: --output FILE."),
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
        (["--delta", "0"], "--delta is needed, because the items are private"),
        (["--max-items-per-user", "0"], "--max-items-per-user 0: must be"),
        (["--mechanism", "limited-domian"], 'Did you mean "limited-domain"?'),
        (["--mechanism", "peeling"], "--mechanism peeling: it takes items that everybody knows;"),
        (["--mechanism", "weighted-gaussian"], "-gaussian: it answers domain, not top-k;"),
        (["--user", "usr"], 'is not a column. The columns are "user", "title", "secret".'),
        (["--user", "usr"], 'Did you mean "user"?'),
        (["--item", "titel"], '--item "titel" is not a column.'),
        (["--user", "title"], "are the same column"),
        (["--output", "answer.xlsx"], ".json, .csv or .parquet."),
        (["--output", "a.html"], 'as a page by --output; for a page write --report "a.html".'),
        (["--output", "/no/such/folder/x.csv"], "/no/such/folder/x.csv"),
        (["--public-items", "none.csv"], '--public-items "none.csv" does not exist'),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(complaint, file, more, said):
    assert said in complaint(*top_k(file, *more))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "--delta is needed, because the items are private"),
        ([], "give --public-items FILE instead; or, with a table of counts that has them all, "),
        ([], "--public-items-in-table."),
        (["--delta", "2"], "--delta 2.0: must be"),
        ([IN_TABLE, "--count", "title"], '--count "title" and --item "title" are the same column'),
        ([IN_TABLE, "--count", "reader"], '--count "reader" is not a column.'),
        ([IN_TABLE, "--count", "reader"], 'Did you mean "readers"?'),
        (
            [IN_TABLE, "--count", "secret"],
            '--count "secret" holds a text that is not a whole number',
        ),
        ([IN_TABLE, "--count-share", "1"], "--count-share 1.0: must be a number from 1e-6"),
        ([IN_TABLE, "--count-share", "some"], "'--count-share': \"some\" is not a number."),
        ([IN_TABLE, "-k", "6"], "-k 6: there are only 5 public items; ask for at most 5."),
        ([IN_TABLE, "--max-items-per-user", "0"], "--max-items-per-user 0: must be"),
        ([IN_TABLE, "--mechanism", "limited-domain"], "limited-domain: it discovers private items"),
        ([IN_TABLE, "--delta", "0.1", "--mechanism", "joint"], "--delta 0.1: joint is pure and"),
        (["--mechanism", "peeling"], "items that everybody knows; give --public-items."),
        (["--mechanism", "weighted-gaussian"], "it answers domain, not top-k;"),
        (["--mechanism", "discover-then-rank"], "it needs to know who holds what"),
        (["--mechanism", "discover-then-rank"], "give rows, by --user."),
    ],
)
def test_values_that_do_not_fit_a_histogram(complaint, readers, more, said):
    assert said in complaint(*count(readers, *more))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--item", "other"], "--item: a store has one column of items; name it once."),
        (["--table", "item"], '--table "item" is not a table of this file. Did you mean "items"?'),
        (["--count", "play"], '--table "items": --count "play" is not a column. The columns are'),
        (["--mechanism", "joint"], "--mechanism joint: it needs every count;"),
        (["--mechanism", "joint"], "or give all counts, by --count."),
        ([], '--table "items": --count "plays" has no index'),
        ([], 'falling count; run CREATE INDEX "items by plays" ON "items" ("plays");'),
        (["--store", "sqlite:///no.db"], '--store "sqlite:///no.db" does not exist'),
        (["--store", "mysql://me:s3cret@h/x"], '--store "…://…": must be the URL of an SQLite or'),
        (["--store", "postgresql://me:s3cret@127.0.0.1:1/x"], '--store "postgresql://…" cannot be'),
    ],
)
def test_values_that_do_not_fit_a_store(complaint, sqlite, more, said):
    sqlite.store(STORED)
    message = complaint(*in_store(sqlite.url, *more))
    assert said in message
    assert "s3cret" not in message


@pytest.fixture
def table(plays, tmp_path):
    path = tmp_path / "plays.csv"
    plays.write_csv(path)
    return path


def test_a_column_of_other_letters_is_suggested_in_a_csv_too(complaint, table):
    said = complaint(*top_k(table, "--user", "User"))
    assert said.endswith('--user "User" is not a column. Did you mean "user"?')
    assert "somebody's row" in complaint(*top_k(table, "--user", "x"))


@pytest.mark.parametrize("item", ["user,title", "country,city"])
def test_several_columns_are_named_one_by_one(complaint, table, item):
    said = complaint("top-k", table, "--user", "user", "--item", item, "-k", 2, *PRIVACY)
    assert "For several columns repeat the option, as in --item country --item city. " in said
    with pytest.raises(sl.InputError, match=r'give a list of their names, as in \["country",'):
        sl.pairs(str(table), user="user", item=item)


def test_more_than_a_store_has(complaint, database):
    database.store(STORED).prepare()
    said = complaint(*in_store(database.url, k=6))
    assert said == f"-k 6: there are not so many items; ask for fewer. {SPENT}"


def test_a_table_is_in_one_place(complaint, file):
    said = complaint("top-k", "--item", "a", "--count", "b", "-k", 1, "--epsilon", 1)
    assert said.startswith("one of FILE and --store is needed: FILE for a table in a file")
    said = complaint(*top_k(file, "--table", "t"))
    assert said.startswith('--table "t" goes with a database; omit it, or name the database by its')
    words = ["top-k", "--store", "sqlite:///x.db", "--item", "a", "-k", 1, "--epsilon", 1]
    assert complaint(*words, "--count", "b").endswith("; add --table TABLE.")
    assert complaint(*words, "--table", "t").endswith("; add --count COLUMN.")
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
        assert said.startswith("No such option: --count. Only top-k takes counts of items, which")
        assert said.endswith("do not say who holds which: give --user.")


def test_rows_of_users_that_are_given_as_a_histogram(complaint, tmp_path):
    rows = pl.DataFrame({"title": [MARKER, MARKER], "readers": [1, 2]})
    rows.write_parquet(tmp_path / "rows.parquet")
    said = complaint(*count(tmp_path / "rows.parquet", IN_TABLE))
    assert "an item is in more than one row" in said
    assert said.endswith(f"If the rows are of users and items, use --user. {SPENT}")


def test_a_domain_of_public_items_is_refused(complaint, file, tmp_path):
    (tmp_path / "known.csv").write_text("title\na\nb\n")
    said = complaint(*domain(file, "--public-items", tmp_path / "known.csv"))
    assert said.startswith("--public-items: everybody knows these items")
    assert "ask for top-k or hitting-set, or omit --public-items." in said


def test_more_than_there_are_public_items(complaint, file, tmp_path):
    (tmp_path / "known.csv").write_text("title\na\nb\n")
    said = complaint(*top_k(file, "--public-items", tmp_path / "known.csv", k=3))
    assert said == "-k 3: there are only 2 public items; ask for at most 2."


def test_files_that_cannot_be_read(complaint, tmp_path):
    assert "does not exist" in complaint(*domain(tmp_path / "no.csv"))
    assert "matches no file" in complaint(*domain(tmp_path / "no-*.csv"))
    assert "is a directory" in complaint(*domain(tmp_path))
    for name in ("text.txt", "foreign.parquet", "empty.csv", "ragged.csv", "bad.ndjson"):
        content = "" if name == "empty.csv" else f"user,title\n{MARKER},{MARKER},{MARKER}\n"
        (tmp_path / name).write_text(content)
        assert name in complaint(*domain(tmp_path / name))


@pytest.mark.parametrize("name", ["plays.db", "plays.DuckDB"])
def test_a_file_of_duckdb_is_named_by_its_url(complaint, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(b"DUCK")
    assert complaint(*top_k(name)) == (
        f'"{name}" has the suffix of a database, which is not read as a file; for one of DuckDB '
        f'write "duckdb:///{name}" and --table TABLE.'
    )
    for written in (f"duckdb:{name}", f"duckdb:/{name}"):
        assert complaint(*top_k(written)) == (
            f'"{written}" does not exist; for a file of DuckDB write "duckdb:///{name}" and '
            "--table TABLE."
        )
    file = tmp_path / "plays.csv"
    file.write_text("user,title\n1,a\n")
    assert "which is not read; use" in complaint(*top_k(file, "--public-items", name))


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


def test_an_answer_that_cannot_be_saved_is_printed(run, file, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Release, "save", full)
    status, out, err = run(*domain(file, "--output", tmp_path / "x.csv"))
    assert status == 2
    assert out.startswith("domain: 5 items\n")
    assert err.count("\n") == 1
    for part in ("could not be saved", "x.csv", "No space left", "keep what was printed"):
        assert part in err


ADDRESS = "postgresql://me:s3cret 'w0rd'@127.0.0.1:1/x"


@pytest.mark.parametrize(
    "words",
    [
        ["top-k", ADDRESS, *COLUMNS, "-k", 2, *PRIVACY],
        ["top-k", ADDRESS, "--item", "a", "--count", "b", "-k", 2, "--epsilon", 1],
        ["top-k", "x.csv", ADDRESS, *COLUMNS, "-k", 2, *PRIVACY],
        ["top-k", "x.csv", "--table", ADDRESS, *COLUMNS, "-k", 2, *PRIVACY],
        ["top-k", "x.csv", f"--table={ADDRESS}", *COLUMNS, "-k", 2, *PRIVACY],
        ["top-k", "x.csv", *COLUMNS, "-k", ADDRESS, *PRIVACY],
        ["top-k", "x.csv", *COLUMNS, f"-k{ADDRESS}", *PRIVACY],
        ["top-k", "x.csv", *COLUMNS, "-k", 2, *PRIVACY, "--mechanism", ADDRESS],
        ["top-k", "x.csv", *COLUMNS, "-k", 2, *PRIVACY, "--output", f"{ADDRESS}.json"],
        ["top-k", "x.csv", *COLUMNS, "-k", 2, *PRIVACY, "--count", ADDRESS],
        ["domain", ADDRESS, *COLUMNS, *PRIVACY],
        [ADDRESS],
    ],
)
def test_a_password_is_in_no_complaint(complaint, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("user,title\n1,a\n")
    message = complaint(*words)
    assert "s3cret" not in message
    assert "w0rd" not in message


@pytest.mark.parametrize("option", ["--table", "--count", "--mechanism", "--store"])
def test_a_password_is_in_no_complaint_about_a_store(complaint, sqlite, option):
    sqlite.store(STORED)
    for address in (ADDRESS, f"sqlite:///{sqlite.path}?key=s3cret w0rd"):
        told = complaint(*in_store(sqlite.url, option, address))
        assert "s3cret" not in told
        assert "w0rd" not in told


LONG = "Zz-a-line," * 40
ROWS = f"user,title\n{LONG}\n"


@pytest.mark.parametrize("given", [LONG, ROWS, "user,title\rZz-a-line"])
def test_a_table_in_place_of_a_word_is_not_shown(complaint, file, given):
    words = [
        top_k(given),
        [*top_k(file), given],
        *(
            [*top_k(file), *option]
            for name in ("--user", "--item", "--public-items", "--mechanism", "--output")
            for option in ([name, given], [f"{name}={given}"])
        ),
        [*top_k(file), f"--{given}"],
        [given],
        [*top_k(file), "--count-share", given],
        [*top_k(file), "-k", given],
        [*top_k(file), "--separator", given],
        [*top_k("-"), "--input-format", given],
        in_store(given),
        in_store(f"sqlite:///{given}"),
    ]
    for line in words:
        assert "Zz-a-line" not in complaint(*line)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (top_k("x.csv", "--input-format", "csv"), "--input-format goes with - for FILE;"),
        (top_k("-", "--input-format", "tvs"), "It must be csv, tsv, ndjson or parquet. Did you"),
        (top_k("x.csv", "--separator", ";;"), "--separator ';;': must be one ASCII character"),
        ([*in_store("sqlite:///x.db"), "--input-format", "csv"], "--input-format goes with -"),
    ],
)
def test_formats_that_do_not_fit(complaint, words, said):
    assert said in complaint(*words)


def test_no_output_into_the_directory_that_is_read(complaint, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("user,title\na,b\n")
    assert "it is a file to be read" in complaint(*top_k(tmp_path, "--output", table))
    deeper = tmp_path / "year=2024" / "month=1" / "t.csv"
    deeper.parent.mkdir(parents=True)
    deeper.write_text("user,title\na,b\n")
    assert "it is a file to be read" in complaint(*top_k(tmp_path, "--output", deeper))
