"""Which mechanisms are compared at which settings: the plans of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, TypeVar

from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.registry import kind_and_options
from shortlist.parameters import require_delta
from shortlist.plan import Plan
from shortlist.questions import Question
from shortlist.sources.source import Source, require_question

__all__ = ["SETTINGS", "Asked", "Cell", "cells", "several"]

SETTINGS = ("question", "k", "epsilon", "delta", "max_items_per_user", "mechanism")
"""The columns of a table of figures that say what was asked."""

_T = TypeVar("_T")
Asked = object | Iterable[object] | Mapping[str, object]
"""Mechanisms: one, several, or several by the name to show."""


@dataclass(frozen=True)
class Cell:
    """A mechanism at one setting.

    Attributes:
        plan: What would answer.
        setting: The values of `SETTINGS`, as asked, by name.
    """

    plan: Plan
    setting: dict[str, Any]


def several(values: _T | Iterable[_T]) -> list[_T]:
    """One value or several, as a list."""
    single = isinstance(values, (str, bytes)) or not isinstance(values, Iterable)
    return [values] if single else list(values)  # type: ignore[list-item, arg-type]


def cells(
    source: Source,
    questions: Sequence[Question],
    epsilons: Sequence[float],
    deltas: Sequence[float],
    bounds: Sequence[int] | None,
    mechanisms: Asked | None,
) -> list[Cell]:
    """Every mechanism at every setting."""
    bounded = [source] if bounds is None else [source.with_max_items_per_user(b) for b in bounds]
    for question in questions:
        require_question(question)
    return [
        cell
        for question, epsilon, delta, one in product(questions, epsilons, deltas, bounded)
        for cell in _at(one, question, epsilon, delta, mechanisms)
    ]


def _at(
    source: Source, question: Question, epsilon: float, delta: float, mechanisms: Asked | None
) -> Iterator[Cell]:
    """All mechanisms at one setting; by default those that do not refuse it."""
    given = _usual(source, question) if mechanisms is None else _labelled(mechanisms)
    refusal: InputError | None = None
    made: list[Cell] = []
    for label, mechanism in given.items():
        try:
            plan = _planned(source, question, epsilon, delta, mechanism)
        except InputError as error:
            if mechanisms is not None:
                raise
            refusal = refusal or error
        else:
            made.append(_cell(plan, float(delta), label, source))
    if refusal is not None and not made:
        raise refusal
    yield from made


def _cell(plan: Plan, delta: float, label: str, source: Source) -> Cell:
    question, epsilon = plan.question, float(plan.mechanism.epsilon)
    bound = source.bounds_for(question).get("max_items_per_user")
    values = (_told(question), question.most_items, epsilon, delta, bound, label)
    return Cell(plan, dict(zip(SETTINGS, values, strict=True)))


def _planned(
    source: Source, question: Question, epsilon: float, delta: float, mechanism: object
) -> Plan:
    """The plan; a pure mechanism is asked for no delta, of which it would make no use."""
    kind, _ = kind_and_options(mechanism, source.mechanisms_for(question))
    used = require_delta("delta", delta) if "delta" in kind.fields() else 0.0
    return source.plan(question, epsilon=epsilon, delta=used, mechanism=mechanism)


def _usual(source: Source, question: Question) -> dict[str, type[Mechanism]]:
    """All that answer, the default first."""
    kinds = [source.default_for(question), *source.mechanisms_for(question)]
    return {kind.__name__: kind for kind in kinds}


def _labelled(mechanisms: Asked) -> dict[str, object]:
    if isinstance(mechanisms, Mapping):
        return dict(mechanisms)
    return {_label(mechanism): mechanism for mechanism in several(mechanisms)}


def _label(mechanism: object) -> str:
    """A class by its name; a partial of one with its options."""
    if not isinstance(mechanism, partial):
        return getattr(mechanism, "__name__", repr(mechanism))
    options = ", ".join(f"{name}={_value(value)}" for name, value in mechanism.keywords.items())
    return f"{mechanism.func.__name__}({options})"


def _value(value: object) -> str:
    return str(getattr(value, "value", value))


def _told(question: Question) -> str:
    """Its name, and what is asked beside k."""
    given = {name: value for name, value in vars(question).items() if name != "k"}
    more = [f"{name}={value}" for name, value in given.items() if value is not None]
    return ", ".join([question.name, *more])
