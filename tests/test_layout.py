"""Where tests are: in the room of what they test, in files of one subject, sharing by helpers."""

import ast
import re
from collections import Counter
from pathlib import Path

import shortlist
from slow_tests import may_wait

TESTS = Path(__file__).parent
SOURCE = Path(shortlist.__file__).parent
MODULES = sorted(file for file in SOURCE.rglob("*.py") if file.name != "__init__.py")
FILES = {str(file.relative_to(TESTS)): file for file in sorted(TESTS.rglob("*.py"))}
# Where rooms mirror one another, so that a name says the same in each.
MIRRORED = {
    "comparisons": "a source, and experiments with such",
    "duckdb": "one file for a database in each room that uses it",
    "postgres": "likewise",
    "sqlite": "likewise",
    "weighted_gaussian": "a mechanism, and the bound on what it misses",
}
SAY_NOTHING = {"base", "common", "core", "helpers", "misc", "types", "util", "utils"}
APART = {"helpers", "docs"}  # what tests share, and the tests of the documents


def rooms(place):
    """The folders in a place that hold Python, however deep."""
    return {path.parent.relative_to(place) for path in place.rglob("*.py")}


def imported(file):
    """The parts of the names of all modules that a file imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
        elif isinstance(node, ast.Import):
            yield from (part for name in node.names for part in name.name.split("."))


def twice(names):
    """Those that occur more than once; an underscore before them makes no difference."""
    return {
        name for name, times in Counter(name.lstrip("_") for name in names).items() if times > 1
    }


def test_a_class_name_stands_for_one_thing():
    nodes = (
        node for file in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(file.read_text()))
    )
    assert twice(node.name for node in nodes if isinstance(node, ast.ClassDef)) == set()


def test_a_module_name_stands_for_one_thing_or_for_the_same_in_several_rooms():
    assert twice(file.stem for file in MODULES) == set(MIRRORED)


def test_a_module_name_says_something():
    assert {file.stem.lstrip("_") for file in MODULES} & SAY_NOTHING == set()


def test_every_room_of_tests_is_one_of_the_library():
    assert {room for room in rooms(TESTS) if not APART & set(room.parts)} <= rooms(SOURCE)


def test_a_file_holds_tests_or_what_they_share():
    shared = {name for name in FILES if not Path(name).name.startswith("test_")}
    helpers = {name for name in FILES if name.startswith("helpers/")}
    assert shared == helpers | {name for name in FILES if Path(name).name == "conftest.py"}


def test_no_test_imports_another():
    tests = {file.stem for file in FILES.values() if file.name.startswith("test_")}
    assert {name: both for name in FILES if (both := tests & set(imported(FILES[name])))} == {}


def test_documents_name_tests_that_there_are():
    documents = (TESTS.parent / "docs").rglob("*.md")
    named = {name for path in documents for name in re.findall(r"test_\w+\.py", path.read_text())}
    assert named <= {file.name for file in FILES.values()}


def test_what_waits_for_the_exhaustive_run_is_there_and_what_must_not_wait_does_not():
    waiting = (TESTS / "exhaustive.txt").read_text().splitlines()
    assert waiting == sorted(set(waiting))
    for case in waiting:
        file, _, name = case.partition("::")
        test, bracket, _ = name.partition("[")
        assert bracket or may_wait(case), case
        text = (TESTS.parent / file).read_text()
        assert f"def {test}(" in text, case
