"""Mistakes that begin far from the small universes: the full audit looks there too."""

import pytest

from helpers import wrong_far as wrong
from shortlist.audit import Verdict
from shortlist.audit.exact.far import audit_far, far_settings
from shortlist.audit.running import _WRAPPERS, _exactly
from shortlist.mechanisms import CountEach, Peeling, WeightedGaussian, WinCount
from shortlist.mechanisms.registry import every_mechanism

CAUGHT = [
    (wrong.Underflow, 0, "pure epsilon"),
    (wrong.As32Bits, 0, "pure epsilon"),
    (wrong.AsFloats, 0, "pure epsilon"),
    (wrong.TiesInOrder, 0, "pure epsilon"),
    (wrong.TenItems, 0, "pure epsilon"),
    (wrong.MiddleCount, 0, "pure epsilon"),
    (wrong.FewEpsilon, 1, "pure epsilon"),
    (wrong.SixPicks, 4, "rho"),
    (wrong.BoundOfFive, 3, "curve"),
    (wrong.SixComparisons, 1, "epsilon"),
]


def verdicts(mechanism):
    return {(f.claim, f.verdict) for f in audit_far(mechanism)}


@pytest.mark.parametrize(
    ("kind", "number", "claim"), CAUGHT, ids=[kind.__name__ for kind, _, _ in CAUGHT]
)
def test_it_catches(kind, number, claim):
    assert (claim, Verdict.BROKEN) in verdicts(list(far_settings(kind))[number])


@pytest.mark.parametrize(
    ("kind", "number"), [(Peeling, 0), (Peeling, 1), (WeightedGaussian, 3), (CountEach, 0)]
)
def test_the_right_ones_hold(kind, number):
    found = verdicts(list(far_settings(kind))[number])
    assert {verdict for _, verdict in found} == {Verdict.HOLDS}


def test_the_full_audit_looks_there_and_the_quick_one_does_not():
    far = set(far_settings(WinCount))
    jobs = _exactly(WinCount, quick=False)
    assert far == {job.args[0] for job in jobs if job.func is audit_far}
    assert not [job for job in _exactly(WinCount, quick=True) if job.func is audit_far]


@pytest.mark.parametrize("kind", [*every_mechanism(), *_WRAPPERS.values()])
def test_the_full_audit_of_each_mechanism_can_begin(kind):
    assert _exactly(kind, quick=False)
