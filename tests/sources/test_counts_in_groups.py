"""A histogram in groups as the source: from the data to what leaves."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import MARKER, refusal
from shortlist.audit.exact.enumerator import law
from shortlist.evidence import GroupedCounts, PrivateCounts, PublicCounts, Wants
from shortlist.mechanisms import JointOrPeel, LimitedDomain, PerGroup
from shortlist.mechanisms.wrappers import EachGroup, NoisyCounts

ASK = {"epsilon": 8.0, "delta": 1e-6}
READ = {
    ("CH", "Emma"): 900,
    ("CH", "Dune"): 700,
    ("CH", "Ulysses"): 30,
    ("FR", "Candide"): 800,
    ("FR", "Emma"): 500,
    ("LI", MARKER): 1,
}


def table(read=READ, *, seed=0):
    rows = [(count, title, country) for (country, title), count in read.items()]
    frame = pl.DataFrame(rows, schema=["readers", "title", "country"], orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=seed)


def counts(data=None, *, groups=1, **given):
    given = {"max_groups_per_user": groups, "by": "country"} | given
    return sl.counts(table() if data is None else data, item="title", count="readers", **given)


def titles(release):
    return {country: part.items for country, part in release.groups()}


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_each_group_wherever_its_rows_stand(seed):
    release = counts(table(seed=seed)).top_k(2, **ASK)
    assert titles(release) == {"CH": ["Emma", "Dune"], "FR": ["Candide", "Emma"]}
    assert release.scores is None
    assert release.k == 2
    assert MARKER not in str(release)
    assert release.to_polars().columns == ["country", "rank", "title"]
    assert isinstance(release.mechanism, EachGroup)
    assert isinstance(release.mechanism.selection, LimitedDomain)


def test_counts_come_with_a_share():
    release = counts().top_k(2, **ASK, count_share=0.5)
    assert isinstance(release.mechanism.selection, NoisyCounts)
    assert release.k == 2
    near = zip(release.scores, [900, 700, 800, 500], strict=True)
    assert all(abs(score - count) < 30 for score, count in near)
    assert "all groups" not in str(release)
    assert release.group("FR").items == ["Candide", "Emma"]


def test_public_groups_have_all_public_items():
    known = {"public_items": ["Emma", "Dune"], "public_groups": ["FR", "CH", "AT"]}
    release = counts(**known).top_k(2, epsilon=50.0)
    assert isinstance(release.mechanism.selection, JointOrPeel)
    assert titles(release)["CH"] == ["Emma", "Dune"]
    assert titles(release)["FR"] == ["Emma", "Dune"]
    assert sorted(titles(release)["AT"]) == ["Dune", "Emma"]
    refusal(lambda: counts(**known).top_k(3, epsilon=1.0), "only 2 public items")
    told = " ".join(release.guarantee.assumes)
    assert "public items" in told
    assert "public groups" in told


def test_the_table_may_be_public_as_it_is():
    release = counts(public_items=sl.IN_TABLE).top_k(2, epsilon=50.0)
    assert titles(release)["LI"] == [MARKER]
    assert titles(release)["CH"] == ["Emma", "Dune"]


def test_groups_of_several_columns():
    frame = table().with_columns(year=pl.Series([7, 7, 7, 7, 7, 7]))
    release = counts(frame, by=["country", "year"]).top_k(1, **ASK)
    assert titles(release) == {("CH", 7): ["Emma"], ("FR", 7): ["Candide"]}


def test_what_is_promised_is_what_is_assumed_and_charged():
    source = counts(groups=2, max_items_per_user=5)
    plan = source.plan(sl.TopK(2), **ASK)
    assert "each user is in at most 2 groups" in plan.guarantee.assumes
    assert "each user is in at most 5 counts" in plan.guarantee.assumes
    assert plan.mechanism.max_groups_per_user == 2
    assert plan.guarantee.cost.delta(8.0) <= 1e-6
    fewer = counts(groups=9, max_items_per_user=3)
    assert fewer.plan(sl.TopK(1), **ASK).mechanism.max_groups_per_user == 3
    implied = counts(groups=None, max_items_per_user=3)
    assert implied.plan(sl.TopK(1), **ASK).mechanism.max_groups_per_user == 3
    assert 'by="country", item="title"' in repr(source)


def test_plans_say_what_a_group_costs():
    told = counts(groups=3).plan(sl.TopK(20), **ASK).explain()
    assert "a user counts in 3 groups at most" in told
    assert "one of them alone" in counts(groups=1).plan(sl.TopK(20), **ASK).explain()


def test_what_is_saved_keeps_the_groups(tmp_path):
    release = counts().top_k(2, **ASK)
    release.save(tmp_path / "titles.json")
    assert json.loads((tmp_path / "titles.json").read_text())["columns"]["groups"] == ["country"]
    assert titles(sl.load(tmp_path / "titles.json")) == titles(release)
    release.report(tmp_path / "titles.html")
    assert "country" in (tmp_path / "titles.html").read_text()


@pytest.mark.parametrize("kind", [PrivateCounts, PublicCounts])
def test_what_a_mechanism_is_shown(kind):
    known = {"public_items": sl.IN_TABLE} if kind is PublicCounts else {}
    source = counts(groups=2, max_items_per_user=4, **known)

    def shown(draws):
        with source._engine.show(Wants(GroupedCounts), draws) as told:
            rows = told.items(np.arange(len(told.evidence.counts))).rows()
            read = dict(zip(rows, told.evidence.counts.tolist(), strict=True))
            ends = [0, *told.evidence.ends.tolist()]
            groups = [{country for country, _ in rows[a:b]} for a, b in pairwise(ends)]
            evidence = told.evidence
            bounds = evidence.max_items_per_user, evidence.max_groups_per_user
            return str((read == READ, sorted(map(sorted, groups)), evidence.kind, bounds))

    assert law(shown) == {str((True, [["CH"], ["FR"], ["LI"]], kind, (4, 2))): 1}


def test_a_promise_is_needed():
    message = refusal(lambda: counts(groups=None), "max_groups_per_user")
    assert MARKER not in message


@pytest.mark.parametrize(
    ("given", "contains"),
    [
        ({"public_items": ["Emma"]}, "public_groups"),
        ({"public_groups": ["CH"]}, "public_items"),
        ({"public_items": sl.IN_TABLE, "public_groups": ["CH"]}, "public_items"),
        ({"by": None}, "go with by"),
        ({"by": "title"}, "title"),
        ({"by": "readers"}, "count"),
        ({"by": []}, "names no column"),
        ({"groups": 0}, "max_groups_per_user"),
    ],
)
def test_what_does_not_go_together_is_refused(given, contains):
    refusal(lambda: counts(**given), contains)


def test_who_holds_what_is_not_told_by_counts():
    refusal(lambda: counts().top_k(1, **ASK, mechanism=PerGroup), "who holds what")


def test_two_rows_of_a_pair_are_refused():
    twice = pl.concat([table(), table()])
    message = refusal(lambda: counts(twice).top_k(1, **ASK), "more than one row")
    assert MARKER not in message


@pytest.mark.parametrize("k", [2, 3, 9])
def test_a_group_of_a_table_that_is_its_own_list_may_have_fewer_items(k):
    release = counts(public_items=sl.IN_TABLE).top_k(k, epsilon=8.0)
    assert {country: len(names) for country, names in titles(release).items()} == {
        "CH": min(k, 3),
        "FR": 2,
        "LI": 1,
    }
