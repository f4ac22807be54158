"""Places for budgets."""

import pytest

from helpers.budgets import fast_folder


@pytest.fixture
def path():
    """Where a budget can be created, in memory."""
    with fast_folder() as folder:
        yield f"{folder}/plays.budget"


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request):
    """The same, in a file or a database."""
    if request.param == "sqlite":
        return request.getfixturevalue("path")
    return request.getfixturevalue("postgresql").url
