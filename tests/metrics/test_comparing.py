"""What mechanisms leave out: means and standard errors of what the metrics say of their answers."""

import math
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import (
    DiscoverThenRank,
    Joint,
    JointOrPeel,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
    PolicyGreedy,
    WeightedGaussian,
)
from shortlist.metrics import compare, missed_users, missing_mass, top_k_l1, top_k_missing_mass
from shortlist.metrics.trials import NOT_PRIVATE, SETTINGS

USERS, ITEMS = 600, 30
RNG = np.random.default_rng(1)
ROWS = pl.DataFrame(
    {
        "user": np.repeat(np.arange(USERS), 6),
        "item": np.minimum(RNG.geometric(0.12, USERS * 6), ITEMS),
    }
).unique(maintain_order=True)
COUNTS = ROWS["item"].value_counts().sort("item")["count"].to_numpy().astype(np.int64)
CODES = {item: code for code, item in enumerate(ROWS["item"].unique().sort())}
HELD = Contributions.of_rows(
    ROWS["user"].to_numpy().astype(np.uint32),
    np.array([CODES[item] for item in ROWS["item"]], np.uint32),
    n_users=USERS,
    n_items=len(CODES),
)
ASKED = {"epsilon": 1.0, "delta": 1e-5}


def rows(**more):
    return sl.pairs(ROWS, user="user", item="item", **more)


def histogram(counts, **more):
    table = pl.DataFrame({"item": range(len(counts)), "count": counts})
    return sl.counts(table, item="item", count="count", public_items=sl.IN_TABLE, **more)


def positions(release):
    return np.array([CODES[item] for item in release.items], np.int64)


# What is measured

MEASURED = [
    (sl.TopK(5), "missing_mass", lambda found: top_k_missing_mass(COUNTS, found, 5)),
    (sl.TopK(5), "l1", lambda found: top_k_l1(COUNTS, found, 5)),
    (sl.TopK(5), "items", len),
    (sl.Domain(), "missing_mass", lambda found: missing_mass(COUNTS, found)),
    (sl.Domain(), "largest_missed", lambda found: missing_mass(COUNTS, found, math.inf)),
    (sl.HittingSet(3), "missed_users", lambda found: missed_users(HELD, found)),
]


@pytest.mark.parametrize(("question", "name", "measure"), MEASURED)
def test_a_run_is_measured_as_the_same_release_would_be(question, name, measure):
    for mechanism in rows().mechanisms_for(question):
        asked = {**ASKED, "epsilon": 0.3, "mechanism": mechanism}
        release = rows().plan(question, **asked).run(SeededBits(7))
        asked = {**ASKED, "epsilon": 0.3, "mechanisms": mechanism}
        found = compare(rows(), question, **asked, runs=1, random=SeededBits(7))
        assert found.runs[name].to_list() == [measure(positions(release))]


def test_a_hitting_set_is_beside_the_greedy_one():
    found = compare(rows(), sl.HittingSet(3), **ASKED, runs=3).runs
    least = missed_users(HELD, sl.metrics.greedy_hitting_set(HELD, 3))
    assert (found["missed_users"] - found["beyond_greedy"]).to_list() == [least] * len(found)


def test_public_items_count_by_their_places_in_the_list():
    public = [1, 2, 99, 3]
    found = compare(rows(public_items=public), sl.TopK(1), epsilon=50.0, runs=2)
    assert set(found.runs["missing_mass"]) == {0.0}
    found = compare(rows(public_items=public), sl.HittingSet(4), epsilon=50.0, runs=1)
    assert set(found.runs["missed_users"]) == {0.0}  # of those who hold any of them
    found = compare(rows(public_items=public), sl.HittingSet(1), epsilon=50.0, runs=1)
    users = {n: set(ROWS.filter(pl.col("item") == n)["user"]) for n in public}
    missed = len(set().union(*users.values())) - max(map(len, users.values()))
    assert set(found.runs["missed_users"]) == {missed}


def test_stores_and_comparisons_are_measured():
    held = sl.stores.MemoryStore(["a", "b", "c"], [90, 40, 0])
    held.prepare()
    found = compare(sl.store(held), [sl.TopK(1), sl.TopK(2)], epsilon=[1.0, 2.0], runs=3)
    assert found.frame["missing_mass"].to_list() == [0.0] * 4
    games = pl.DataFrame({"won": ["a"] * 90 + ["b"], "lost": ["b"] * 90 + ["a"]})
    source = sl.comparisons(games, winner="won", loser="lost", public_items=sl.IN_TABLE)
    found = compare(source, sl.Rank(1), epsilon=1.0, runs=3).frame
    assert found.filter(mechanism="WinCount")["l1"].to_list() == [0.0]


# Means and standard errors

GAP, N = 1, 2000
WORSE = math.exp(-GAP) / 2  # the chance that permute-and-flip names the second of two items


def within(mean, error, slack=0.1):
    """Whether they are those of N coins, each worth the gap as a share of all pairs."""
    worth = GAP / (2 * 50 - GAP)
    exact = worth * math.sqrt(WORSE * (1 - WORSE) / N)
    return abs(mean - worth * WORSE) < 4 * exact and abs(error / exact - 1) < slack


def test_the_standard_error_is_that_of_the_closed_form():
    source = histogram([50, 50 - GAP])
    asked = {"epsilon": 1.0, "mechanisms": PermuteAndFlip, "runs": N, "random": SeededBits(3)}
    found = compare(source, sl.TopK(1), **asked)
    each, (row,) = found.runs["missing_mass"].to_numpy(), found.frame.rows(named=True)
    mean, error = row["missing_mass"], row["missing_mass_se"]
    assert within(mean, error)
    assert row["runs"] == N
    assert error == pytest.approx(each.std(ddof=1) / math.sqrt(N), rel=1e-12)
    for wrong in (each.std(), each.std() / N, 1.3 * error, error / 1.3):
        assert not within(mean, wrong)
    for wrong in (np.median(each), 1.3 * mean, mean / 1.3, each[each > 0].mean()):
        assert not within(wrong, error)


def test_every_cell_has_a_mean_of_its_own():
    found = compare(rows(), [sl.TopK(2), sl.TopK(9)], epsilon=[0.1, 2.0], delta=1e-5, runs=4)
    for row in found.frame.rows(named=True):
        asked = {name: row[name] for name in SETTINGS}
        each = found.runs.filter(**{name: x for name, x in asked.items() if x is not None})
        assert each["run"].to_list() == [0, 1, 2, 3]
        for name in ("missing_mass", "items", "relative"):
            assert row[name] == pytest.approx(each[name].mean())
            assert row[f"{name}_se"] == pytest.approx(each[name].std() / 2)


def test_one_run_has_no_standard_error():
    found = compare(rows(), sl.Domain(), **ASKED, runs=1).frame
    assert found["missing_mass_se"].null_count() == len(found)


# Settings


def by_question(found):
    return found.frame.group_by("question")


def test_there_is_a_row_for_each_setting_and_mechanism_the_default_first():
    found = compare(rows(), [sl.TopK(3), sl.Domain()], epsilon=[1, 0.5], delta=1e-5, runs=2)
    assert found.frame.columns[: len(SETTINGS)] == list(SETTINGS)
    assert found.frame.columns[-1] == "private"
    asked = found.frame.select("question", "k", "epsilon").unique(maintain_order=True).rows()
    assert asked == [(q, k, e) for q, k in (("top-k", 3), ("domain", None)) for e in (1.0, 0.5)]
    for question in (sl.TopK(3), sl.Domain()):
        part = found.frame.filter(question=question.name, epsilon=0.5)["mechanism"].to_list()
        kinds = rows().mechanisms_for(question)
        assert part[0] == rows().default_for(question).__name__
        assert sorted(part) == sorted(kind.__name__ for kind in kinds)
    bounds = {q: of["max_items_per_user"].unique().item() for (q,), of in by_question(found)}
    assert bounds == {"top-k": 100, "domain": None}  # which is chosen
    assert found.frame["largest_missed"].null_count() == len(found.frame.filter(question="top-k"))


def test_a_bound_is_that_of_a_source_which_has_it():
    asked = {**ASKED, "mechanisms": WeightedGaussian, "runs": 3}
    one = compare(rows(), sl.Domain(), **asked, max_items_per_user=2, random=SeededBits(5))
    other = compare(rows(max_items_per_user=2), sl.Domain(), **asked, random=SeededBits(5))
    assert one.runs.equals(other.runs)
    looser = compare(rows(), sl.Domain(), **asked, random=SeededBits(5))
    assert not one.runs["missing_mass"].equals(looser.runs["missing_mass"])


def test_what_a_setting_does_not_concern_is_the_same_for_all():
    pure = compare(
        histogram(COUNTS), sl.TopK(4), epsilon=0.1, delta=[0, 1e-5], mechanisms=[Joint, Peeling]
    ).runs
    for_each = pure.partition_by("mechanism", "delta", as_dict=True, include_key=False)
    assert for_each["Joint", 0.0].equals(for_each["Joint", 1e-5])
    assert not for_each["Peeling", 0.0].equals(for_each["Peeling", 1e-5])
    unbounded = compare(
        rows(), sl.Domain(), **ASKED, max_items_per_user=[1, 9], mechanisms=[PolicyGreedy]
    ).runs
    one, other = unbounded.partition_by("max_items_per_user", include_key=False)
    assert one.equals(other)


def test_mechanisms_are_called_what_one_likes():
    share = partial(DiscoverThenRank, discovery_share=0.2)
    found = compare(rows(), sl.TopK(3), **ASKED, mechanisms=[DiscoverThenRank, share], runs=1)
    names = ["DiscoverThenRank", "DiscoverThenRank(discovery_share=0.2)"]
    assert found.frame["mechanism"].to_list() == names
    found = compare(rows(), sl.TopK(3), **ASKED, mechanisms={"ours": share}, runs=1)
    assert found.frame["mechanism"].to_list() == ["ours"]


def test_a_share_for_counts_is_told_with_the_question():
    asked = [sl.TopK(3), sl.TopK(3, count_share=0.5)]
    found = compare(histogram(COUNTS), asked, epsilon=1.0, mechanisms=JointOrPeel, runs=1)
    assert found.frame["question"].to_list() == ["top-k", "top-k, count_share=0.5"]


def test_a_seed_repeats_a_comparison_and_nothing_else_does():
    asked = {"epsilon": 0.1, "delta": 1e-5, "runs": 5}
    one, other = (compare(rows(), sl.TopK(5), **asked, random=SeededBits(2)) for _ in range(2))
    assert one.runs.equals(other.runs)
    assert not compare(rows(), sl.TopK(5), **asked).runs.equals(one.runs)


# Reading


@pytest.fixture
def reads(monkeypatch):
    """How often rows are grouped, and sets bounded."""
    counted = {"_read": 0, "bounded": 0}

    def count(owner, name):
        done = getattr(owner, name)

        def counting(*arguments):
            counted[name] += 1
            return done(*arguments)

        monkeypatch.setattr(owner, name, counting)

    count(RowsInMemory, "_read")
    count(Contributions, "bounded")
    return counted


def test_rows_are_read_once_and_sets_bounded_once_a_run(reads):
    asked = {"epsilon": [0.1, 1.0], "delta": 1e-5, "runs": 4}
    kinds = [DiscoverThenRank, sl.mechanisms.WeightedGaussianPeeling]
    compare(rows(), sl.TopK(5), **asked, max_items_per_user=[2, 4], mechanisms=kinds)
    assert reads == {"_read": 1, "bounded": 2 * 4}


class Budget:
    charged = False

    def charge(self, _):
        self.charged = True


def test_a_source_with_a_budget_is_refused_before_it_is_read(reads):
    budget = Budget()
    said = refusal(lambda: compare(rows(budget=budget), sl.Domain(), **ASKED))
    assert said.startswith("budget: this source has one, and what is compared is not private")
    assert not budget.charged
    assert reads["_read"] == 0


def test_it_is_no_release_and_says_what_it_is():
    found = compare(rows(), sl.Domain(), **ASKED, runs=2)
    assert not isinstance(found, sl.Release)
    assert not hasattr(found, "guarantee")
    assert found.private is False
    for frame in (found.frame, found.runs):
        assert frame["private"].to_list() == [False] * len(frame)
    assert repr(found).endswith(f"\n{NOT_PRIVATE}")
    for stated in (compare.__doc__, type(found).__doc__):
        assert stated.startswith("NOT private")


# Refusals


def test_by_default_a_mechanism_that_refuses_a_setting_is_left_out_there():
    source = histogram(COUNTS, max_items_per_user=3)
    names = compare(source, sl.TopK(2), epsilon=1.0, runs=1).frame["mechanism"].to_list()
    assert OneShotLaplace.__name__ in names
    found = compare(rows(), sl.TopK(2), epsilon=[1.0], delta=[1e-5], runs=1)
    assert len(found.frame) == len(rows().mechanisms_for(sl.TopK(2)))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": -1.0, "delta": 1e-5}, "epsilon=-1.0: must be a number above 0"),
        ({"epsilon": [1.0, -1.0], "delta": 1e-5}, "epsilon=-1.0: must be a number above 0"),
        ({"epsilon": 1.0}, "delta is needed, because the items are private"),
        ({"epsilon": 1.0, "delta": 2}, "delta=2: must be a number"),
        ({**ASKED, "runs": 0}, "runs=0: must be a whole number"),
        ({**ASKED, "max_items_per_user": [0]}, "max_items_per_user=0: must be a whole number"),
        ({**ASKED, "mechanisms": Joint}, "mechanism=Joint: it takes items that everybody knows"),
        ({**ASKED, "mechanisms": "joint"}, "mechanism='joint': must be a class"),
        ({**ASKED, "epsilon": []}, "nothing is asked"),
        ({**ASKED, "random": SeededBits}, "give an instance"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_read(asked, said, reads):
    assert said in refusal(lambda: compare(rows(), sl.TopK(3), **asked))
    assert reads["_read"] == 0


def test_other_things_are_refused_too():
    assert "question='top-k': must be a question" in refusal(
        lambda: compare(rows(), "top-k", **ASKED)
    )
    for source in (histogram(COUNTS), rows(public_items=[1, 2])):
        asked = {"epsilon": 1.0, "max_items_per_user": 3}
        said = refusal(lambda source=source, asked=asked: compare(source, sl.TopK(1), **asked))
        assert said.startswith("max_items_per_user=3: this source bounds no user")
    said = refusal(lambda: compare(histogram([3, 2]), sl.TopK(3), epsilon=1.0))
    assert said.startswith("k=3: there are only 2 public items")
