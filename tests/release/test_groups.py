"""A release of groups: ranks within each, taken apart, shown, saved and loaded."""

import json

import pytest

import shortlist as sl
from helpers.refusals import MARKER, refusal
from helpers.releases import release
from shortlist.release import Scores

FRAME = {
    "country": ["CH", "CH", "FR", "FR", "FR"],
    "year": [1, 2, 1, 1, 1],
    "title": ["Emma", "Dune", "Emma", "Ulysses", "[b]"],
}
SCORES = Scores([3.0, 5.0, 4.0, 9.0, -1.0], unit="noisy clipped count", noise_sd=1.0)


def released(by=("country",), *, scores=SCORES):
    return release(FRAME, scores=scores, by=by)


def test_ranks_begin_anew_in_each_group():
    frame = released().to_polars()
    assert frame.columns == ["country", "rank", "year", "title", "clipped_count"]
    assert frame["rank"].to_list() == [1, 2, 1, 2, 3]
    assert released(["country", "year"]).ranks == [1, 1, 1, 2, 3]


def test_a_group_is_a_release_of_its_own():
    answer = released()
    part = answer.group("FR")
    assert part.by == ()
    assert part.items == [(1, "Emma"), (1, "Ulysses"), (1, "[b]")]
    assert list(part.scores) == [4.0, 9.0, -1.0]
    assert part.guarantee == answer.guarantee
    assert part.to_polars()["rank"].to_list() == [1, 2, 3]
    assert dict(answer.groups()) == {"CH": answer.group("CH"), "FR": part}


def test_a_group_of_several_columns_is_a_tuple():
    answer = released(["country", "year"])
    assert [group for group, _ in answer.groups()] == [("CH", 1), ("CH", 2), ("FR", 1)]
    assert answer.group("CH", 2).items == ["Dune"]


def test_a_group_that_is_not_there_is_not_quoted():
    message = refusal(lambda: released().group(MARKER), "no item of this group")
    assert MARKER not in message
    refusal(lambda: released().group("CH", 1), 'columns of groups are "country"')
    refusal(lambda: released(()).group("CH"), "this release has no groups; to ask in groups, give")
    assert list(released(()).groups()) == []


@pytest.mark.parametrize("by", [("title",), ("year",), ("country", "year", "title")])
def test_groups_are_the_first_columns_and_not_all(by):
    with pytest.raises(ValueError, match="first ones"):
        released(by)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("by", [("country",), ("country", "year")])
@pytest.mark.parametrize("scores", [SCORES, None])
def test_it_comes_back_from_its_file(tmp_path, suffix, by, scores):
    answer = released(by, scores=scores)
    path = tmp_path / f"answer{suffix}"
    answer.save(path)
    loaded = sl.load(path)
    assert loaded == answer
    assert loaded.by == by
    assert dict(loaded.groups()) == dict(answer.groups())
    assert loaded != released(())


def test_an_older_library_would_refuse_it_by_its_version():
    assert released().to_dict()["version"] == 4
    assert released(()).to_dict()["version"] == 4


def test_ranks_that_were_changed_by_hand_are_refused(tmp_path):
    path = tmp_path / "answer.json"
    told = released().to_dict()
    told["items"][2]["rank"] = 3
    path.write_text(json.dumps(told))
    refusal(lambda: sl.load(path), "ranks")


def test_it_says_how_many_groups_were_named():
    assert str(released()).startswith("top-k by country: 5 items in 2 groups\n")
    assert "5 items in 2 groups" in repr(released())
    assert "top-k by country: 5 items in 2 groups" in released()._repr_html_()
    assert "| country | rank | year | title | clipped\\_count |" in released().to_markdown()
