"""What holds of every mechanism as a value: its parameters, its words, its proof."""

import dataclasses
import itertools
import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from helpers.enrolled import ALL, LISTED, USUAL, build, every
from shortlist.errors import InputError
from shortlist.mechanisms import AuditHints, Mechanism, Selection
from shortlist.mechanisms.mechanism import Accounting
from shortlist.parameters import GroupItems, Option, ShareOfUsers, Side, taken
from shortlist.release.json_values import json_value


def test_the_list_is_what_the_tests_enrol():
    assert len(ALL) >= 4
    options = {x for x in LISTED if isinstance(x, type) and issubclass(x, Option)}
    assert set(LISTED) - set(ALL) - options == {AuditHints, Mechanism, Selection}
    used = {takes.kind for m in ALL for takes in taken(m).values()}
    used -= {GroupItems, ShareOfUsers, Side}  # which a source and a question take
    assert options == {kind for kind in used if isinstance(kind, type) and issubclass(kind, Option)}


@every
def test_it_is_a_frozen_value(mechanism):
    one, same, other = build(mechanism), build(mechanism), build(mechanism, epsilon=2.0)
    assert one == same
    assert hash(one) == hash(same)
    one.parameters()  # computed values are no part of what it is
    assert one == same
    assert one != other
    for name in (*mechanism.fields(), *mechanism.derived):
        with pytest.raises(AttributeError):
            setattr(one, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.epsilon = 5.0
    assert f"epsilon={one.epsilon!r}" in repr(one)
    with pytest.raises(TypeError, match="positional"):
        mechanism(1)


BAD = {
    "epsilon": [0, 0.0, -1, -0.5, math.nan, math.inf, -math.inf, True, "1", None],
    "delta": [-1, -1e-9, 1, 1.0, 1.5, math.nan, math.inf, True, "0.1", None],
    "k": [0, -1, 1.5, 2.0, True, "3", math.nan, None],
    "max_items_per_user": [0, -1, 1.5, True, "3", math.inf, None],
    "max_comparisons_per_user": [0, -1, 1.5, True, "3", math.inf],
    "contraction": [-0.1, 1, 1.0, 1 - 1e-7, math.nan, math.inf, True, "0.5"],
    "degree": [0, -1, 1.5, True, "3", math.inf],
}


@every
def test_bad_parameters_are_refused_by_name_and_value(mechanism):
    for field in dataclasses.fields(mechanism):
        for value in BAD.get(field.name, []):
            if value is None and field.type.endswith("| None"):
                continue
            with pytest.raises(InputError, match=re.escape(f"{field.name}={value!r}")):
                build(mechanism, **{field.name: value})


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [(m, name) for m in ALL for name in m.fields() if name.endswith("_share")],
)
def test_shares_are_proper(mechanism, name):
    for value in (0, 1, -0.5, 1.5, math.nan, True, "0.5"):
        with pytest.raises(InputError, match=re.escape(f"{name}={value!r}")):
            mechanism(**{n: USUAL[n] for n in mechanism.fields() if n in USUAL}, **{name: value})


@every
def test_parameters_are_all_public_and_serialisable(mechanism):
    built = build(mechanism)
    parameters = built.parameters()
    assert json.loads(json.dumps(parameters, allow_nan=False)) == json_value(parameters)
    names = [*mechanism.fields(), *mechanism.derived]
    assert list(parameters) == [name for name in names if name not in built.idle]
    for field in dataclasses.fields(mechanism):
        if isinstance(field.default, Option):
            parameters[field.name] = type(field.default)(parameters[field.name])
    given = {name: parameters[name] for name in mechanism.fields() if name in parameters}
    assert mechanism(**given) == built


@pytest.mark.parametrize(
    ("mechanism", "field"),
    [(m, f) for m in ALL for f in dataclasses.fields(m) if isinstance(f.default, Option)],
)
def test_an_option_is_one_of_its_kind(mechanism, field):
    every = type(field.default)
    known = mechanism.accountings if every is Accounting else every
    for option in known:
        assert build(mechanism, **{field.name: option}) is not None
    for option in set(every) - set(known):
        refused = (
            f'{field.name}="{option.value}": {mechanism.__name__} cannot count its stages that way'
        )
        with pytest.raises(InputError, match=refused):
            build(mechanism, **{field.name: option})
    for value in ("largest", None, True, 1, Option):
        with pytest.raises(InputError, match=re.escape(f"{field.name}=")):
            build(mechanism, **{field.name: value})


NUMBERS = {
    "k": [np.int64(5), np.uint8(200)],
    "max_items_per_user": [np.int64(300), np.uint8(255)],
    "max_comparisons_per_user": [np.int64(300), np.uint8(255)],
    "degree": [np.int64(300), np.uint8(255)],
    "contraction": [np.float32(0.1), np.float64(0.1), np.int64(0), 0],
    "epsilon": [np.float32(0.1), np.float64(0.1), np.int64(1), 1, Fraction(1, 3)],
    "delta": [np.float32(1e-6), np.float64(1e-6), Fraction(1, 10**6)],
}


@pytest.mark.parametrize(
    ("mechanism", "name", "value"),
    [(m, n, value) for m in ALL for n in NUMBERS if n in m.fields() for value in NUMBERS[n]],
)
def test_a_number_of_another_library_is_as_good_as_ours_or_refused(mechanism, name, value):
    ours = {Fraction: float, int: int}.get(type(value)) or type(value.item())
    try:
        built = build(mechanism, **{name: value})
    except InputError as error:
        assert f"{name}=" in str(error)  # noqa: PT017 - refusing is one of two good ways
        return
    same = build(mechanism, **{name: ours(value)})
    assert built.cost == same.cost
    assert json.loads(json.dumps(built.parameters())) == json_value(same.parameters())
    assert built.explain() == same.explain()


@every
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1e-3, 1e-12), (50.0, 0.3)])
def test_it_explains_itself_in_plain_sentences(mechanism, epsilon, delta):
    sentences = build(mechanism, epsilon=epsilon, delta=delta).explain()
    assert sentences
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z0-9].*\.", sentence)
        assert not re.search(r"\b(nan|inf|None|array|float64)\b|[{}<>]", sentence)
        assert len(sentence) < 250


@every
def test_its_guarantee_and_source_are_named(mechanism):
    assert "Guarantee:" in mechanism.__doc__
    assert "Source:" in mechanism.__doc__


def test_all_pairs_of_mechanisms_differ():
    assert all(build(a) != build(b) for a, b in itertools.combinations(ALL, 2))
