"""Epsilon and delta in words: one place, and its borders."""

import re
from dataclasses import replace
from math import nextafter
from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from shortlist.mechanisms import Peeling
from shortlist.privacy.guarantee import Guarantee
from shortlist.release import Release
from shortlist.release.rendering import text
from shortlist.release.sheet import sheet
from shortlist.strength import SCALE, Strength, strength

STRONG, MODERATE, WEAK, HARDLY = Strength


@pytest.mark.parametrize(
    ("epsilon", "delta", "band"),
    [
        *((1e-9, 0.0, STRONG), (1.0, 0.0, STRONG), (1.0, 1e-5, STRONG), (1.001, 0.0, MODERATE)),
        *((3.0, 1e-6, MODERATE), (3.001, 1e-6, WEAK), (8.0, 1e-6, WEAK), (8.001, 1e-6, HARDLY)),
        *((1000.0, 0.0, HARDLY), (1.0, 1.01e-5, MODERATE), (0.1, 1e-4, MODERATE)),
        *((0.1, 1.01e-4, WEAK), (0.1, 1e-3, WEAK), (0.1, 1.01e-3, HARDLY), (2.0, 0.5, HARDLY)),
        *((5.0, 5e-5, WEAK), (2.0, 5e-4, WEAK), (nextafter(1, 2), 0.0, STRONG)),
    ],
)
def test_the_band_is_the_weaker_of_both(epsilon, delta, band):
    assert strength(epsilon, delta) is band


def released(epsilon, delta, **more):
    mechanism = Peeling(k=1, epsilon=1.0)
    guarantee = Guarantee(
        epsilon=epsilon,
        delta=delta,
        cost=mechanism.cost,
        adjacency=mechanism.adjacency,
        protects='all rows of any one "user"',
        assumes=(),
    )
    items = pl.DataFrame({"title": ["Emma"]})
    return Release(
        question="top-k",
        items=items,
        scores=None,
        guarantee=replace(guarantee, **more),
        mechanism=mechanism,
    )


REASSURING = re.compile(r"\blittle\b|hardly (tells|learn)|nearly the same|100\s%|almost nothing")


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(3.1, 1e-6), (8.0, 0.0), (8.1, 1e-6), (20.0, 0.0), (800.0, 0.0), (1.0, 0.01), (1.0, 0.999)],
)
def test_nothing_weak_is_told_to_be_safe(epsilon, delta):
    release = released(epsilon, delta)
    told = strength(epsilon, delta).described
    for said in (release.explain(), text(sheet(release)), release.to_markdown()):
        words = " ".join(said.split())
        assert told in words.lower()
        assert not REASSURING.search(words)


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (1.0, 1e-6, "Protection is strong: epsilon is at most 1. The list reveals little about"),
        (2.0, 1e-6, "Protection is moderate: epsilon is above 1. The list reveals something"),
        (5.0, 1e-6, "Protection is weak: epsilon is above 3. The list reveals much about"),
        (9.0, 1e-6, "This protects hardly at all: epsilon is above 8. In the worst case the list "),
        (1.0, 0.01, "This protects hardly at all: delta is above 0.001. In the worst case the"),
    ],
)
def test_each_band_has_its_words(epsilon, delta, said):
    assert said in " ".join(released(epsilon, delta).explain().split())
    assert f"{strength(epsilon, delta).described}: epsilon={epsilon}" in str(
        released(epsilon, delta)
    )


@pytest.mark.parametrize(
    ("epsilon", "share"), [(1.0, "73.2"), (3.0, "95.3"), (8.0, "99.97"), (7.0, "99.91")]
)
def test_a_bound_on_guesses_is_never_all_of_them(epsilon, share):
    words = " ".join(released(epsilon, 0.0).explain().replace("\xa0", " ").split())
    assert f"With it, up to {share} % may be." in words


def test_where_hardly_anybody_is_protected_no_number_comforts():
    words = " ".join(released(12.0, 0.0).explain().split())
    assert "With it, nearly all may be right." in words
    assert "Measured by epsilon, protection is strong up to 1," in words
    assert "thousands of times as likely" in words


def test_a_page_says_it_as_the_terminal_does():
    pytest.importorskip("vl_convert")
    from shortlist.release.report import report

    page = report(released(10.0, 1e-6))
    assert "<strong>This protects hardly at all: epsilon is above 8.</strong>" in page
    assert "protection is weak: epsilon=5.0" in report(released(5.0, 1e-6))


def test_a_plan_and_the_help_say_it_too(run):
    source = sl.pairs({"user": ["a"], "title": ["b"]}, user="user", item="title")
    with pytest.warns(sl.WeakPrivacyWarning):
        plan = source.plan(sl.TopK(1), epsilon=5.0, delta=1e-6)
    assert "delta = 1e-06: protection is weak, since epsilon is above 3." in plan.explain()
    out = run("top-k", "--help")[1]
    assert SCALE in " ".join(re.sub(r"[│╭╮╰╯─]", " ", out).split())


def test_the_terminal_names_what_people_ask_for_and_the_rest_is_explained():
    rows = {"user": [str(i) for i in range(500)], "title": ["Emma"] * 500}
    source = sl.pairs(rows, user="user", item="title")
    top = source.top_k(3, epsilon=1.0, delta=1e-6)
    shown = " ".join(str(top).split())
    assert "GreedyOrAdaptive: 3 items asked for; of each user at most 100 items count" in shown
    assert "choice_epsilon" not in shown
    assert "units_needed" not in shown
    explained = " ".join(top.explain().split())
    assert "All parameters: GreedyOrAdaptive: k=3, max_items_per_user=100, " in explained
    assert "choice_epsilon=0.02" in explained
    domain = source.domain(epsilon=1.0, delta=1e-6, count_share=0.3)
    shown = " ".join(str(domain).split())
    assert "of each user up to 1,000 items count; how many was chosen privately" in shown
    assert "0.3 of the budget for counts" in shown
    assert "max_items_per_user" not in shown
    one = source.domain(epsilon=1.0, delta=1e-6, mechanism=sl.mechanisms.WeightedGaussian)
    assert "of each user at most 100 items count" in " ".join(str(one).split())


@pytest.mark.parametrize("word", ["strong up to 1", "moderate up to 3", "weak up to 8"])
def test_the_readme_has_the_same_scale(word):
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert word in SCALE
    assert word in " ".join(readme.split())


@pytest.mark.parametrize("option", ["--epsilon=4", "--delta=2e-4"])
def test_the_shell_warns_from_the_weak_band_on(run, file, option):
    words = ("top-k", file, "--user", "user", "--item", "title", "-k", "1", "--dry-run")
    given = {"--epsilon": "1", "--delta": "1e-6"} | dict([option.split("=")])
    flags = [word for pair in given.items() for word in pair]
    assert run(*words, *flags)[0] == 0
    name, value = option.split("=")
    said = {"--epsilon": "protection is weak", "--delta": "one user in 5,000 may be"}[name]
    assert re.match(rf"shortlist: warning: {name} {float(value)}: {said}", run.warned)
    assert run(*words, "--epsilon", "3", "--delta", "1e-4")[2] == run.warned == ""


def test_a_delta_above_one_over_the_users_is_warned_of_before_anything_is_charged(run, file):
    words = ("top-k", file, "--user", "user", "--item", "title", "-k", "1", "--dry-run")
    asked = (*words, "--epsilon", "1", "--delta", "1e-5")
    assert run(*asked)[2] == ""
    assert run(*asked, "--users", "100000")[2] == ""
    assert run(*asked, "--users", "200000")[2] == ""
    assert run.warned == (
        "shortlist: warning: --delta 1e-05: one user in 100,000 may be published whole. "
        "Take one far below 1 / 200,000, such as 5e-07.\n"
    )
    asked = (*words, "--epsilon", "1", "--delta", "0.001", "--users", "20000")
    assert run(*asked)[0] == 0
    assert run.warned == (  # in one line, though two reasons hold
        "shortlist: warning: --delta 0.001: one user in 1,000 may be published whole. "
        "Take one far below 1 / 20,000, such as 5e-06.\n"
    )
    assert run(*asked[:-1], "0")[0] == 2


class Charged:
    def charge(self, plan):
        raise AssertionError(plan)


def test_every_source_takes_the_number_of_users(plays):
    rows = sl.pairs(plays, user="user", item="title", users=10**7, budget=Charged())
    counts = pl.DataFrame({"title": ["a"], "n": [3]})
    plays = plays.with_columns(country=pl.lit("x"))
    grouped = sl.pairs(plays, user="user", item="title", users=10**7).grouped("country")
    sources = [
        rows,
        grouped,
        rows.with_max_items_per_user(3),
        sl.counts(counts, item="title", count="n", users=10**7),
    ]
    for source in sources:
        with pytest.warns(sl.WeakPrivacyWarning, match="far below 1 / 10,000,000"):
            source.plan(sl.TopK(1), epsilon=1.0, delta=1e-6)
    store = sl.store(sl.stores.MemoryStore(range(5000), range(5000)), users=10**7)
    store.prepare()
    with pytest.warns(sl.WeakPrivacyWarning, match="far below 1 / 10,000,000"):
        store.plan(sl.TopK(1000), epsilon=1.0, delta=1e-6)
    with pytest.raises(sl.InputError, match="users=0"):
        sl.pairs(plays, user="user", item="title", users=0)
