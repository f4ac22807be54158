"""NOT private: what each mechanism leaves out of a table that may be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from typing import Any

from shortlist.draws import Draws, ExactDraws, Ints
from shortlist.draws.random_bits import Bits
from shortlist.engines import Engine
from shortlist.errors import InputError
from shortlist.evidence import Wants
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.metrics._cells import Asked, Cell, cells, several
from shortlist.metrics._measures import Measure, Truth, measuring
from shortlist.metrics.trials import Trials
from shortlist.parameters import require_count
from shortlist.plan import bits_of, require_enough
from shortlist.questions import Question
from shortlist.runtime.processes import require_threads
from shortlist.sources.source import Source

__all__ = ["compare"]


def compare(
    source: Source,
    questions: Question | Iterable[Question],
    *,
    epsilon: float | Iterable[float],
    delta: float | Iterable[float] = 0.0,
    max_items_per_user: int | Iterable[int] | None = None,
    mechanisms: Asked | None = None,
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
    bounds = None if max_items_per_user is None else several(max_items_per_user)
    asked = several(questions)
    every = cells(source, asked, several(epsilon), several(delta), bounds, mechanisms)
    if not every:
        raise InputError("nothing is asked", "give at least one of each setting")
    if every[0].plan.budget is not None:
        raise InputError(
            "this source has one, and what is compared is not private: nothing would be charged",
            "if the rows may be looked at, build the source without it",
            given={"budget": ...},
        )
    require_threads()
    draws = ExactDraws(bits_of(random))
    return _measured(every, runs, draws)


def _measured(every: Sequence[Cell], runs: int, draws: Draws) -> Trials:
    engine = every[0].plan.engine
    truth = Truth.of(engine, draws)
    measures: dict[Question, Measure] = {}
    for question in dict.fromkeys(cell.plan.question for cell in every):
        require_enough(question, truth.n_items)
        measures[question] = measuring(question, truth)
    rows = [row for run in range(runs) for row in _run(run, every, engine, measures, draws)]
    return Trials.of_rows(rows)


def _run(
    run: int,
    every: Sequence[Cell],
    engine: Engine,
    measures: dict[Question, Measure],
    draws: Draws,
) -> Iterator[dict[str, Any]]:
    """One row for each cell. What two cells have in common is drawn once."""
    found: dict[tuple[Question, Mechanism], dict[str, float]] = {}
    with _Evidence(engine, draws) as evidence:
        for cell in every:
            question, mechanism = cell.plan.question, cell.plan.mechanism
            if (question, mechanism) not in found:
                positions = evidence.answered(mechanism)
                found[question, mechanism] = measures[question](positions)
            yield {**cell.setting, "run": run, **found[question, mechanism]}


class _Evidence(ExitStack):
    """What an engine shows during one run: users' random subsets are drawn once for all."""

    def __init__(self, engine: Engine, draws: Draws) -> None:
        super().__init__()
        self._engine, self._draws = engine, draws
        self._bounded: dict[Wants, Any] = {}

    def answered(self, mechanism: Mechanism) -> Ints:
        """The positions that a mechanism selects."""
        wants = replace(mechanism.wants, show_from=None)  # one evidence for all of one bound
        if wants.bound is None:  # nothing is drawn, and what reads a store looks at it afresh
            with self._engine.show(wants, self._draws) as shown:
                return copy(mechanism).select(shown.evidence, self._draws).positions
        if wants not in self._bounded:
            shown = self.enter_context(self._engine.show(wants, self._draws))
            self._bounded[wants] = shown.evidence
        return copy(mechanism).select(self._bounded[wants], self._draws).positions
