"""Every place where rows of users and items can lie."""

import pytest

from helpers import engine_places, sparks

PLACES = ["memory", "duckdb", "relation", "any engine", "postgresql", "spark", "spark connect"]
_SPARKS = {"spark", "spark_connect", "spark connect"}


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(items):
    """Those of Spark take long, and come first.

    No other process takes tests over that one is about to run. So one session does for a run of all
    tests, where each process begins with a share of them.
    """
    for item in filter(_asks_spark, items):
        item.add_marker(pytest.mark.exhaustive)
    items.sort(key=lambda item: not _asks_spark(item))


def _asks_spark(item):
    asked = getattr(item, "callspec", None)
    names = *getattr(item, "fixturenames", ()), asked and asked.params.get("place")
    return not _SPARKS.isdisjoint(names)


@pytest.fixture(scope="session")
def spark():
    session = sparks.spark_session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark_connect():
    with sparks.spark_connect_session() as session:
        yield session


@pytest.fixture
def postgres(server):
    found = engine_places.Postgres(server)
    yield found
    found.native.close()


@pytest.fixture
def any_engine(server):
    found = engine_places.AnyEngine(server)
    yield found
    found.native.close()


@pytest.fixture(params=PLACES)
def place(request):
    """Where the rows are."""
    kinds = {
        "memory": engine_places.Memory,
        "duckdb": engine_places.DuckDB,
        "relation": engine_places.Relation,
        "any engine": lambda: request.getfixturevalue("any_engine"),
        "postgresql": lambda: request.getfixturevalue("postgres"),
        "spark": lambda: engine_places.Spark(request.getfixturevalue("spark")),
        "spark connect": lambda: engine_places.SparkConnect(
            request.getfixturevalue("spark_connect")
        ),
    }
    return kinds[request.param]()


@pytest.fixture
def engine(place):
    """Where rows lie in an engine of their own."""
    if type(place) is engine_places.Memory:
        pytest.skip("of engines other than memory")
    return place
