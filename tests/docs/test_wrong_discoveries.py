"""Five ways to get names that mean nothing, and what the pages say to do instead.

Items before `RELATED` do go with the label; none of the others does, but by how the question is
put. Figures of the pages are these.
"""

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.pages import text_of
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import LabelledCounts
from shortlist.mechanisms import Association

N_ITEMS, RELATED = 100, 5
RUNS = 10
SCORED = [str(number) for number in range(20)]


@pytest.fixture
def draw():
    return np.random.default_rng(1)


def counted(held, is_case):
    """What the mechanism sees of the users of a table: shape (n_users, n_items), (n_users,)."""
    cases, controls = held[is_case], held[~is_case]
    return LabelledCounts(cases.sum(0), controls.sum(0), len(cases), len(controls))


def named(tables, **terms):
    """How many items are named of those without relation, and of those with one, by run."""
    given = {"k": 20, "n_items": N_ITEMS, "epsilon": 1.0, "delta": 1e-6, "fdr": 0.1}
    mechanism = Association(**(given | terms))
    found = []
    for seed, table in enumerate(tables):
        selection = mechanism.select(table, ExactDraws(SeededBits(seed)))
        told = mechanism.concluded(selection)
        is_named = [one.level <= mechanism.fdr for one in told.associations]
        is_false = told.positions[is_named] >= RELATED
        found.append((int(is_false.sum()), int((~is_false).sum())))
    return found


def require_row(mistake, wrongly, instead):
    """The page has a row for this mistake, with what was named, and named when it was mended."""
    rows = [line.strip("| ").split(" | ") for line in text_of("association").splitlines()]
    (row,) = [row for row in rows if row[0].startswith(f"{mistake}: ")]
    assert (row[1], row[3]) == (wrongly, instead)


MENDED = [(0, RELATED)] * RUNS


def test_labels_of_whole_groups(draw):
    """A shop's customers share its label, and what it sells."""
    by_user, by_group = [], []
    for _ in range(RUNS):
        is_case = draw.permutation(2000) < 1000
        share = np.full((2000, N_ITEMS), 0.1)
        share[is_case, :RELATED] = 0.4
        shops = counted(draw.random(share.shape) < share, is_case)
        ten = (10 * n for n in (shops.cases, shops.controls, shops.n_cases, shops.n_controls))
        by_user.append(LabelledCounts(*ten))
        by_group.append(shops)
    wrongly = named(by_user)
    false = [one for one, _ in wrongly]
    assert [real for _, real in wrongly] == [RELATED] * RUNS
    assert named(by_group) == MENDED
    require_row("Labels of whole groups", f"{min(false)} to {max(false)}", "0")


def test_a_label_that_goes_with_activity(draw):
    """Who is active holds more of everything, and is more often a case."""
    of_all, of_active = [], []
    for _ in range(RUNS):
        is_active = draw.random(8000) < 0.5
        is_case = draw.random(8000) < np.where(is_active, 0.7, 0.3)
        share = np.where(is_active, 0.3, 0.1)[:, None] + np.zeros(N_ITEMS)
        share[is_case, :RELATED] += 0.2
        held = draw.random(share.shape) < share
        of_all.append(counted(held, is_case))
        of_active.append(counted(held[is_active], is_case[is_active]))
    assert named(of_all) == [(15, RELATED)] * RUNS  # all that are looked at
    assert named(of_active) == MENDED
    require_row("Activity", "15", "0")


def test_sizes_that_are_wrong_by_a_hundredth(draw):
    tables = []
    for _ in range(RUNS):
        cases, controls = draw.binomial(50_000, 0.5, (2, N_ITEMS))
        cases[:RELATED] += 2500
        tables.append(LabelledCounts(cases, controls, 50_000, 50_000))
    stated = {"cases": 49_500, "controls": 50_500}
    assert named(tables, **stated, size_error=0) == [(15, RELATED)] * RUNS
    assert named(tables, **stated, size_error=500) == MENDED
    assert named(tables) == MENDED  # counted in noise
    require_row("Wrong sizes", "15", "0")


def test_many_labels_one_after_another(draw):
    """One drug and 50 complaints that have nothing to do with it, in each of 40 studies."""
    stated = {"cases": 200, "controls": 200, "size_error": 0}
    holders = draw.hypergeometric(200, 200, 200, 40 * 50)
    tables = [LabelledCounts(np.array([n]), np.array([200 - n]), 200, 200) for n in holders]

    def studies(fdr):
        """In how many of them something is named."""
        asked = {"k": 1, "n_items": 1, "epsilon": 0.1, "fdr": fdr}
        told = [sum(one) for one in named(tables, **asked, **stated)]
        return int(np.reshape(told, (40, 50)).any(axis=1).sum())

    often, divided = studies(0.1), studies(0.1 / 50)
    assert often > 0.1 * 40 + 3 * 1.9  # beyond the rate, by three standard deviations
    assert divided <= 0.1 * 40
    require_row("Several labels", f"in {often} studies", f"in {divided}")


def first_of(scores, sensitivity):
    """In how many of 100 answers item 0 is the first."""
    table = pl.DataFrame({"item": SCORED, "score": scores})
    source = sl.scores(
        table,
        item="item",
        score="score",
        sensitivity=sensitivity,
        direction=sl.Direction.ANY,
        missing=0,
        public_items=SCORED,
    )
    answers = [source.top_k(1, epsilon=1.0, random=SeededBits(seed)) for seed in range(100)]
    return sum(answer.items == ["0"] for answer in answers)


def test_a_score_that_is_divided_by_a_deviation_of_the_data():
    """The first case to hold item 0 moves it by 1, and 1 / sqrt(1,000) was stated."""
    controls = np.where(np.arange(20) == 0, 0, 500)
    without, with_one = controls, controls + (np.arange(20) == 0)

    def z_score(cases):
        return (cases - controls) / np.sqrt(np.maximum(cases + controls, 1))

    before, after = (first_of(z_score(cases), 1000**-0.5) for cases in (without, with_one))
    assert before < 15  # of 20 items that are alike
    assert after == 100
    told = (
        f"was first in {before} of 100 answers; with one more user in the table, it was first in "
        f"all {after}."
    )
    assert told in " ".join(text_of("scores").split())
    before, after = (first_of(cases - controls, 1) for cases in (without, with_one))
    told = f"it was first in {before} answers, and in {after} with one more user."
    assert told in " ".join(text_of("scores").split())


def test_a_sum_of_doubles_moves_by_more_than_was_added():
    much = 2.0**53
    assert sum([1.0, 1.0, much]) - sum([1.0, much]) == 2.0
    assert sum([1, 1, 2**53]) - sum([1, 2**53]) == 1
    assert "one user who adds 1 to it can move it by 2" in " ".join(text_of("scores").split())
