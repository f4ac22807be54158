"""Tables that stay where they are, in every form that a source takes them in."""

from pathlib import Path

import duckdb
import ibis
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import MARKER, refusal, refused
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.engines.rows_in_table import RowsInTable
from shortlist.mechanisms import PolicyGaussian, PolicyGreedy

ROWS = pl.DataFrame(
    {
        "user": [*range(900), *range(600), *range(300), 7],
        "title": ["Emma"] * 900 + ["été 日本"] * 600 + ["Dune"] * 300 + [MARKER],
    }
)
ASKED = {"epsilon": 1.0, "delta": 1e-6}


def file_of(folder):
    path = folder / "plays.db"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.plays AS FROM ROWS")
        connection.execute("CREATE TABLE plays AS FROM ROWS")
    return path


FORMS = {
    "relation": lambda _: (duckdb.connect().sql("FROM ROWS"), None),
    "ibis": lambda folder: (
        ibis.duckdb.connect(file_of(folder), read_only=True).table("plays"),
        None,
    ),
    "url": lambda folder: (f"duckdb:///{file_of(folder)}", "plays"),
    "url and schema": lambda folder: (f"duckdb:///{file_of(folder)}", "old.plays"),
}


@pytest.fixture(params=FORMS)
def form(request, tmp_path):
    data, table = FORMS[request.param](tmp_path)
    return lambda **more: sl.pairs(data, table=table, user="user", item="title", **more)


def test_all_questions_are_answered_where_the_rows_lie(form):
    source = form()
    assert isinstance(source._engine, RowsInTable)
    assert source.top_k(2, **ASKED).items == ["Emma", "été 日本"]
    assert set(source.domain(**ASKED).items) == {"Emma", "été 日本", "Dune"}
    assert source.hitting_set(1, **ASKED).items == ["Emma"]
    known = form(public_items=["Dune", "Emma", "nobody's"])
    assert known.top_k(2, epsilon=1.0).items == ["Emma", "Dune"]
    assert known.hitting_set(1, epsilon=1.0).items == ["Emma"]


def test_the_guarantee_says_where_users_are_bounded(form):
    told = form(pull=False).plan(sl.TopK(2), **ASKED).guarantee.assumes
    assert any("bounded in DuckDB, by hash(hash(user, item) xor key)" in each for each in told)
    told = form().plan(sl.TopK(2), **ASKED).guarantee.assumes
    assert any("bounded in DuckDB, by SHA-256 of (key, user, item)" in each for each in told)
    known = form(public_items=["Emma"]).plan(sl.TopK(1), epsilon=1.0)
    assert not any("DuckDB" in each for each in known.guarantee.assumes)


@pytest.mark.parametrize("mechanism", [PolicyGaussian, PolicyGreedy])
def test_the_guarantee_says_nothing_of_an_engine_whose_rows_are_fetched(form, mechanism):
    for question in (sl.Domain(), sl.Domain(count_share=0.2)):
        told = form().plan(question, mechanism=mechanism, **ASKED).guarantee.assumes
        assert told
        assert not any("DuckDB" in each for each in told)


def test_rows_are_pulled_where_the_caller_says_so(form):
    source = form(pull=True)
    assert isinstance(source._engine, RowsInMemory)
    assert source.top_k(2, **ASKED).items == ["Emma", "été 日本"]


def test_what_cannot_be_is_refused(tmp_path):
    names = {"user": "user", "item": "title"}
    url = f"duckdb:///{file_of(tmp_path)}"
    refusal(lambda: sl.pairs(ROWS, pull=True, **names), "pull=True: it is for a table")
    refusal(lambda: sl.pairs(ROWS, pull=False, **names), "pull=False: it is for a table")
    refusal(lambda: sl.pairs(ROWS, pull="yes", **names), "must be True, False or None")
    refusal(lambda: sl.pairs(ROWS, table="plays", **names), "goes with the URL of a database")
    refusal(lambda: sl.pairs(url, **names), "of which one table is read; name it by table")
    refusal(lambda: sl.pairs(url, table="no", **names), "is not a table of this database")
    refusal(lambda: sl.pairs(url, table="plays", user="no", item="title"), "is not a column")
    refusal(lambda: sl.pairs(f"{url}.not", table="plays", **names), 'data="duckdb://…"')
    assert not list(tmp_path.glob("*.not"))


def test_counts_are_fetched_from_wherever_they_are(tmp_path):
    path = tmp_path / "readers.db"
    held = pl.DataFrame({"title": ["Emma", "Dune", None], "readers": [900, 40, 7]})
    names = {"item": "title", "count": "readers"}
    with duckdb.connect(path) as connection:
        connection.register("held", held.to_arrow())
        connection.execute("CREATE TABLE readers AS FROM held")
        relation = sl.counts(connection.table("readers"), **names)
        assert relation.top_k(1, **ASKED).items == ["Emma"]
        connection.execute("CREATE TABLE wrong AS SELECT title, -readers AS readers FROM held")
        connection.execute("CREATE TABLE twice AS FROM held UNION ALL FROM held")
    for data, table in forms_of(path, "readers"):
        assert sl.counts(data, table=table, **names).top_k(1, **ASKED).items == ["Emma"]
    for data, table in forms_of(path, "wrong"):
        said = refusal(lambda d=data, t=table: sl.counts(d, table=t, **names).top_k(1, **ASKED))
        assert "not a count" in said
        assert "900" not in said
    for data, table in forms_of(path, "twice"):
        said = refusal(lambda d=data, t=table: sl.counts(d, table=t, **names).top_k(1, **ASKED))
        assert "more than one row" in said
        assert "Emma" not in said


def forms_of(path, table):
    yield f"duckdb:///{path}", table
    yield ibis.duckdb.connect(path, read_only=True).table(table), None


@pytest.mark.parametrize(
    "url",
    [
        "duckdb:////no/where/s3cret.db",
        "postgresql://me:s3cret@127.0.0.1:1/music",
        "sqlite:////no/where/s3cret.db",
        "nothing://me:s3cret@host/music",
    ],
)
def test_nothing_of_a_url_is_shown(url):
    asked = {"table": "plays", "item": "title"}
    for ask in (
        lambda: sl.pairs(url, user="user", **asked),
        lambda: sl.counts(url, count="readers", **asked),
    ):
        error = refused(ask)
        traces, trace = [], error.__traceback__
        while trace is not None:
            if Path(trace.tb_frame.f_code.co_filename).is_relative_to(Path(sl.__file__).parent):
                traces.append(str(trace.tb_frame.f_locals))
            trace = trace.tb_next
        assert traces
        for said in (str(error), repr(error), *traces, str(error.__context__)):
            assert "s3cret" not in said


def test_a_budget_knows_the_tables_of_one_database_apart(tmp_path):
    budget = sl.Budget.create(
        tmp_path / "plays.budget", epsilon=3.0, delta=1e-5, protects="user", dataset="plays"
    )
    url = f"duckdb:///{file_of(tmp_path)}"
    names = {"user": "user", "item": "title", "budget": budget}
    first = sl.pairs(url, table="plays", **names).domain(epsilon=0.5, delta=1e-6)
    again = sl.pairs(url, table="plays", **names).domain(epsilon=0.5, delta=1e-6, reuse=True)
    other = sl.pairs(url, table="old.plays", **names).domain(epsilon=0.5, delta=1e-6, reuse=True)
    assert again.items == first.items
    assert again.given_before.charge == 1
    assert other.given_before is None


@pytest.mark.parametrize("form", FORMS)
def test_a_notebook_shows_the_columns(form, tmp_path):
    data, table = FORMS[form](tmp_path)
    shown = sl.pairs(data, table=table, user="user", item="title")._repr_html_()
    assert all(f">{name}<" in shown for name in ("user", "title"))
