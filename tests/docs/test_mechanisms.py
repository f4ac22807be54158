"""The page of mechanisms lists each with its own options, and its examples are understood."""

import dataclasses
import re
import shlex
from pathlib import Path

import pytest

from shortlist.cli._mechanism_options import mechanism_and_options, own_options
from shortlist.mechanisms.registry import every_mechanism, kebab

PAGE = (Path(__file__).parents[2] / "docs" / "mechanisms.md").read_text()
ROWS = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]
KINDS = {kind.__name__: kind for kind in every_mechanism()}


def options_listed():
    """Mechanism, option and example of each row of the second table."""
    name = None
    for row in (row for row in ROWS if len(row) == 4):
        named, option, _, example = (cell.strip().strip("`") for cell in row)
        name = named or name
        if name in KINDS:
            yield name, option, example


def test_every_mechanism_is_listed_once():
    listed = [row[0].strip(" `") for row in ROWS if len(row) == 3][1:]
    assert sorted(listed) == sorted(KINDS)


def test_every_option_is_listed():
    listed = [(name, option) for name, option, _ in options_listed()]
    assert set(listed) == {(name, option) for name in KINDS for option in own_options(KINDS[name])}
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(("name", "option", "example"), list(options_listed()))
def test_examples_are_understood(name, option, example):
    word, text = shlex.split(example)
    assert word == "--option"
    kind, options = mechanism_and_options(kebab(KINDS[name]), [text], {})
    assert kind is KINDS[name]
    assert list(options) == [option]
    needed = {f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING}
    needed |= {"delta"} if kind.discovers or kind.question.keeps_order else set()
    needed |= {"delta"} if "fdr" in needed else set()
    usual = {"k": 3, "n_items": 3, "epsilon": 0.1, "delta": 1e-6, "max_items_per_user": 10}
    usual |= {"fdr": 0.1}
    made = kind(**{name: usual[name] for name in needed}, **options)
    assert getattr(made, option) == options[option]


def test_defaults_are_told():
    for name, option, _ in options_listed():
        default = KINDS[name].__dataclass_fields__[option].default
        if isinstance(default, int | float):
            (row,) = re.findall(rf"\| `{option}` \| [^|]*; {default} \|", rows_of(name))
            assert row


def rows_of(name):
    """The rows of one mechanism in the second table."""
    table = PAGE[PAGE.index("## Their options") :]
    start = table.index(f"| `{name}` |")
    following = re.search(r"\n\| `[A-Z]", table[start + 3 :])
    return table[start : start + 3 + following.start()] if following else table[start:]
