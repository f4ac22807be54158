"""A release says what it is of, wherever it is shown."""

import html
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from helpers.budgets import created
from helpers.refusals import refusal
from shortlist.release import About
from shortlist.release.loading import from_json
from shortlist.release.report import report
from shortlist.release.saving import named_after

ROWS = {"user": range(600), "item": ["a", "b"] * 300, "land": ["x", "y"] * 300}
ASK = {"epsilon": 1.0, "delta": 1e-6}
TITLE, NOTE = "Most held | <b>", "By the team; می\u200cخواهم."


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plays.budget"


GIVEN = About(
    dataset="plays & co",
    as_of="week 47",
    title=TITLE,
    note=NOTE,
    made_on=date(2026, 11, 22),
    version=sl.__version__,
)


def source(budget=None, **about):
    rows = pl.DataFrame(ROWS)
    return sl.pairs(rows, user="user", item="item", budget=budget, **about)


@pytest.fixture
def release():
    plays = source(dataset="plays & co", as_of="week 47")
    return plays.top_k(2, count_share=0.3, title=TITLE, note=NOTE, **ASK)


def test_it_is_in_the_release_and_in_its_parts(release):
    assert release.about == GIVEN
    grouped = source(as_of=date(2026, 11, 21)).top_k(1, by="land", title="x", **ASK)
    parts = [part.about for _, part in grouped.groups()]
    assert (
        parts
        == [About(as_of="2026-11-21", title="x", made_on=GIVEN.made_on, version=GIVEN.version)] * 2
    )


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_it_is_in_files(release, suffix, tmp_path):
    release.save(tmp_path / f"a.{suffix}")
    assert sl.load(tmp_path / f"a.{suffix}").about == GIVEN
    assert sl.load(tmp_path / f"a.{suffix}") == release


def test_it_is_in_all_that_people_see(release):
    lines = [
        TITLE,
        "top-k: 2 items of plays & co, as of week 47",
        f"Made on 2026-11-22 by shortlist {sl.__version__}",
    ]
    assert str(release).split("\n")[:3] == lines
    assert NOTE in str(release)
    for text in (
        release.to_markdown().replace("\\", ""),
        *map(unescaped, (release._repr_html_(), report(release))),
    ):
        for part in (TITLE, NOTE, "plays & co", "week 47", "2026-11-22"):
            assert part in text
    said = release.explain()
    assert said.startswith(f"{TITLE}\nData set: plays & co\nAs of: week 47\nMade on: 2026-11-22\n")
    assert NOTE in said


def unescaped(page):
    return html.unescape(page)


def test_a_chart_bears_it(release):
    drawn = release.plot().to_dict()
    words = json.dumps(drawn["title"], ensure_ascii=False)
    for part in (TITLE, "Of plays & co, as of week 47.", "Made on 2026-11-22"):
        assert part in words


def test_two_reports_without_titles_are_told_apart_at_their_tops():
    tops = []
    for dataset, as_of in (
        ("plays", "2026-11-15"),
        ("plays", "2026-11-22"),
        ("loans", "2026-11-22"),
    ):
        page = report(source(dataset=dataset, as_of=as_of).top_k(2, **ASK))
        tops.append(page[page.index("<h1>") : page.index("</header>")])
    assert len(set(tops)) == 3
    assert [
        f"users hold: {name}</bdi></h1>" in top
        for name, top in zip(("plays", "plays", "loans"), tops, strict=True)
    ] == [True] * 3


def test_its_short_form_says_of_which_data_and_when(release):
    assert repr(release).startswith(
        "<Release top-k: 2 items of plays & co, as of week 47, epsilon="
    )


def test_where_nothing_is_said_the_day_and_the_version_are():
    release = source().top_k(2, **ASK)
    assert release.about == About(made_on=date(2026, 11, 22), version=sl.__version__)
    assert str(release).startswith("top-k: 2 items\nMade on 2026-11-22 by shortlist ")


def test_a_plan_and_a_source_show_it():
    plays = source(dataset="plays", as_of="week 47")
    plan = plays.plan(sl.TopK(2), title="Most held", **ASK)
    assert plan.to_dict()["about"]["title"] == "Most held"
    assert plan.to_dict()["about"]["dataset"] == "plays"
    assert "plays, as of week 47" in plays._repr_html_()
    shown = plan._repr_html_()
    assert shown.startswith(
        "<div><p><b>Most held</b><br>top-k by GreedyOrAdaptive: a plan<br>of plays, as"
    )
    assert plan != plays.plan(sl.TopK(2), **ASK)


SOURCES = {
    "pairs": source,
    "counts": lambda **about: sl.counts(
        {"item": ["a"], "n": [1]}, item="item", count="n", public_items=sl.IN_TABLE, **about
    ),
    "counts in groups": lambda **about: sl.counts(
        pl.DataFrame({"item": ["a"], "n": [1], "by": ["x"]}),
        item="item", count="n", by="by", max_groups_per_user=1, public_items=sl.IN_TABLE, **about,
    ),
    "comparisons": lambda **about: sl.comparisons(
        {"w": ["a"], "l": ["b"]}, winner="w", loser="l", public_items=["a", "b"], **about
    ),
    "groups": lambda **about: source(**about).grouped("land"),
    "rebound": lambda **about: source(**about).with_max_items_per_user(3),
    "store": lambda **about: sl.store(sl.stores.MemoryStore(["a", "b"], [2, 1]), **about),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_takes_it(kind):
    made = SOURCES[kind](dataset="plays", as_of=date(2026, 11, 22))
    question = sl.Rank(1) if kind == "comparisons" else sl.TopK(1)
    delta = 1e-6 if kind in ("pairs", "groups", "rebound") else 0.0
    plan = made.plan(question, epsilon=1.0, delta=delta, note="x")
    assert plan.about == About(dataset="plays", as_of="2026-11-22", note="x")
    if kind not in ("groups", "rebound"):
        refusal(lambda: SOURCES[kind](as_of=""), "as_of=''")


@pytest.mark.parametrize(
    "text", ["", "  ", "a\nb", "a\tb", "\x1b[31m", "a\u202eb", "\u200b", "\ud800", 7, b"a"]
)
def test_what_cannot_be_read_in_one_line_is_refused(text, path):
    budget = created(path, epsilon=3.0, delta=1e-5)
    for name in ("dataset", "as_of"):
        refusal(lambda name=name: source(budget, **{name: text}), f"{name}=", "one line")
    for name in ("title", "note"):
        refusal(
            lambda name=name: source(budget).top_k(1, **{name: text}, **ASK), f"{name}=", "one line"
        )
    assert budget.standing().spent.first == 0


def test_what_is_too_long_is_refused_and_not_quoted():
    for name, most in (("title", 200), ("note", 1000)):
        source().plan(sl.TopK(1), **{name: "x" * most}, **ASK)
        said = refusal(
            lambda name=name, most=most: source().plan(
                sl.TopK(1), **{name: "x" * (most + 1)}, **ASK
            )
        )
        assert said == f"{name}: it may have {most:,} characters, and has {most + 1:,}; shorten it."


def test_a_data_set_is_that_of_its_budget(path):
    budget = created(path, epsilon=3.0, delta=1e-5, dataset="plays-2026")
    assert source(budget).domain(**ASK).about.dataset == "plays-2026"
    assert source(budget, dataset="plays-2026").domain(**ASK).about.dataset == "plays-2026"
    said = refusal(lambda: source(budget, dataset="plays"))
    assert said == (
        "dataset='plays': the budget is of \"plays-2026\"; name the data set as the budget does, "
        "or charge another budget."
    )


def test_a_copy_of_a_plan_is_not_charged_to_the_budget_of_another_data_set(path):
    budget = created(path, epsilon=3.0, delta=1e-5)
    plan = source(budget).plan(sl.Domain(), **ASK)
    other = replace(plan, about=About(dataset="loans"))
    refusal(other.run, "the budget is of")
    assert "It would be refused: dataset='loans'" in other.explain()
    assert budget.standing().spent.first == 0


def test_files_of_version_0_2_do_not_say(tmp_path):
    saved = Path(__file__).parents[1] / "saved" / "0.2.0"
    for path in (saved / "top-k.json", saved / "top-k-with-counts.parquet"):
        old = sl.load(path)
        assert old.about == About()
        assert str(old).split("\n")[:2] == ["top-k: 5 items", ""]
        old.save(tmp_path / path.name)
        assert sl.load(tmp_path / path.name) == old


@pytest.mark.parametrize(
    "wrong", [[], 7, {"title": 7}, {"title": ""}, {"made_on": "x"}, {"made_on": 7}, {"version": 7}]
)
def test_a_file_that_says_it_wrongly_is_refused(release, wrong, tmp_path):
    said = json.loads(release.to_json())
    assert from_json(json.dumps(said | {"about": {"title": "x"}})).about == About(title="x")
    (tmp_path / "a.json").write_text(json.dumps(said | {"about": wrong}))
    refusal(lambda: sl.load(tmp_path / "a.json"), "cannot load")


# --- names of files


def test_texts_stand_in_the_names_of_files():
    texts = {"dataset": "Größe 3, (neu)", "as_of": "2026-11-22T08:00:00+01:00", "title": None}
    path = named_after("{dataset}/top-{as_of}.csv", texts)
    assert path == "Größe 3, (neu)/top-2026-11-22T08:00:00+01:00.csv"
    assert named_after("a{b", texts) == "a{b"


@pytest.mark.parametrize(
    "text",
    [
        "..",
        "../x",
        ".x",
        "-x",
        "a/b",
        "a\\b",
        "/etc",
        "~",
        "a\0b",
        "a\nb",
        "$HOME",
        "*",
        "a?",
        "",
        "%2e",
        "a\u202eb",
    ],
)
def test_a_text_leads_to_no_other_folder(text):
    refusal(
        lambda: named_after("out/{as_of}/x.csv", {"as_of": text}),
        "cannot stand in the name of a file",
    )


@given(st.text(max_size=12) | st.text("./\\ -~a\0", max_size=5))
def test_whatever_is_taken_stays_in_its_folder_and_can_be_seen(text):
    try:
        path = Path(named_after("out/{title}.csv", {"title": text}))
    except sl.InputError:
        return
    assert (path.parent, path.name) == (Path("out"), f"{text}.csv")
    assert path.name.isprintable()
    assert path.name[0] not in "-."


def test_a_name_without_its_text_is_refused():
    texts = {"as_of": None, "title": "x"}
    assert "{as_of} stands for what was not given; give as_of" in refusal(
        lambda: named_after("{as_of}.csv", texts)
    )
    assert refusal(lambda: named_after("{asof}.csv", texts)).endswith("there are {as_of}, {title}.")
