"""Lists without order: what is asked for, what answers, and that no face of it has ranks."""

import json
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

import polars as pl
import pytest

import shortlist as sl
from shortlist.bits import SeededBits
from shortlist.mechanisms import JointOrPeel, OneShotExponential, Peeling, SetOrPeel
from shortlist.release.differences import diff

HISTOGRAM = pl.DataFrame(
    {"title": [*"gcaedbf", *"klmn"], "users": [900, 850, 700, 650, 600, 400, 390, 20, 20, 9, 0]}
)


def histogram(**given):
    return sl.counts(HISTOGRAM, item="title", count="users", **given)


PUBLIC = histogram(public_items=sl.IN_TABLE)
BEST = ["a", "c", "d", "e", "g"]


def page_of(found):
    with NamedTemporaryFile(suffix=".html") as file:
        found.report(file.name, overwrite=True)
        return Path(file.name).read_text("utf-8")


def ask(**given):
    return PUBLIC.top_k(5, epsilon=3.0, ordered=False, random=SeededBits(3), **given)


def test_the_default_names_a_set_by_name_and_without_ranks():
    found = ask()
    assert isinstance(found.mechanism, SetOrPeel)
    assert found.items == BEST
    assert not found.ordered
    assert found.to_polars().columns == ["title"]
    assert "rank" not in found.to_csv().splitlines()[0]
    assert "rank" not in found.to_markdown().splitlines()[0]
    assert "order       none was asked for" in str(found)
    assert "listed by name" in found.explain()
    assert "rank" not in page_of(found).split("<table", 1)[1].split("</table>")[0]


@pytest.mark.parametrize("mechanism", [JointOrPeel, Peeling, OneShotExponential])
def test_the_order_of_a_mechanism_that_has_one_is_dropped(mechanism):
    assert ask(mechanism=mechanism).items == BEST


def test_counts_are_listed_by_their_noisy_numbers():
    found = ask(noisy_counts=True)
    assert found.to_polars().columns == ["title", "count", "count_low", "count_high"]
    counts = found.to_polars()["count"].to_list()
    assert counts == sorted(counts, reverse=True)
    assert "None was asked for" in found.explain()


def test_it_comes_back_from_json_as_it_was(tmp_path):
    found = ask()
    assert json.loads(found.to_json())["ordered"] is False
    found.save(tmp_path / "top.json")
    again = sl.load(tmp_path / "top.json")
    assert again == found
    assert not again.ordered
    ordered = PUBLIC.top_k(5, epsilon=3.0, random=SeededBits(3))
    assert "ordered" not in json.loads(ordered.to_json())
    assert ordered.ordered


def test_each_group_is_a_set_of_its_own():
    rows = pl.concat([HISTOGRAM.with_columns(city=pl.lit(city)) for city in ("Oslo", "Bern")])
    grouped = sl.counts(
        rows,
        item="title",
        count="users",
        by="city",
        max_groups_per_user=1,
        public_items=sl.IN_TABLE,
    )
    found = grouped.top_k(5, epsilon=3.0, ordered=False, random=SeededBits(3))
    assert found.items == [(city, title) for city in ("Bern", "Oslo") for title in BEST]
    assert found.to_polars().columns == ["city", "title"]
    assert not found.group("Oslo").ordered


def test_pairs_with_public_items_have_it_too():
    rows = pl.DataFrame({"user": list(range(90)), "title": [*"aaabbbccd"] * 10})
    source = sl.pairs(rows, user="user", item="title", public_items=list("abcdxyz"))
    found = source.top_k(3, epsilon=5.0, ordered=False, random=SeededBits(1))
    assert found.items == ["a", "b", "c"]


def test_ledgers_find_ordered_lists_as_before():
    assert "ordered" not in sl.TopK(5).described()
    assert sl.TopK(5, ordered=False).described()["ordered"] is False


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (partial(PUBLIC.top_k, 5, epsilon=1.0, ordered=1), "ordered=1: must be True or False"),
        (
            partial(histogram().top_k, 5, epsilon=1.0, delta=1e-6, ordered=False),
            "ordered=False: a list without order names no more of the private items",
        ),
        (
            partial(PUBLIC.top_k, 5, epsilon=1.0, mechanism=SetOrPeel),
            "mechanism=SetOrPeel: it names a set, in no order; omit mechanism, or ask for",
        ),
        (lambda: diff(ask(), ask()), "a list without order has no ranks that could change"),
    ],
)
def test_what_is_refused(asked, message):
    with pytest.raises(sl.InputError) as refused:
        asked()
    assert message in str(refused.value)
