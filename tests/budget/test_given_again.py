"""An answer is given again only for the same question of the same table, and says so."""

import gc
import hashlib
import json
import os
import re
from datetime import date
from functools import partial
from pathlib import Path

import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow.dataset as ds
import pytest

import shortlist as sl
from helpers.budgets import again, answered, as_new, columns, created, plan_of, tampered
from helpers.databases import NAMES, Postgres, Sqlite
from helpers.refusals import refusal
from shortlist.mechanisms import PermuteAndFlip
from shortlist.release import GivenBefore
from shortlist.release.loading import from_json
from shortlist.runtime import clock

FRAME = pl.DataFrame({"user": range(600), "item": ["a", "b"] * 300, "other": ["b", "a"] * 300})
OTHERS = FRAME.with_columns(item=pl.col("item").replace({"a": "x", "b": "y"}))
ASK = {"epsilon": 0.3, "delta": 1e-8}


def pairs(budget, **more):
    more = {"as_of": "today", **more}
    return sl.pairs(FRAME, user="user", item="item", budget=budget, **more)


@pytest.fixture
def budget(path):
    return created(path, epsilon=20.0, delta=1e-5)


# --- which table it is of


def as_parquet(frame, path):
    frame.write_parquet(path)
    return path


def as_csv(frame, path):
    frame.write_csv(path)
    return path


def as_scan(frame, path):
    frame.write_parquet(path)
    return pl.scan_parquet(path).filter(pl.col("user") >= 0)


def as_dataset(frame, path):
    frame.write_parquet(path)
    return ds.dataset(path)


def as_folder(frame, path):
    folder = Path(f"{path}.d")
    folder.mkdir(exist_ok=True)
    frame.write_parquet(folder / "x.parquet")
    return folder


def as_table(frame, path):  # noqa: ARG001 - DuckDB finds the frame by its name
    gc.collect()  # what was opened for reading is closed
    with duckdb.connect(path) as connection:
        connection.execute("CREATE OR REPLACE TABLE plays AS FROM frame")
    return f"duckdb:///{path}"


def as_ibis_table(frame, path):
    as_table(frame, path)
    return ibis.duckdb.connect(path, read_only=True).table("plays")


def as_view_of_a_file(frame, path):
    frame.write_parquet("read.parquet")
    gc.collect()
    with duckdb.connect(path) as connection:
        connection.execute("CREATE VIEW IF NOT EXISTS plays AS FROM 'read.parquet'")
    return f"duckdb:///{path}"


FORMS = {
    "parquet": (as_parquet, {}),
    "csv": (as_csv, {}),
    "scan": (as_scan, {}),
    "dataset": (as_dataset, {}),
    "folder": (as_folder, {}),
    "table": (as_table, {"table": "plays"}),
    "table that is fetched": (as_table, {"table": "plays", "pull": True}),
    "table of Ibis": (as_ibis_table, {}),
    "view of a file": (as_view_of_a_file, {"table": "plays"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_that_name_in_another_folder_is_another(budget, form, tmp_path, monkeypatch):
    """Relative paths, as whoever works in several folders types them."""
    made, more = FORMS[form]
    name = "x.csv" if form == "csv" else "x.parquet"
    found = []
    for number, frame in enumerate((FRAME, OTHERS), start=1):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        found += [answered(budget, made(frame, name), **more)]
    monkeypatch.chdir(tmp_path / "1")
    data = {"table": "duckdb:///x.parquet", "table that is fetched": "duckdb:///x.parquet"}
    assert found == [({"a", "b"}, None), ({"x", "y"}, None)]
    if form in data or form in ("parquet", "csv"):
        assert answered(budget, data.get(form, name), **more) == ({"a", "b"}, 1)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_was_replaced_is_another(budget, form, tmp_path, monkeypatch):
    made, more = FORMS[form]
    monkeypatch.chdir(tmp_path)
    name = "x.csv" if form == "csv" else "x.parquet"
    assert answered(budget, made(FRAME, name), **more) == ({"a", "b"}, None)
    assert answered(budget, made(OTHERS, name), **more) == ({"x", "y"}, None)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_the_file_that_it_leads_to(budget, tmp_path):
    files = [
        as_parquet(frame, tmp_path / f"{i}.parquet") for i, frame in enumerate((FRAME, OTHERS))
    ]
    link = tmp_path / "link.parquet"
    found = []
    for file in (files[0], *files):
        link.unlink(missing_ok=True)
        link.symlink_to(file)
        found.append(answered(budget, link))
    assert found == [({"a", "b"}, None), ({"a", "b"}, 1), ({"x", "y"}, None)]
    assert answered(budget, files[1]) == ({"x", "y"}, 2)


def test_a_table_in_the_memory_of_an_engine_is_not_known_again(budget):
    for frame in (FRAME, OTHERS):
        relation = duckdb.connect().sql("SELECT * FROM frame")
        assert answered(budget, relation) == (set(frame["item"]), None)
    source = sl.pairs(relation, user="user", item="item", budget=budget)
    source.domain(**ASK)
    assert source.domain(**ASK, reuse=True).given_before is not None


def test_a_table_in_another_database_of_a_server_is_another(budget, postgresql, server):
    other = Postgres(server, f"{postgresql.name}_other")
    for place, item in ((postgresql, "a"), (other, "x")):
        place.run('CREATE TABLE plays ("user" int, item text)')
        place.run(f"INSERT INTO plays SELECT i, '{item}' FROM generate_series(1, 600) AS i")
    found = [
        answered(budget, place.url, table="plays", as_of="now")
        for place in (postgresql, other, postgresql)
    ]
    assert found == [({"a"}, None), ({"x"}, None), ({"a"}, 1)]
    postgresql.run("CREATE SCHEMA new")
    postgresql.run("CREATE TABLE new.plays AS SELECT \"user\", 'z' AS item FROM plays")
    url = f"{postgresql.url}&options=-csearch_path%3Dnew"
    assert answered(budget, url, table="plays", as_of="now") == ({"z"}, None)
    postgresql.run("DROP TABLE plays")
    postgresql.run("ALTER TABLE new.plays SET SCHEMA public")
    assert answered(budget, postgresql.url, table="plays", as_of="now") == ({"z"}, None)


def in_store(budget, held, **names):
    release = again(partial(sl.store(held, **names, budget=budget).top_k, 1, epsilon=2.0))
    return release.items, release.given_before and release.given_before.charge


def test_a_store_in_another_place_is_another(budget, tmp_path, server, postgresql):
    files = [Sqlite(tmp_path / f"{i}.db") for i in range(2)]
    servers = [postgresql, Postgres(server, f"{postgresql.name}_other")]
    for places in (files, servers):
        for place, rows in zip(
            places, ([("a", 900), ("b", 2)], [("a", 2), ("b", 900)]), strict=True
        ):
            place.store(rows).prepare()
        before = len(columns(budget, "number"))
        asked = (*places, places[0])
        found = [in_store(budget, place.url, **NAMES, as_of="now") for place in asked]
        assert found == [(["a"], None), (["b"], None), (["a"], before + 1)]


def test_arrays_from_another_file_are_another_store(budget, tmp_path):
    found = []
    for i, counts in enumerate(([900, 2], [2, 900])):
        np.save(tmp_path / f"{i}.npy", np.array(counts))
        held = sl.stores.MemoryStore(["a", "b"], np.load(tmp_path / f"{i}.npy", mmap_mode="r"))
        held.prepare()
        found.append(in_store(budget, held))
    assert found == [(["a"], None), (["b"], None)]


def test_what_changes_while_it_is_read_is_never_given_again(budget, tmp_path, monkeypatch):
    """Nobody knows then of which of both tables the answer is."""
    path = as_parquet(FRAME, tmp_path / "x.parquet")
    plan = sl.pairs(path, user="user", item="item", budget=budget).plan(sl.Domain(), **ASK)
    held, read = plan.engine._held, plan.engine._held._find

    def reading():
        rows = read()
        as_parquet(OTHERS, path)
        return rows

    monkeypatch.setattr(held, "_find", reading)
    plan.run()
    assert columns(budget, "outcome") == [("released",)]
    assert answered(budget, path) == ({"x", "y"}, None)
    assert budget.verify() == []


def test_a_source_is_asked_about_the_rows_that_it_has_read(budget, tmp_path):
    """They are kept for further questions, and are not those of a file that is replaced."""
    path = as_parquet(FRAME, tmp_path / "x.parquet")
    source = sl.pairs(path, user="user", item="item", budget=budget)
    source.top_k(1, **ASK)
    as_parquet(OTHERS, path)
    assert set(source.domain(**ASK)) == {"a", "b"}
    assert source.domain(**ASK, reuse=True).given_before.charge == 2
    assert answered(budget, path) == ({"x", "y"}, None)


# --- what is kept of it


def test_nothing_that_is_shown_tells_the_size_of_a_file(budget, tmp_path, monkeypatch):
    """A size tells the number of rows. It is hashed with a key that stays in the ledger."""
    monkeypatch.chdir(tmp_path)
    path = as_parquet(FRAME, Path("x.parquet"))
    answered(budget, path)
    key = budget._key()
    (charge,) = [e for e in map(json.loads, bodies(budget)) if e["kind"] == "charge"]
    status = path.stat()
    for shown in (budget.to_json(), budget.to_csv(), str(budget)):
        for secret in (key, str(status.st_mtime_ns), os.path.realpath(path)):
            assert secret not in shown
    digits = re.sub(r"[0-9a-f]{16,}", "", " ".join(bodies(budget)))
    assert str(status.st_size) not in digits
    other = created(tmp_path / "other.budget", epsilon=20.0, delta=1e-5)
    answered(other, path)
    (beside,) = [e for e in map(json.loads, bodies(other)) if e["kind"] == "charge"]
    assert charge["plan"] != beside["plan"]
    assert len({key, other._key(), hashlib.sha256(b"").hexdigest()}) == 3


def bodies(budget):
    return [entry["body"] for entry in json.loads(budget.to_json())]


@pytest.mark.parametrize("writes", [False, True])
def test_ledgers_without_a_key_are_still_read_and_charged(path, writes):
    """Those of version 0.2, whose answers are not found again."""
    budget = created(path)
    plan_of(budget).run()
    with tampered(path) as connection:
        connection.execute("DELETE FROM shortlist_releases WHERE charge = 0")
        connection.execute("UPDATE shortlist_releases SET plan = 'of an old version'")
    old = sl.Budget(path)
    assert plan_of(old).kept() is None
    assert columns(old, "number", "outcome") == [("1", "released")]
    if writes:
        plan_of(old).run()
        assert plan_of(sl.Budget(path)).kept().given_before.charge == 2
    assert old.verify() == []


IN_MEMORY = {
    "frame": lambda rows: rows,
    "pandas": lambda rows: rows.to_pandas(),
    "arrow": lambda rows: rows.to_arrow(),
    "dict": lambda rows: rows.to_dict(as_series=False),
}


@pytest.mark.parametrize("form", IN_MEMORY)
def test_of_data_in_memory_nothing_is_given_again_without_a_date(budget, form):
    """Its identity has no rows: the answer of one frame would be given for another."""
    first, other = (IN_MEMORY[form](rows) for rows in (FRAME, OTHERS))
    for data in (first, other):
        source = sl.pairs(data, user="user", item="item", budget=budget)
        told = refusal(
            lambda source=source: source.domain(**ASK, reuse=True), "cannot be seen whether"
        )
        assert "Say as of when the data is, by as_of; to take the answer" in told
    assert columns(budget, "number") == []
    assert set(sl.pairs(first, user="user", item="item", budget=budget).domain(**ASK)) == {"a", "b"}
    taken = source.domain(**ASK, reuse=sl.Reuse.CHANGED_DATA)
    assert taken.given_before.charge == 1
    dated = [
        answered(budget, data, as_of=day)
        for day, data in (("1", first), ("2", other), ("1", first))
    ]
    assert dated == [({"a", "b"}, None), ({"x", "y"}, None), ({"a", "b"}, 2)]


def test_of_tables_on_a_server_nothing_is_given_again_without_a_date(budget, postgresql):
    """Rows that are added to one do not show."""
    postgresql.run(
        "CREATE TABLE plays AS SELECT i AS u, 'a' AS item FROM generate_series(1, 600) AS i"
    )
    postgresql.run('ALTER TABLE plays RENAME COLUMN u TO "user"')
    postgresql.store([("a", 900), ("b", 2)]).prepare()
    store = sl.store(postgresql.url, **NAMES, budget=budget)
    refusal(lambda: store.top_k(1, epsilon=0.1, reuse=True), "cannot be seen whether", "as_of")
    for pull in (None, True):
        held = {"user": "user", "item": "item", "table": "plays", "pull": pull}
        rows = sl.pairs(postgresql.url, **held, budget=budget)
        refusal(lambda rows=rows: rows.domain(**ASK, reuse=True), "cannot be seen whether", "as_of")
    assert columns(budget, "number") == []


def test_of_arrays_in_memory_nothing_is_given_again_without_a_date(budget):
    held = sl.stores.MemoryStore(["a", "b"], [900, 2])
    held.prepare()
    store = sl.store(held, budget=budget)
    refusal(lambda: store.top_k(1, epsilon=0.1, reuse=True), "cannot be seen whether")


# --- that it says so


def test_an_answer_that_is_given_again_says_so_everywhere(path, tmp_path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    first = pairs(budget).domain(**ASK)
    release = pairs(budget).domain(**ASK, reuse=True)
    today = clock.now().date()
    assert release.given_before == GivenBefore(charge=1, day=today)
    assert first.given_before is None
    said = f"by charge 1, of {today.isoformat()}: no row was read again"
    assert re.search(rf"given before +{re.escape(said)}", str(release))
    assert "given before" not in str(first)
    assert said in release.to_markdown().replace("\\", "")
    assert said in release._repr_html_()
    assert release.to_dict()["given_before"] == {"charge": 1, "day": today.isoformat()}
    assert "given_before" not in first.to_dict()
    for name in ("a.json", "a.parquet"):
        release.save(tmp_path / name)
        assert sl.load(tmp_path / name) == release
    release.report(tmp_path / "a.html")
    kept = f"what the budget has kept of charge 1, of {today.isoformat()}"
    for words in ((tmp_path / "a.html").read_text(), " ".join(release.explain().split())):
        assert kept in words
    assert as_new(release) == first
    third = pairs(sl.Budget(path)).domain(**ASK, reuse=True)
    assert third == release


def test_a_part_of_an_answer_says_what_the_whole_says(path):
    budget = created(path, epsilon=20.0, delta=1e-4)
    for reuse in (False, True):
        whole = pairs(budget).domain(epsilon=5.0, delta=1e-5, by="other", reuse=reuse)
        parts = [part for _, part in whole.groups()]
        assert parts
        assert {part.budget for part in parts} == {whole.budget}
        assert {part.given_before for part in parts} == {whole.given_before}
        assert (whole.given_before is not None) is reuse


@pytest.mark.parametrize(
    "wrong", [7, {}, {"charge": "1", "day": "2026-01-01"}, {"charge": 1, "day": "x"}]
)
def test_a_file_that_says_it_wrongly_is_refused(wrong, tmp_path):
    said = pairs(None).domain(**ASK).to_dict()
    right = {"charge": 1, "day": "2026-01-31"}
    read = from_json(json.dumps(said | {"given_before": right}))
    assert read.given_before == GivenBefore(1, date(2026, 1, 31))
    (tmp_path / "a.json").write_text(json.dumps(said | {"given_before": wrong}))
    refusal(lambda: sl.load(tmp_path / "a.json"), "not a whole release")


# --- which question it is


def test_only_the_same_question_of_the_same_columns_is_given_again(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    first = pairs(budget).domain(**ASK)
    renamed = FRAME.rename({"item": "thing"})
    others = [
        lambda: pairs(budget).domain(epsilon=0.4, delta=1e-7, reuse=True),
        lambda: pairs(budget, max_items_per_user=7).domain(**ASK, reuse=True),
        lambda: sl.pairs(FRAME, user="user", item="other", as_of="now", budget=budget).domain(
            **ASK, reuse=True
        ),
        lambda: sl.pairs(renamed, user="user", item="thing", as_of="now", budget=budget).domain(
            **ASK, reuse=True
        ),
        lambda: pairs(budget, public_items=["a", "b"]).top_k(1, epsilon=0.4, reuse=True),
        lambda: pairs(budget, public_items=["a", "c"]).top_k(1, epsilon=0.4, reuse=True),
        lambda: pairs(budget, public_items=["a", "b"]).top_k(
            1, epsilon=0.4, reuse=True, mechanism=PermuteAndFlip
        ),
    ]
    for number, other in enumerate(others, start=2):
        assert other().budget.startswith(f"charge {number} of ")
    assert as_new(pairs(budget).domain(**ASK, reuse=True)) == first
    assert pairs(budget).domain(**ASK).budget.startswith("charge 9 of ")  # only where asked for


def test_in_groups_only_the_same_ones_are_given_again(path):
    budget = created(path, epsilon=3.0, delta=1e-6)

    def asked(**groups):
        return pairs(budget).top_k(1, **ASK, by="other", reuse=True, **groups)

    told = [
        asked(**groups).budget.split(" of ")[0]
        for groups in (
            {},
            {"public_groups": ["x", "y"]},
            {"public_groups": ["x", "z"]},
            {"max_groups_per_user": 2},
            {"public_groups": ["x", "z"]},
            {},
        )
    ]
    assert told == [f"charge {number}" for number in (1, 2, 3, 4, 3, 1)]


def test_another_version_gives_the_same_answer_again(path, monkeypatch):
    """Whoever installs one between a crash and a retry is not charged twice."""
    budget = created(path, epsilon=3.0, delta=1e-6)
    plan = pairs(budget).plan(sl.Domain(), **ASK)
    first = plan.run()
    monkeypatch.setattr("shortlist.budget._entries.__version__", "9.9.9")
    assert as_new(plan.kept()) == first


def test_reuse_needs_a_budget_that_keeps():
    refusal(
        lambda: pairs(None).domain(**ASK, reuse=True), "reuse=True: without budget nothing keeps"
    )
