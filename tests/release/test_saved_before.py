"""Releases that earlier versions saved are read, and say what they said."""

from datetime import date
from pathlib import Path

import pytest

import shortlist as sl

SAVED = Path(__file__).parents[1] / "saved"
FILES = sorted(path for path in SAVED.rglob("*") if path.suffix in {".json", ".parquet"})
LATER = sorted(path for path in FILES if path.parent.name != "0.2.0")

# The question, how many items, the first one, the unit of the scores, epsilon and delta.
SAID = {
    "top-k": ("top-k", 5, "Title 01", None, 1.0, 1e-6),
    "top-k-with-counts": ("top-k", 5, "Title 01", "noisy count", 1.0, 1e-6),
    "top-k-public": ("top-k", 5, "Title 01", None, 1.0, 0.0),
    "top-k-of-counts": ("top-k", 4, "Title 01", None, 1.0, 0.0),
    "top-k-in-groups": ("top-k", 6, ("north", "Title 01"), "noisy clipped count", 3.0, 1e-6),
    "domain": ("domain", 30, "Title 01", "noisy weight", 1.0, 1e-6),
    "domain-of-days": ("domain", 70, ("Title 02", date(2026, 1, 1)), "noisy weight", 1.0, 1e-6),
    "hitting-set": ("hitting-set", 3, "Title 01", "noisy weight", 1.0, 1e-6),
    "rank": ("rank", 5, "Title 01", "noisy number of wins", 1.0, 0.0),
    "seeded": ("top-k", 5, "Title 01", None, 1.0, 1e-6),
}


# The question, how many items, the first one, what it is of and as of when, and the first scores.
OF_ALL, NEXT = ("plays-2026", "2026-W46"), (None, "2026-W47")
SAID_LATER = {
    "top-k": ("top-k", 5, "Title 01", OF_ALL, [1999, 1973, 2025, 1, 1]),
    "given-again": ("top-k", 5, "Title 01", OF_ALL, [1999, 1973, 2025, 1, 1]),
    "domain-with-counts": ("domain", 40, "Title 01", OF_ALL, [2003.4, 1934]),
    "domain-of-known": ("domain", 40, "Title 01", NEXT, [1090.6]),
    "hitting-set": ("hitting-set", 3, "Title 01", NEXT, [2007, 1988, 2026]),
    "top-k-in-groups": ("top-k", 6, ("north", "Title 01"), NEXT, [1956.2]),
}


def test_there_are_files_of_each_kind():
    assert {path.stem for path in FILES if path not in LATER} == set(SAID)
    assert {path.stem for path in LATER} == set(SAID_LATER)


@pytest.mark.parametrize("path", sorted({*FILES} - {*LATER}), ids=lambda path: path.name)
def test_a_release_saved_before_says_what_it_said(path, tmp_path):
    release = sl.load(path)
    unit = release.scores.unit if release.scores else None
    budget = release.guarantee.epsilon, release.guarantee.delta
    said = release.question, len(release.items), release.items[0], unit, *budget
    assert said == SAID[path.stem]
    assert release.guarantee.private is (path.stem != "seeded")
    assert release.guarantee.cost.delta(budget[0]) <= budget[1]
    release.save(tmp_path / path.name)
    assert sl.load(tmp_path / path.name) == release


@pytest.mark.parametrize("path", LATER, ids=lambda path: path.name)
def test_a_release_that_says_what_it_is_of_says_it_still(path, tmp_path):
    release = sl.load(path)
    about, first = release.about, release.to_polars().row(0, named=True)
    said = [value for name, value in first.items() if name not in {"rank", "title", "place"}]
    of = about.dataset, about.as_of
    assert (release.question, len(release), release.items[0], of, said) == SAID_LATER[path.stem]
    assert (about.made_on, about.version) == (date(2026, 11, 23), "0.2.0")
    assert (release.given_before is not None) == (path.stem == "given-again")
    known = "the list of known items was public before" in release.guarantee.assumes
    assert known == (path.stem == "domain-of-known")
    release.save(tmp_path / path.name)
    assert sl.load(tmp_path / path.name) == release
