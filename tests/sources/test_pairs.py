"""Both questions on every kind of input, and when it is read."""

import pickle
from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers import engines
from helpers.forms import FORMS, counting, everything_shown
from helpers.pairs import ASK, ITEMS, STEP, TITLE, USER, table
from helpers.refusals import refusal
from shortlist.evidence import PrivateCounts, PublicCounts, Wants
from shortlist.mechanisms import (
    DiscoverThenRank,
    LimitedDomain,
    PolicyGaussian,
    PolicyGreedy,
    WeightedGaussian,
)
from shortlist.mechanisms.mechanism import Adjacency
from shortlist.mechanisms.one_shot_laplace import OneShotLaplace


def test_both_questions_on_every_kind_of_input(form):
    frame = table(ITEMS).with_columns(other=pl.lit(1.5))
    source = sl.pairs(form(frame), user=USER, item=TITLE)
    top = source.top_k(3, **ASK)
    assert top.items == ITEMS[:3]
    domain = source.domain(**ASK)
    assert domain.items == ITEMS
    assert top.to_polars().schema == {"rank": pl.UInt32, TITLE: pl.String}
    weights = {"rank": pl.UInt32, TITLE: pl.String, "weight": pl.Float64}
    assert domain.to_polars().schema == weights


def test_public_items_on_every_kind_of_input(form):
    everybody_knows = [*ITEMS, "nobody holds this"]
    source = sl.pairs(form(table(ITEMS)), user=USER, item=TITLE, public_items=everybody_knows)
    release = source.top_k(3, epsilon=5.0)
    assert release.items == ITEMS[:3]
    assert release.scores is None
    assert source.top_k(8, **ASK).items[-1] == everybody_knows[-1]
    assert release.guarantee.assumes[1:] == (
        "the list of public items does not depend on this table",
    )


SEVERAL = [("CH", 7, date(2024, 2, 29)), ("CH", 7, date(2024, 3, 1)), ("FR", 7, date(2024, 3, 1))]
NAMES = ["pays", "numéro de page", "rank"]


@pytest.mark.parametrize("name", ["parquet", "polars", "polars lazy", "pyarrow"])
def test_items_of_several_columns(name, tmp_path):
    frame = FORMS[name](table(SEVERAL, item=NAMES), tmp_path)
    source = sl.pairs(frame, user=USER, item=NAMES)
    assert source.domain(**ASK).items == SEVERAL
    release = source.top_k(2, **ASK)
    assert release.items == SEVERAL[:2]
    assert release.to_polars().columns == ["shortlist_rank", *NAMES]
    public = sl.pairs(frame, user=USER, item=tuple(NAMES), public_items=SEVERAL)
    assert public.top_k(3, epsilon=5.0).items == SEVERAL


def test_several_columns_of_text_files_are_text(tmp_path):
    source = sl.pairs(FORMS["csv"](table(SEVERAL, item=NAMES), tmp_path), user=USER, item=NAMES)
    assert source.domain(**ASK).items == [tuple(map(str, item)) for item in SEVERAL]


@pytest.mark.parametrize(
    "items",
    [[5, -(2**60), 2**62], [date(2024, 2, 29), date(1999, 12, 31)], [2**64 - 1, 0]],
)
def test_items_keep_their_type(items):
    column = (
        pl.Series(items, strict=True)
        if max(items) != 2**64 - 1
        else pl.Series(items, dtype=pl.UInt64)
    )
    frame = table(range(len(items))).with_columns(
        pl.col(TITLE).replace_strict(range(len(items)), column)
    )
    release = sl.pairs(frame, user=USER, item=TITLE).domain(**ASK)
    assert release.items == items
    assert release.to_polars().schema[TITLE] == column.dtype


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt64, pl.Date])
def test_users_are_integers_or_dates(dtype):
    frame = table(["a", "b"])
    users = pl.int_range(frame.height).cast(pl.Int32).cast(dtype)
    assert sl.pairs(frame.with_columns(users.alias(USER)), user=USER, item=TITLE).domain(
        **ASK
    ).items == ["a", "b"]


def test_repeated_rows_and_nulls_change_nothing():
    frame = table(["a"] * 3)
    twice = pl.concat(
        [frame] * 9 + [pl.DataFrame({USER: [None, "x"] * 99, TITLE: ["b", None] * 99})]
    )
    release = sl.pairs(twice, user=USER, item=TITLE).domain(**ASK)
    assert release.items == ["a"]
    assert abs(release.scores[0] - frame.height) < 60


def test_the_bound_is_kept():
    wide = wide_frame()
    one = sl.pairs(wide, user=USER, item=TITLE, max_items_per_user=1)
    assert len(one.domain(**ASK, mechanism=WeightedGaussian)) < 50  # 6 people an item are left
    assert isinstance(one.domain(**ASK).mechanism, PolicyGreedy)
    assert len(sl.pairs(wide, user=USER, item=TITLE).domain(**ASK)) == 50  # 300 / sqrt(50) = 42


def wide_frame():
    """300 people who each hold the same 50 items."""
    return pl.DataFrame({USER: np.repeat(np.arange(300), 50), TITLE: np.tile(np.arange(50), 300)})


def test_counts_of_private_items_are_bounded():
    source = sl.pairs(wide_frame(), user=USER, item=TITLE, max_items_per_user=10)
    release = source.top_k(50, **ASK, mechanism=LimitedDomain)
    assert release.mechanism == LimitedDomain(k=50, **ASK, max_items_per_user=10)
    shown = engines.shown(source, release.mechanism.wants)
    assert isinstance(shown.evidence, PrivateCounts)
    assert shown.evidence.max_items_per_user == 10
    assert shown.evidence.counts.sum() == 300 * 10
    assert (
        sl.pairs(table(ITEMS), user=USER, item=TITLE).top_k(3, **ASK, mechanism=LimitedDomain).items
        == ITEMS[:3]
    )


def test_counts_of_public_items_are_bounded_where_the_mechanism_is_told_to():
    known = list(range(50))
    source = sl.pairs(wide_frame(), user=USER, item=TITLE, public_items=known)
    free = source.top_k(3, epsilon=1.0, mechanism=OneShotLaplace)
    assert free.mechanism.max_items_per_user is None
    bounded = source.top_k(3, epsilon=1.0, mechanism=partial(OneShotLaplace, max_items_per_user=1))
    assert bounded.mechanism.max_items_per_user == 1
    assert bounded.mechanism.scale < free.mechanism.scale
    for bound, total in ((None, 300 * 50), (7, 300 * 7)):
        evidence = engines.shown(source, Wants(PublicCounts, bound)).evidence
        assert isinstance(evidence, PublicCounts)
        assert evidence.max_items_per_user == bound
        assert evidence.counts.sum() == total
    one = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=[*ITEMS, "none"])
    said = "add, remove or change one user"
    changed = partial(OneShotLaplace, max_items_per_user=1, neighbours=Adjacency.GENERAL)
    release = one.top_k(3, epsilon=5.0, mechanism=changed)
    assert release.items == ITEMS[:3]
    assert release.guarantee.adjacency == said


@pytest.mark.parametrize("mechanism", [None, WeightedGaussian, PolicyGaussian, PolicyGreedy])
def test_a_noisy_count_of_each_named_item(mechanism):
    source = sl.pairs(table(ITEMS), user=USER, item=TITLE)
    release = source.domain(epsilon=10.0, delta=1e-6, count_share=0.4, mechanism=mechanism)
    assert release.scores.unit == "noisy clipped count"
    people = {item: (len(ITEMS) - i) * STEP for i, item in enumerate(ITEMS)}  # of one item each
    errors = np.subtract(list(release.scores), [people[item] for item in release.items])
    assert 0 < np.abs(errors).max() < 8 * release.scores.noise_sd
    assert list(release.scores) == sorted(release.scores, reverse=True)
    assert release.guarantee.delta <= 1e-6


@pytest.mark.parametrize("public", [None, ITEMS])
def test_a_noisy_count_of_each_item(public):
    source = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=public)
    release = source.top_k(3, epsilon=10.0, delta=1e-6, count_share=0.4)
    assert release.items == ITEMS[:3]
    assert release.scores.unit == "noisy count"
    errors = np.subtract(list(release.scores), [7 * STEP, 6 * STEP, 5 * STEP])
    assert np.abs(errors).max() < 12 * release.scores.noise_sd
    assert all(float(score).is_integer() for score in release.scores)
    assert (release.guarantee.epsilon, release.guarantee.delta) == (10.0, 1e-6)
    assert release.guarantee.cost.epsilon(1e-6) <= 10.0
    for text in everything_shown(release)[:1]:
        assert "noisy count; the noise has standard deviation" in " ".join(text.split())
    assert pickle.loads(pickle.dumps(release)).items == release.items  # noqa: S301 - our own


def test_a_partial_gives_a_mechanism_its_options():
    kind = partial(DiscoverThenRank, discovery_share=0.3)
    release = sl.pairs(table(ITEMS), user=USER, item=TITLE).top_k(1, **ASK, mechanism=kind)
    assert release.mechanism == DiscoverThenRank(
        k=1, **ASK, max_items_per_user=100, discovery_share=0.3
    )


def test_what_a_source_is_made_of_is_shown():
    source = sl.pairs(table(SEVERAL, item=NAMES), user=USER, item=NAMES, max_items_per_user=7)
    assert repr(source) == (
        '<Pairs: user="user [id] é", item="pays", "numéro de page", "rank", max_items_per_user=7>'
    )


# Reading


def test_data_is_read_once_and_not_before_the_first_question():
    lazy, reads = counting(table(ITEMS))
    source = sl.pairs(lazy, user=USER, item=TITLE)
    refusal(lambda: source.top_k(0, **ASK), "k=0")
    refusal(lambda: source.top_k(1, epsilon=1.0), "delta is needed")
    refusal(lambda: source.domain(**ASK, random=42), "random=42")
    refusal(lambda: source.top_k(1, **ASK, count_share=2), "count_share=2")
    refusal(lambda: source.domain(**ASK, mechanism="peeling"), "mechanism='peeling'")
    assert reads == []
    assert source.top_k(3, **ASK).items == ITEMS[:3]
    assert source.domain(**ASK).items == ITEMS
    assert len(reads) == 1


def test_only_the_named_columns_are_read():
    fails = pl.col(TITLE).map_batches(lambda _: 1 / 0, return_dtype=pl.Int8)
    lazy = table(["a"]).lazy().with_columns(other=fails)
    assert sl.pairs(lazy, user=USER, item=TITLE).domain(**ASK).items == ["a"]
