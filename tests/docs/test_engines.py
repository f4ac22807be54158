"""The page on tables that stay where they are, done as it says in DuckDB, which needs no server."""

import ast
from pathlib import Path

import duckdb
import polars as pl
import pytest

from helpers.pages import blocks

PYTHON, SHELL = (blocks("engines", language)[0] for language in ("python", "sh"))
ELSEWHERE = ("postgresql://", "import SparkSession", "getOrCreate", "spark.table", "ibis.bigquery")
"""Lines that need a server or Java; tests of engines ask these."""


@pytest.fixture
def tables(run):  # noqa: ARG001 - in its folder
    titles = [*["Emma"] * 900, *["Ulysses"] * 700]
    rows = pl.DataFrame({"user": [*range(900), *range(700)], "title": titles})
    Path("plays").mkdir()
    rows.write_parquet("plays/one.parquet")
    with duckdb.connect("plays.db") as database:
        database.execute("CREATE TABLE plays AS FROM 'plays/*.parquet'")


@pytest.mark.usefixtures("tables")
def test_what_needs_no_server_answers():
    done = [line for line in PYTHON.splitlines() if not any(far in line for far in ELSEWHERE)]
    assert len(done) == len(PYTHON.splitlines()) - len(ELSEWHERE)
    ask = done.pop()
    assert ask.startswith("plays.top_k")
    answered = 0
    for line in done:
        names = {"duckdb": duckdb}
        exec(f"import shortlist as sl\n{line}", names)  # noqa: S102 - our own page
        if "plays" in names:
            assert set(eval(ask, names)) == {"Emma", "Ulysses"}  # noqa: S307 - likewise
            answered += 1
    assert answered == 2
    ast.parse(PYTHON)


@pytest.mark.usefixtures("tables")
def test_the_command_answers(run):
    assert "Emma" in run(SHELL)
