"""A release in plain words: those of its report, for a terminal."""

import html
import re
from dataclasses import replace

import polars as pl
import pytest

import shortlist as sl
from helpers.releases import GUARANTEE, HOSTILE, counted, release
from shortlist.bits import SeededBits
from shortlist.release._in_words import UNPROVEN, answers, identity, of_budget, title
from shortlist.release._promises import cost
from shortlist.release.noisy_scores import REACHED
from shortlist.release.report import report

ROWS = {"user": [*range(900)], "title": ["Emma", "Ulysses", "Dune"] * 300, "land": ["a", "b"] * 450}
GAMES = {"won": ["a", "b"] * 40, "lost": ["b", "c"] * 40}
SPENT = {"epsilon": 5.0, "delta": 1e-6}


@pytest.fixture(scope="module")
def releases():
    plays = sl.pairs(ROWS, user="user", item="title")
    games = sl.comparisons(GAMES, winner="won", loser="lost", public_items=sl.IN_TABLE)
    return [
        plays.top_k(2, **SPENT),
        plays.top_k(5, count_share=0.3, **SPENT),
        plays.top_k(2, by="land", **SPENT),
        plays.domain(**SPENT),
        plays.hitting_set(2, **SPENT),
        games.rank(2, epsilon=1.0),
        plays.plan(sl.TopK(2), **SPENT).run(SeededBits(1)),
        release(["Emma"], question="another"),
    ]


def words(text):
    return " ".join(text.split())


def test_the_words_are_those_of_the_report_and_fit(releases):
    for made in releases:
        page = words(html.unescape(re.sub(r"<[^>]+>", " ", report(made))))
        said = made.explain()
        assert all(len(line) <= 80 for line in said.split("\n"))
        facts = "".join(f"{label}: {text}\n" for label, text in identity(made))
        named = f"{len(made):,} item{'s' * (len(made) != 1)} named"
        assert said.startswith(f"{title(made)}\n{facts}{named}")
        assert all(
            f"<dt>{label}</dt><dd><bdi>{text}</bdi></dd>" in report(made)
            for label, text in identity(made)
        )
        for answer in answers(made):
            for text in (answer.question, *answer.paragraphs, *answer.points):
                assert words(text) in words(said)
                assert words(text) in page
        for text in (title(made), cost(made.guarantee, made.question), of_budget(made), UNPROVEN):
            assert text in words(said)
            assert text in page


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_copy_from_a_file_says_the_same(releases, tmp_path, suffix):
    for number, made in enumerate(releases):
        path = tmp_path / f"{number}.{suffix}"
        made.save(path)
        assert sl.load(path).explain() == made.explain()


def test_what_protects_nobody_is_said_in_capitals():
    plays = sl.pairs(ROWS, user="user", item="title")
    seeded = plays.plan(sl.TopK(2), **SPENT).run(SeededBits(1)).explain()
    assert seeded.split("\n\n")[1].startswith("NOT PRIVATE: THE NOISE CAME FROM A SEED. Nobody")
    assert "Nothing that adds up: it protects nobody." in seeded
    assert "costs as much again" not in seeded
    weak = release(["Emma"], scores=False, guarantee=replace(GUARANTEE, epsilon=50.0))
    assert weak.explain().split("\n\n")[1].startswith("THIS PROTECTS HARDLY AT ALL: EPSILON IS")
    assert "HARDLY" not in plays.top_k(2, **SPENT).explain()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "May it be published? It was made for that. Whoever is responsible for the data"),
        ({"epsilon": 5.0}, "May it be published? Protection is poor, so ask first. Whoever"),
        ({"epsilon": 50.0}, "May it be published? Protection is poor, so ask first. Whoever"),
        ({"private": False}, "May it be published? Not if the data are sensitive: nobody is"),
    ],
)
def test_who_decides_whether_it_is_published(changed, said):
    assert said in words(release(["Emma"], guarantee=replace(GUARANTEE, **changed)).explain())


def test_no_item_is_in_the_words():
    assert "Emma" not in release(["Emma"]).explain()
    assert all(c.isprintable() or c == "\n" for c in release(HOSTILE, unit=HOSTILE[0]).explain())


def test_noise_that_is_shared_is_shared_within_a_group():
    rows = {"g": ["a"] * 3 + ["b"] * 3, "item": ["x", "y", "z"] * 2, "n": [900, 800, 700] * 2}
    table = sl.counts(rows, item="item", count="n", by="g", max_groups_per_user=1)
    answer = table.top_k(3, epsilon=1.0, delta=1e-6, count_share=0.5)
    assert answer.scores.shared_sd is not None
    assert "added to all scores of a group alike" in " ".join(answer.explain().split())
    assert "the same for all counts of a group:" in str(answer)


@pytest.mark.parametrize("asked", [{}, {"noisy_counts": True}])
def test_where_fewer_came_out_it_says_what_twice_the_epsilon_would_need(asked):
    plays = sl.pairs(ROWS, user="user", item="title")
    made = plays.top_k(9, epsilon=1.0, delta=1e-6, **asked)
    assert len(made) == 3
    mechanism = made.mechanism.selection if asked else made.mechanism
    needed = [round(replace(mechanism, epsilon=n * mechanism.epsilon).threshold) for n in (1, 2, 3)]
    said = words(made.explain())
    assert f"would need about {needed[1]} users in the place of {needed[0]}, if each" in said
    assert f"with three times the epsilon, about {needed[2]}." in said
    assert needed[2] < needed[1] < 0.6 * needed[0]
    assert "For a full list ask for 3." in said
    full = words(plays.top_k(3, epsilon=1.0, delta=1e-6, **asked).explain())
    assert "twice the epsilon" not in full
    assert "twice the epsilon" not in words(release(["Emma"], k=2).explain())


def test_a_hitting_set_without_items_reaches_exactly_none():
    items = {"title": pl.Series([], dtype=pl.String)}
    none = counted(items, unit=REACHED, question="hitting-set")
    assert none.reached == (0, 0, 0)
    for told in (str(none), none.explain(), none.to_markdown()):
        assert "together about" not in told
        assert "Together the items reach" not in told
