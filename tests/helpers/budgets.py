"""Budgets in both kinds of places, and questions that are charged to them."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import shortlist as sl
from ledgers import TinyCounts, plan_of
from shortlist.databases import postgres_database
from shortlist.release.making import restated

ROOT = Path(__file__).parents[2]
TERMS = {"protects": "user", "dataset": "plays-2026"}
CHANGED = "but the data changed since, or cannot be known again"
_NUMBERS = itertools.count(1)


def fast_folder():
    """A folder in memory, if there is one: for tests that are not about disks."""
    memory = Path("/dev/shm")  # noqa: S108 - of a name of its own
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


def created(place, epsilon=1.0, delta=0.0, **more):
    return sl.Budget.create(place, epsilon=epsilon, delta=delta, **(TERMS | more))


def columns(budget, *names):
    """These columns of what is exported, as texts."""
    head, *rows = [line.split(",") for line in budget.to_csv().splitlines()]
    return [tuple(row[head.index(name)] for name in names) for row in rows]


def as_new(release):
    """The release as it was before it was given again."""
    assert release.given_before is not None
    return restated(release, given_before=None)


def answered(budget, data, **more):
    """The items of a table, and which charge has paid for them if they were given before."""
    source = sl.pairs(data, user="user", item="item", budget=budget, **more)
    release = again(partial(source.domain, epsilon=0.3, delta=1e-8))
    return set(release), release.given_before and release.given_before.charge


def again(ask):
    """What was answered before; anew, where that is refused since it was of another table."""
    try:
        return ask(reuse=True)
    except sl.InputError as error:
        if CHANGED not in str(error):
            raise
    return ask()


class Fragile(TinyCounts):
    """A source that fails when it is touched."""

    def show(self, *_):
        raise AssertionError("a row was read")


def played(*words, tool="ledgers.py", **environment):
    """What a tool found, in a process of its own."""
    folders = [ROOT / name for name in ("src", "tools")]
    path = os.pathsep.join(map(str, folders))
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, ROOT / "tools" / tool, *map(str, words)],
        capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": path} | environment,
    )  # fmt: skip
    return json.loads(done.stdout)


def running_by(monkeypatch, run):
    """Let `run(execute, statement, *values)` run the statements of ledgers in PostgreSQL."""
    real = postgres_database._executing
    monkeypatch.setattr(
        postgres_database, "_executing", lambda connection: partial(run, real(connection))
    )


@contextlib.contextmanager
def tampered(path):
    """A connection to the tables of a ledger, past all that guards them."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        yield connection


__all__ = [
    "CHANGED", "TERMS", "Fragile", "TinyCounts", "again", "answered", "as_new", "columns",
    "created", "fast_folder", "plan_of", "played", "running_by", "tampered",
]  # fmt: skip
