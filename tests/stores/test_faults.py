"""What can go wrong with a store: the server, the file, permissions, passwords."""

import os
import sqlite3
import subprocess
import sys
import traceback
from contextlib import closing
from functools import partial

import numpy as np
import psycopg
import pytest

import shortlist as sl
from helpers.databases import NAMES, ROWS, rows_of
from helpers.forms import said
from helpers.refusals import MARKER, refusal, refused
from postgres import PASSWORD
from shortlist.errors import SPENT, InputError
from shortlist.stores import MemoryStore, PostgresStore, SqliteStore, open_store


def secrets_of(error, *more):
    for text in said(error):
        for secret in (PASSWORD, "s3cret", "%73%33", "postgres:", MARKER, *more):
            assert secret not in text


def test_a_server_that_is_killed_in_the_middle(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    try:
        with store.snapshot() as view:
            view.sorted_access(0, 1)
            postgresql.server.kill()
            for read in (
                lambda: view.sorted_access(1, 1),
                lambda: view.random_access(np.array([0])),
                lambda: view.items(np.array([0])),
            ):
                error = refused(read)
                assert str(error).startswith('table="items" cannot be read any more: the conn')
                assert str(error).endswith(SPENT)
                secrets_of(error)
        for ask in (store.rows, store.prepare, postgresql.open):
            error = refused(ask)
            assert 'url="postgresql://…" cannot be connected to' in str(error)
            secrets_of(error)
    finally:
        postgresql.server.start()
    with store.snapshot() as view:
        assert len(rows_of(view, 2)) == 5


NO_CONNECTION = 'url="postgresql://…" cannot be connected to: '


def test_a_connection_that_fails_names_its_class(postgresql):
    server = postgresql.server
    for url, why in (
        (server.url("postgres", PASSWORD, "nowhere"), "there is no such database; check its name."),
        (server.url("nobody", "s3cret", postgresql.name), "the server refuses this user or pass"),
        ("postgresql://me:s3cret@127.0.0.1:1/x", "the connection was refused; check that the"),
        ("postgresql://me:s3cret@no.such.invalid/x", "the host was not found; check its name."),
    ):
        error = refused(lambda url=url: open_store(url, **NAMES))
        assert str(error).startswith(NO_CONNECTION + why)
        assert (error.argument, error.value) == ("url", '"postgresql://…"')
        secrets_of(error, "nowhere", "nobody", "no.such", "127.0.0.1")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("connection timeout expired", "the host did not answer in time; check its"),
        ("FATAL:  sorry, too many clients already", "the server has too many connections; try"),
        ("SSL error: certificate verify failed", "an encrypted connection failed; check"),
    ],
)
def test_the_class_of_a_connection_error_is_told_by_its_words(monkeypatch, words, why):
    def fail(*_, **__):
        raise psycopg.OperationalError(f"{words}: s3cret")

    monkeypatch.setattr(psycopg, "connect", fail)
    error = refused(lambda: open_store("postgresql://me:s3cret@host/x", **NAMES))
    assert str(error).startswith(NO_CONNECTION + why)
    secrets_of(error)


def test_a_connection_that_is_ended_by_hand(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    with store.snapshot() as view:
        pid = view._rows._connection.info.backend_pid
        postgresql.run(f"SELECT pg_terminate_backend({pid}, 5000)")
        secrets_of(refused(lambda: view.sorted_access(0, 1)))
        refusal(lambda: view.sorted_access(0, 1), "the connection to the server is lost")


def test_a_query_that_takes_too_long(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    with store.snapshot() as view:
        view._rows._connection.execute(b"SET statement_timeout = 1")
        view._rows._id = "(SELECT 1 FROM pg_sleep(9))::int"
        refusal(lambda: view.sorted_access(0, 1), "by a time limit or by hand")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://nobody:s3cret%20@127.0.0.1:1/x",
        "postgresql://postgres:s3cret@/no%20such?host={folder}",
        "postgresql://postgres:s3cret@/postgres?host={folder}",
        "postgresql://s3cret:s3cret@/postgres?host={folder}",
        "postgresql://postgres:s3/cr:et@h/x",
        "postgresql://postgres:%zzs3cret@h/x",
        "postgresql://postgres:s3cret@h/x?s3cret=7",
        "postgres://postgres:s3cret@/x?host={folder}\0",
        "postgresql:// s3cret \udcff",
        "mysql://postgres:s3cret@h/x",
        "postgresql+psycopg://postgres:s3cret@h/x",
        "postgresq://s3cret",
        "sqlite://postgres:s3cret@h/x",
        "sqlite:///postgres:s3cret@h/x",
        "sqlite:////data/items.db?key=s3cret",
        "SQLITE:///items.db?s3cret",
        "POSTGRESQL://postgres:s3cret@127.0.0.1:1/x",
        "s3cret://x",
        "host=/tmp password=s3cret",
        "s3cret",
    ],
)
def test_a_password_is_in_no_message(url, server, caplog, capfd):
    error = refused(lambda: open_store(url.format(folder=server.folder), **NAMES))
    secrets_of(error)
    assert "\n" not in str(error)
    streams = capfd.readouterr()
    for text in (caplog.text, streams.out, streams.err):
        assert "s3cret" not in text


ADDRESS = "postgresql://postgres:s3cret word'\"@127.0.0.1:1/x"


def in_file(path, **names):
    return sl.store(f"sqlite:///{path}", **(NAMES | names))


@pytest.mark.parametrize("ask", [
    lambda _, url: sl.store(url, **NAMES),
    lambda path, url: in_file(path, table=url),
    lambda path, url: in_file(path, item=url),
    lambda path, url: in_file(path, count=url),
    lambda path, url: in_file(path, item=url, count=url),
    lambda path, url: in_file(path).top_k(1, epsilon=1, mechanism=url),
    lambda path, _: in_file(f"{path}?key=s3cret word"),
    lambda _, url: sl.store(MemoryStore(["a"], [1]), table=url),
    lambda _, url: SqliteStore(url, **NAMES),
    lambda path, _: SqliteStore(f"{path}?key=s3cret word", **NAMES),
    lambda _, url: PostgresStore(url, **NAMES),
    lambda _, url: sl.counts(url, item="name", count="plays"),
    lambda _, url: sl.pairs(url, user="name", item="plays"),
])  # fmt: skip
def test_a_password_is_in_no_message_wherever_it_was_written(ask, sqlite):
    sqlite.store(ROWS)
    error = refused(lambda: ask(sqlite.path, ADDRESS))
    for secret in ("s3cret", "word'", "127.0.0.1:1"):
        assert secret not in str(error)


@pytest.mark.parametrize("ask", [sl.store, PostgresStore])
def test_no_variable_of_the_trace_holds_the_address(ask, server):
    for url in (ADDRESS, f"postgresql://postgres:s3cret@/postgres?host={server.folder}", "x://s3c"):
        error, mine = refused(lambda url=url: ask(url, **NAMES)), []
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_globals["__name__"].startswith("shortlist."):
                mine += [frame.f_code.co_name, *map(repr, frame.f_locals.values())]
        assert mine
        assert "s3c" not in " ".join(mine)


def test_capitals_in_front_of_a_url(database):
    database.store(ROWS)
    scheme, mark, rest = database.url.partition("://")
    open_store(scheme.upper() + mark + rest, **NAMES).prepare()
    with open_store(scheme.title() + mark + rest, **NAMES).snapshot() as view:
        assert view.size == 5


def test_urls_that_are_nearly_right():
    ask = partial(open_store, **NAMES)
    refusal(lambda: ask("postgresq://x"), 'url="…://…"', 'Did you mean "postgresql"?')
    refusal(lambda: ask("postgresql+psycopg://x"), 'Did you mean "postgresql"?')
    refusal(lambda: ask("mysql://x"), 'url="…://…": must be the URL of an SQLite or a Post')
    refusal(lambda: ask("items.db"), "url: must be the URL of a database", "sqlite:///items.db")
    for url in ("sqlite://", "sqlite:///", "sqlite://items.db", "sqlite:///:memory:"):
        refusal(lambda url=url: ask(url), 'url="sqlite://…": names no file')
    assert refusal(lambda: ask("sqlite:///no/such.db")).startswith(
        'url="sqlite:///no/such.db" does not exist'
    )


def test_a_table_that_may_not_be_read(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    with closing(postgresql.connect()) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'g'")
    url = postgresql.server.url("guest", "g", postgresql.name)
    error = refused(lambda: open_store(url, **NAMES))
    assert 'GRANT SELECT ("name", "plays") ON "items" TO it;' in str(error)
    secrets_of(error, "guest")
    postgresql.run("GRANT SELECT (name, plays) ON items TO guest")
    refusal(lambda: open_store(url, **NAMES), 'GRANT SELECT ("id") ON "items" TO it;')
    postgresql.run("GRANT SELECT (id) ON items TO guest")
    store = open_store(url, **NAMES)
    with store.snapshot() as view:
        assert len(rows_of(view, 2)) == 5
    postgresql.run("DROP INDEX items_plays_id_idx")
    refusal(store.rows, "has no index")
    refusal(store.prepare, "is not open to this user, or to change its indexes; ask its owner")
    postgresql.run("CREATE SCHEMA hidden")
    postgresql.run("CREATE TABLE hidden.x AS SELECT * FROM items")
    refusal(lambda: open_store(url, **(NAMES | {"table": "hidden.x"})), "is not open to this user")
    postgresql.run("DROP OWNED BY guest")
    postgresql.run("DROP ROLE guest")


def test_psycopg_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    refusal(lambda: open_store("postgresql://x", **NAMES), 'pip install "psycopg[binary]"')


def test_files_that_are_no_database(sqlite, tmp_path):
    ask = partial(SqliteStore, table="items", item="name", count="plays")
    (tmp_path / "text.db").write_text(f"name,plays\n{MARKER},918273\n" * 100)
    refusal(lambda: ask(tmp_path / "text.db"), "text.db", "is not an SQLite database")
    refusal(lambda: ask(tmp_path), "is not a file")
    refusal(lambda: ask(tmp_path / "none.db"), "does not exist")
    refusal(lambda: ask(5), "path=5: must be the path")
    (tmp_path / "empty.db").touch()
    refusal(lambda: ask(tmp_path / "empty.db"), 'table="items" is not a table of this file')
    assert not (tmp_path / "none.db").exists()
    store = sqlite.store([(f"{MARKER} {i}", i) for i in range(5000)])
    store.prepare()
    whole = sqlite.path.read_bytes()
    sqlite.path.write_bytes(whole[:8192] + b"\x99" * (len(whole) - 8192))

    def read_all():
        with store.snapshot() as view:
            rows_of(view, 100)

    error = refused(read_all)
    assert "is damaged" in str(error)
    assert MARKER not in str(error)


def test_a_locked_file(sqlite, monkeypatch):
    store = sqlite.store(ROWS)
    store.prepare()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **o: connect(*a, **(o | {"timeout": 0})))
    with closing(sqlite.connect()) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        refusal(store.rows, "is locked by another program")
        refusal(store.prepare, "is locked by another program")


def test_a_file_that_was_left_in_the_middle_of_a_change(sqlite):
    rows = [(f"item {i}", i) for i in range(5000)]
    store = sqlite.store(rows)
    store.prepare()
    change = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "connection.execute('UPDATE items SET plays = plays + 1')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", change, sqlite.path], check=True)  # noqa: S603 - ours
    refusal(store.rows, "was left in the middle of a change", "may be written")
    sqlite.run("SELECT count(*) FROM items")
    with store.snapshot() as view:
        assert rows_of(view, 4999)[0] == (4999, 4999)


@pytest.mark.parametrize("table", ["json_each", "JSON_EACH", "json_tree"])
def test_a_table_called_like_a_function(sqlite, table):
    store = sqlite.store(ROWS, table=table)
    sqlite.run("CREATE TABLE IF NOT EXISTS json_each (key, value)")
    store.prepare()
    with store.snapshot() as view:
        assert view.random_access(np.array([1, 7])).tolist() == [900, -1]
        assert view.items(np.array([1])).row(0) == ("Dune",)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(sqlite):
    store = sqlite.store(ROWS)
    sqlite.path.chmod(0o400)
    refusal(store.prepare, "may not be written")
    sqlite.path.chmod(0)
    refusal(store.rows, "may not be opened")


def test_text_that_is_no_text(sqlite):
    store = sqlite.store(ROWS)
    sqlite.run("UPDATE items SET name = CAST(x'ff5a7a2d70726976617465' AS TEXT) WHERE plays = 900")
    store.prepare()
    with store.snapshot() as view:
        assert rows_of(view, 9)[0] == (1, 900)
        error = refused(lambda: view.items(np.array([1])))
        assert "a text in it is not UTF-8" in str(error)
        assert all("private" not in text.replace("is private", "") for text in said(error))


def test_an_index_that_does_not_fall(monkeypatch, sqlite):
    store = sqlite.store(ROWS)
    store.prepare()
    query = property(lambda table: f"SELECT rowid, plays FROM {table.name} ORDER BY plays")
    monkeypatch.setattr("shortlist.stores.sqlite.SqliteTable.by_count", query)
    for page in (1, 5):
        with store.snapshot() as view:
            refusal(lambda page=page, view=view: rows_of(view, page), "not come in falling order")


@pytest.mark.parametrize("name", ["a b?c#d%20.db", 'it\'s "é".db', "日本.db", "mode=rw&.db"])
def test_odd_names_of_files(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect(tmp_path / name)) as connection:
        connection.execute("CREATE TABLE items (name, plays)")
    for url in (f"sqlite:///{name}", f"sqlite:///{tmp_path / name}"):
        open_store(url, **NAMES).prepare()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_errors_of_our_own_have_no_context(database):
    with pytest.raises(InputError) as caught:
        database.open()
    assert caught.value.__context__ is caught.value.__cause__ is None
