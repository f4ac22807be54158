"""What needs no row to know is refused before the budget is charged, and by a dry run."""

import sqlite3

import duckdb
import ibis
import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.databases import Sqlite
from helpers.refusals import refusal
from shortlist.errors import SPENT
from shortlist.mechanisms import PolicyGaussian

ASK = {"epsilon": 1.0, "delta": 1e-6}
NAMES = {"user": "person", "item": "title"}
TABLE = "CREATE TABLE plays (person INTEGER, title TEXT)"


@pytest.fixture
def budget(tmp_path):
    return sl.Budget.create(
        tmp_path / "plays.budget", epsilon=9.0, delta=1e-3, protects="person", dataset="plays"
    )


def unspent(budget, plan, *parts):
    """What is said where a plan is refused, each time, with nothing charged."""
    for action in (plan.check, plan.run, plan.run):
        said = refusal(action, *parts)
        assert SPENT not in said
    assert len(budget.to_csv().splitlines()) == 1  # the names of its columns
    return said


def in_files(path, budget):
    """Questions about a file with the columns person, title and held."""
    rows = sl.pairs(path, **NAMES, budget=budget)
    compared = sl.comparisons(
        path,
        winner="title",
        loser="held",
        public_items=["a", "b"],
        user="person",
        max_comparisons_per_user=1,
        budget=budget,
    )
    grouped = rows.grouped("held")
    return {
        "rows": rows.plan(sl.Domain(), **ASK),
        "users one by one": rows.plan(sl.Domain(), mechanism=PolicyGaussian, **ASK),
        "groups": grouped.plan(sl.TopK(1), **ASK),
        "pairs": grouped.plan(sl.Domain(), **ASK),
        "comparisons": compared.plan(sl.Rank(1), epsilon=1.0),
    }


KINDS = ["rows", "users one by one", "groups", "pairs", "comparisons", "counts"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_is_gone_or_has_other_columns(budget, tmp_path, kind, suffix):
    path = tmp_path / f"plays.{suffix}"
    frame = pl.DataFrame(
        {"person": ["p"], "title": ["a"], "held": ["b" if kind != "counts" else 1]}
    )

    def write(rows):
        rows.write_csv(path) if suffix == "csv" else rows.write_parquet(path)

    write(frame)
    plan = in_files(path, budget)[kind] if kind != "counts" else counts_of(path, budget)
    write(frame.rename({"title": "name"}))
    unspent(budget, plan, f"plays.{suffix}")
    path.unlink()
    unspent(budget, plan, "does not exist")
    write(frame)
    plan.check()


def counts_of(path, budget):
    counted = sl.counts(path, item="title", count="held", max_items_per_user=1, budget=budget)
    return counted.plan(sl.TopK(1), **ASK)


def test_what_was_read_already_is_not_looked_for_again(tmp_path):
    path = tmp_path / "plays.csv"
    path.write_text("person,title\n" + "".join(f"{user},Emma\n" for user in range(500)))
    source = sl.pairs(path, **NAMES)
    first = source.domain(**ASK)
    path.unlink()
    assert source.domain(**ASK).items == first.items == ["Emma"]


def test_what_only_a_row_shows_is_charged(budget, tmp_path):
    """One user decides of it: to look before would tell of that user, and cost nothing."""
    path = tmp_path / "plays.csv"
    path.write_bytes("person,title\nZoé,Emma\n".encode("latin1"))
    plan = sl.pairs(path, **NAMES, budget=budget).plan(sl.Domain(), **ASK)
    plan.check()
    with pytest.raises(sl.InputError, match="spent"):
        plan.run()
    assert budget.epsilon_left < 9.0


def in_sqlite(folder, statement=TABLE):
    path = folder / "plays.db"
    with sqlite3.connect(path) as native:
        native.execute(statement)
    native.close()
    return f"sqlite:///{path}"


def test_an_engine_without_a_hash(budget, tmp_path):
    source = sl.pairs(in_sqlite(tmp_path), table="plays", **NAMES, budget=budget)
    for question in (sl.Domain(), sl.TopK(3), sl.HittingSet(2)):
        unspent(budget, source.plan(question, **ASK), "no hash", "pull=True")


@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
@pytest.mark.parametrize("public", [None, ["Emma"]])
def test_a_collation_by_which_texts_are_equal(budget, tmp_path, collation, public):
    url = in_sqlite(tmp_path, f"CREATE TABLE plays (person TEXT, title TEXT COLLATE {collation})")
    source = sl.pairs(url, table="plays", public_items=public, **NAMES, budget=budget)
    unspent(budget, source.plan(sl.TopK(1), **ASK), "takes texts for equal", "pull=True")


@pytest.fixture
def role(server):
    """A user of PostgreSQL who may read a table, make temporary tables, and no more."""
    name, password = "reader", "read"
    with server.connect() as native:
        native.execute("DROP TABLE IF EXISTS plays")
        native.execute(TABLE)
        native.execute(
            "INSERT INTO plays SELECT person, 'Emma' FROM generate_series(1, 500) person"
        )
        native.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        native.execute(f"GRANT SELECT ON plays TO {name}")
        yield server.url(name, password), native
        native.execute("GRANT TEMP ON DATABASE postgres TO PUBLIC")
        native.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
        native.execute("DROP TABLE IF EXISTS plays")


def test_a_user_of_postgresql_who_may_make_no_temporary_tables(budget, role):
    url, owner = role
    owner.execute("REVOKE TEMP ON DATABASE postgres FROM PUBLIC")
    plan = sl.pairs(url, table="plays", **NAMES, budget=budget).plan(sl.Domain(), **ASK)
    unspent(budget, plan, "temporary tables", "GRANT TEMP", "pull=True")
    pulled = sl.pairs(url, table="plays", pull=True, **NAMES, budget=budget)
    assert pulled.domain(**ASK).items == ["Emma"]


def test_a_server_that_only_reads(budget, role):
    """As a standby does, and any session that is told to."""
    url, _ = role
    only = f"{url}&options=-c%20default_transaction_read_only%3Don"
    plan = sl.pairs(only, table="plays", **NAMES, budget=budget).plan(sl.Domain(), **ASK)
    unspent(budget, plan, "only reads", "primary", "pull=True")


CHANGES = {
    "DROP TABLE plays": "no such table",
    "ALTER TABLE plays RENAME COLUMN title TO name": "no such column",
    "REVOKE SELECT ON plays FROM reader": "GRANT SELECT",
}


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_table_of_postgresql_that_is_another_by_now(budget, role, change, pull):
    url, owner = role
    source = sl.pairs(url, table="plays", pull=pull, **NAMES, budget=budget)
    plan = source.plan(sl.Domain(), **ASK)
    owner.execute(change)
    unspent(budget, plan, "cannot be read" if pull else CHANGES[change])


@pytest.mark.parametrize("pull", [False, True])
def test_a_connection_that_was_lost_is_opened_anew(budget, role, pull):
    url, owner = role
    source = sl.pairs(url, table="plays", pull=pull, **NAMES, budget=budget)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'"
    for _ in range(2):
        owner.execute(end)
        assert len(source.domain(**ASK)) == 1
    assert budget.epsilon_left < 9.0


def test_a_connection_of_the_callers_is_theirs_to_open(budget, server):
    native = server.connect()
    native.execute("CREATE TEMP TABLE mine (person INTEGER, title TEXT)")
    table = ibis.postgres.from_connection(native).table("mine")
    plan = sl.pairs(table, **NAMES, budget=budget).plan(sl.Domain(), **ASK)
    native.close()
    unspent(budget, plan, "PostgreSQL has lost the connection")


@pytest.mark.parametrize("is_relation", [False, True])
@pytest.mark.parametrize("pull", [False, True])
def test_a_table_of_duckdb_that_is_gone(budget, is_relation, pull):
    native = duckdb.connect()
    native.execute(TABLE)
    table = (
        native.table("plays") if is_relation else ibis.duckdb.from_connection(native).table("plays")
    )
    plan = sl.pairs(table, pull=pull, **NAMES, budget=budget).plan(sl.Domain(), **ASK)
    native.execute("DROP TABLE plays")
    unspent(budget, plan)


def test_a_store_without_an_index(database):
    source = sl.store(database.store([("a", 5), ("b", 4)]), budget=Untouched())
    plan = source.plan(sl.TopK(1), epsilon=1.0)
    for action in (plan.check, plan.run):
        assert SPENT not in refusal(action, "no index")
    source.prepare()
    plan.check()


class Untouched:
    """A budget that may not be charged."""

    def charge(self, _):
        pytest.fail("it was charged")


def test_a_store_whose_file_is_gone(tmp_path):
    database = Sqlite(tmp_path / "items.db")
    store = database.store([("a", 5)])
    plan = sl.store(store, budget=Untouched()).plan(sl.TopK(1), epsilon=1.0)
    database.path.unlink()
    assert SPENT not in refusal(plan.run, "does not exist")


def test_a_store_in_memory_without_an_order():
    store = sl.stores.MemoryStore(["a"], [5])
    plan = sl.store(store, budget=Untouched()).plan(sl.TopK(1), epsilon=1.0)
    assert SPENT not in refusal(plan.run, "prepare()")


def test_the_command_says_it_in_a_dry_run(complaint, tmp_path):
    words = [in_sqlite(tmp_path), "--table", "plays", "--user", "person", "--item", "title"]
    asked = ["domain", *words, "--epsilon", "1", "--delta", "1e-6", "--dry-run"]
    assert "no hash" in complaint(*asked)


def test_a_rehearsal_reads_no_row(server):
    """Not one, of a view that fails at its first."""
    with server.connect() as native:
        native.execute(
            "CREATE VIEW failing AS SELECT 1 / (g - 1) AS person, 'a' AS title "
            "FROM generate_series(1, 9) AS g"
        )
        table = ibis.postgres.from_connection(native).table("failing")
        for pull in (False, True):
            plan = sl.pairs(table, pull=pull, **NAMES).plan(sl.Domain(), **ASK)
            plan.check()
            with pytest.raises(sl.InputError, match="spent"):
                plan.run()
        native.execute("DROP VIEW failing")


def test_columns_that_folders_are_named_by_are_asked_about(tmp_path):
    """They are in no file, so that no file is asked for them, neither by the check nor later."""
    for country in ("FR", "S%2FW"):
        folder = tmp_path / "plays" / f"country={country}"
        folder.mkdir(parents=True)
        pl.DataFrame({"user": range(600), "item": "a"}).write_parquet(folder / "x.parquet")
    budget = created(tmp_path / "plays.budget", epsilon=10.0, delta=1e-5)
    plays = tmp_path / "plays"
    asked = {"epsilon": 1.0, "delta": 1e-6}
    source = sl.pairs(plays, user="user", item="country", budget=budget)
    assert set(source.domain(**asked)) == {"FR", "S/W"}
    source = sl.pairs(plays, user="user", item="item", budget=budget)
    assert source.top_k(1, by="country", **asked) is not None
    assert len(columns(budget, "number")) == 2
