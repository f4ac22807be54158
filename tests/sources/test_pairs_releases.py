"""What a release of pairs looks like never depends on the rows, and it holds what it names."""

import json
import pickle
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import shortlist as sl
from helpers.forms import everything_shown, holds_nothing_of
from helpers.pairs import ASK, ITEMS, TITLE, USER, table
from helpers.refusals import MARKER, refusal
from shortlist.bits import SeededBits
from shortlist.errors import InputError
from shortlist.mechanisms import DiscoverThenRank, LimitedDomain, OneShotLaplace, WeightedGaussian
from shortlist.mechanisms.mechanism import Selection
from shortlist.privacy.guarantee import Guarantee
from shortlist.questions import Domain
from shortlist.release.making import make_release

RANGES = "count_low", "count_high", "rank_low", "rank_high"


def lonely(n, marker=MARKER):
    """People who each hold an item of their own."""
    return pl.DataFrame(
        {USER: [f"x{i}" for i in range(n)], TITLE: [f"{marker}{i}" for i in range(n)]}
    )


# What a release looks like never depends on the rows


def empty(frame):
    return frame.clear()


@pytest.mark.parametrize("dtype", [pl.String, pl.Int16, pl.Date, pl.Categorical])
def test_columns_do_not_depend_on_rows_or_branch(dtype):
    numbers = table(range(1, 4))
    column = pl.col(TITLE).cast(pl.Int32)
    frame = numbers.with_columns(
        column.cast(pl.String).cast(dtype)
        if dtype in (pl.String, pl.Categorical)
        else column.cast(dtype)
    )
    many = sl.pairs(frame, user=USER, item=TITLE)
    none = sl.pairs(empty(frame), user=USER, item=TITLE)
    ask = {**ASK, "mechanism": DiscoverThenRank}
    peeled, ranked = many.top_k(2, **ask), many.top_k(9, **ask)
    assert peeled.scores.noise_sd == peeled.mechanism.first_sigma
    assert ranked.scores.noise_sd == ranked.mechanism.mean_sigma
    assert [len(peeled), len(ranked)] == [2, 3]
    nothing = none.top_k(2, **ask)
    frames = [release.to_polars() for release in (peeled, ranked, nothing)]
    assert frames[0].schema == frames[1].schema == frames[2].schema
    assert many.domain(**ASK).to_polars().schema == none.domain(**ASK).to_polars().schema
    assert {release.scores.unit for release in (peeled, ranked, nothing)} == {"noisy weight"}
    keys = [_keys(json.loads(release.to_json())) for release in (peeled, ranked, nothing)]
    assert keys[0] == keys[1] == keys[2]


def _keys(value):
    """The keys of nested dicts, without the items."""
    return {k: _keys(v) for k, v in value.items() if k != "items"} if isinstance(value, dict) else 0


def test_an_empty_table_gives_an_empty_release(form):
    try:
        data = form(empty(table(ITEMS)))
        source = sl.pairs(data, user=USER, item=TITLE)
    except InputError as error:
        assert "empty" in str(error)  # noqa: PT017 - a file of no lines has no columns either
        assert str(data).endswith(("ndjson", "jsonl"))
        return
    for release in (source.top_k(3, **ASK), source.domain(**ASK)):
        assert release.items == []
        assert all("0 items" in text for text in everything_shown(release)[:1])
    assert len(release.scores) == 0
    assert release.to_polars().columns == ["rank", TITLE, "weight"]


def alike(n_items, n_users):
    """Items that as many people hold, each of whom holds nothing else."""
    items = np.repeat(np.arange(n_items), n_users)
    return pl.DataFrame({USER: np.arange(n_items * n_users), TITLE: items})


def test_a_top_k_has_counts_where_they_are_asked_for_however_items_were_found(tmp_path):
    tables = [(table(ITEMS), 2), (alike(60, 70), 60), (alike(9, 70), 60)]
    for data, k in tables:  # far ahead; rounds that stop; all rounds
        source = sl.pairs(data, user=USER, item=TITLE)
        bare, counted = (source.top_k(k, noisy_counts=asked, **ASK) for asked in (False, True))
        assert bare.scores is None
        assert bare.to_polars().columns == ["rank", TITLE]
        assert counted.to_polars().columns == ["rank", TITLE, "count", *RANGES]
        assert (counted.scores.unit, counted.scores.heading) == ("noisy count", "count")
        truth = dict(data.group_by(TITLE).agg(pl.col(USER).n_unique()).rows())
        errors = [n - truth[item] for item, n in zip(counted.items, counted.scores, strict=True)]
        assert np.abs(errors).max() < 6 * counted.scores.noise_sd
        for name in ("it.json", "it.parquet"):
            counted.save(tmp_path / name, overwrite=True)
            assert sl.load(tmp_path / name) == counted


def test_items_of_the_table_are_not_public():
    refusal(
        lambda: sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=sl.IN_TABLE),
        "public_items=IN_TABLE: in rows of users and items, one more user can add an item",
        "give a list of items, or omit public_items",
    )


def test_public_items_hide_whether_the_table_is_empty():
    nobody = sl.pairs(empty(table(ITEMS)), user=USER, item=TITLE, public_items=ITEMS)
    assert sorted(nobody.top_k(7, epsilon=1.0).items) == sorted(ITEMS)
    assert len(nobody.top_k(2, epsilon=1.0)) == 2


def test_counts_in_which_a_bound_kept_a_part_of_each_user_claim_no_number_of_users():
    users, held = 300, [f"title {i}" for i in range(20)]
    rows = pl.DataFrame({USER: range(users), TITLE: [held] * users}).explode(TITLE)
    ask = {"epsilon": 5.0, "delta": 1e-6, "noisy_counts": True, "mechanism": LimitedDomain}
    cut = sl.pairs(rows, user=USER, item=TITLE, max_items_per_user=4).top_k(3, **ask).to_polars()
    assert cut.columns == ["rank", TITLE, "clipped_count", "count_low"]
    assert cut["clipped_count"].max() < users / 2
    promised = rows.group_by(TITLE).len("count")
    given = sl.counts(promised, item=TITLE, count="count", max_items_per_user=20)
    assert given.top_k(3, **ask).to_polars().columns == ["rank", TITLE, "count", *RANGES]


def test_scores_which_come_with_the_ranks_are_clipped_by_a_bound_too():
    asked = {"epsilon": 1.0, "mechanism": partial(OneShotLaplace, max_items_per_user=2)}
    rows = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=ITEMS)
    assert rows.top_k(3, **asked).scores.unit == "noisy clipped count"
    assert rows.plan(sl.TopK(3), **asked).score_unit == "noisy clipped count"


def _answer(items, selection, mechanism=None):
    mechanism = mechanism or WeightedGaussian(**ASK, max_items_per_user=1)
    guarantee = Guarantee(
        **ASK, cost=mechanism.cost, adjacency="", protects="", assumes=(), private=False
    )
    frame, unit = pl.DataFrame(items), mechanism.score_unit
    return make_release(Domain(), mechanism, selection, frame, guarantee, score_unit=unit)


def test_a_set_is_sorted_by_score_and_then_by_item():
    scores = np.array([1.0, 2.0, 1.0, 2.0])
    selection = Selection(np.arange(4), scores, ordered=False, noise_sd=1.0)
    release = _answer({"falling score": ["d", "c", "a", "b"]}, selection)
    assert release.items == ["b", "c", "a", "d"]
    assert list(release.scores) == [2.0, 2.0, 1.0, 1.0]


def test_a_set_without_scores_is_sorted_by_item():
    selection = Selection(np.arange(3), ordered=False)
    release = _answer({"row": [2, 1, 1], "item 0": ["a", "c", "b"]}, selection)
    assert release.items == [(1, "b"), (1, "c"), (2, "a")]
    assert release.scores is None


def test_what_is_ordered_stays_so():
    release = _answer({"x": ["b", "c", "a"]}, Selection(np.arange(3)))
    assert release.items == ["b", "c", "a"]


@pytest.mark.parametrize(("scores", "apart"), [([3.0, 2.0, 2.0], False), ([2.0, 3.0, 1.0], True)])
def test_scores_that_do_not_fall_are_explained(scores, apart):
    selection = Selection(np.arange(3), np.array(scores), noise_sd=1.0)
    counted = OneShotLaplace(k=3, epsilon=1.0, max_items_per_user=1)
    shown = " ".join(str(_answer({"x": ["b", "c", "a"]}, selection, counted)).split())
    assert ("the ranks were drawn apart from the scores" in shown) == apart


def test_more_than_there_is():
    source = sl.pairs(table(["a", "b"]), user=USER, item=TITLE)
    release = source.top_k(1000, **ASK)
    assert release.items == ["a", "b"]


@pytest.mark.parametrize("question", ["top_k", "domain"])
def test_a_release_holds_nothing_of_what_it_does_not_name(question):
    rare = lonely(20_011).with_columns(diagnosis=pl.lit(MARKER))
    known = table(["a", "b", "c"]).with_columns(diagnosis=pl.lit(MARKER))
    source = sl.pairs(pl.concat([known, rare]), user=USER, item=TITLE)
    ask = partial(source.top_k, 9) if question == "top_k" else source.domain
    release = ask(epsilon=5.0, delta=1e-12)  # so small that none of the rare comes by chance
    assert set(release.items) == {"a", "b", "c"}
    read = {known.height, rare.height, known.height + rare.height, 3 + rare.height}
    holds_nothing_of(release, MARKER, read)


@pytest.mark.parametrize("public", [None, ITEMS])
def test_a_seeded_release_says_everywhere_that_it_is_not_private(public):
    source = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=public)
    release = source.top_k(3, **ASK, random=SeededBits(1))
    again = source.top_k(3, **ASK, random=SeededBits(1))
    assert release.to_json() == again.to_json()
    assert release.guarantee.private is False
    assert json.loads(release.to_json())["guarantee"]["private"] is False
    shown, short, page, _, terminal = everything_shown(release)
    for text in (shown, short, page, terminal):
        assert "not private" in text
    honest = source.top_k(3, **ASK)
    assert honest.guarantee.private is True
    assert not any("not private" in text for text in everything_shown(honest))


def test_the_guarantee_says_what_was_asked():
    guarantee = sl.pairs(table(ITEMS), user=USER, item=TITLE).domain(**ASK).guarantee
    assert (guarantee.epsilon, guarantee.delta) == (5.0, 1e-6)
    assert guarantee.cost.epsilon(1e-6) <= 5.0
    assert guarantee.adjacency == "add or remove one user"
    assert guarantee.protects == f'all rows of any one "{USER}"'
    assert guarantee.assumes == ("the names and types of the columns are public",)


def test_the_buffers_of_a_release_hold_what_it_names_and_no_more():
    # A column of strings that was gathered from another would hand on the other's buffers.
    users = [*range(2000), "ann"]
    titles = ["a title of more than twelve bytes"] * 2000 + [f"what only Ann holds: {MARKER}"]
    frame = pl.DataFrame({USER: [str(u) for u in users], TITLE: titles})
    for items in (TITLE, [TITLE, "same"]):
        source = sl.pairs(frame.with_columns(same=pl.col(TITLE)), user=USER, item=items)
        for release in (source.top_k(5, **ASK), source.domain(**ASK)):
            exported = pa.table(release)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, exported.schema) as writer:
                writer.write_table(exported)
            assert len(release) == 1
            assert MARKER.encode() not in sink.getvalue().to_pybytes()
            assert MARKER.encode() not in pickle.dumps(exported) + pickle.dumps(release)
