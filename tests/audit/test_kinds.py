"""Mistakes that a small look does not show: the audit names each, and not the right mechanism."""

import json
from functools import partial

import pytest

from helpers import wrong_listed as listed
from helpers import wrong_others as others
from helpers.audited import broken
from shortlist.audit import Audit, Verdict
from shortlist.audit.audited_parameters import settings_of
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.findings import Finding
from shortlist.audit.running import _FEW, _instances
from shortlist.audit.samples.sampler import audit_by_samples
from shortlist.audit.universes import universe_of
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import Accounting, JointOrPeel, Peeling
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts


def right(mechanism):
    """The mechanism that it is a wrong version of."""
    kind = type(mechanism)
    while kind.__module__.startswith("helpers.wrong_"):
        kind = kind.__base__
    return kind(**{name: getattr(mechanism, name) for name in mechanism.fields()})


def noisy(kind, *, k=2, delta=0.0, epsilon=2.0, count_share=0.5, min_users=None):
    def build(epsilon, delta):
        return Peeling(k=k, epsilon=epsilon, delta=delta)

    given = {"k": k, "epsilon": epsilon, "delta": delta, "count_share": count_share}
    return kind.of(build, **given, max_items_per_user=k, min_users=min_users)


def mostly_counts(kind, *, k=2, epsilon=1.0):
    """Little of the budget selects, so that noise which counts share has to do all that it may."""
    return noisy(kind, k=k, delta=0.2, epsilon=epsilon, count_share=0.95)


def wide(n, lead=100):
    return [(lead,) + (0,) * (n - 1), (lead,) * (n - 1) + (0,)]


def weights(*counts):
    return tuple((n * 2**32, n) for n in counts)


ONE = {"k": 1, "epsilon": 1.0}
TOLD = {**ONE, "max_items_per_user": 1}
CHOICE = {"k": 2, "epsilon": 2.0, "choice_share": 0.6, "threshold": -1}
FEW = [(2, 0), (1, 1), (0, 0)]
SOME = [(3, 1), (4, 2), (0, 0)]
CAUGHT = [
    (listed.FreeChoice(**CHOICE), "epsilon", None),
    (
        listed.FreeChoice(k=2, epsilon=2.0, choice_share=0.3, threshold=1, delta=0.2),
        "cost as delta",
        wide(5),
    ),
    (listed.SilentChoice(**CHOICE), "epsilon", [(2, 0, 0), (1, 0, 0), (0, 0, 0)]),
    (noisy(listed.HalfCountNoise), "rho", FEW),
    (noisy(listed.HalfCountNoise, delta=0.02), "delta", FEW),
    (noisy(listed.CountsForOne), "rho", FEW),
    (mostly_counts(listed.CountsForOne), "delta", FEW),
    (mostly_counts(listed.SharedAnew), "delta", FEW),
    (mostly_counts(listed.NothingShared), "delta", FEW),
    (mostly_counts(listed.CountsForOne, k=3), "delta", [(1, 1, 1), (0, 0, 0)]),
    (mostly_counts(listed.SharedAnew, k=3, epsilon=2.0), "delta", [(1, 1, 1), (0, 0, 0)]),
    (mostly_counts(listed.NothingShared, k=3), "delta", [(1, 1, 1), (0, 0, 0)]),
    (noisy(listed.FloorOnCounts, k=1, min_users=2), "epsilon", [(1,)]),
    (noisy(listed.MoreDigits), "epsilon", [(3, 0), (2, 2)]),
    (listed.LessRho(epsilon=1.3, delta=1e-4, max_items_per_user=1), "rho", [weights(1000)]),
    (listed.LessRhoOfPicks(k=1, epsilon=0.7), "rho", [(4, 4), (5, 4)]),
    (listed.MoreThanAsked(k=2, epsilon=1.0), "cost as delta", FEW),
    (listed.FromFour(k=4, epsilon=1.0), "epsilon", wide(5)),
    (listed.OfFiveItems(k=2, epsilon=1.0), "epsilon", wide(5)),
    (listed.OfUsersFromFive(k=2, epsilon=1.0), "epsilon", [(30, *(0,) * 30)]),
    (listed.OfLargeTotals(**ONE), "epsilon", [(1000, 1000)]),
    (listed.AtMostThreePicks(k=5, epsilon=1.0), "epsilon", wide(5)),
    (listed.StopsEarly(k=2, epsilon=1.0), "epsilon", [(2, 1, 1), (1, 1, 1)]),
    (listed.FloorsAbove(**ONE), "epsilon", [(2, 0), (1, 1), (3, 0)]),
    (listed.ThresholdFromTwo(epsilon=2.0, delta=0.02, max_items_per_user=2), "curve", [weights(0)]),
    (listed.BarFromTwo(k=2, epsilon=2.0, delta=0.02, max_items_per_user=2), "curve", FEW),
    (listed.Remembers(**ONE), "effect of earlier answers", SOME),
    (listed.Caches(**ONE), "effect of item order", SOME),
    (listed.Sorts(**ONE), "changed evidence", [(0, 2), (1, 1)]),
    (listed.SecondTold(k=2, epsilon=1.0, max_items_per_user=2), "epsilon", FEW),
    (listed.Raises(**ONE), "raises LookupError", SOME),
    (listed.Beyond(**ONE), "unknown items", SOME),
    (listed.Before(**ONE), "unknown items", SOME),
    (listed.Shapeless(**ONE), "no positions", SOME),
    (listed.FewerScores(**TOLD), "scores of other items", SOME),
    (listed.NotANumber(**TOLD), "scores that are no numbers", SOME),
    (others.Even(**ONE), "epsilon", SOME),
    (others.Shares(**ONE), "epsilon", SOME),
    (others.LeaderAhead(**ONE), "epsilon", [(2, 2), (3, 2)]),
    (others.Ranks(k=1, epsilon=2.0), "epsilon", [(2, 2, 2), (3, 2, 1)]),
    (others.WithReplacement(k=2, epsilon=1.0), "epsilon", [(18, 0), (6, 0)]),
    (others.BySpread(**ONE), "epsilon", [(2, 0), (3, 1)]),
    (others.SpreadTold(**TOLD), "epsilon", SOME),
    (others.TrueOrder(k=2, epsilon=1.0), "epsilon", [(2, 2), (3, 2)]),
    (others.OnlyHeld(k=2, epsilon=1.0), "epsilon", FEW),
    (others.ALittleMore(k=1, epsilon=2.0), "epsilon", [(6, 6), (5, 4)]),
    (
        others.RestTwice(k=1, epsilon=1.3, delta=1e-4, max_items_per_user=1),
        "rho",
        [weights(11), weights(12)],
    ),
    (others.ShortRadius(**ONE), "epsilon", [(6, 5), (3, 3)]),
    (others.OddTotal(**ONE), "epsilon", SOME),
    (others.TiedLeaders(**ONE), "epsilon", [(1000, 1000)]),
    (others.ThirdTold(k=3, epsilon=1.0, max_items_per_user=3), "epsilon", [(1, 1, 1), (0, 0, 0)]),
    (others.TellsInBranch(**ONE), "epsilon", SOME),
    (
        others.BoundOfThree(epsilon=0.2, delta=1e-6, max_items_per_user=5),
        "curve",
        [weights(*[0] * 5)],
    ),
    (
        others.AsIfIndependent(epsilon=2.0, delta=0.02, max_items_per_user=2),
        "delta",
        [weights(0, 0)],
    ),
    (others.OnePickLess(k=2, epsilon=2.0, delta=0.2), "delta", [(2, 2, 2), (4, 4, 1)]),
    (
        others.ShareForAll(
            epsilon=2.0, delta=0.02, max_items_per_user=2, accounting=Accounting.ZCDP
        ),
        "delta",
        [weights(0, 0)],
    ),
    (others.SmallEpsilon(k=2, epsilon=0.2), "epsilon", wide(5, lead=100)),
    (others.SmallDelta(epsilon=0.2, delta=1e-6, max_items_per_user=1), "curve", [weights(0)]),
    (others.OfUsersOnce(**ONE), "epsilon", [(2, 1, 0), (20, 0, 0)]),
    (others.HalfOfWins(**ONE), "epsilon", [(1000, 1000)]),
    (others.ByOutcomes(**ONE), "epsilon", [((3, 3),), ((3, 2),)]),
    (others.EarlyByOne(k=1, epsilon=2.0), "epsilon", [(18, 17), (1, 0), (2, 0)]),
    (others.WithoutLast(**ONE), "effect of item order", SOME),
    (others.FirstPage(k=1, epsilon=2.0), "epsilon", [(18, 17), (1, 0), (2, 0)]),
]


@pytest.mark.parametrize(
    ("mechanism", "claim", "family"), CAUGHT, ids=[type(row[0]).__name__ for row in CAUGHT]
)
def test_it_catches(mechanism, claim, family):
    def audited(kind):
        families = None if family is None else [family]
        return audit_exactly(kind, quick=family is None, families=families)

    listed.Caches.known.clear()
    assert claim in broken(audited(mechanism))
    assert {finding.verdict for finding in audited(right(mechanism))} == {Verdict.HOLDS}


SAMPLED = [
    (listed.FarDigits(**TOLD), "epsilon"),
    (listed.SecondAsItIs(k=2, epsilon=2.0, max_items_per_user=2), "epsilon"),
    (listed.Raises(**ONE), "raises LookupError"),
    (listed.Beyond(**ONE), "unknown items"),
    (listed.FewerScores(**TOLD), "scores of other items"),
    (listed.Shapeless(**ONE), "no positions"),
    (listed.LouderOfLargeTotals(**ONE), "epsilon"),
]


@pytest.mark.parametrize(
    ("mechanism", "claim"), SAMPLED, ids=[type(row[0]).__name__ for row in SAMPLED]
)
def test_samples_catch(mechanism, claim):
    def audited(kind):
        return audit_by_samples(kind, bits=SeededBits(4), samples=6000)

    assert claim in broken(audited(mechanism))
    assert not broken(audited(right(mechanism)))


# --- what is looked at


@pytest.mark.parametrize("quick", [True, False])
def test_every_universe_has_many_users_and_many_items(quick):
    universe = universe_of(Peeling(k=2, epsilon=1.0), quick=quick)
    families = list(universe.families())
    assert {1, 2, 3, 5} <= {universe.n_items(family[0]) for family in families}
    assert max(max(map(sum, family)) for family in families) >= 10**6


def test_settings_lie_beyond_the_grid():
    settings = list(settings_of(Peeling))
    assert {mechanism.k for mechanism in settings} == {1, 2, 3, 4, 5}
    assert min(mechanism.epsilon for mechanism in settings) < 0.5
    assert any(0 < mechanism.delta < 1e-5 for mechanism in settings)


def test_noisy_counts_are_audited_around_what_selects():
    assert {type(m) for m in _instances("noisy-counts", _FEW)} == {NoisyCounts}
    assert NoisyCounts in {type(m) for m in _instances(None, _FEW)}
    selects = {type(mechanism.selection).__name__ for mechanism in settings_of(NoisyCounts)}
    assert {"Peeling", "JointOrPeel", "LimitedDomain", "WeightedGaussianPeeling"} <= selects
    given = partial(NoisyCounts, selection=Peeling(k=2, epsilon=1.0), k=2, count_share=0.5)
    (mechanism,) = settings_of(partial(given, epsilon=2.0, delta=0.0, max_items_per_user=1))
    assert mechanism.selection == Peeling(k=2, epsilon=1.0)


def test_the_private_choice_is_told():
    mechanism = JointOrPeel(k=2, epsilon=1.0, threshold=-3)
    evidence = universe_of(mechanism).evidence_of((3, 2, 1))
    told = {mechanism.select(evidence, ExactDraws(SeededBits(seed))).branch for seed in range(20)}
    assert told == {"as a whole", "one by one"}


# --- how it reads


def finding(verdict, claim="epsilon", pair=("(1)", "(2)")):
    return Finding("Peeling", "Peeling()", claim, 1.0, 0.5, pair, 3, verdict)


def test_it_fits_80_columns_and_ends_with_how_many_claims_hold():
    long = " of {0, 1, 2}, ".join(map(str, range(30)))
    audit = Audit(
        (
            finding(Verdict.HOLDS),
            finding(Verdict.HOLDS, "rho"),
            finding(Verdict.BROKEN, "curve", (long, long)),
        )
    )
    lines = str(audit).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "2 claims hold, none undecided, 1 broken."
    assert "27" in "".join(lines)  # of the data on which it is broken, nothing is cut off
    assert json.loads(audit.to_json())["broken"] is True
