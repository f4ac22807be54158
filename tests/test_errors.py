"""Refusals are made of parts, of which each face puts together its own words."""

import ast
import copy
import inspect
import pickle
import re

import pytest

import shortlist as sl
from helpers.raises import ROOT, raises, raises_in
from shortlist import mechanisms, questions, stores
from shortlist.cli._options import Commands, options_of
from shortlist.cli._shell import SHELL
from shortlist.errors import (
    SPENT,
    InputError,
    WeakPrivacyWarning,
    Words,
    in_quotes,
    named,
    spending,
)

PRIVATE = "Zz-private"


def test_the_parts_are_told_one_by_one():
    error = InputError("must be above {low}", "1 is usual", given={"epsilon": -1}, low=0)
    assert (error.argument, error.value) == ("epsilon", "-1")
    assert (error.rule, error.remedy) == ("must be above 0", "1 is usual")
    assert str(error) == "epsilon=-1: must be above 0; 1 is usual."
    assert repr(error) == "InputError('epsilon=-1: must be above 0; 1 is usual.')"
    assert error.rendered(SHELL) == "--epsilon -1: must be above 0; 1 is usual."


def test_what_is_known_of_a_real_refusal():
    with pytest.raises(InputError) as caught:
        sl.pairs({"user": ["a"], "item": ["b"]}, user="user", item="item").top_k(0, epsilon=1.0)
    error = caught.value
    assert (error.argument, error.value, error.spent) == ("k", "0", False)
    assert (error.rule, error.remedy) == ("must be a whole number, 1 or more", None)


def test_the_last_of_several_arguments_is_at_fault():
    place = named("data", "a.csv")
    error = InputError(
        "{place}: {user=} is not a column", place=place, given={"user": in_quotes("k")}
    )
    assert (error.argument, error.value) == ("user", '"k"')
    assert str(error) == 'data="a.csv": user="k" is not a column.'
    assert error.rendered(SHELL) == '"a.csv": --user "k" is not a column.'
    error = InputError("are too small", given={"epsilon": 1.0, "delta": 1e-9})
    assert str(error) == "epsilon=1.0, delta=1e-09: are too small."
    assert InputError("it fails").argument is InputError("it fails").value is None


def test_an_argument_whose_value_is_not_shown():
    error = InputError("everybody knows these", given={"public_items": ...})
    assert (error.argument, error.value) == ("public_items", None)
    assert str(error) == "public_items: everybody knows these."


@pytest.mark.parametrize(
    ("template", "python", "shell"),
    [
        ("give {public_items}", "give public_items", "give --public-items"),
        ("give {public_items=...}", "give public_items", "give --public-items FILE"),
        ("add {delta=1e-6}", "add delta=1e-6", "add --delta 1e-6"),
        ("{public_items=IN_TABLE}", "public_items=IN_TABLE", "--public-items-in-table"),
        ("give {sl.IN_TABLE}", "give sl.IN_TABLE", "give --public-items-in-table"),
        ("by {sl.pairs} or {sl.counts}", "by sl.pairs or sl.counts", "by --user or --count"),
        ("{OneShotLaplace}", "OneShotLaplace", "one-shot-laplace"),
        ("{hitting_set}, {top_k}", "hitting_set, top_k", "hitting-set, top-k"),
        ("or {overwrite=True}", "or overwrite=True", "or --overwrite"),
        ("{k} of {data}", "k of data", "-k of FILE"),
        ("{or_prepare}run it", "create it by prepare(), or run it", "run it"),
    ],
)  # fmt: skip
def test_each_face_has_its_own_words(template, python, shell):
    assert str(Words(template)) == python
    assert Words(template).rendered(SHELL) == shell


@pytest.mark.parametrize("text", ["{public_items}", "{k=}", "public_items", "Peeling", "{"])
def test_what_a_caller_wrote_is_never_a_reference(text):
    given = {"user": in_quotes(text), "mechanism": text}
    error = InputError("{user=} and {what}", "not {what}", given=given, what=text)
    for face, option in ((str, "mechanism="), (lambda e: e.rendered(SHELL), "--mechanism ")):
        said = face(error)
        assert said.startswith(f"{option}{text!r}: ")
        assert said.count(text) == 4
    assert named("user", text).rendered(SHELL) == f'--user "{text}"'


def test_classes_are_told_as_each_face_calls_them():
    error = InputError(
        "is not {other}", given={"mechanism": mechanisms.Peeling}, other=mechanisms.Joint
    )
    assert str(error) == "mechanism=Peeling: is not Joint."
    assert error.rendered(SHELL) == "--mechanism peeling: is not joint."


def test_a_refusal_after_reading_says_so_as_a_part():
    for rule, remedy, said in (
        ("it fails", None, f"it fails. {SPENT}"),
        ("it fails", "fix it", f"it fails; fix it. {SPENT}"),
        ("it fails", "Fix it", f"it fails. Fix it. {SPENT}"),
        ("it fails", "run SELECT 1;", f"it fails. {SPENT} Run SELECT 1;"),  # is copied
        ("no table", 'Did you mean "t"?', f'no table. Did you mean "t"? {SPENT}'),
    ):
        with pytest.raises(InputError) as caught, spending(), spending():
            raise InputError(rule, remedy)
        assert caught.value.spent
        assert str(caught.value) == said
        assert caught.value.rendered(SHELL) == said
        assert (caught.value.rule, caught.value.remedy) == (rule, remedy)


@pytest.mark.parametrize("kind", [InputError, WeakPrivacyWarning])
def test_they_can_be_copied_and_sent(kind):
    error = kind(
        "{Peeling} fails", "give {x}", given={"k": 3, "mechanism": int}, x=named("data", "a")
    )
    error.add_note("a note")
    error.spent = True
    for other in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301
        assert type(other) is kind
        assert (str(other), other.rendered(SHELL)) == (str(error), error.rendered(SHELL))
        assert (other.argument, other.rule, other.remedy) == (
            "mechanism",
            "Peeling fails",
            error.remedy,
        )
        assert other.__notes__ == ["a note"]


class Sly:
    def __repr__(self):
        return PRIVATE

    __str__ = __repr__


@pytest.mark.parametrize(
    "value",
    [
        f"user,item\n{PRIVATE}\n", PRIVATE * 30, f"postgresql://me:{PRIVATE}@host/db",
        [PRIVATE], {PRIVATE: 1}, (PRIVATE,), PRIVATE.encode(), Sly(),
    ],
)  # fmt: skip
def test_no_part_holds_what_may_be_data(value):
    for given in (value, in_quotes(value)):
        error = InputError("is refused", "fix it", given={"data": given})
        parts = [
            str(error),
            repr(error),
            error.rendered(SHELL),
            error.args,
            error.value,
            error.rule,
        ]
        assert PRIVATE not in repr([*parts, getattr(error, "__notes__", None)])
        assert PRIVATE.encode() not in pickle.dumps(error)


ALL = raises()
IN_PYTHON = {
    "bounds", "metrics", "experiments", "audit", "privacy", "algorithms", "evidence", "draws",
    "expectations",
}  # fmt: skip
"""Rooms whose refusals the command never comes upon, or of parameters that it has not."""
ONLY_PYTHON = {
    *("path", "budget", "question", "random", "items", "counts", "order"),
    *("k_bar", "AddedNoise.GUMBEL"),
}
"""What Python alone has: arguments of classes and functions behind no option."""


def test_what_is_wrong_is_found():
    code = 'InputError(f"{x}"); InputError("give {no_such}", "{a}", given={"nor": 1}, a=1, b=2)'
    formatted, unknown = raises_in(ast.parse(code), "planning.py")
    assert not formatted.is_constant
    assert unknown.references - PYTHON_KNOWS == {"no_such", "nor"}
    assert SHELL.reference("no_such") == "no_such"
    assert (unknown.values, unknown.marks) == (["a", "b"], ["no_such", "a"])


def room(place):
    return place.split("/")[0].split(":")[0]


def in_file(raised):
    return raised.place.split(":")[0]


every_file = pytest.mark.parametrize("file", sorted({in_file(raised) for raised in ALL}))


def raised_in(file):
    return [raised for raised in ALL if in_file(raised) == file]


def test_there_are_many():
    assert sum(raised.builder == "InputError" for raised in ALL) > 180
    assert ROOT.name == "shortlist"


@every_file
def test_templates_stand_there_and_use_every_value(file):
    for raised in raised_in(file):
        # A template is no f-string and no variable: what is in it is trusted.
        assert raised.is_constant, raised.place
        shown = {mark.partition("=")[0].rstrip("!") for mark in raised.marks}
        assert set(raised.values) <= shown, raised.place
        if raised.builder != "Words":
            assert len(raised.templates) <= 4, raised.place
            assert not any(text.endswith(".") for text in raised.templates), raised.place


def parameters(*calls):
    return {name for call in calls for name in inspect.signature(call).parameters}


def python_knows():
    """Arguments, mechanisms, questions and public names, and the one phrase."""
    sources = [sl.pairs, sl.counts, sl.comparisons, sl.scores, sl.association, sl.store]
    owners = {inspect.get_annotations(source, eval_str=True)["return"] for source in sources}
    methods = [
        method
        for owner in {*owners, sl.Release}
        for name, method in inspect.getmembers(owner, callable)
        if not name.startswith("_")
    ]
    kinds = [getattr(mechanisms, name) for name in mechanisms.__all__]
    held = [getattr(stores, name) for name in stores.__all__]
    asked = [getattr(questions, name) for name in questions.__all__]
    return (
        parameters(
            *sources,
            sl.Budget,
            sl.Budget.create,
            sl.Series,
            sl.Series.create,
            sl.Series.next,
            sl.load,
            sl.days,
            *methods,
            *kinds,
            *filter(inspect.isclass, held),
        )
        | {f"sl.{name}" for name in sl.__all__}
        | {*mechanisms.__all__, "or_prepare", "give_a_relation", "several_columns"}
        | {f"sl.Budget.{name}" for name in vars(sl.Budget)}
        | {f"sl.{kind.__name__}.{one.name}" for kind in (sl.Reuse, sl.ShareOfUsers) for one in kind}
        | {f"sl.Series.{name}" for name in vars(sl.Series)}
        | {kind.method() for kind in asked if hasattr(kind, "name")}
    )


PYTHON_KNOWS = python_knows()
OPTIONS = {option.name for command in Commands.QUESTIONS for option in options_of(command)}


SAME = {"rank", "domain", "accounting"}  # the last as --option accounting=zcdp


@every_file
def test_every_reference_is_known_to_both_faces(file):
    if room(file) in IN_PYTHON:
        return
    known = OPTIONS | {"data"} if room(file) == "cli" else PYTHON_KNOWS
    for raised in raised_in(file):
        for name in raised.references - ONLY_PYTHON:
            assert name in known, f"Python has nothing of this name: {raised.place}"
            told = SHELL.reference(name)
            assert told != name or name in SAME, f"a shell has no word for it: {raised.place}"


PYTHONS = re.compile(r"\b[a-z]+_[a-z_]+\b|\bsl\.|\b[a-z_]+=(?!=)|\b(?:[A-Z][a-z]+){2,}\b")
SHELLS = re.compile(r"(?<!\w)--[a-z]|\b(?:top-k|hitting-set)\b")
NAMES = {"AddedNoise", "NumPy", "PostgreSQL", "NDJSON", "PyArrow", "WITHOUT ROWID", "sslmode"}


@every_file
def test_nothing_beside_the_references_is_of_one_face(file):
    """So that the words of each hold no spelling of the other's."""
    for raised, template in [(r, template) for r in raised_in(file) for template in r.templates]:
        bare = re.sub(r"\{[^{}]+\}", "…", template)
        assert not SHELLS.search(bare)
        if room(raised.place) not in IN_PYTHON and not set(raised.given) & ONLY_PYTHON:
            found = set(PYTHONS.findall(bare)) - NAMES
            assert not found or "shortlist." in bare or "functools.partial" in bare, found
