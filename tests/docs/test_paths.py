"""What documents say of files is true: each that they name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/**/*.md", "bench/results/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CHANGELOG.md"  # which tells of what was
]
NAMED = re.compile(r"`([\w./-]+(?:\.py|\.md|\.png|/))`|\]\(([^)#:]+)[^):]*\)")
ROOMS = [ROOT, ROOT / "src" / "shortlist", ROOT / "tests", ROOT / "docs"]


def named(document):
    for in_code, linked in NAMED.findall(document.read_text()):
        yield in_code or linked


def exists(name, document):
    """As written, from the document or a room; a bare name, anywhere in the code or its tests."""
    if any((room / name).exists() for room in (document.parent, *ROOMS)):
        return True
    return "/" not in name and any(next(room.rglob(name), None) for room in ROOMS[1:3])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_that_a_document_names_are_there(document):
    assert [name for name in named(document) if not exists(name, document)] == []


def test_what_is_missing_would_be_seen(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("See `mechanisms/peeling.py`, `nowhere.py` and [this](nothing.md).")
    assert [name for name in named(document) if not exists(name, document)] == [
        "nowhere.py",
        "nothing.md",
    ]
