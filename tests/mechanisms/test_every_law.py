"""Every mechanism has the law of its definition, is private on all small inputs, and is proved.

Whoever adds a mechanism without an oracle or without a proof note fails here.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from helpers.oracles import EPSILON, EVERY, ORACLES, oracle_of
from shortlist.mechanisms import (
    AdaptiveHittingSet,
    AdaptiveTopK,
    DiscoverThenRank,
    ItemsThenPairs,
    Peeling,
    PerGroup,
    Selection,
)

PROOFS = Path(__file__).parents[2] / "docs" / "proofs"
IN_NOTE = {
    "which tables are neighbours": r"\*\*Neighbours",
    "its source": r"\bSource: ",
    "what floats do": r"Finite precision",
}


MANY_BRANCHES = PerGroup, AdaptiveTopK  # whose laws take seconds
# Of whose laws two items take seconds:
OF_ONE = PerGroup, AdaptiveHittingSet, DiscoverThenRank, ItemsThenPairs


def ways(kind):
    """The numbers of items that it is asked for."""
    return (1, 2) if "k" in kind.fields() else (None,)


every = pytest.mark.parametrize("kind", EVERY)
every_way = pytest.mark.parametrize(
    ("kind", "k"),
    [
        pytest.param(x, k, marks=[pytest.mark.exhaustive] if k == 2 and x in OF_ONE else [])
        for x in EVERY
        for k in ways(x)
    ],
)


def require_law(kind, k):
    oracle = oracle_of(kind)
    mechanism = oracle.build(kind, k=k)
    assert oracle.distance(mechanism, mechanism) < oracle.within


def require_privacy(kind, k):
    oracle = oracle_of(kind)
    mechanism = oracle.build(kind, k=k)
    assert oracle.excess(mechanism, mechanism.cost) < 1e-9


def require_caught(kind):
    """A scale that is 30 % off has another law, and one that is far off breaks the claim."""
    oracle, k = oracle_of(kind), ways(kind)[0]
    right = oracle.build(kind, k=k)
    sharp, loud = (
        oracle.build(kind, k=k, epsilon=EPSILON * factor) for factor in (1.3, oracle.loud)
    )
    enough = max(0.01, 10 * oracle.within)
    assert oracle.differs(sharp, right, by=enough)
    assert oracle.breaks(loud, right.cost, by=0.01)


def require_proof(kind):
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
    assert f"docs/proofs/{kebab}.md" in kind.__doc__
    note = PROOFS / f"{kebab}.md"
    assert note.exists(), f"{kind.__name__} has no proof note"
    text = note.read_text()
    assert [what for what, words in IN_NOTE.items() if not re.search(words, text)] == []


@every_way
def test_the_law_is_that_of_the_definition(kind, k):
    require_law(kind, k)


@pytest.mark.parametrize(
    ("kind", "k"),
    [
        pytest.param(x, k, marks=[pytest.mark.exhaustive] if k == 2 or x in MANY_BRANCHES else [])
        for x in EVERY
        for k in ways(x)
    ],
)
def test_privacy_of_all_small_neighbours(kind, k):
    require_privacy(kind, k)


@every
def test_a_scale_that_is_off_is_caught(kind):
    require_caught(kind)


@every
def test_a_proof_note_names_neighbours_source_and_floats(kind):
    require_proof(kind)


def test_oracles_are_of_what_there_is():
    assert ORACLES.keys() == set(EVERY)


# --- and a mechanism that lacks one of these fails


@dataclass(frozen=True, kw_only=True)
class Toy(Peeling):
    """Peeling by another name. Proof note: `docs/proofs/toy.md`."""


@dataclass(frozen=True, kw_only=True)
class Noiseless(Peeling):
    """Peeling that names the largest counts as they are."""

    def select(self, evidence, draws):  # noqa: ARG002 - the interface
        return Selection(np.argsort(-evidence.counts, kind="stable")[: self.k])


@dataclass(frozen=True, kw_only=True)
class Unscaled(Peeling):
    """Peeling with the same noise for every budget."""

    local_epsilon = property(lambda _: 0.1)


@pytest.mark.parametrize(
    "require",
    [lambda: require_law(Toy, 1), lambda: require_privacy(Toy, 1), lambda: require_caught(Toy)],
)
def test_without_an_oracle_it_fails(require):
    with pytest.raises(AssertionError, match="Toy has no oracle"):
        require()


def test_without_a_proof_note_it_fails():
    with pytest.raises(AssertionError, match="Toy has no proof note"):
        require_proof(Toy)


def test_with_another_s_oracle_it_fails(monkeypatch):
    monkeypatch.setitem(ORACLES, Toy, ORACLES[Peeling])
    monkeypatch.setitem(ORACLES, Noiseless, ORACLES[Peeling])
    require_law(Toy, 1)
    for require in (require_law, require_privacy):
        with pytest.raises(AssertionError):
            require(Noiseless, 1)


def test_a_scale_that_follows_nothing_fails(monkeypatch):
    monkeypatch.setitem(ORACLES, Unscaled, ORACLES[Peeling])
    require_law(Unscaled, 1)
    require_privacy(Unscaled, 1)
    with pytest.raises(AssertionError):
        require_caught(Unscaled)


def test_every_mechanism_is_found(monkeypatch):
    from helpers import oracles
    from shortlist import mechanisms

    monkeypatch.setattr(mechanisms, "Toy", Toy, raising=False)
    monkeypatch.setattr(mechanisms, "__all__", [*mechanisms.__all__, "Toy"])
    assert Toy in oracles.every_mechanism()
