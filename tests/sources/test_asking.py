"""What every question takes is spelled once, and shown, checked and refused by each method."""

import inspect
import re
from pathlib import Path
from typing import get_type_hints

import pytest

import shortlist as sl
from shortlist.bits import SeededBits
from shortlist.sources._asking import PlanTerms, Terms

SOURCES = [sl.Comparisons, sl.Counts, sl.Groups, sl.ItemScores, sl.Pairs, sl.Store]
METHODS = {
    method.__qualname__: method
    for source in SOURCES
    for method in (
        getattr(source, name, None)
        for name in ("top_k", "bottom_k", "domain", "hitting_set", "user_counts", "rank")
    )
    if method is not None
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
ASK = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture
def plays():
    rows = {"user": list(range(900)), "title": ["Emma", "Emma", "Dune"] * 300}
    return sl.pairs(rows, user="user", item="title")


def shown(method):
    return {
        name: parameter
        for name, parameter in inspect.signature(method).parameters.items()
        if name in Terms.__annotations__
    }


@every_method
def test_every_question_shows_what_it_takes(method):
    spelled = shown(method)
    assert {name: one.annotation for name, one in spelled.items()} == get_type_hints(Terms)
    assert {one.kind for one in spelled.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert {name: one.default for name, one in spelled.items()} == {
        name: one.default for name, one in shown(sl.Source.ask).items()
    }
    assert all(
        one.kind is not one.VAR_KEYWORD for one in inspect.signature(method).parameters.values()
    )


def test_a_plan_takes_the_same_but_for_its_run():
    planned = shown(sl.Source.plan)
    assert list(planned) == list(get_type_hints(PlanTerms))
    assert {*shown(sl.Source.ask)} - {*planned} == {"random", "reuse"}


def test_it_is_said_what_each_of_them_means():
    for name in Terms.__annotations__:
        assert f"\n{' ' * 12}{name}: " in sl.Source.ask.__doc__


@every_method
def test_a_misspelled_one_is_refused_by_the_method_that_was_called(method):
    with pytest.raises(TypeError) as caught:
        method(None, epsilonn=1.0)
    told = f"{method.__qualname__}() got an unexpected keyword argument 'epsilonn'"
    assert str(caught.value) == told


def test_a_plan_refuses_what_belongs_to_a_run(plays):
    with pytest.raises(TypeError, match=r"Source.plan\(\) got an unexpected .* 'reuse'"):
        plays.plan(sl.TopK(1), epsilon=1.0, reuse=True)


def test_to_ask_is_to_plan_and_to_run(plays):
    asked = plays.ask(sl.TopK(2), **ASK, title="Titles", random=SeededBits(3))
    ran = plays.plan(sl.TopK(2), **ASK, title="Titles").run(SeededBits(3))
    by_name = plays.top_k(2, **ASK, title="Titles", random=SeededBits(3))
    assert asked == ran == by_name
    assert asked.about.title == "Titles"


CALLS = """
import shortlist as sl

def right(plays: sl.Pairs, groups: sl.Groups) -> list[sl.Release]:
    plays.plan(sl.TopK(2), epsilon=1.0, delta=1e-6, title="Titles")
    return [
        plays.top_k(2, noisy_counts=True, epsilon=1.0, share="1/52", reuse=sl.Reuse.SAME_DATA),
        plays.ask(sl.Domain(), epsilon=1.0, random=None),
        groups.hitting_set(2, epsilon=1.0, note=None),
    ]

def wrong(plays: sl.Pairs, groups: sl.Groups) -> None:
    plays.top_k(2, epsilon="1")  # wrong
    plays.top_k(2, epsilonn=1.0)  # wrong
    plays.ask(sl.Domain(), epsilon=1.0, reuse=1.0)  # wrong
    plays.plan(sl.TopK(2), delta=None)  # wrong
    plays.plan(sl.TopK(2), epsilon=1.0, reuse=True)  # wrong
    groups.hitting_set(2, note=7)  # wrong
"""


@pytest.mark.exhaustive
def test_a_type_checker_sees_what_callers_give(monkeypatch):
    """Slow, since it reads the whole package: from its cache, if there is one."""
    check = pytest.importorskip("mypy.api").run
    monkeypatch.setenv("MYPYPATH", str(Path(sl.__file__).parents[1]))
    options = ["--config-file=", "--strict", "--follow-imports=silent", "--no-pretty"]
    said, failed, _ = check([*options, "-c", CALLS])
    assert not failed
    found = {int(line) for line in re.findall(r"^<string>:(\d+): error", said, re.MULTILINE)}
    lines = enumerate(CALLS.split("\n"), start=1)
    assert found == {number for number, line in lines if line.endswith("# wrong")}, said
