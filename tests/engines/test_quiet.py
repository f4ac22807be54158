"""What DuckDB prints and spills by itself: nothing into answers, and nothing for others to read."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

import shortlist as sl
from shortlist.engines.tables._duckdb import DuckDB, DuckDBRelation
from shortlist.runtime.processes import private_folder, remove_private_folders

ASKED = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture
def path(tmp_path):
    with duckdb.connect(tmp_path / "plays.db") as connection:
        rows = "SELECT i AS \"user\", 'title ' || i % 3 AS title FROM range(3000) t(i)"
        connection.execute(f"CREATE TABLE plays AS {rows}")
    return tmp_path / "plays.db"


def bar(connection):
    return connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("pull", [None, False, True])
def test_a_bar_is_off_while_rows_are_read_and_then_as_it_was(path, monkeypatch, shown, pull):
    seen, connection = [], duckdb.connect(path)
    connection.execute(f"SET enable_progress_bar = {shown}")
    relation = connection.table("plays")

    def noted(kind, name):
        asked = getattr(kind, name)

        def ask(*args, **more):
            seen.append(bar(connection))
            return asked(*args, **more)

        monkeypatch.setattr(kind, name, ask)

    noted(DuckDBRelation, "fetch")
    noted(DuckDBRelation, "fetch_within")
    noted(sys.modules["shortlist.table._frames"], "_collected")
    sl.pairs(relation, user="user", item="title", pull=pull).domain(**ASKED)
    assert seen
    assert not any(seen)
    assert bar(connection) is shown
    assert issubclass(DuckDBRelation, DuckDB)


def test_how_far_it_is_is_known_and_not_printed(path, monkeypatch):
    source = sl.pairs(f"duckdb:///{path}", table="plays", user="user", item="title", pull=False)
    connection, seen = source._engine._in_engine.dialect._connection.con, []
    names = "current_setting('enable_progress_bar'), current_setting('enable_progress_bar_print')"

    def settings():
        return connection.execute(f"SELECT {names}").fetchall()[0]

    before, fetch = settings(), DuckDB.fetch
    noted = lambda dialect, query: (seen.append(settings()), fetch(dialect, query))[1]
    monkeypatch.setattr(DuckDB, "fetch", noted)
    source.domain(**ASKED)
    assert set(seen) == {(True, False)}
    assert settings() == before


def test_a_bar_is_as_it_was_after_a_failure(path, monkeypatch):
    connection = duckdb.connect(path)
    connection.execute("SET enable_progress_bar = true")
    monkeypatch.setattr(DuckDBRelation, "fetch", lambda *_: 1 / 0)
    source = sl.pairs(connection.table("plays"), user="user", item="title")
    with pytest.raises(sl.InputError):
        source.domain(**ASKED)
    assert bar(connection) is True


def folder_of(source):
    connection = source._engine._in_engine.dialect._connection.con
    asked = "SELECT current_setting('temp_directory')"
    return Path(connection.execute(asked).fetchall()[0][0])


def test_our_own_connection_spills_where_nobody_else_looks(path):
    url = f"duckdb:///{path}"
    source = sl.pairs(url, table="plays", user="user", item="title")
    folder = folder_of(source)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.stat().st_uid == os.getuid()
    again = sl.pairs(url, table="plays", user="user", item="title")  # the same file, open already
    assert stat.S_IMODE(folder_of(again).stat().st_mode) == 0o700
    assert len(source.domain(**ASKED)) == len(again.domain(**ASKED)) == 3


def test_a_folder_that_was_chosen_stays(path, tmp_path):
    with duckdb.connect(path, read_only=True) as own:
        own.execute(f"SET temp_directory = '{tmp_path / 'mine'}'")
        source = sl.pairs(f"duckdb:///{path}", table="plays", user="user", item="title")
        assert folder_of(source) == tmp_path / "mine"


def test_private_folders_are_gone_at_the_end(path, tmp_path):
    folder = private_folder()
    (folder / "rows").touch()
    remove_private_folders()
    assert not folder.exists()
    words = [sys.executable, "-m", "shortlist", "domain", f"duckdb:///{path}", "--table", "plays"]
    words += ["--user", "user", "--item", "title", "--epsilon", "1", "--delta", "1e-6"]
    own = tmp_path / "own"
    own.mkdir()
    where = os.environ | {"TMPDIR": str(own)}
    ran = subprocess.run(words, env=where, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert re.match("domain: 3 items", ran.stdout)
    assert not list(own.iterdir())


def test_frames_of_other_libraries_are_read_as_before():
    rows = pl.LazyFrame({"user": range(900), "title": ["a", "b", "c"] * 300})
    assert len(sl.pairs(rows, user="user", item="title").domain(**ASKED)) == 3
