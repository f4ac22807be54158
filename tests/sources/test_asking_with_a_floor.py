"""A floor on numbers of users: asked of every source, said in plan and release, or refused."""

import json

import polars as pl
import pytest

import shortlist as sl
from helpers.charts import rows_of
from helpers.refusals import MARKER, refusal
from shortlist.mechanisms import OneShotLaplace, WeightedGaussian, WeightedGaussianPeeling

ASK = {"epsilon": 3.0, "delta": 1e-6}
HELD = {"Emma": 900, "Dune": 700, "Ulysses": 300, MARKER: 1}
FLOOR = 500


def rows():
    held = [
        (f"u{user}", title, "NO" if user < 600 else "SE")
        for title, users in HELD.items()
        for user in range(users)
    ]
    return pl.DataFrame(held, schema=["user", "title", "country"], orient="row")


def pairs(data=None, **given):
    return sl.pairs(rows() if data is None else data, user="user", item="title", **given)


def histogram(**given):
    data = pl.DataFrame({"title": HELD.keys(), "readers": HELD.values()})
    return sl.counts(data, item="title", count="readers", **given)


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        (lambda: pairs().top_k(4, **ASK, min_users=FLOOR), "count"),
        (lambda: pairs().domain(**ASK, min_users=FLOOR), "clipped_count"),
        (lambda: pairs(public_items=[*HELD]).top_k(4, **ASK, min_users=FLOOR), "count"),
        (lambda: histogram().top_k(4, **ASK, min_users=FLOOR), "count"),
    ],
)
def test_items_of_fewer_users_are_left_out(asked, heading, tmp_path):
    release = asked()
    assert sorted(release.items) == ["Dune", "Emma"]
    # Their noise had a part in what is listed: an interval would not hold as often as it says.
    assert release.to_polars().columns == ["rank", "title", heading]
    told = release.mechanism.parameters()
    assert told["min_users"] == FLOOR
    assert told.get("kept_from", told.get("least_kept_from")) > FLOOR
    said = " ".join(str(release).split())
    assert "an item that fewer than 500 users hold is named in at most 1 of 100 cases" in said
    # Of a domain nobody asked for a number, so that it is not short of it.
    assert ("with this privacy and a floor of 500 users" in said) == (release.k is not None)
    told = " ".join(release.explain().split())
    assert "its noisy count may be below the floor that was asked for" in told
    assert "An item that fewer than 500 users hold is named in at most 1 of 100 cases." in told
    assert "To be named, an item needs about" not in told
    release.save(tmp_path / "list.json")
    again = sl.load(tmp_path / "list.json")
    assert again == release
    assert str(again) == str(release)
    assert again.explain() == release.explain()


def test_each_group_has_the_floor():
    found = pairs().domain(**ASK, by="country", min_users=FLOOR)
    assert {group: set(part.items) for group, part in found.groups()} == {"NO": {"Emma", "Dune"}}
    data = pl.DataFrame(
        {"title": ["Emma", "Emma", "Dune"], "country": ["NO", "SE", "NO"], "n": [900, 300, 800]}
    )
    counted = sl.counts(data, item="title", count="n", by="country", max_groups_per_user=1)
    found = counted.top_k(2, **ASK, min_users=FLOOR)
    assert found.to_polars()["title"].to_list() == ["Emma", "Dune"]


def test_the_plan_says_both_margins_before_anything_is_read():
    plan = pairs().plan(sl.TopK(4, min_users=FLOOR), **ASK)
    kept = plan.mechanism.parameters()["kept_from"]
    assert (
        f"in at least 99 of 100 cases if it is counted for {kept} users or more" in plan.explain()
    )
    assert plan.to_dict()["question"]["min_users"] == FLOOR
    exact = pairs().plan(sl.TopK(4, min_users=FLOOR), **ASK, mechanism=WeightedGaussianPeeling)
    kept = exact.mechanism.parameters()["kept_from"]
    points = [row for row in rows_of(exact.plot()) if row["curve"] == "each holds 1 item"]
    below = [row["up"] for row in points if row["across"] < FLOOR]
    above = [row["up"] for row in points if row["across"] >= kept]
    assert max(below) <= 0.01
    assert min(above) >= 0.99
    assert below
    assert above


def test_the_chart_of_a_domain_plays_the_floor():
    source = pairs(max_items_per_user=10)
    chart = source.plan(sl.Domain(min_users=50), **ASK, mechanism=WeightedGaussian).plot()
    assert "A floor reaches higher where others hold more" in str(chart.to_dict()["title"])
    for held in ("1 item", "10 items"):
        points = [row for row in rows_of(chart) if row["curve"] == f"each holds {held}"]
        assert max(row["up"] for row in points if row["across"] < 50) < 0.05
        assert max(row["up"] for row in points) > 0.95
    refusal(
        source.plan(sl.Domain(min_users=10**6), **ASK, mechanism=WeightedGaussian).plot,
        "a table of so many users is too large to be invented",
    )


def test_a_budget_gives_another_floor_no_old_answer(tmp_path):
    budget = sl.Budget.create(
        tmp_path / "plays.budget", dataset="plays", protects="user", epsilon=20.0, delta=1e-4
    )
    path = tmp_path / "plays.parquet"
    rows().write_parquet(path)
    source = pairs(path, budget=budget)
    first = source.domain(**ASK, min_users=FLOOR)
    again = source.domain(**ASK, min_users=FLOOR, reuse=True)
    assert again.given_before is not None
    assert again.items == first.items
    other = source.domain(**ASK, min_users=600, reuse=True)
    assert other.given_before is None
    kept = [json.loads(release.to_json()) for release in (first, other)]
    assert [k["mechanism"]["parameters"]["min_users"] for k in kept] == [FLOOR, 600]


def test_what_has_no_floor_is_refused_before_anything_is_read():
    for wrong in (0, -3, 2.5, True):
        refusal(lambda n=wrong: sl.Domain(min_users=n), "min_users", "whole number, 1 or more")
    refusal(
        lambda: pairs().top_k(2, **ASK, by="country", min_users=FLOOR),
        "min_users=500: PerGroup ranks the items of groups by noisy counts",
        "ask for domain with by, which has a floor in each group",
    )
    free = histogram(public_items=[*HELD], max_items_per_user=2)
    refusal(
        lambda: free.top_k(2, epsilon=1.0, mechanism=OneShotLaplace, min_users=FLOOR),
        "min_users=500: the noisy counts of OneShotLaplace chose the items",
    )
