"""The audit: it holds where it should, and catches every mistake that it is shown."""

import itertools
import json
import sys
from functools import partial

import numpy as np
import pytest
from flint import arb, ctx

import shortlist as sl
from helpers import wrong_mechanisms as wrong
from helpers.refusals import refusal
from shortlist import cli
from shortlist.audit import Audit, Verdict
from shortlist.audit.exact._claims import Curve, PureLoss, Renyi
from shortlist.audit.exact._laws import law_of
from shortlist.audit.exact._losses import Laws
from shortlist.audit.exact._orders import order_law
from shortlist.audit.exact.enumerator import law_in_balls
from shortlist.audit.exact.search import audit_exactly
from shortlist.audit.settings import settings_of
from shortlist.audit.universes import universe_of
from shortlist.draws.noise import Exponential, Laplace, Normal
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import (
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
    PolicyGreedy,
    SpectralRanking,
)
from shortlist.mechanisms.base import Mechanism
from shortlist.mechanisms.registry import every_mechanism

# --- what holds


@pytest.fixture(scope="module")
def audit():
    return sl.audit.run(quick=True)


def test_every_claim_of_every_mechanism_holds(audit):
    assert audit.holds
    assert all(finding.verdict is Verdict.HOLDS for finding in audit.findings)
    assert all(0 <= finding.used <= 1 + 1e-12 for finding in audit.findings)
    named = {finding.mechanism for finding in audit.findings}
    kinds = {kind.__name__ for kind in every_mechanism()}
    assert named == kinds | {"NoisyCounts"}


def test_it_reads_as_a_table(audit):
    text = str(audit)
    assert "Peeling" in text
    assert "holds" in text
    assert len(audit.to_markdown().splitlines()) == len(audit.findings) + 2
    told = json.loads(audit.to_json())
    assert told["holds"] is True
    assert {row["verdict"] for row in told["findings"]} == {"holds"}


@pytest.mark.parametrize("named", ["peeling", Peeling, Peeling(k=1, epsilon=1.0)])
def test_one_mechanism_is_named_in_any_way(named):
    audit = sl.audit.run(named, quick=True)
    assert {finding.mechanism for finding in audit.findings} == {"Peeling"}


@pytest.mark.parametrize("kind", every_mechanism(), ids=lambda kind: kind.__name__)
def test_a_partial_leaves_the_rest_open(kind):
    settings = list(settings_of(partial(kind, epsilon=0.9)))
    assert {mechanism.epsilon for mechanism in settings} == {0.9}
    assert len(settings) == len(set(settings)) > 2


@pytest.mark.parametrize(
    "given", [len, Mechanism, 3, partial(sorted, key=len), partial(Peeling, nope=3)]
)
def test_what_is_no_mechanism_is_refused(given):
    refusal(lambda: sl.audit.run(given, quick=True), "mechanism=", "an instance")


def test_of_a_partial_each_setting_is_looked_at_once():
    audit = sl.audit.run(partial(PermuteAndFlip, k=1, epsilon=1.0), quick=True)
    whole = sl.audit.run(PermuteAndFlip(k=1, epsilon=1.0), quick=True)
    assert audit == whole


def test_a_name_that_is_not_known_is_refused_with_those_that_are():
    refusal(lambda: sl.audit.run("peelin", quick=True), '"peelin"', "peeling")


def command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["shortlist", "audit", *arguments])
    status = cli.exit_status()
    return status, capsys.readouterr()


def test_the_command_prints_a_table_or_json(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "160")
    status, printed = command(monkeypatch, capsys, "peeling", "--quick")
    assert status == 0
    assert "Peeling" in printed.out
    status, printed = command(monkeypatch, capsys, "peeling", "--quick", "--json")
    assert json.loads(printed.out)["holds"] is True
    status, printed = command(monkeypatch, capsys, "peelin", "--quick")
    assert status == 2
    assert '"peelin"' in printed.err


def test_a_broken_claim_is_the_exit_status(monkeypatch, capsys):
    findings = audit_exactly(wrong.OneRound(k=2, epsilon=1.0), quick=True)
    monkeypatch.setattr("shortlist.audit.run", lambda *_, **__: Audit.of(findings))
    status, printed = command(monkeypatch, capsys)
    assert status == 1
    assert "broken" in printed.out
    assert "broken" in printed.err


# --- the parts


def test_balls_decide_what_floats_leave_open():
    exact, more = PureLoss(2.0), PureLoss(2.0 - 1e-14)
    mechanism = PermuteAndFlip(k=1, epsilon=2.0)
    with ctx.workprec(200):
        p, q = (law_of(mechanism, PublicCounts(np.array(c))) for c in ((6, 6), (6, 7)))
        sides = Laws([p, q]).sides([0], [1])
        assert exact.losses(sides).low[0] <= 2.0 <= exact.losses(sides).high[0]
        low, high = exact.loss(p, q)
        assert abs(high - 2) < 1e-50
        assert low > more.limit


@pytest.mark.parametrize(
    "claim", [PureLoss(1.0), Curve(0.3, 0.1), Renyi(1.5, 0.1), Renyi(1.5, 0.1, 0.02)]
)
def test_floats_confine_the_balls(claim):
    mechanism = OneShotLaplace(k=2, epsilon=1.0)
    with ctx.workprec(200):
        p, q = (law_of(mechanism, PublicCounts(np.array(c))) for c in ((3, 1, 0), (3, 2, 1)))
        losses = claim.losses(Laws([p, q]).sides([0], [1]))
        low, high = claim.loss(p, q)
        assert losses.low[0] <= low
        assert high <= losses.high[0]
        assert losses.high[0] - losses.low[0] < 0.02


def test_what_floats_cannot_hold_is_left_to_balls():
    with ctx.workprec(200):
        p, q = {0: arb(1), 1: arb("1e-400")}, {0: arb(1)}
        assert not Laws([p, q]).sides([0], [1]).largest_log_ratio().high[0] < 1


def test_a_cut_that_takes_away_what_is_lost_leaves_the_rest():
    # Two outcomes: one of mass 0.1 on one side only. Without it nothing is lost.
    with ctx.workprec(200):
        p, q = {0: arb(0.9), 1: arb(0.1)}, {0: arb(1)}
        whole = Renyi(2.0, 0.1).loss(p, q)
        assert whole[1] > 1e6
        low, high = Renyi(2.0, 0.1, 0.1000001).loss(p, q)
        assert low < high < 0.1
        assert Renyi(2.0, 0.1, 0.05).loss(p, q)[0] <= Renyi(2.0, 0.1, 0.05).loss(p, q)[1]
        assert not Renyi(2.0, 0.1, 0.05).loss(p, q)[1] < 10


@pytest.mark.parametrize("noise", [Laplace(0.7), Exponential(0.7), Normal(0.7)])
def test_the_order_of_two_has_its_closed_form(noise):
    gap = 1.5
    with ctx.workprec(200):
        unit = 2.0**-1
        found = order_law(np.array([3, 0]), [noise], unit=unit)
        x = arb(gap) / arb(0.7)
        match noise:
            case Laplace():
                behind = (-x).exp() * (2 + x) / 4
            case Exponential():
                behind = (-x).exp() / 2
            case Normal():
                behind = (x / 2).erfc() / 2
        assert found[1, 0].overlaps(behind)
        assert abs(found[1, 0] - behind) < 1e-19
        assert sum(found.values(), arb(0)).overlaps(arb(1))


def test_too_few_branches_are_noticed():
    def run(draws):
        draws.probability *= 0.5
        return 0

    with pytest.raises(ArithmeticError, match="do not add up"):
        law_in_balls(run)


def test_users_sets_are_what_a_data_set_says():
    universe = universe_of(PolicyGreedy(epsilon=1.0, delta=0.1))
    data = (0, 1, 0, 0, 2, 0, 0)  # one user holds {1}, two hold {0, 2}
    assert universe.n_items(data) == 3
    assert universe.evidence_of(data).counts.tolist() == [2, 1, 2]
    swapped = universe.permuted(data, (1, 0, 2))
    assert universe.evidence_of(swapped).counts.tolist() == [1, 2, 2]
    assert universe.written(swapped) == "(1 of {0}, 2 of {1, 2})"
    orders = list(itertools.permutations(range(3)))
    every = {universe.permuted(data, order) for order in orders}
    assert len(every) == 3
    assert len({universe.permuted(each, universe.falling(each)) for each in every}) == 1
    more = {universe.changed(data, change) for change in universe.changes(3)}
    assert len(more) == 7
    assert all(universe.evidence_of(each).sizes.sum() in (6, 7, 8) for each in more)


def test_outcomes_are_those_of_every_pair():
    universe = universe_of(SpectralRanking(k=1, epsilon=1.0, max_comparisons_per_user=2))
    evidence = universe.evidence_of(((1, 0), (2, 2), (3, 1)))
    assert list(zip(evidence.first, evidence.second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert (evidence.times.tolist(), evidence.wins.tolist()) == ([1, 2, 3], [0, 2, 1])
    assert universe.changed(((1, 0), (2, 2), (3, 1)), (0, 1, 0)) is None
    assert {sum(map(abs, change)) for change in universe.changes(3)} == {1, 2}
    assert len(universe.changes(3)) == 12
