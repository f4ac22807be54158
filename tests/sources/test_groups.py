"""Items of each group: asked of rows, in one question or of the rows in groups."""

from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import MARKER, refusal
from shortlist.bits import SeededBits
from shortlist.mechanisms import AdaptiveTopK, GreedyOrRounds, PerGroup

ASK = {"epsilon": 8.0, "delta": 1e-6}
HELD = {"CH": ["Emma", "Dune"], "FR": ["Emma", "Candide"], "DE": ["Faust", "Werther"]}


def table(held=HELD, *, users=400, twice=40):
    """As many users in each group who hold its items; some are in the first two groups."""
    rows = [
        (f"{country} {user}", country, 7, title)
        for country, titles in held.items()
        for user in range(users)
        for place, title in enumerate(titles)
        if place == 0 or user % 4
    ]
    rows += [(f"CH {user}", "FR", 7, "Emma") for user in range(twice)]
    return pl.DataFrame(rows, schema=["user", "country", "year", "title"], orient="row")


def pairs(data=None, **given):
    return sl.pairs(table() if data is None else data, user="user", item="title", **given)


def named(release):
    return {group: part.items for group, part in release.groups()}


@pytest.mark.parametrize("bound", [1, 2])
def test_the_best_of_each_group(bound):
    release = pairs().top_k(2, by="country", max_groups_per_user=bound, **ASK)
    assert named(release) == HELD
    assert release.by == ("country",)
    frame = release.to_polars()
    assert frame.columns == ["country", "rank", "title", "clipped_count"]
    assert frame["country"].is_sorted()
    assert abs(release.group("DE").scores[0] - 400) < 6 * release.scores.noise_sd


def test_several_columns_of_groups():
    release = pairs().top_k(1, by=["country", "year"], **ASK)
    assert dict.fromkeys(group for group, _ in release.groups()) == dict.fromkeys(
        (country, 7) for country in sorted(HELD)
    )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files(tmp_path, kind):
    path = tmp_path / f"{MARKER}.{kind}"
    getattr(table(), f"write_{kind}")(path)
    assert named(pairs(path).top_k(2, by="country", **ASK)) == HELD


def test_dense_integers_in_files(tmp_path):
    frame = table().with_columns(pl.col("user", "country", "title").rank("dense").cast(pl.Int64))
    frame.write_parquet(tmp_path / "table.parquet")
    release = pairs(tmp_path / "table.parquet").top_k(2, by="country", **ASK)
    assert [len(part) for _, part in release.groups()] == [2, 2, 2]


def test_a_domain_of_each_group():
    release = pairs().domain(by="country", **ASK)
    assert {g: set(items) for g, items in named(release).items()} == {
        g: set(items) for g, items in HELD.items()
    }
    assert release.to_polars().columns == ["country", "rank", "title", "weight"]
    counted = pairs().domain(by="country", count_share=0.3, **ASK)
    assert abs(counted.group("DE").scores[0] - 400) < 40


def test_public_groups():
    everybody_knows = ["CH", "AT", "FR"]
    release = pairs().top_k(2, by="country", public_groups=everybody_knows, **ASK)
    assert named(release) == {g: HELD[g] for g in ("CH", "FR")}
    assert "the list of public groups does not depend on this table" in release.guarantee.assumes


def test_a_group_of_one_user_is_not_named():
    frame = pl.concat([table(), table({MARKER: ["Emma"]}, users=1, twice=0)])
    for release in (
        pairs(frame).top_k(2, by="country", **ASK),
        pairs(frame).domain(by="country", **ASK),
    ):
        assert MARKER not in named(release)
        assert MARKER not in str(release)


def test_nothing_says_how_many_rows_there_were():
    one, other = (pairs(table(users=n, twice=0)).top_k(1, by="country", epsilon=0.01, delta=1e-9)
                  for n in (3, 4))  # fmt: skip
    assert one == other
    assert len(one) == 0
    assert "Nothing came out" in str(one)


def test_an_empty_table():
    release = pairs(table().clear()).top_k(2, by="country", **ASK)
    assert (release.items, list(release.groups())) == ([], [])
    assert pairs(table().clear()).domain(by="country", **ASK).items == []


def test_rows_are_read_once_for_all_questions_of_the_same_groups(monkeypatch):
    source, calls = pairs(), []
    from shortlist.table import SensitiveTable

    read = SensitiveTable.grouped
    monkeypatch.setattr(SensitiveTable, "grouped", lambda *given: calls.append(1) or read(*given))
    source.top_k(1, by="country", **ASK)
    source.top_k(2, by=["country"], max_groups_per_user=2, public_groups=["CH"], **ASK)
    source.domain(by="country", **ASK)
    assert len(calls) == 1


def test_the_plan_says_by_what():
    plan = pairs().grouped("country", max_groups_per_user=2).plan(sl.TopK(3), **ASK)
    assert isinstance(plan.mechanism, PerGroup)
    assert plan.mechanism.max_groups_per_user == 2
    assert plan.to_dict()["question"] == {
        "name": "top-k",
        "k": 3,
        "count_share": None,
        "noisy_counts": False,
        "by": ["country"],
    }
    domain = pairs().grouped("country").plan(sl.Domain(), **ASK)
    assert isinstance(domain.mechanism, GreedyOrRounds)
    assert repr(pairs().grouped("country")).startswith('<Groups: by="country", max_items_per_user')


def test_seeded_answers_repeat():
    answers = [pairs().top_k(2, by="country", random=SeededBits(5), **ASK) for _ in range(2)]
    assert answers[0] == answers[1]
    assert not answers[0].guarantee.private


def test_the_order_of_rows_says_nothing():
    """Not even ties: the names of groups decide their order."""
    frame = table(twice=0)
    for rows in (frame, frame.reverse(), frame.sample(fraction=1.0, shuffle=True, seed=1)):
        assert list(named(pairs(rows).top_k(1, by="country", **ASK))) == sorted(HELD)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "title"}, 'by="title" and item="title" are the same column'),
        ({"by": "user"}, 'user="user" and by="user" are the same column'),
        ({"by": ["year", "year"]}, 'by: names the column "year" twice'),
        ({"by": []}, "names no column"),
        ({"by": 3}, "a column is given by its name"),
        ({"by": "contry"}, 'Did you mean "country"?'),
        ({"max_groups_per_user": 0}, "must be a whole number, 1 or more"),
        ({"count_share": 0.2}, "PerGroup gives noisy counts"),
        ({"mechanism": AdaptiveTopK}, "it does not look at items in groups"),
        ({"public_groups": []}, "public_groups is empty"),
        ({"public_groups": ["CH", "CH"]}, "public_groups holds"),
        ({"public_groups": [3]}, "public_groups holds"),
        ({"by": None, "public_groups": ["CH"]}, "it goes with by"),
        ({"by": None, "max_groups_per_user": 2}, "it goes with by"),
        ({"by": None, "group_items": sl.GroupItems.OWN}, "it goes with by"),
        ({"by": None, "group_items": sl.GroupItems.UNKNOWN}, "it goes with by"),
        (
            {"mechanism": partial(PerGroup, group_items=sl.GroupItems.OWN)},
            "group_items is an argument of the source",
        ),
        ({"group_items": "own"}, "must be one of GroupItems.SHARED, GroupItems.OWN, GroupItems"),
        (
            {"group_items": sl.GroupItems.OWN, "max_groups_per_user": 2},
            "max_groups_per_user=2: where items are the groups' own, a user counts in any number",
        ),
    ],
)
def test_what_is_refused_before_anything_is_read(given, words):
    refusal(lambda: pairs().top_k(2, **{"by": "country", **ASK, **given}), words)


def test_items_of_groups_that_have_their_own():
    frame = table().with_columns(title=pl.col("country") + pl.col("title"))
    asked = {"by": "country", "group_items": sl.GroupItems.OWN, "random": SeededBits(2), **ASK}
    release = pairs(frame).top_k(1, **asked)
    assert named(release) == {country: [country + held[0]] for country, held in HELD.items()}
    assert release.mechanism.parameters()["group_items"] == "own"
    assert "the ranks go by noisy weights, which are no counts, too" in " ".join(
        str(release).split()
    )
    known = pairs(frame).top_k(1, public_groups=["FR", "XX"], **asked)
    assert named(known) == {"FR": ["FR" + HELD["FR"][0]]}
    grouped = pairs(frame).grouped("country", group_items=sl.GroupItems.OWN)
    assert isinstance(grouped.plan(sl.Domain(), **ASK).mechanism, GreedyOrRounds)
    assert "group_items=" in repr(grouped)


def test_items_of_groups_of_which_nobody_knows_whose_they_are():
    frame = table().with_columns(title=pl.col("country") + pl.col("title"))
    asked = {"group_items": sl.GroupItems.UNKNOWN, "max_groups_per_user": 2}
    release = pairs(frame).top_k(1, by="country", random=SeededBits(2), **asked, **ASK)
    assert named(release) == {country: [country + held[0]] for country, held in HELD.items()}
    assert release.mechanism.parameters()["group_items"] == "unknown"
    assert "or how common an item is in all groups" in " ".join(str(release).split())
    assert not {"own", "shared"} & set(release.to_json().split('"'))
    assert "own items" not in release.to_json()


@pytest.mark.parametrize("kind", [sl.GroupItems.OWN, sl.GroupItems.UNKNOWN])
def test_known_items_name_no_pair(kind):
    source = pairs(known_items=["Emma"])
    ask = {"by": "country", "group_items": kind, **ASK}
    refusal(lambda: source.top_k(1, **ask), "a list of items names none")


def test_the_list_of_groups_is_not_the_table():
    frame = table()
    message = refusal(
        lambda: pairs(frame).top_k(2, by="country", public_groups=frame, **ASK), "public_groups"
    )
    assert "sensitive table itself" in message


def test_public_items_need_public_groups():
    source = pairs(public_items=["Emma"])
    refusal(lambda: source.top_k(1, by="country", **ASK), "groups that everybody knows")


def test_other_questions_are_refused_in_groups():
    grouped = pairs().grouped("country", public_groups=["CH"])
    refusal(lambda: grouped.plan(sl.UserCounts(), **ASK), "must be known to everybody")
    refusal(lambda: grouped.domain(**ASK), "a public group saves nothing")


def test_items_of_popular_groups_lead_in_none_where_nobody_holds_them():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"user": range(6000), "country": np.repeat(["CH", "FR"], 3000),
                          "title": np.where(rng.random(6000) < 0.5, "Emma", "Dune")})  # fmt: skip
    frame = frame.with_columns(title=pl.col("country") + pl.col("title"))
    release = pairs(frame).top_k(4, by="country", **ASK)
    for country, items in named(release).items():
        assert set(items[:2]) == {f"{country}Emma", f"{country}Dune"}


def reaching(title, group, users):
    return [(f"{group}{title}{n}", title, group) for n in range(users)]


ROWS_IN_GROUPS = [
    *(row for group in ("CH", "FR") for row in reaching("both", group, 300)),
    *(row for first, group in (("a", "CH"), ("b", "FR")) for row in reaching(first, group, 200)),
    # Who holds this one is reached by the first one already.
    *((user, "often", group) for user, _, group in reaching("both", "CH", 280)),
]


def in_lands(**given):
    frame = pl.DataFrame(ROWS_IN_GROUPS, ["user", "title", "country"], orient="row")
    return sl.pairs(frame, user="user", item="title", **given)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_hitting_set_of_each_group(groups):
    ask = {"by": "country", "max_groups_per_user": groups, "epsilon": 8.0, "delta": 1e-3}
    release = in_lands().hitting_set(2, **ask, noisy_counts=True, random=SeededBits(2))
    expected = [("CH", "both"), ("CH", "a"), ("FR", "both"), ("FR", "b")]
    assert [(g, "both" if i == "often" else i) for g, i in release.items] == expected
    assert release.to_polars().columns == [
        *("country", "rank", "title", "reached", "reached_low", "reached_high")
    ]
    assert release.scores[1] == pytest.approx(200, abs=20)
    assert release.reached is None  # of which group?


def test_nobody_counts_in_more_groups_than_are_public():
    lists = {"by": "country", "public_groups": ["CH", "FR"]}
    plans = [
        in_lands().grouped(**lists, max_groups_per_user=most).plan(question, **ASK).mechanism
        for question in (sl.TopK(2), sl.HittingSet(2))
        for most in (1, 2, 9)
    ]
    assert [plan.max_groups_per_user for plan in plans] == [1, 2, 2] * 2
    assert plans[4] == plans[5] != plans[3]


def test_a_hitting_set_of_each_group_of_lists():
    lists = {"by": "country", "public_groups": ["FR", "CH", "IT"]}
    source = in_lands(public_items=["both", "a", "b"])
    release = source.hitting_set(2, **lists, epsilon=8.0, random=SeededBits(2))
    assert release.items[:4] == [("CH", "both"), ("CH", "a"), ("FR", "both"), ("FR", "b")]
    assert len(release) == 6
    plan = source.grouped(**lists).plan(sl.HittingSet(2), epsilon=1.0)
    assert "a user counts in one of them alone" in plan.explain()


def test_a_hitting_set_of_groups_that_cannot_be_is_refused():
    ask = {"epsilon": 1.0, "delta": 1e-6}
    for kind in (sl.GroupItems.OWN, sl.GroupItems.UNKNOWN):
        said = in_lands().grouped("country", group_items=kind)
        refusal(partial(said.hitting_set, 2, **ask), "picked by itself")
    known = in_lands(known_items=["a"])
    refusal(lambda: known.hitting_set(2, by="country", **ask), "which groups there are")
    listed = in_lands(public_items=["a"])
    refusal(lambda: listed.hitting_set(2, by="country", epsilon=1.0), "groups that everybody knows")
    refusal(lambda: in_lands().hitting_set(2, public_groups=["CH"], **ask), "it goes with by")
    empty = sl.pairs(
        pl.DataFrame(schema=dict.fromkeys(["u", "t", "g"], pl.String)), user="u", item="t"
    )
    assert empty.hitting_set(2, by="g", **ask).to_polars().columns == ["g", "rank", "t", "weight"]
