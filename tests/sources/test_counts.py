"""A histogram as the source: from the data to what leaves."""

from datetime import date
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from helpers import engines
from helpers.forms import FORMS, counting, everything_shown
from helpers.histogram import ASK, ITEMS, READERS, ROWS, STEP, TITLE, counts, table
from helpers.refusals import MARKER, refusal
from shortlist.audit.exact.enumerator import law
from shortlist.evidence import PrivateCounts, PublicCounts, Wants
from shortlist.mechanisms import JointOrPeel, LimitedDomain, Peeling


def test_every_kind_of_public_items_on_every_kind_of_input(form):
    data = form(table(ITEMS).with_columns(other=pl.lit(1.5)))
    release = counts(data, **ROWS).top_k(3, epsilon=5.0)
    assert release.items == ITEMS[:3]
    assert release.scores is None
    assert type(release.mechanism) is JointOrPeel
    assert counts(data).top_k(3, **ASK).items == ITEMS[:3]
    some = [*ITEMS[1:], "nobody reads this"]
    assert counts(data, public_items=some).top_k(3, epsilon=5.0).items == ITEMS[1:4]
    assert counts(data, public_items=some).top_k(7, **ASK).items == some


def test_private_items_come_from_a_limited_domain():
    release = counts(table(ITEMS)).top_k(9, **ASK)
    assert release.items == ITEMS
    assert release.mechanism == LimitedDomain(k=9, **ASK)
    few = counts(table(ITEMS, step=2)).top_k(9, epsilon=1.0, delta=1e-6)
    assert few.items == []
    with_few = pl.concat([table(ITEMS), table([MARKER], step=1), table(["none"], step=0)])
    assert MARKER not in counts(with_few).top_k(9, **ASK)
    assert "none" not in counts(with_few).top_k(9, **ASK)


SEVERAL = [("CH", 7, date(2024, 2, 29)), ("CH", 7, date(2024, 3, 1)), ("FR", 7, date(2024, 3, 1))]
NAMES = ["pays", "item 0", "count"]


@pytest.mark.parametrize("name", ["parquet", "polars", "polars lazy", "pyarrow"])
def test_items_of_several_columns(name, tmp_path):
    frame = pl.DataFrame(SEVERAL, schema=NAMES, orient="row")
    frame = frame.with_columns(pl.Series(READERS, [3 * STEP, 2 * STEP, STEP], dtype=pl.UInt16))
    source = partial(sl.counts, FORMS[name](frame, tmp_path), item=NAMES, count=READERS)
    assert source().top_k(3, **ASK).items == SEVERAL
    assert source(**ROWS).top_k(2, epsilon=5.0).items == SEVERAL[:2]
    known = [("XX", 1, date(1, 1, 1)), *SEVERAL[1:]]
    release = source(public_items=known).top_k(3, epsilon=5.0)
    assert release.items == [*SEVERAL[1:], known[0]]
    assert release.to_polars().columns == ["rank", *NAMES]
    assert source(**ROWS).top_k(1, epsilon=1.0).guarantee.assumes[-1] == (
        'the item columns "pays", "item 0", "count" are public'
    )


@pytest.mark.parametrize(
    "items",
    [
        pl.Series([5, -(2**60), 2**62]),
        pl.Series([date(2024, 2, 29), date(1999, 12, 31)]),
        pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
        pl.Series([-128, 127], dtype=pl.Int8),
    ],
)
@pytest.mark.parametrize("public", [None, sl.IN_TABLE, "list"])
def test_items_keep_their_type(items, public):
    frame = pl.DataFrame({TITLE: items, READERS: range(len(items) * STEP, 0, -STEP)})
    known = items.to_list() if public == "list" else public
    release = counts(frame, public_items=known).top_k(len(items), **ASK)
    assert release.items == items.to_list()
    assert release.to_polars().schema[TITLE] == items.dtype


def test_rows_without_an_item_are_ignored():
    nobody = pl.DataFrame(
        {READERS: [10**9, None], TITLE: [None, None]}, schema_overrides={TITLE: str}
    )
    frame = pl.concat([table(ITEMS), nobody])
    for known in (None, sl.IN_TABLE, ITEMS):
        assert counts(frame, public_items=known).top_k(2, **ASK).items == ITEMS[:2]
    refusal(lambda: counts(frame, **ROWS).top_k(8, epsilon=1.0), "only 7 public items")


def test_counts_may_be_as_large_as_the_sum_of_two_that_fits():
    frame = pl.DataFrame({TITLE: ["a", "b", "c"], READERS: [2**62, 2**62 - STEP, 0]})
    for known in (None, sl.IN_TABLE, ["a", "b"]):
        assert counts(frame, public_items=known).top_k(2, **ASK).items == ["a", "b"]


def test_a_noisy_count_of_each_item():
    for known in (None, sl.IN_TABLE, ITEMS):
        release = counts(table(ITEMS), public_items=known).top_k(3, **ASK, count_share=0.3)
        assert release.items == ITEMS[:3]
        assert release.scores.unit == "noisy count"
        truth = [7 * STEP, 6 * STEP, 5 * STEP]
        errors = np.subtract(list(release.scores), truth)
        assert np.abs(errors).max() < 12 * release.scores.noise_sd < STEP
        assert all(float(score).is_integer() for score in release.scores)
        assert release.guarantee.epsilon == 5.0
        assert release.guarantee.cost.epsilon(1e-6) <= 5.0


def test_an_empty_histogram():
    nothing = table(ITEMS).clear()
    assert counts(nothing).top_k(3, **ASK).items == []
    assert sorted(counts(nothing, public_items=ITEMS).top_k(7, epsilon=1.0).items) == sorted(ITEMS)
    none = "k=1: there are only 0 public items"
    refusal(lambda: counts(nothing, **ROWS).top_k(1, epsilon=1.0), none)
    untyped = pl.DataFrame({TITLE: [], READERS: []})
    assert counts(untyped).top_k(3, **ASK).items == []


def test_what_the_source_is_made_of_is_shown():
    source = sl.counts(table(ITEMS), item=[TITLE], count=READERS, max_items_per_user=7)
    assert repr(source) == f'<Counts: item="{TITLE}", count="{READERS}", max_items_per_user=7>'
    assert repr(sl.IN_TABLE) == str(sl.IN_TABLE) == "IN_TABLE"
    assert isinstance(source, sl.Counts)


# What is promised


def guarantee(**more):
    return counts(table(ITEMS), **more).top_k(1, **ASK).guarantee


def test_the_guarantee_says_what_it_rests_on():
    names, once = (
        "the names and types of the columns are public",
        "each user is in each count at most once",
    )
    private = guarantee()
    assert (private.epsilon, private.delta) == (5.0, 1e-6)
    assert private.adjacency == "add or remove one user"
    assert private.protects == f'one user, who is in each count of "{READERS}" at most once'
    assert private.assumes == (names, once)
    assert guarantee(**ROWS).assumes == (names, once, f'the item column "{TITLE}" is public')
    listed = "the list of public items does not depend on this table"
    assert guarantee(public_items=ITEMS).assumes == (names, once, listed)
    bound = "each user is in at most 3 counts"
    assert guarantee(max_items_per_user=np.int8(3)).assumes == (names, once, bound)
    assert guarantee(max_items_per_user=1).assumes[-1] == "each user is in at most 1 count"
    for text in everything_shown(counts(table(ITEMS), max_items_per_user=3).top_k(1, **ASK)):
        if not text.startswith("<Release"):
            assert bound in " ".join(text.split())


def test_a_promise_is_used():
    source = counts(table(ITEMS), max_items_per_user=3)
    assert source.top_k(1, **ASK).mechanism.max_items_per_user == 3
    assert engines.shown(source, Wants(PrivateCounts)).evidence.max_items_per_user == 3
    public = counts(table(ITEMS), max_items_per_user=3, **ROWS)
    assert engines.shown(public, Wants(PublicCounts)).evidence.max_items_per_user == 3
    noisy = public.top_k(5, epsilon=1.0, count_share=0.5)
    without = counts(table(ITEMS), **ROWS).top_k(5, epsilon=1.0, count_share=0.5)
    assert noisy.scores.noise_sd < without.scores.noise_sd


# What a mechanism sees


TINY = st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 5))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(held=TINY, known=st.lists(st.sampled_from("abcdefghi"), min_size=1, unique=True))
def test_the_evidence_is_the_histogram(held, known):
    frame = pl.DataFrame({TITLE: list(held), READERS: list(held.values())}, strict=False)
    frame = frame.cast({TITLE: pl.String, READERS: pl.Int32})
    shown = engines.shown(counts(frame), Wants(PrivateCounts))
    assert isinstance(shown.evidence, PrivateCounts)
    for public in (known, sl.IN_TABLE):
        shown = engines.shown(counts(frame, public_items=public), Wants(PublicCounts))
        assert isinstance(shown.evidence, PublicCounts)
        wanted = known if public is known else list(held)
        items = shown.items(np.arange(len(wanted)))[TITLE].to_list()
        assert items == wanted
        assert shown.evidence.counts.tolist() == [held.get(item, 0) for item in wanted]
        assert shown.evidence.counts.dtype == np.int64
        assert shown.evidence.counts.flags.writeable


@settings(derandomize=True, deadline=None, max_examples=40)
@given(rows=st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd")), max_size=20))
def test_pairs_and_their_histogram_show_the_same(rows):
    pairs = pl.DataFrame(rows, schema={"user": pl.Int64, TITLE: pl.String}, orient="row")
    held = pairs.unique().group_by(TITLE).len(READERS)
    known = list("bdzx")
    by_rows = sl.pairs(pairs, user="user", item=TITLE, public_items=known)
    by_count = counts(held, public_items=known)
    one, other = (engines.shown(by, Wants(PublicCounts)).evidence for by in (by_rows, by_count))
    assert one.counts.tolist() == other.counts.tolist()


@pytest.mark.parametrize("public", [None, sl.IN_TABLE, ["b", "a", "c"]])
def test_the_order_of_the_rows_changes_nothing(public):
    rows = [("a", 2), ("b", 3), ("c", 2)]
    mechanism = (LimitedDomain if public is None else Peeling)(k=2, epsilon=2.0, delta=0.2)

    def output_law(order):
        frame = pl.DataFrame(order, schema=[TITLE, READERS], orient="row")
        shown = engines.shown(counts(frame, public_items=public), mechanism.wants)

        def run(draws):
            selection = mechanism.select(shown.evidence, draws)
            return tuple(shown.items(selection.positions)[TITLE])

        return law(run)

    one, other = output_law(rows), output_law(rows[::-1])
    assert one.keys() == other.keys()
    assert all(abs(one[outcome] - other[outcome]) < 1e-9 for outcome in one)


# Reading


def test_data_is_read_once_and_not_before_the_first_question():
    lazy, reads = counting(table(ITEMS))
    source = counts(lazy, **ROWS)
    refusal(lambda: source.top_k(0, **ASK), "k=0")
    refusal(lambda: source.top_k(1, epsilon=0), "epsilon=0")
    refusal(lambda: source.top_k(1, **ASK, random=42), "random=42")
    refusal(lambda: source.top_k(1, **ASK, mechanism="peeling"), "mechanism='peeling'")
    refusal(lambda: source.top_k(1, **ASK, count_share=2), "count_share=2")
    refusal(
        lambda: counts(lazy).top_k(1, epsilon=1.0),
        "delta is needed, because the items are private",
        "1e-6",
    )
    refusal(lambda: counts(lazy, public_items=["a"]).top_k(2, epsilon=1.0), "only 1 public item")
    assert reads == []
    assert source.top_k(3, **ASK).items == ITEMS[:3]
    assert source.top_k(2, epsilon=5.0).items == ITEMS[:2]
    assert len(reads) == 1


@pytest.mark.parametrize("known", [sl.IN_TABLE, ITEMS])
def test_what_is_read_is_the_source_s_own(known):
    values = np.arange(len(ITEMS) * STEP, 0, -STEP)
    frame = pd.DataFrame({TITLE: ITEMS, READERS: values}, copy=False)
    source = counts(frame, public_items=known)
    assert source.top_k(1, epsilon=5.0).items == ITEMS[:1]
    values[:] = 0
    assert source.top_k(1, epsilon=5.0).items == ITEMS[:1]
