"""Values of parameters for `make exhaustive` alone."""

import pytest

__all__ = ["exhaustive"]


def exhaustive(*values):
    """The same law on more or larger inputs: each a value, or the values of several parameters."""
    rows = [value if type(value) is tuple else (value,) for value in values]
    return [pytest.param(*row, marks=pytest.mark.exhaustive) for row in rows]
