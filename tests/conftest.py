"""Databases for all tests that ask for one."""

import itertools

import pytest

import postgres
from databases import Memory, Postgres, Sqlite

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server, started by the first test that needs it."""
    if why := postgres.why_not():
        pytest.skip(why)
    running = postgres.Server()
    try:
        running.start()
        yield running
    finally:
        running.remove()


@pytest.fixture
def sqlite(tmp_path):
    return Sqlite(tmp_path / "items.db")


@pytest.fixture
def postgresql(server):
    return Postgres(server, f"test_{next(_NUMBERS)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    """A database of either kind, without a table."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request):
    """Where a store can be: in memory, or in a database of either kind."""
    return Memory() if request.param == "memory" else request.getfixturevalue(request.param)
