"""Histograms of which some items count: by what they are called, and by nothing else."""

import itertools

import polars as pl
import pytest

import shortlist as sl
from helpers.reading import refusal

BOOKS = pl.DataFrame(
    {
        "title": ["Emma", "Dune", "Ulysses", "Ada"],
        "language": ["en", "en", "de", "de"],
        "readers": [900, 40, 0, 700],
        "mean_age": [31, 22, 50, 47],
    }
)
NAMED = {"item": "title", "count": "readers"}


def shown(source):
    """The items that the mechanism looks at, with their counts."""
    items, held = source._engine._held()
    return dict(zip(items["title"], held.tolist(), strict=True))


def test_only_rows_for_which_it_is_true_count():
    source = sl.counts(BOOKS, **NAMED, where="title <> 'Emma'", public_items=sl.IN_TABLE)
    assert shown(source) == {"Dune": 40, "Ulysses": 0, "Ada": 700}
    release = source.top_k(1, epsilon=1.0)
    assert release.items == ["Ada"]
    assert release.about.where == "title <> 'Emma'"


def test_groups_are_filtered_by_what_they_are_called():
    source = sl.counts(
        BOOKS, **NAMED, by="language", max_groups_per_user=1, where="language = 'en'"
    )
    assert list(source.top_k(1, epsilon=1.0, delta=1e-6)) == [("en", "Emma")]


def test_public_items_that_are_left_out_count_nothing():
    source = sl.counts(BOOKS, **NAMED, where="length(title) > 3", public_items=["Emma", "Ada"])
    assert shown(source) == {"Emma": 900, "Ada": 0}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("readers > 100", '"readers" holds what is protected'),
        ("title <> 'Emma' or readers = 0", '"readers" holds what is protected'),
        ("mean_age < 40", '"mean_age" may say something of users'),
        ("language = 'en'", '"language" may say something of users'),
    ],
)
def test_what_users_may_have_made_decides_nothing(where, said):
    refusal(lambda: sl.counts(BOOKS, **NAMED, where=where), "where=", said, "item and by", "min_")


FILTERS = ["title <> 'Emma'", "substring(title, 1, 1) < 'E' or length(title) = 7", "title = 'x'"]


@pytest.mark.parametrize("where", FILTERS)
def test_neighbours_stay_neighbours(where):
    """One user more moves each count that is kept by at most 1, all up, and none that is not."""
    titles = BOOKS["title"].to_list()
    without = shown(sl.counts(BOOKS, **NAMED, where=where))
    for sizes in range(len(titles) + 1):
        for held in itertools.combinations(titles, sizes):
            more = BOOKS.with_columns(pl.col("readers") + pl.col("title").is_in(held))
            beside = shown(sl.counts(more, **NAMED, where=where))
            assert beside.keys() == without.keys()
            assert all(beside[t] - without[t] == (t in held) for t in without)


def test_a_filter_by_the_count_would_make_items_come_and_go():
    """What is refused, planted: one user moves an item from 0 to 101."""
    kept = [
        BOOKS.with_columns(pl.col("readers") + extra).filter(pl.col("readers") > 900)
        for extra in (0, 1)
    ]
    sums = [part["readers"].sum() for part in kept]
    assert abs(sums[1] - sums[0]) == 901
