"""A mechanism of another package, with an option of its own, from the shell. Ours is as it is."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from helpers.command import count, top_k

MODULE = '''
"""A mechanism that no one here knows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shortlist.mechanisms import Mechanism, Peeling
from shortlist.parameters import Epsilon, Option, Share, Whole
from shortlist.evidence import PublicCounts
from shortlist.privacy import Pure


class Flavour(Option):
    """What it tastes of."""

    PLAIN = "plain"
    VERY_SWEET = "sweet, and how"


@dataclass(frozen=True, kw_only=True)
class ToyPeeling(Mechanism):
    """Peeling with a part of the budget, of counts that are cut off."""

    k: Whole
    epsilon: Epsilon
    used_share: Share = 0.5
    most: Whole | None = None
    flavour: Flavour = Flavour.PLAIN
    note: str = ""

    evidence: ClassVar[type] = PublicCounts

    @property
    def cost(self):
        return Pure(self.epsilon)

    def explain(self):
        return [f"A share of {self.used_share} of epsilon is used."]

    def select(self, evidence, draws):
        epsilon = self.used_share * self.epsilon
        counts = np.minimum(evidence.counts, self.most or evidence.counts)
        return Peeling(k=self.k, epsilon=epsilon).select(PublicCounts(counts), draws)


@dataclass(frozen=True, kw_only=True)
class Needy(ToyPeeling):
    """It does not work without its option."""

    amount: float


NO_MECHANISM = print
'''
POINTS = """[shortlist.mechanisms]
toy-peeling = toy_of_another:ToyPeeling
needy = toy_of_another:Needy
broken = toy_of_nobody:Nothing
no-class = toy_of_another:NO_MECHANISM
joint = toy_of_nobody:Nothing
"""
TOY = ["--mechanism", "toy-peeling"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with a package as an installer leaves it, on the path of this process."""
    folder = tmp_path / "site"
    metadata = folder / "toy-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(POINTS)
    (folder / "toy_of_another.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    yield folder
    sys.modules.pop("toy_of_another", None)


@pytest.fixture
def ask(package, readers):  # noqa: ARG001 - the package is on the path
    def ask(*more, k=2):
        return count(readers, "--public-items-in-table", *more, k=k)

    return ask


def test_it_answers_in_a_shell(package, readers):
    places = [str(package), *sys.path]
    words = count(readers, "--public-items-in-table", *TOY, "--option", "used-share=0.9", "--json")
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "shortlist", *map(str, words)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        check=True,
    )
    release = json.loads(done.stdout)
    assert [item["title"] for item in release["items"]] == ["007", "7"]
    assert release["mechanism"]["name"] == "ToyPeeling"
    assert release["mechanism"]["parameters"]["used_share"] == 0.9


def test_its_options_are_read_by_their_types(run, ask):
    options = ["used_share=0.25", "most=99", "flavour=very-sweet", "note=a=b c"]
    words = [word for option in options for word in ("--option", option)]
    status, out, _ = run(*ask(*TOY, *words, "--json"))
    release = json.loads(out)
    told = release["mechanism"]["parameters"]
    assert (status, len(release["items"])) == (0, 2)
    assert (told["used_share"], told["most"], told["note"]) == (0.25, 99, "a=b c")
    assert told["flavour"] == "sweet, and how"
    options = ("--option", "most=None", "--option", "flavour=SWEET, and how")
    status, out, _ = run(*ask(*TOY, *options, "--json"))
    assert (status, json.loads(out)["mechanism"]["parameters"]["flavour"]) == (0, "sweet, and how")


def test_a_dry_run_shows_them(run, ask):
    status, out, _ = run(*ask(*TOY, "--option", "used_share=0.25", "--dry-run"))
    assert status == 0
    assert "top-k by ToyPeeling, used_share=0.25." in out
    assert "- A share of 0.25 of epsilon is used." in out
    status, out, _ = run(*ask(*TOY, "--option", "used_share=0.25", "--dry-run", "--json"))
    assert json.loads(out)["mechanism"]["parameters"]["used_share"] == 0.25


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--option", "used=1"], "--option used: toy-peeling has no option of that name; it has "),
        (
            ["--option", "use_share=1"],
            'used_share, most, flavour, note. Did you mean "used_share"?',
        ),
        (["--option", "used_share=much"], '--option used_share: "much" is not a number. Write it'),
        (["--option", "used_share=2"], "--option used_share=2.0: must be a number from 1e-6"),
        (["--option", "used_share=none"], '--option used_share: "none" is not a number.'),
        (["--option", "most=0.5"], '--option most: "0.5" is not a whole number.'),
        (["--option", "most=0"], "--option most=0: must be a whole number, 1 or more."),
        (["--option", "flavour=sour"], '"sour" is not known; it is one of plain, very-sweet.'),
        (["--option", "flavour=plane"], 'Did you mean "plain"?'),
        (["--option", "epsilon=2"], "--option epsilon: it has an argument of its own; give --eps"),
        (["--option", "k=2"], "--option k: it has an argument of its own; give -k."),
        (["--option", "most=1", "--option", "most=2"], "--option most: it is given twice"),
        (["--option", "most"], '--option "most": write it as NAME=VALUE, such as'),
        (["--option", "=1"], '--option "=1": write it as NAME=VALUE'),
        (["--delta", "0.1"], "--delta 0.1: toy-peeling is pure and uses none of it"),
    ],
)
def test_an_option_that_does_not_fit(complaint, ask, more, said):
    assert said in complaint(*ask(*TOY, *more))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--mechanism", "toy"], "broken, needy, no-class, toy-peeling."),
        (["--mechanism", "toy-peelin"], 'Did you mean "toy-peeling"?'),
        (["--mechanism", "needy"], "--mechanism needy: it needs its option amount; add --option"),
        (["--mechanism", "broken"], '"broken": its package failed to load toy_of_nobody:Nothing'),
        (["--mechanism", "no-class"], "toy_of_another:NO_MECHANISM of its package is not a class"),
        (["--option", "most=1"], "--option most: it goes with --mechanism NAME, whose option"),
        (["--mechanism", "joint", "--option", "a=1"], "joint has no option of that name; it has n"),
    ],
)
def test_what_another_package_has_is_named_and_checked(complaint, ask, more, said):
    assert said in complaint(*ask(*more))


def test_it_is_loaded_only_where_it_is_asked_for(run, ask, file):
    status, *_ = run(*ask("--mechanism", "joint"))
    assert status == 0
    assert run(*top_k(file, "--dry-run"))[0] == 0
    assert "toy_of_another" not in sys.modules
    assert run(*ask(*TOY, "--dry-run"))[0] == 0
    assert "toy_of_another" in sys.modules


def test_two_of_one_name_are_refused(complaint, ask, package):
    other = package / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text(POINTS.replace("toy_of_another", "elsewhere"))
    importlib.invalidate_caches()
    said = complaint(*ask(*TOY))
    assert "several packages have one of that name (elsewhere:ToyPeeling, toy_of_another" in said
