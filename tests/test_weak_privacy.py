"""Who asks for a guarantee that says little is warned."""

import re
import warnings

import polars as pl
import pytest

import shortlist as sl
from helpers.planned import build
from shortlist.mechanisms import Peeling, PermuteAndFlip


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": 8.1, "delta": 1e-6}, [r"^epsilon=8\.1: this protects hardly at all; "]),
        ({"epsilon": 3.1, "delta": 1e-6}, [r"^epsilon=3\.1: protection is weak; "]),
        ({"epsilon": 1, "delta": 2e-4}, [r"^delta=0\.0002: one user in 5,000 may be "]),
        ({"epsilon": 50, "delta": 0.5}, [r"^epsilon=50\.0: ", r"^delta=0\.5: one user in 2 may "]),
        ({"epsilon": 3, "delta": 1e-4}, []),
    ],
)
def test_a_weak_guarantee_is_warned_of_where_it_is_asked_for(asked, said):
    rows = pl.DataFrame({"user": range(50), "title": ["Emma"] * 50})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sl.pairs(rows, user="user", item="title").domain(**asked)
    assert [warning.category for warning in caught] == [sl.WeakPrivacyWarning] * len(said)
    assert all(warning.filename == __file__ for warning in caught)
    assert all(re.match(words, str(w.message)) for words, w in zip(said, caught, strict=True))


def test_what_is_refused_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="uses none of it"):
            build(PermuteAndFlip, public=True, k=1, epsilon=50.0, delta=0.5)


def test_mechanisms_by_themselves_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Peeling(k=1, epsilon=50.0)
