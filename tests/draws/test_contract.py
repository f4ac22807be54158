"""`Draws` are a contract: whoever stands in for them names it, with its operations as they are."""

import ast
import inspect
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import pytest

import shortlist.draws
from shortlist.audit.exact.enumerator import Enumerator, law
from shortlist.audit.samples._sampled_together import _Together, sample
from shortlist.bits import SeededBits
from shortlist.draws import Draws, ExactDraws
from shortlist.draws.reals import ExponentialWeights

OPERATIONS = {"coin", "choice", "choices", "choices_in_turn", "permute_and_flip", "integer"}
OPERATIONS |= {"order", "rounded_down"}
WEIGHTS = ExponentialWeights(np.array([2, 1, 0]), np.array([1, 1, 1]), 0.7)


def test_the_contract_is_a_few_operations():
    assert {name for name in vars(Draws) if not name.startswith("_")} == OPERATIONS


@pytest.mark.parametrize("kind", [ExactDraws, Enumerator, _Together])
def test_whoever_stands_in_names_the_contract_and_keeps_its_signatures(kind):
    assert Draws in kind.__mro__
    for name in OPERATIONS:
        own, named = (inspect.signature(getattr(cls, name)) for cls in (kind, Draws))
        assert own == named, name


@pytest.mark.parametrize("kind", [ExactDraws, Enumerator, _Together])
def test_no_private_method_of_others_is_overridden(kind):
    own = {name for name in vars(kind) if name.startswith("_") and not name.startswith("__")}
    inherited = {name for base in kind.__mro__[1:] for name in vars(base)}
    assert not {n for n in own & inherited if not n.startswith(("_abc", "_is_protocol"))}


def test_nothing_but_the_operations_is_drawn_from():
    with pytest.raises(TypeError, match="abstract"):
        type("Coins", (Draws,), {"coin": lambda *_: None})()
    assert not hasattr(_Together, "bits")


def test_many_choices_are_independent_wherever_they_are_made():
    def run(draws):
        return tuple(draws.choices(WEIGHTS, 2).tolist())

    one = law(lambda draws: draws.choice(WEIGHTS))
    both = law(run)
    for (i, j), p in both.items():
        assert p == pytest.approx(one[i] * one[j])
    n = 20_000
    seen = sample(lambda draws: [run(draws)], n, SeededBits(1))
    draws = ExactDraws(SeededBits(2))
    alone = [run(draws) for _ in range(n)]
    for pair, p in both.items():
        band = 5 * (p * (1 - p) / n) ** 0.5
        assert abs(seen[pair] / n - p) < band
        assert abs(alone.count(pair) / n - p) < band


def modules():
    """What each module of the room imports of the others, wherever it does."""
    root = Path(shortlist.draws.__file__).parent
    for path in root.glob("*.py"):
        tree = ast.parse(path.read_text())
        names = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        inner = {name.rpartition(".")[2] for name in names if name.startswith("shortlist.draws.")}
        yield path.stem, inner


def test_the_contract_stands_at_the_bottom_and_there_is_no_circle():
    used = dict(modules())
    assert used["contract"] == set()
    assert used["exact_draws"] >= {"contract", "noisy_values"}
    assert set(TopologicalSorter(used).static_order()) == set(used)  # a circle would raise
