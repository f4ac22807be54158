"""The audit: it holds where it should, takes any name, and is read as a table."""

import json
import sys
from functools import partial

import pytest

import shortlist as sl
from helpers import wrong_mechanisms as wrong
from helpers.refusals import refusal
from shortlist import cli
from shortlist.audit import Audit, Verdict
from shortlist.audit.audited_parameters import settings_of
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.mechanisms import (
    ChosenBound,
    ClippedCountEach,
    GreedyOrRounds,
    Peeling,
    PermuteAndFlip,
)
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.registry import every_mechanism


@pytest.mark.exhaustive
def test_every_claim_of_every_mechanism_holds():
    audit = sl.audit.run(quick=True)
    assert audit.holds
    # What was left out gives its reason instead of a figure.
    left_out = [finding for finding in audit.findings if finding.verdict is Verdict.LEFT_OUT]
    assert all(finding.reason for finding in left_out)
    assert all(0 <= finding.used <= 1 + 1e-12 for finding in audit.findings)
    named = {finding.mechanism for finding in audit.findings}
    kinds = {kind.__name__ for kind in every_mechanism()}
    assert named == kinds | {
        *("NoisyCounts", "NoisyClippedCounts", "NoisyReach", "NoisyOthers"),
        *("ChosenCap", "EachGroup", "OfScores"),
        *("WeeklyGaussian", "PeriodGaussian"),
    }


def test_it_reads_as_a_table():
    audit = sl.audit.run("peeling", quick=True)
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
    few = kind in (ChosenBound, ClippedCountEach, GreedyOrRounds)
    assert len(settings) == len(set(settings)) > (not few)


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
    status, printed = command(monkeypatch, capsys, "peeling", "--quick", "--json")
    assert json.loads(printed.out)["holds"] is True
    status, printed = command(monkeypatch, capsys, "peelin", "--quick")
    assert status == 2
    assert '"peelin"' in printed.err
    found = Audit.of(audit_exactly(Peeling(k=1, epsilon=1.0), quick=True))
    monkeypatch.setattr("shortlist.audit.run", lambda *_, **__: found)
    status, printed = command(monkeypatch, capsys, "peeling", "--quick")
    assert status == 0
    assert "Peeling" in printed.out


def test_a_broken_claim_is_the_exit_status(monkeypatch, capsys):
    findings = audit_exactly(wrong.OneRound(k=2, epsilon=1.0), quick=True)
    monkeypatch.setattr("shortlist.audit.run", lambda *_, **__: Audit.of(findings))
    status, printed = command(monkeypatch, capsys)
    assert status == 1
    assert "broken" in printed.out
    assert "broken" in printed.err
