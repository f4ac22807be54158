"""More runs than a series was created with: what they cost, and what they may look at."""

import itertools
import math
from fractions import Fraction

import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.refusals import refusal
from helpers.weekly import TERMS, held_in, week, weekly
from helpers.weeks import Right, share_of_claim, terms_of
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.stages import GaussianStage
from shortlist.series import SeriesTerms
from shortlist.series.terms import WHOLE

FIRST, NOBODY, BOTH = frozenset([0]), frozenset(), frozenset([0, 1])


@pytest.fixture
def plays():
    with weekly(periods=2) as made:
        yield made


def test_more_runs_are_paid_for_and_made(plays):
    before = plays.budget.standing().spent
    lists = [plays.answered(number).items for number in (1, 2)]
    refusal(lambda: plays.answered(3), "all 2 runs", "sl.Series.prolong")
    plays.series.prolong(3)
    terms, after = plays.series.terms, plays.budget.standing().spent
    assert after.first - before.first == pytest.approx(float(before.first) * 3 / 2)
    assert after.delta - before.delta == Fraction(terms.price(3).lost)
    lists += [plays.answered(number).items for number in range(3, 6)]
    refusal(lambda: plays.answered(6), "all 5 runs")
    assert all(set(a) <= set(b) for a, b in itertools.pairwise(lists))
    assert WHOLE < held_in(plays.path).state.used.max() <= WHOLE * 5 // 2
    assert plays.budget.verify() == []
    assert columns(plays.budget, "number", "outcome") == [("1", "released"), ("2", "released")]
    assert sl.Series(plays.path).terms == terms


def test_lists_state_what_all_runs_promise(plays):
    first = plays.answered(1)
    plays.series.prolong(2)
    second = plays.answered(2)
    epsilon, delta = plays.series.terms.promised
    assert (second.guarantee.epsilon, second.guarantee.delta) == (epsilon, delta)
    assert first.guarantee.epsilon == 1.0 < epsilon < math.sqrt(2) * 1.2
    assert second.budget.endswith("; run 2 of 4")
    assert "; charge 2: rho = " in second.budget
    assert "A series of 4 runs: 2 made, 2 left" in " ".join(str(plays.series).split())


def test_whoever_opened_it_before_states_the_larger_promise_too(plays):
    plays.answered(1)
    other = sl.Series(plays.path)
    other.prolong(2)
    second = plays.answered(2)
    assert plays.series.guarantee == other.guarantee
    promised = second.guarantee.epsilon, second.guarantee.delta
    assert promised == other.terms.promised
    assert second.budget.endswith("; run 2 of 4")
    plays.answered(3)


def test_the_promise_is_that_of_all_weights_and_all_tests():
    first = SeriesTerms(epsilon=1.0, delta=1e-5, periods=52)
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=52, added=(12, 3))
    assert (terms.sigma, terms.quantile) == (first.sigma, first.quantile)
    assert terms.thresholds[:52] == first.thresholds
    assert terms.thresholds[-1] == pytest.approx(math.sqrt(67 / 52) + terms.quantile)
    assert terms.lost == pytest.approx(first.lost * (301 + 45 + 6) / 301)
    assert terms.cost.rho == pytest.approx(first.cost.rho * 67 / 52)
    epsilon, delta = terms.promised
    assert delta == pytest.approx(1e-5 + terms.lost - first.lost)
    noise = Composition((GaussianStage(math.sqrt(67 / 52) / terms.sigma),))
    assert noise.delta(epsilon) == pytest.approx(6e-6, rel=1e-4)
    assert terms.boosts.tolist() == first.boosts.tolist()
    assert terms.rounding == first.rounding


def test_no_test_looks_back_over_the_decision():
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=4, added=(3, 2))
    found = [list(terms.windows(run)) for run in range(1, 10)]
    assert found == [[1], [1, 2], [1, 2, 3], [1, 2, 4], [1], [1, 2], [1, 2, 3], [1], [1, 2]]


@pytest.mark.parametrize("n", [0, 5])
def test_prolonged_runs_are_within_the_claim(n):
    terms = terms_of(periods=1, added=(1,))
    for held in ((FIRST, FIRST), (NOBODY, FIRST), (FIRST, BOTH)):
        assert share_of_claim(terms, Right, ((FIRST,) * n, (FIRST,) * n), held) < 1


def test_prolonged_for_nothing_they_are_not():
    """What is claimed of the first run alone does not hold of both."""
    others, one = ((FIRST,) * 8,) * 2, (FIRST, FIRST)
    terms = terms_of(periods=1, added=(1,), delta=0.002, grid=(3, 7, 21))
    assert share_of_claim(terms, Right, others, one) < 1
    assert share_of_claim(terms, Right, others, one, spent=1) > 1.4


def test_what_was_prolonged_and_closed_gives_back_what_is_left(plays):
    whole = plays.budget.standing().spent.first
    plays.answered(1)
    plays.series.prolong(2)
    plays.series.close()
    left = plays.budget.standing().spent.first
    assert 0 <= left - whole / 2 < whole / 2**50
    assert plays.budget.verify() == []
    refusal(lambda: plays.series.prolong(1), "makes no more runs")


def test_a_recovered_series_is_as_long(plays):
    plays.answered(1)
    plays.series.prolong(2)
    plays.path.unlink()
    again = sl.Series.recover(plays.path, budget=plays.budget)
    assert again.terms.runs == 4
    for number in (2, 3, 4):
        again.next(week(number), as_of=str(number))


def test_what_the_budget_has_not_is_refused():
    with weekly(periods=2, epsilon=11.0) as plays:
        refusal(lambda: plays.series.prolong(2), "has rho", "Nothing was read")
        assert plays.series.terms.runs == 2


def test_lists_of_periods_are_not_prolonged():
    with weekly(kind=sl.SeriesKind.PERIOD) as plays:
        refusal(lambda: plays.series.prolong(1), "one threshold", "create another series")
        assert columns(plays.budget, "number") == [("1",)]


@pytest.mark.parametrize(
    ("periods", "said"), [(0, "periods"), (11, "can be prolonged to 12 in all")]
)
def test_what_cannot_be_had_is_refused(plays, periods, said):
    refusal(lambda: plays.series.prolong(periods), said)
    assert columns(plays.budget, "number") == [("1",)]
    assert plays.series.terms.runs == 2


def test_a_budget_of_epsilons_pays_for_no_more_runs(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=3.0, delta=1e-3, accounting="basic")
    made = sl.Series.create(tmp_path / "plays.series", budget=budget, **TERMS)
    refusal(lambda: made.prolong(1), "adds up epsilons", "create another series")
