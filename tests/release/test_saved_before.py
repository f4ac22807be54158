"""Releases that earlier versions saved are read, and say what they said."""

from datetime import date
from pathlib import Path

import pytest

import shortlist as sl

SAVED = Path(__file__).parents[1] / "saved"
FILES = sorted(path for path in SAVED.rglob("*") if path.suffix in {".json", ".parquet"})

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


def test_there_are_files_of_each_kind():
    assert {path.stem for path in FILES} == set(SAID)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
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
