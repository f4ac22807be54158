"""Series as a subject of the audit: they hold, and mistakes in them are found with `--quick`."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

import shortlist as sl
from helpers import periods, weeks
from shortlist.audit import Verdict
from shortlist.audit.audited_parameters import settings_of_series
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.samples.whole_questions import audit_question, of_series, sampled_series
from shortlist.audit.universes import PeriodGaussian, WeeklyGaussian, universe_of
from shortlist.bits import SeededBits
from shortlist.series.period_run import recovered_of_period
from shortlist.series.terms import SeriesPromise
from shortlist.series.weekly_run import Estimates, estimates, recovered


def with_mistake(series, wrong):
    """The same series, with terms, runs, or a way on after a loss that are wrong."""
    if not isinstance(wrong, type):
        return replace(series, of_kind=series.of_kind._replace(recovered=wrong))
    if issubclass(wrong, SeriesPromise):
        given = {each.name: getattr(series.terms, each.name) for each in dataclasses.fields(wrong)}
        return replace(series, terms=wrong(**given))
    return replace(series, of_kind=series.of_kind._replace(run=wrong))


def old_accounts(terms, older, *more):
    return weeks.OldAccounts.after_loss(older, recovered(terms, older, *more))


def old_sums(terms, older, *more):
    return weeks.OldSums.after_loss(older, recovered(terms, older, *more))


def new_accounts(terms, older, *more):
    return periods.NewAccounts.after_loss(older, recovered_of_period(terms, older, *more))


def fitting_all(series):
    """The same series, of which estimates are fitted to all counted items."""

    def told(terms, state):
        found = estimates(terms, replace(state, named_in=np.maximum(state.named_in, 1)))
        named = np.isin(found.items, state.counted[state.named_in > 0])
        return Estimates(*(part[named] for part in found))

    return replace(series, of_kind=series.of_kind._replace(told=told))


def is_broken(series):
    found = audit_exactly(series, quick=True)
    return any(finding.verdict is Verdict.BROKEN for finding in found)


FINE, FIRST_RUN, LOST, TWO_ITEMS = range(4)


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        (weeks.NotKept, FINE),
        (weeks.NoPast, FINE),
        (weeks.SinceEntry, FINE),
        (weeks.HeldNow, FINE),
        (weeks.LateNoise, FINE),
        (weeks.NoUnion, FINE),
        (weeks.NoRoot, FIRST_RUN),
        (old_accounts, LOST),
    ],
)
def test_a_mistake_in_lists_so_far_is_found_by_the_quick_audit(wrong, setting):
    assert is_broken(
        with_mistake([*settings_of_series(WeeklyGaussian, quick=True)][setting], wrong)
    )


@pytest.mark.exhaustive
def test_old_sums_in_a_restored_state_are_found_by_the_whole_audit():
    *_, restored = settings_of_series(WeeklyGaussian)
    assert restored.losses
    late = (0,) * 5 + (80, 0)
    wrong = audit_exactly(with_mistake(restored, old_sums), families=[[late]])
    assert any(finding.verdict is Verdict.BROKEN for finding in wrong)
    right = audit_exactly(restored, families=[[late]])
    assert {finding.verdict for finding in right} == {Verdict.HOLDS}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("wrong", "copies", "history"),
    [
        (weeks.SlotsByNoise, 3, 0b11_00),  # others would choose by what one user alone brought in
        (weeks.ReadsCounted, 8, 0b01_01),
        ("fits all", 8, 0b01_01),
    ],
)
def test_a_mistake_on_two_items_is_found_by_the_whole_audit(wrong, copies, history):
    of_two = [s for s in settings_of_series(WeeklyGaussian) if s.n_items == 2]
    (series,) = (s for s in of_two if s.copies == (copies,))
    many = [[tuple(copies * (place == history) for place in range(1, 16))]]
    mistaken = fitting_all(series) if wrong == "fits all" else with_mistake(series, wrong)
    found = audit_exactly(mistaken, families=many)
    assert any(finding.verdict is Verdict.BROKEN for finding in found)
    assert {finding.verdict for finding in audit_exactly(series, families=many)} == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        (periods.HeldNow, 0),
        (periods.NoWeight, 1),
        (periods.NoUnion, 2),
        (periods.ByRows, 3),
    ],
)
def test_a_mistake_in_lists_of_periods_is_found_by_the_quick_audit(wrong, setting):
    assert is_broken(
        with_mistake([*settings_of_series(PeriodGaussian, quick=True)][setting], wrong)
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(("mistake", "losses"), [(periods.NotKept, 0), (new_accounts, 3)])
def test_accounts_of_periods_that_begin_anew_are_found_by_the_whole_audit(mistake, losses):
    of_four = [s for s in settings_of_series(PeriodGaussian) if s.terms.runs == 4]
    (four_runs,) = (series for series in of_four if series.losses == losses)
    family = [[(0,) * 14 + (10,)]]  # who hold it in each run
    wrong = audit_exactly(with_mistake(four_runs, mistake), families=family)
    right = audit_exactly(four_runs, families=family)
    assert {finding.verdict for finding in right} == {Verdict.HOLDS}
    assert any(finding.verdict is Verdict.BROKEN for finding in wrong)


@pytest.mark.parametrize("name", ["weekly-gaussian", "period-gaussian"])
def test_series_hold_and_are_asked_by_name(name):
    audit = sl.audit.run(name, quick=True)
    assert audit.holds
    assert {finding.mechanism for finding in audit.findings} == {sl_name(name)}


def sl_name(kebab):
    return "".join(part.capitalize() for part in kebab.split("-"))


def test_data_sets_are_told_run_by_run():
    *_, two_items = settings_of_series(WeeklyGaussian, quick=True)
    universe = universe_of(two_items)
    data = tuple(int(place in (5, 8)) for place in range(15))
    assert universe.n_items(data) == 2
    assert universe.written(data) == "(1 of {1} then {0}, 1 of {0} then {1})"
    assert universe.permuted(data, (1, 0)) == data


def test_twelve_runs_are_sampled_as_they_are():
    (found,) = audit_question(
        of_series(sampled_series(WeeklyGaussian)), bits=SeededBits(1), samples=200
    )
    assert found.verdict is Verdict.UNDECIDED
