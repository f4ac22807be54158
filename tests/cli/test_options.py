"""What the table of options says, as the command does it."""

import re
from fractions import Fraction

import pytest

from shortlist.cli._options import (
    OPTIONS,
    CommandOption,
    Commands,
    options_of,
)
from shortlist.cli._values import ItemsOfGroups

pytestmark = pytest.mark.usefixtures("plain_terminal")

BY_NAME = {option.name: option for option in options_of(Commands.TOP_K)}
VALUES = {str: "x", ItemsOfGroups: "own", int: "3", float: "0.2", Fraction: "1/52"}


def typed(name):
    option = BY_NAME[name]
    value = [] if option.is_flag else [VALUES[option.kind.made]]
    return value if option.is_argument else [option.in_shell, *value]


def refused(complaint, *names):
    asked = ["top-k", "--item", "a", "-k", 1]
    asked += [] if {"share", "epsilon"} & set(names) else ["--epsilon", 1]
    return complaint(*asked, *[word for name in names for word in typed(name)])


@pytest.mark.parametrize(("name", "other"), [(o.name, o.goes_with) for o in OPTIONS if o.goes_with])
def test_an_option_without_what_it_goes_with_is_refused(complaint, name, other):
    option, other = BY_NAME[name].in_shell, BY_NAME[other].in_shell
    assert refused(complaint, name) == f"{option} goes with {other}; give both, or omit it."


EXCLUDING = [(o.name, other) for o in BY_NAME.values() for other in o.not_with]


@pytest.mark.parametrize(("name", "other"), EXCLUDING)
def test_options_that_exclude_each_other_are_refused_with_the_reason(complaint, name, other):
    option = BY_NAME[name]
    rule = f"{option.in_shell} does not go with {BY_NAME[other].in_shell}: {option.not_with[other]}"
    assert refused(complaint, name, other) == f"{rule}; {option.otherwise}."


def test_groups_of_a_store_are_had_of_a_file(complaint):
    assert refused(complaint, "by", "store").endswith("; omit it, or give the table as a file.")


def test_each_name_is_one_thing_to_a_command():
    for command in Commands:
        names = [option.name for option in options_of(command)]
        assert len(names) == len(set(names)) > 0
        keys = [option.key for option in options_of(command)]
        assert len(keys) == len(set(keys))


def test_no_help_has_words_that_the_terminal_takes_for_markup():
    """Of [series] nothing is printed."""
    texts = [text for option in OPTIONS for text in option.help.values()]
    assert texts
    assert [text for text in texts if re.search(r"(?<!\\)\[[a-z#/@]", text)] == []


def test_an_option_is_a_setting_only_where_its_row_says_so():
    assert not CommandOption("new", OPTIONS[0].kind, help={}).settable


def test_only_flags_that_say_what_a_list_holds_are_settings():
    """What is typed cannot take it back: the others are meant for one answer."""
    flags = [o for question in Commands.QUESTIONS for o in options_of(question) if o.is_flag]
    settable = {option.key for option in flags if option.settable}
    assert settable == {"noisy-counts", "noisy-scores", "others"}


def test_nothing_that_lets_privacy_go_unseen_is_a_setting():
    lets_go = {"seed", "not-private", "public-items-in-table", "show-accesses", "contraction"}
    lets_go |= {"sensitivity", "direction"}
    assert lets_go <= {option.key for option in OPTIONS if option.less_private}
    assert not any(option.less_private and option.settable for option in OPTIONS)
