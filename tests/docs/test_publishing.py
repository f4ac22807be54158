"""What a release needs is there, and is said once."""

import itertools
import re
import tomllib
from pathlib import Path

import release  # of tools/
import shortlist as sl

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))


def test_the_version_stands_in_one_place():
    others = ["CITATION.cff", "Makefile", "docs/stability.md", "pyproject.toml"]
    assert release.version() == sl.__version__
    assert PROJECT["dynamic"] == ["version"]
    assert not [name for name in others if f'"{sl.__version__}"' in (ROOT / name).read_text()]


def test_the_notes_of_a_version_are_its_part_of_the_changelog():
    notes = release.notes(release.version())
    assert notes.startswith("Added\n")
    assert "\n## " not in notes


def test_the_versions_of_python_that_are_promised_are_tested():
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    workflow = (ROOT / ".github/workflows/tests.yml").read_text()
    assert re.findall(r"3\.\d+", workflow.partition("python: [")[2].partition("]")[0]) == PYTHONS


def test_every_package_has_a_lower_bound_and_none_is_pinned():
    extras = PROJECT["optional-dependencies"].values()
    wanted = itertools.chain(PROJECT["dependencies"], *extras)
    assert [line for line in wanted if not re.fullmatch(r"[\w\[\],-]+>=[\d.]+", line)] == []


def test_what_is_left_to_do_is_said_while_addresses_are_reserved_ones():
    assert any("addresses" in reason for reason in release.left_to_do()) is (
        ".example" in " ".join(PROJECT["urls"].values())
    )
