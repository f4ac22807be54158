"""How many users hold each item of a list: in Python, wherever the rows lie."""

from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.engines.rows_in_memory import RowsInGroups
from shortlist.mechanisms import ClippedCountEach, CountEach, OneShotLaplace, Peeling

HELD = {"Emma": 900, "Ulysses": 500, "Dune": 3}
ROWS = [(user, item) for item, held in HELD.items() for user in range(held) for _ in range(2)]
LIST = ["Dune", "Beloved", "Emma"]
COLUMNS = ["title", "count", "count_low", "count_high"]


@pytest.fixture
def frame():
    return pl.DataFrame(ROWS, schema=["user", "title"], orient="row")


@pytest.fixture
def plays(frame):
    return sl.pairs(frame, user="user", item="title")


def off(release):
    """How far the counts are from the numbers of users."""
    told = dict(zip(release.items, release.scores, strict=True))
    return max(abs(count - HELD.get(item, 0)) for item, count in told.items())


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_item_of_the_list_comes_in_its_order_with_an_interval(plays, delta):
    release = plays.user_counts(LIST, epsilon=20.0, delta=delta, random=SeededBits(1))
    assert release.items == LIST
    table = release.to_polars()
    assert table.columns == COLUMNS
    assert table.dtypes == [pl.String, pl.Int64, pl.Int64, pl.Int64]
    assert off(release) < 3
    for name, low, high in table.select("title", "count_low", "count_high").rows():
        assert low <= HELD.get(name, 0) <= high
    assert "rank" not in str(release)
    assert "95\N{NO-BREAK SPACE}% interval" in str(release)


def test_rows_are_read_once_for_all_lists(plays, monkeypatch):
    asked = plays.user_counts(LIST, epsilon=20.0)
    monkeypatch.setattr(type(plays._engine), "_read", None)
    assert plays.user_counts(["Emma"], epsilon=20.0).items == ["Emma"]
    assert plays.user_counts(asked, epsilon=20.0).items == LIST


def test_a_list_may_be_a_release_or_its_file(plays, tmp_path):
    found = plays.domain(epsilon=5.0, delta=1e-3)
    found.save(tmp_path / "found.json")
    for items in (found, tmp_path / "found.json", str(tmp_path / "found.json")):
        release = plays.user_counts(items, epsilon=20.0)
        assert release.items == found.items
        assert "the list of items was public before" in release.guarantee.assumes


def test_a_list_may_be_a_file_or_belong_to_the_source(frame, plays, tmp_path):
    pl.DataFrame({"title": LIST}).write_csv(tmp_path / "list.csv")
    assert plays.user_counts(tmp_path / "list.csv", epsilon=20.0).items == LIST
    known = sl.pairs(frame, user="user", item="title", public_items=LIST)
    assert known.user_counts(epsilon=20.0).items == LIST
    assert known.user_counts(["Emma"], epsilon=20.0).items == ["Emma"]


def test_an_item_may_be_a_tuple(frame):
    twice = frame.with_columns(country=pl.lit("FR"))
    plays = sl.pairs(twice, user="user", item=["country", "title"])
    release = plays.user_counts([("FR", "Dune"), ("DE", "Dune")], epsilon=20.0)
    assert release.items == [("FR", "Dune"), ("DE", "Dune")]
    assert release.scores[0] > 0


def test_the_plan_says_how_large_the_noise_is(plays):
    plan = plays.of_items(LIST).plan(sl.UserCounts(), epsilon=1.0)
    assert type(plan.mechanism) is CountEach
    assert "The list has 3 items. Each comes with its count, also if nobody holds it." in (
        plan.explain()
    )
    assert "off by at most 9" in plan.explain()
    assert plan.to_dict()["question"] == {"name": "user-counts"}
    refusal(
        lambda: plan.expect(users=10, items=3), "user_counts: every item of the list is counted"
    )
    refusal(plan.plot, "every item of the list is named")


def test_a_release_is_saved_and_explained(plays, tmp_path):
    release = plays.user_counts(LIST, epsilon=1.0, delta=1e-6)
    for name in ("counts.json", "counts.parquet"):
        release.save(tmp_path / name)
        assert sl.load(tmp_path / name) == release
    release.report(tmp_path / "counts.html")
    words = " ".join(release.explain().split())
    assert "3 items counted" in words
    assert "Nothing is said of it: the items of a list were counted" in words
    assert "listed as they were asked for" in words
    assert "How many users hold each item of a list" in words
    refusal(lambda: sl.diff(release, release), "none can be new, gone or moved")


def test_a_budget_is_charged(frame, tmp_path):
    budget = sl.Budget.create(
        tmp_path / "plays.budget", epsilon=1.0, delta=1e-6, protects="user", dataset="plays"
    )
    plays = sl.pairs(frame, user="user", item="title", budget=budget)
    release = plays.user_counts(LIST, share="1/2")
    assert release.mechanism.count_noise == "Normal"  # which adds less to the cost of others
    plays.of_items(LIST).plan(sl.UserCounts(), share="1/2").run()
    refusal(lambda: plays.user_counts(LIST, epsilon=1.0), "budget")


def test_histograms_are_counted_with_their_promise():
    held = pl.DataFrame({"title": list(HELD), "readers": list(HELD.values())})
    given = {"item": "title", "count": "readers"}
    one = sl.counts(held, **given, public_items=LIST, max_items_per_user=1)
    plan = one.plan(sl.UserCounts(), epsilon=1.0)
    assert plan.mechanism._best.noise.scale == 1.0
    assert plan.run().items == LIST
    in_table = sl.counts(held, **given, public_items=sl.IN_TABLE)
    refusal(lambda: in_table.plan(sl.UserCounts(), epsilon=1.0), "which only the table knows")


def test_what_cannot_be_counted_is_refused(frame, plays):
    ask = {"epsilon": 1.0}
    refusal(lambda: plays.user_counts(**ask), "must be known to everybody")
    refusal(lambda: plays.user_counts(["Emma", "Emma"], **ask), "items holds an item twice")
    refusal(lambda: plays.user_counts([7], **ask), "items holds 7, of type int")
    refusal(lambda: plays.user_counts([], **ask), "items is empty")
    refusal(lambda: plays.user_counts(frame["title"], **ask), "items: this is the sensitive table")
    refusal(lambda: plays.user_counts(LIST, **ask, mechanism=Peeling), "answers top_k")
    bounded = partial(CountEach, max_items_per_user=2)
    refusal(lambda: plays.user_counts(LIST, **ask, mechanism=bounded), "so that intervals hold")
    nothing = plays.domain(epsilon=1e-3, delta=1e-9)
    refusal(lambda: plays.user_counts(nothing, **ask), "items: this release names no item")
    groups = sl.pairs(frame.with_columns(g=pl.lit("a")), user="user", item="title").grouped("g")
    refusal(lambda: groups.plan(sl.UserCounts(), **ask), "must be known to everybody")


def test_rows_that_are_left_out_are_not_counted(frame):
    early = sl.pairs(frame, user="user", item="title", where='"user" < 10')
    release = early.user_counts(["Emma", "Dune"], epsilon=20.0)
    assert max(abs(release.scores[0] - 10), abs(release.scores[1] - 3)) < 4
    assert release.about.where == '"user" < 10'


COUNTRIES = {"by": "country", "public_groups": ["SE", "NO", "DK"]}


@pytest.fixture
def by_country(frame):
    """Every third user is in Sweden; user 1 is in Norway and in Finland, too."""
    sweden = pl.when(pl.col("user") % 3 == 0).then(pl.lit("SE")).otherwise(pl.lit("NO"))
    rows = frame.with_columns(country=sweden)
    more = pl.DataFrame({"user": [1], "title": ["Emma"], "country": ["FI"]})
    return sl.pairs(pl.concat([rows, more]), user="user", item="title")


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_each_group_of_a_list_has_all_items_of_another(by_country, delta):
    release = by_country.user_counts(
        LIST, **COUNTRIES, epsilon=20.0, delta=delta, random=SeededBits(1)
    )
    table = release.to_polars()
    assert table.columns == ["country", *COLUMNS]
    assert release.items == [(group, item) for group in ("DK", "NO", "SE") for item in LIST]
    held = {("SE", "Emma"): 300, ("NO", "Emma"): 600, ("SE", "Dune"): 1, ("NO", "Dune"): 2}
    for *pair, count, low, high in table.rows():
        assert abs(count - held.get(tuple(pair), 0)) < 4
        assert low <= held.get(tuple(pair), 0) <= high
    assert "user-counts by country: 9 items in 3 groups" in str(release)
    words = " ".join(release.explain().split())
    assert "A user is counted in at most 1 group." in words
    assert "the list of public groups does not depend on this table" in release.guarantee.assumes


def test_counts_in_groups_are_saved(by_country, tmp_path):
    release = by_country.user_counts(LIST, **COUNTRIES, epsilon=1.0)
    for name in ("counts.json", "counts.parquet"):
        release.save(tmp_path / name)
        assert sl.load(tmp_path / name) == release
    release.report(tmp_path / "counts.html")
    assert "A user is counted in at most 1 group" in (tmp_path / "counts.html").read_text()


def test_nobody_is_in_more_groups_than_there_are(by_country):
    asked = by_country.of_items(LIST)
    plans = [
        asked.grouped(**COUNTRIES, max_groups_per_user=most).plan(sl.UserCounts(), epsilon=1.0)
        for most in (1, 2, 3, 9)
    ]
    sds = [plan.mechanism.selection.count_sd for plan in plans]
    assert sds[0] < sds[1] < sds[2] == sds[3]
    assert "a user counts in one of them alone" in plans[0].explain()
    assert "a user counts in 3 groups at most" in plans[3].explain()
    assert "A user is counted" not in plans[3].run().explain()


def test_rows_in_groups_are_read_once_for_all_lists(by_country, monkeypatch):
    by_country.user_counts(LIST, **COUNTRIES, epsilon=20.0)
    monkeypatch.setattr(RowsInGroups, "_read", None)
    assert len(by_country.user_counts(["Emma"], **COUNTRIES, epsilon=20.0)) == 3


def test_groups_may_be_what_an_earlier_release_named(frame, by_country):
    rows = frame.with_columns(country=pl.lit("NO"))
    found = sl.pairs(rows, user="user", item="country").domain(epsilon=5.0, delta=1e-3)
    release = by_country.user_counts(["Emma"], by="country", public_groups=found, epsilon=20.0)
    assert release.items == [("NO", "Emma")]


def test_a_budget_knows_lists_of_groups_and_items_apart(frame, tmp_path):
    given = {"protects": "user", "dataset": "plays", "epsilon": 9.0}
    budget = sl.Budget.create(tmp_path / "plays.budget", **given)
    rows = frame.with_columns(country=pl.lit("NO"))
    plays = sl.pairs(rows, user="user", item="title", budget=budget, as_of="today")
    ask = {**COUNTRIES, "epsilon": 1.0, "reuse": True}
    first = plays.user_counts(["Emma"], **ask)
    again = plays.user_counts(["Emma"], **ask)
    other = plays.user_counts(["Dune"], **ask)
    assert (first.given_before, other.given_before) == (None, None)
    assert again.given_before.charge == 1


def test_what_cannot_be_counted_in_groups_is_refused(by_country):
    ask = {"epsilon": 1.0}
    refusal(
        lambda: by_country.user_counts(LIST, **ask, by="country"),
        "give the groups that everybody knows by public_groups",
    )
    refusal(lambda: by_country.user_counts(LIST, **ask, public_groups=["NO"]), "it goes with by")
    clipped = {**COUNTRIES, **ask, "delta": 1e-6, "mechanism": ClippedCountEach}
    refusal(lambda: by_country.user_counts(LIST, **clipped), "or omit by")
    listed = by_country.of_items(LIST)
    own = {**COUNTRIES, "group_items": sl.GroupItems.OWN}
    refusal(lambda: listed.grouped(**own), "each counts in every group")
    refusal(lambda: listed.grouped(**COUNTRIES).domain(**ask, delta=1e-6), "public_groups")
    bounded = partial(OneShotLaplace, max_items_per_user=2)
    refusal(
        lambda: listed.grouped(**COUNTRIES).top_k(1, **ask, mechanism=bounded),
        "all items of a user are counted",
    )


def test_the_best_of_a_list_are_named_in_each_group(by_country):
    known = by_country.of_items(LIST).grouped(**COUNTRIES)
    release = known.top_k(1, epsilon=20.0)
    assert [item for group, item in release.items if group != "DK"] == ["Emma", "Emma"]
    assert len(release) == 3


STATED, COUNTED = sl.ShareOfUsers


def with_others(frame):
    """100 users more, who hold nothing of a list."""
    more = pl.DataFrame({"user": range(1000, 1100), "title": ["unlisted"] * 100})
    return pl.concat([frame, more])


@pytest.mark.parametrize("kind", [STATED, COUNTED])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_counts_are_told_as_shares_of_users(frame, kind, delta, tmp_path):
    plays = sl.pairs(with_others(frame), user="user", item="title", users=1000)
    release = plays.user_counts(
        LIST, share_of_users=kind, epsilon=20.0, delta=delta, random=SeededBits(1)
    )
    table = release.to_polars()
    assert table.columns == [*COLUMNS, "users", "share", "share_low", "share_high"]
    assert table.dtypes[-4:] == [pl.Int64, pl.Float64, pl.Float64, pl.Float64]
    assert release.share_of_users is kind
    assert set(release.users) == {1000} or (kind is COUNTED and abs(release.users[0] - 1000) < 4)
    for name, low, high in table.select("title", "share_low", "share_high").rows():
        assert low <= HELD.get(name, 0) / 1000 <= high
    assert "share of users" in str(release)
    words = " ".join(release.explain().split())
    assert ("1,000 users, as whoever asked has stated" in words) == (kind is STATED)
    for suffix in ("json", "parquet"):
        release.save(tmp_path / f"counts.{suffix}")
        assert sl.load(tmp_path / f"counts.{suffix}") == release
    release.report(tmp_path / "counts.html")
    assert "share of users" in (tmp_path / "counts.html").read_text()


def test_shares_in_groups_are_of_the_users_of_each(frame):
    at = pl.when(pl.col("user") % 2 == 0).then(pl.lit("NO")).otherwise(pl.lit("SE"))
    plays = sl.pairs(with_others(frame).with_columns(country=at), user="user", item="title")
    release = plays.user_counts(
        ["Emma"],
        by="country",
        public_groups=["SE", "NO"],
        share_of_users=COUNTED,
        epsilon=20.0,
        random=SeededBits(1),
    )
    assert all(abs(users - 500) < 4 for users in release.users)
    assert [group.users for _, group in release.groups()] == [(n,) for n in release.users]
    assert release.to_polars()["share"].to_list() == pytest.approx([0.9, 0.9], abs=0.01)


def test_shares_follow_from_the_plan(plays, frame):
    asked = plays.of_items(LIST)
    told = asked.plan(sl.UserCounts(COUNTED), epsilon=1.0)
    assert "whose number is one count more" in told.explain()
    assert told.mechanism.count_sd > asked.plan(sl.UserCounts(), epsilon=1.0).mechanism.count_sd
    assert told.to_dict()["question"] == {"name": "user-counts", "share_of_users": "counted"}
    known = sl.pairs(frame, user="user", item="title", public_items=LIST, users=2000)
    stated = known.plan(sl.UserCounts(STATED), epsilon=1.0)
    assert "of 2,000 users, as was stated" in stated.explain()
    assert stated.mechanism.count_sd == asked.plan(sl.UserCounts(), epsilon=1.0).mechanism.count_sd
    described = {"name": "user-counts", "share_of_users": "stated", "users": 2000}
    assert stated.to_dict()["question"] == described


def test_shares_that_cannot_be_told_are_refused(plays, by_country):
    ask = {"epsilon": 1.0, "share_of_users": STATED}
    refusal(lambda: plays.user_counts(LIST, **ask), "stated to the source", "by users")
    refusal(lambda: by_country.user_counts(LIST, **COUNTRIES, **ask), "stated nowhere")
    refusal(lambda: plays.user_counts(LIST, epsilon=1.0, share_of_users="counted"), "COUNTED")
    clipped = {"mechanism": ClippedCountEach, "delta": 1e-6, "share_of_users": COUNTED}
    refusal(lambda: plays.user_counts(LIST, epsilon=1.0, **clipped), "tells no shares of users")
    held = sl.counts({"t": ["a"], "n": [5]}, item="t", count="n", public_items=["a"], users=9)
    refusal(lambda: held.plan(sl.UserCounts(COUNTED), epsilon=1.0), "counts of items do not tell")
    assert held.plan(sl.UserCounts(STATED), epsilon=20.0).run().users == (9,)
