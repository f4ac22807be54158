"""Beyond the small universes: a directed search for data sets on which a claim is broken."""

import pytest
from hypothesis import Phase, given, settings, target
from hypothesis import strategies as st

from helpers import wrong_mechanisms as wrong
from shortlist.audit import Verdict
from shortlist.audit.audited_parameters import settings_of
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import universe_of
from shortlist.mechanisms import (
    ChosenBound,
    ClippedCountEach,
    GreedyOrAdaptive,
    GreedyOrRounds,
    PerGroup,
)
from shortlist.mechanisms.registry import every_mechanism

MECHANISMS = [next(settings_of(kind, quick=True)) for kind in every_mechanism()]
FEW = 2  # items
MANY = 12  # users more than in the universe
# Each user more has as many subsets that may be kept.
BRANCHING = (ChosenBound, GreedyOrAdaptive, GreedyOrRounds, PerGroup)
FAR = (ClippedCountEach,)  # of many users, cells lie so far off that their chances are not known


@st.composite
def data_sets(draw, universe, most):
    """One of the universe, with some entries moved by more than its sizes."""
    alike = [family for family in universe.families() if universe.n_items(family[0]) <= FEW]
    data = draw(st.sampled_from([data for family in alike for data in family]))
    for item in range(len(data)):
        step = draw(st.integers(0, most))
        data = universe.moved(data, item, step) or data
    return data


def searched(mechanism, examples):
    """The verdicts on all neighbours of the data sets that a search for a large loss looks at."""
    verdicts, shares = set(), []
    most = 1 if isinstance(mechanism, BRANCHING + FAR) else MANY

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.target],
    )
    @given(data_sets(universe_of(mechanism, quick=True), most))
    def search(data):
        findings = audit_exactly(mechanism, families=[[data]])
        verdicts.update(finding.verdict for finding in findings)
        shares.append(max((finding.used for finding in findings), default=0.0))
        target(min(shares[-1], 1e6))

    search()
    assert max(shares) > 0
    return verdicts


@pytest.mark.exhaustive
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_it_finds_no_pair_that_breaks_a_claim(mechanism):
    steps = 8 if hasattr(mechanism, "design") else 40  # laws of many branches take long
    assert searched(mechanism, steps) == {Verdict.HOLDS}


def test_it_finds_what_small_universes_do_not_hold():
    mechanism = wrong.QuietWhereMany(k=1, epsilon=1.0)
    assert {finding.verdict for finding in audit_exactly(mechanism, quick=True)} == {Verdict.HOLDS}
    assert Verdict.BROKEN in searched(mechanism, 40)
