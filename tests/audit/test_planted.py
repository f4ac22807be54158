"""Each planted mistake is one: what a mechanism asks, tells or charges is not what it should be."""

from functools import cache

import pytest

from helpers.planted import KNOWN, NEW, PLANTS
from helpers.planted.cases import CASES, told
from shortlist.mechanisms.registry import mechanism_names

WRAPPERS = "noisy-counts", "noisy-clipped-counts", "noisy-reach", "noisy-others", "each-group"
PLACES = [(plant, case) for plant in PLANTS for case in plant.cases or plant.mechanisms]


@cache
def right(case):
    return told(case)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("plant", "case"), PLACES, ids=[f"{plant.name} - {case}" for plant, case in PLACES]
)
def test_it_is_reached_and_changes_something(plant, case):
    before = right(case)
    with plant.apply() as reached:
        wrong = told(case)
    assert reached.times
    assert wrong != before


def test_each_finds_its_place_in_the_code():
    """So that a name that has changed is noticed before all of them are tried."""
    for plant in PLANTS:
        with plant.apply():
            pass


@pytest.mark.exhaustive
def test_nothing_of_them_stays():
    for case in CASES:
        assert told(case) == right(case)


def test_they_are_many_and_of_every_room():
    assert len(NEW) >= 49
    assert len(KNOWN) >= 34
    assert len({plant.name for plant in PLANTS}) == len(PLANTS)
    known = {*mechanism_names(), *WRAPPERS}
    assert {name for plant in PLANTS for name in plant.mechanisms} <= known
