"""NOT private: what each mechanism leaves out of a table that may be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from typing import Any, TypeVar

from shortlist.draws import Draws, ExactDraws, Ints
from shortlist.draws.random_bits import Bits
from shortlist.engines import Engine
from shortlist.errors import InputError
from shortlist.evidence import Wants
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.registry import kind_and_options
from shortlist.metrics._measures import Measure, Truth, measuring, require_measured
from shortlist.metrics.trials import SETTINGS, Trials
from shortlist.parameters import require_count, require_delta
from shortlist.plan import Plan, bits_of, require_enough
from shortlist.questions import Question
from shortlist.runtime.processes import require_threads
from shortlist.sources.source import Source, require_question

_T = TypeVar("_T")
Compared = object | Iterable[object] | Mapping[str, object]
"""Mechanisms: one, several, or several by the name to show."""


def compare(
    source: Source,
    questions: Question | Iterable[Question],
    *,
    epsilon: float | Iterable[float],
    delta: float | Iterable[float] = 0.0,
    max_items_per_user: int | Iterable[int] | None = None,
    mechanisms: Compared | None = None,
    runs: int = 10,
    random: Bits | None = None,
) -> Trials:
    """NOT private: how good the answers of each mechanism are, at every setting asked for.

    This looks at the rows without noise. Use it on data that may be looked at: public or invented
    data, or your own before anything of it is promised to anyone. To choose epsilon, k or a bound
    by a sensitive table, and then publish from it, says something about its users that no
    guarantee covers.

    Every mechanism answers `runs` times, at every combination of the settings. Rows are read and
    grouped once. In each run the mechanisms that look at the same evidence get the same random
    subsets of users' items.

    What is measured, by question; less is better, but for items:
        TopK, Rank: `missing_mass`, `items` named, `l1`, `linf` and `relative`, as `top_k_l1` and
            its like have them; of `Rank` by numbers of wins.
        Domain: `missing_mass`, `items` named, and `largest_missed`, the share of the most frequent
            item that is not named.
        HittingSet: `missed_users`, `items` named, and `beyond_greedy`, how many more users are
            missed than by `greedy_hitting_set`.

    Args:
        source: What `shortlist.pairs`, `counts`, `comparisons` or `store` returns, without a
            budget: a budget is for data that may not be looked at.
        questions: One or several, such as `[TopK(k) for k in (10, 100)]`.
        epsilon: One or several.
        delta: One or several. A mechanism that is pure spends none of it, and its rows are the
            same for all.
        max_items_per_user: One or several bounds, in place of the source's; of `pairs` with
            private items. The rows of a mechanism that has no bound are the same for all.
        mechanisms: Classes of `shortlist.mechanisms`, or a `functools.partial` of one with its
            own options; or a dict of them by the name to show. By default all that answer the
            question from this source, the default one first; one that refuses a setting is left
            out there.
        runs: How often each mechanism answers at each setting.
        random: Where random bits come from: the operating system, unless this is a
            `shortlist.bits.SeededBits`, which lets a comparison be repeated.

    Raises:
        InputError: An argument cannot be used, or the source has a budget. Found before anything
            is read, unless k is more than the items that are `IN_TABLE`.

    >>> import polars as pl
    >>> import shortlist as sl
    >>> rows = pl.DataFrame({"user": range(500), "title": ["Emma", "Ulysses"] * 250})
    >>> source = sl.pairs(rows, user="user", item="title")
    >>> found = sl.metrics.compare(source, sl.Domain(), epsilon=[0.1, 1.0], delta=1e-6)
    >>> found.frame.filter(epsilon=1.0, mechanism="WeightedGaussian")["missing_mass"].item()
    0.0
    """
    require_count("runs", runs)
    bounds = None if max_items_per_user is None else _several(max_items_per_user)
    every = _plans(
        source, _several(questions), _several(epsilon), _several(delta), bounds, mechanisms
    )
    if not every:
        raise InputError("nothing is asked", "give at least one of each setting")
    if every[0].plan.budget is not None:
        raise InputError(
            "this source has one, and what is compared is not private: nothing would be charged",
            "if the rows may be looked at, build the source without it",
            given={"budget": ...},
        )
    if every[0].plan.engine.amounts is not None:
        raise InputError(
            "what is measured are numbers of users, and not amounts",
            "compare answers of the same source without it",
            given={"amount": ...},
        )
    if of := every[0].plan.about.together:
        # Which items of a user are paired is drawn at each look, and pairs are numbered by it.
        raise InputError(
            "what is missing from lists of pairs or triples is not measured",
            "compare answers about single items",
            given={"of": of},
        )
    require_threads()
    draws = ExactDraws(bits_of(random))
    return _measured(every, runs, draws)


def _measured(every: Sequence[ComparedPlan], runs: int, draws: Draws) -> Trials:
    engine = every[0].plan.engine
    for one in every:
        require_measured(one.plan.question)
    truth = Truth.of(engine, draws)
    measures: dict[Question, Measure] = {}
    for question in dict.fromkeys(one.plan.question for one in every):
        require_enough(question, truth.n_items)
        measures[question] = measuring(question, truth)
    rows = [row for run in range(runs) for row in _run(run, every, engine, measures, draws)]
    return Trials.of_rows(rows)


def _run(
    run: int,
    every: Sequence[ComparedPlan],
    engine: Engine,
    measures: dict[Question, Measure],
    draws: Draws,
) -> Iterator[dict[str, Any]]:
    found: dict[tuple[Question, Mechanism], dict[str, float]] = {}
    with _Evidence(engine, draws) as evidence:
        for one in every:
            question, mechanism = one.plan.question, one.plan.mechanism
            if (question, mechanism) not in found:
                positions = evidence.answered(mechanism)
                found[question, mechanism] = measures[question](positions)
            yield {**one.setting, "run": run, **found[question, mechanism]}


class _Evidence(ExitStack):
    """What an engine shows during one run: users' random subsets are drawn once for all."""

    def __init__(self, engine: Engine, draws: Draws) -> None:
        super().__init__()
        self._engine, self._draws = engine, draws
        self._bounded: dict[Wants, Any] = {}

    def answered(self, mechanism: Mechanism) -> Ints:
        wants = replace(mechanism.wants, show_from=None)  # one evidence for all of one bound
        if wants.bound is None:  # nothing is drawn, and what reads a store looks at it afresh
            with self._engine.show(wants, self._draws) as shown:
                return copy(mechanism).select(shown.evidence, self._draws).positions
        if wants not in self._bounded:
            shown = self.enter_context(self._engine.show(wants, self._draws))
            self._bounded[wants] = shown.evidence
        return copy(mechanism).select(self._bounded[wants], self._draws).positions


@dataclass(frozen=True)
class ComparedPlan:
    """A mechanism at one setting.

    Attributes:
        plan: What would answer.
        setting: The values of `SETTINGS`, as asked, by name.
    """

    plan: Plan
    setting: dict[str, Any]


def _several(values: _T | Iterable[_T]) -> list[_T]:
    single = isinstance(values, (str, bytes)) or not isinstance(values, Iterable)
    return [values] if single else list(values)  # type: ignore[list-item, arg-type]


def _plans(
    source: Source,
    questions: Sequence[Question],
    epsilons: Sequence[float],
    deltas: Sequence[float],
    bounds: Sequence[int] | None,
    mechanisms: Compared | None,
) -> list[ComparedPlan]:
    bounded = [source] if bounds is None else [source.with_max_items_per_user(b) for b in bounds]
    for question in questions:
        require_question(question)
    return [
        made
        for question, epsilon, delta, one in product(questions, epsilons, deltas, bounded)
        for made in _at(one, question, epsilon, delta, mechanisms)
    ]


def _at(
    source: Source, question: Question, epsilon: float, delta: float, mechanisms: Compared | None
) -> Iterator[ComparedPlan]:
    """All mechanisms at one setting; by default those that do not refuse it."""
    given = _usual(source, question) if mechanisms is None else _labelled(mechanisms)
    refusal: InputError | None = None
    made: list[ComparedPlan] = []
    for label, mechanism in given.items():
        try:
            plan = _planned(source, question, epsilon, delta, mechanism)
        except InputError as error:
            if mechanisms is not None:
                raise
            refusal = refusal or error
        else:
            made.append(_compared(plan, float(delta), label, source))
    if refusal is not None and not made:
        raise refusal
    yield from made


def _compared(plan: Plan, delta: float, label: str, source: Source) -> ComparedPlan:
    question, epsilon = plan.question, float(plan.mechanism.epsilon)
    bound = source.bounds_for(question).get("max_items_per_user")
    values = (_described(question), question.most_items, epsilon, delta, bound, label)
    return ComparedPlan(plan, dict(zip(SETTINGS, values, strict=True)))


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


def _labelled(mechanisms: Compared) -> dict[str, object]:
    if isinstance(mechanisms, Mapping):
        return dict(mechanisms)
    return {_label(mechanism): mechanism for mechanism in _several(mechanisms)}


def _label(mechanism: object) -> str:
    """A class by its name; a partial of one with its options."""
    if not isinstance(mechanism, partial):
        return getattr(mechanism, "__name__", repr(mechanism))
    options = ", ".join(f"{name}={_value(value)}" for name, value in mechanism.keywords.items())
    return f"{mechanism.func.__name__}({options})"


def _value(value: object) -> str:
    return str(getattr(value, "value", value))


def _described(question: Question) -> str:
    usual = {field.name: field.default for field in fields(question)}  # type: ignore[arg-type]
    given = {name: value for name, value in vars(question).items() if name != "k"}
    more = [f"{name}={value}" for name, value in given.items() if value != usual.get(name)]
    return ", ".join([question.name, *more])
