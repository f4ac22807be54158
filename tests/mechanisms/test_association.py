"""Associations: what is drawn for what, at which price, and mistakes that the laws show."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from helpers.oracles import ORACLES
from helpers.oracles_of_labels import build
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.errors import InputError
from shortlist.evidence import LabelledCounts
from shortlist.mechanisms import Accounting, Association, association
from shortlist.mechanisms.association import SizeGrid
from shortlist.parameters import Side
from shortlist.privacy.accountant import BoundedRange, Composition, GaussianStage

USUAL = {"k": 10, "n_items": 60, "epsilon": 1.0, "delta": 1e-6, "fdr": 0.1}
STATED = {"cases": 3000, "controls": 5000, "size_error": 0}
ORACLE = ORACLES[Association]


def shown(n_items=60, n_cases=3000, n_controls=5000, related=10):
    """Items that a tenth holds, or a fifth of the cases."""
    cases = np.full(n_items, n_cases // 10)
    cases[:related] *= 2
    return LabelledCounts(cases, np.full(n_items, n_controls // 10), n_cases, n_controls)


def answered(mechanism, evidence=None, seed=1):
    evidence = shown(mechanism.n_items) if evidence is None else evidence
    return mechanism.concluded(mechanism.select(evidence, ExactDraws(SeededBits(seed))))


def named(mechanism, found):
    told = zip(found.positions.tolist(), found.associations, strict=True)
    return [item for item, one in told if one.level <= mechanism.fdr]


@pytest.mark.parametrize("given", [{}, STATED, {"accounting": Accounting.ZCDP}])
def test_what_is_related_is_named_and_nothing_else(given):
    mechanism = Association(**{**USUAL, "k": 20}, **given)
    found = answered(mechanism)
    assert sorted(named(mechanism, found)) == list(range(10))
    assert len(found.positions) == 20
    for item, one in zip(found.positions.tolist(), found.associations, strict=True):
        assert one.direction == "more"
        assert one.low <= 0.1 * (item < 10) <= one.high
    strength = [one.e_value for one in found.associations]
    assert strength == sorted(strength, reverse=True)


def test_items_of_the_other_side_are_found_there():
    evidence = shown()
    evidence.cases[50:] //= 4
    mechanism = Association(**USUAL, side=Side.CONTROLS)
    found = answered(mechanism, evidence)
    assert sorted(named(mechanism, found)) == list(range(50, 60))
    assert {one.direction for one in found.associations} == {"less"}
    assert all(one.high < 0 for one in found.associations)


def test_both_sides_look_at_half_as_many_of_each():
    evidence = shown()
    evidence.cases[50:] //= 4
    mechanism = Association(**{**USUAL, "k": 21}, side=Side.BOTH)
    found = answered(mechanism, evidence)
    assert len(set(found.positions.tolist())) == 21
    told = dict(zip(found.positions.tolist(), found.associations, strict=True))
    assert sorted(named(mechanism, found)) == [*range(10), *range(50, 60)]
    assert all(told[i].direction == ("more" if i < 10 else "less") for i in named(mechanism, found))


def test_nothing_is_named_where_there_is_nobody_or_too_many():
    empty = np.zeros(60, np.int64)
    for n_cases, n_controls in ((0, 0), (2**29, 2**29)):
        evidence = LabelledCounts(empty + n_cases // 2, empty, n_cases, n_controls)
        for seed in range(5):
            mechanism = Association(**USUAL)
            assert named(mechanism, answered(mechanism, evidence, seed)) == []


def test_sizes_are_drawn_first_and_all_follows_from_them():
    """The audit sees each draw; here, that the second depends on the first."""
    mechanism = Association(**USUAL)
    drawn = mechanism.select(shown(), ExactDraws(SeededBits(3)))
    sizes = drawn.others
    assert sizes.tolist() != [3000, 5000]
    assert np.abs(sizes - [3000, 5000]).max() < 6 * mechanism.size_sd
    assert drawn.noise_sd == pytest.approx(mechanism.score_sd * sizes.max())
    stated = Association(**USUAL, **STATED)
    assert stated.select(shown(), ExactDraws(SeededBits(3))).others.tolist() == [3000, 5000]


def test_values_are_rounded_away_from_what_would_be_evidence():
    mechanism = Association(**USUAL, **STATED)
    draws = [mechanism.select(shown(), ExactDraws(SeededBits(seed))) for seed in range(60)]
    step = association._step(association._times(mechanism._score_noise, 5000))
    assert all((one.scores % step == 0).all() and (one.users % 1 == 0).all() for one in draws)
    assert step > 1
    # Of numbers that are hardly off, the mean is off by half a step, against the item.
    little = mechanism._holder_noise._replace(own=0.01, shared=0.0)
    for up, low, high in ((False, -1, -0.4), (True, 0.4, 1)):
        zeros = np.zeros(2000, np.int64)
        told = association._noisy(zeros, little, ExactDraws(SeededBits(1)), up=up)
        assert low < told.mean() < high


@pytest.mark.parametrize("given", [{}, STATED])
def test_the_stages_are_counted_in_the_order_in_which_they_run(given):
    mechanism = Association(**USUAL, **given)
    stages = mechanism.cost.composition.stages
    kinds = [type(stage) for stage in stages]
    normal = [] if given else [GaussianStage]
    assert kinds == [*normal, BoundedRange, GaussianStage, GaussianStage]
    assert mechanism.cost.delta(1.0) <= 1e-6
    assert mechanism.cost.rho >= sum(s.spread.variance for s in stages) / 2 * (1 - 1e-9)


def test_all_normal_noise_last_would_promise_too_much():
    """Planted: then sizes would be known only when the picks are over."""
    few = Association(**{**USUAL, "k": 2, "epsilon": 0.5, "delta": 1e-5})
    first, picks, *rest = few.stages(few.rho)
    big = (GaussianStage(8 * first.mu), picks, *rest)
    in_order, last = Composition(big), Composition((picks, big[0], *rest))
    assert last.delta(0.5) < in_order.least_delta(0.5)


def test_half_of_the_noise_in_a_score_is_that_of_one_user():
    """What a case moves, h_0, is at most the larger size: noise follows that."""
    mechanism = Association(**USUAL)
    each = [association._times(mechanism._score_noise, n) for n in (1, 3, 1000)]
    assert [noise.sd / each[0].sd for noise in each] == pytest.approx([1, 3, 1000])
    assert each[0] == mechanism._score_noise
    assert mechanism._score_noise.is_within(
        association._mu(mechanism.shares(mechanism.rho).scores), k=10, m=10
    )


def test_a_level_leaves_room_for_sizes_that_are_off():
    drawn, stated = Association(**USUAL), Association(**USUAL, **STATED)
    assert drawn.level == pytest.approx(0.099)
    assert stated.level == 0.1
    found = answered(drawn)
    told = [one.e_value for one in found.associations]
    best = min(60 / (place * e) for place, e in enumerate(told, start=1))
    assert found.associations[0].level == pytest.approx(best + 0.001, rel=1e-3)


# --- what the laws notice


@dataclass(frozen=True, kw_only=True)
class CountedSizes(Association):
    """Sizes are counted from the labels, and not drawn."""

    def _drawn_sizes(self, evidence, _draws):
        return np.array([evidence.n_cases, evidence.n_controls])


@dataclass(frozen=True, kw_only=True)
class ExactHolders(Association):
    """The number of holders comes without noise."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        held = (evidence.cases + evidence.controls)[told.positions]
        return told._replace(users=held.astype(float))


@dataclass(frozen=True, kw_only=True)
class PicksOfOne(Association):
    """Picks take a user to move scores by 1, whatever the sizes are."""

    def _picked(self, scores, local_epsilon, draws):
        del local_epsilon
        return super()._picked(scores, self.local_epsilon, draws)


@pytest.mark.parametrize("kind", [CountedSizes, ExactHolders])
def test_what_is_told_without_noise_is_noticed(kind):
    right = build(Association)
    assert ORACLE.breaks(build(kind), right.cost, by=0.01)


def test_picks_for_one_user_where_a_user_moves_more_are_noticed():
    wrong, right = (
        build(kind, cases=2, controls=2, size_error=0, epsilon=4.0)
        for kind in (PicksOfOne, Association)
    )
    assert ORACLE.differs(wrong, right, by=0.01)


def test_values_rounded_to_the_nearest_are_noticed(monkeypatch):
    class ToTheNearest(Order):
        def __new__(cls, scores, noises, **given):
            shift = 1 if (scores % 2).all() else 0  # a step of 1, in halves
            return Order(scores + shift, noises, **given)

    monkeypatch.setattr(association, "Order", ToTheNearest)
    right = build(Association)
    assert ORACLE.differs(right, right, by=0.003)


def test_a_coarse_design_is_no_parameter():
    mechanism = Association(**USUAL)
    assert "design" not in mechanism.parameters()
    assert not replace(mechanism, design=SizeGrid(2)).is_as_shipped


# --- what is refused


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": 61}, "k=61: there are only 60 items"),
        ({"fdr": 0.5}, "fdr=0.5: must be a number from 0.002 to 0.499"),
        ({"fdr": 0.001}, "fdr=0.001"),
        ({"delta": 0.0}, "delta is needed, because the noise is normal"),
        ({"cases": 10}, "cases, controls and size_error go together"),
        ({**STATED, "cases": 2**28}, "cases=268435456: must be below 268435456"),
        ({**STATED, "size_error": -1}, "size_error=-1: must be a whole number, 0 or more"),
        ({"epsilon": 1e-8}, "epsilon=1e-08: so small that all would be noise"),
    ],
)
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises(InputError) as refused:
        Association(**{**USUAL, **given})
    assert words in str(refused.value)


def test_it_costs_no_more_than_was_asked_for():
    ways = itertools.product((0.1, 1.0, 3.0), (1e-9, 1e-5), Accounting, ({}, STATED))
    for epsilon, delta, accounting, given in ways:
        if accounting is Accounting.PUBLISHED:
            continue
        made = Association(
            **{**USUAL, "epsilon": epsilon, "delta": delta}, accounting=accounting, **given
        )
        assert made.cost.delta(epsilon) <= delta
        assert made.cost.delta(epsilon) > 0.2 * delta
        assert math.isfinite(made.rho)
