"""Ctrl-C at a terminal while an engine works: one line, and no query goes on."""

import os
import signal
import sys
import time

import duckdb
import pytest

import shortlist as sl
from helpers.command import PRIVACY
from helpers.engine_places import ENDLESS_IN_DUCKDB, ENDLESS_IN_POSTGRES
from helpers.terminal import Watched
from shortlist.errors import SPENT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
LINE = f"shortlist: interrupted; nothing was released. {SPENT}"


def asked(url, *more, until="Reading"):
    """A process that is at it; what it does is shown at once."""
    code = "from shortlist.cli import _progress_line, main; _progress_line._PATIENCE = 0.0; main()"
    columns = ["--table", "endless", "--user", "user", "--item", "item"]
    running = Watched([sys.executable, "-c", code, "domain", url, *columns, *PRIVACY, *more])
    running.waits_for(until)
    return running


@pytest.mark.parametrize(
    ("more", "seconds"), [((), 0.2), (("--pull",), 0.2), (("--push",), 0.2), (("--pull",), 0.0)]
)
def test_duckdb_stops_and_what_was_charged_stays_charged(tmp_path, more, seconds):
    with duckdb.connect(tmp_path / "plays.db") as connection:
        connection.execute(f"CREATE VIEW endless AS {ENDLESS_IN_DUCKDB}")
    path = tmp_path / "plays.budget"
    budget = sl.Budget.create(path, epsilon=9, delta=1e-3, protects="user", dataset="plays")
    running = asked(f"duckdb:///{tmp_path}/plays.db", "--budget", path, *more)
    # DuckDB is in the process, and nobody else sees whether it has begun; at first it is asked what
    # its rows come from, where an interruption is no reason to go on.
    time.sleep(seconds)
    running.process.send_signal(signal.SIGINT)
    assert running.ends() == (130, "", LINE)
    assert budget.to_csv().count("\n") == 2  # a heading, and one charge


def test_postgresql_stops(server):
    with server.connect() as other:
        other.execute(f"CREATE OR REPLACE VIEW endless AS {ENDLESS_IN_POSTGRES}")
        running = asked(server.url(), until="reading rows in PostgreSQL")
        ours = (
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' "
            "AND query LIKE '%endless%' AND pid <> pg_backend_pid()"
        )
        while other.execute(ours).fetchone() == (0,):
            time.sleep(0.05)
        running.process.send_signal(signal.SIGINT)
        assert running.ends() == (130, "", LINE)
        assert other.execute(ours).fetchone() == (0,)
        left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'shortlist%'"
        while other.execute(left).fetchone() != (0,):  # the server ends a session by and by
            time.sleep(0.05)
