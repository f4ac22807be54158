"""The audit of some mechanisms or series, or of all, on as many processes as are given."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from inspect import isabstract
from multiprocessing import get_context
from typing import Any, cast

from shortlist.audit.audited_parameters import (
    Kind,
    real_settings,
    settings_of,
    settings_of_series,
)
from shortlist.audit.findings import Audit, Finding
from shortlist.audit.universes import (
    Look,
    PeriodGaussian,
    SeriesClass,
    WeeklyGaussian,
    WholeSeries,
)
from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.registry import every_mechanism, kebab, mechanism_named
from shortlist.mechanisms.wrappers import (
    ChosenCap,
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    NoisyOthers,
    NoisyReach,
    OfScores,
)

__all__ = ["Kind", "run"]

_WORTH_IT = 4  # settings for each process
_DELTA = 0.02  # what a larger one allows hides a loss, and what a smaller one allows is rarely seen
Asked = Kind | Mechanism | WholeSeries | str | None
Job = Callable[[], list[Finding]]
_FEW = partial(settings_of, quick=True)
_BESIDE: dict[Look, Callable[[Mechanism], bool]] = {
    Look.KNOWN_ITEMS: lambda instance: instance.takes_known_items,
    Look.AMOUNTS: lambda instance: instance.reads_unit,
}
"""What else a mechanism is looked at with, if it takes that."""
_WRAPPERS: dict[str, type[Mechanism]] = {
    kebab(kind): kind
    for kind in (
        NoisyCounts,
        NoisyClippedCounts,
        NoisyReach,
        NoisyOthers,
        ChosenCap,
        EachGroup,
        OfScores,
    )
}
_SERIES: dict[str, SeriesClass] = {kebab(kind): kind for kind in (WeeklyGaussian, PeriodGaussian)}


def run(
    mechanism: Asked = None,
    *,
    quick: bool = False,
    statistical: bool = False,
    processes: int = 1,
) -> Audit:
    """Check what mechanisms and series claim, by their code's exact output laws, or by samples.

    Args:
        mechanism: A class, a `functools.partial` of one with its options, an instance, or a name as
            the command takes it, also of a series: "weekly-gaussian" or "period-gaussian". None for
            all.
        quick: Few parameters and small universes, or few samples. Without it, these and more.
        statistical: By samples instead of exact laws.
        processes: How many. More than one are started afresh, so a script that asks for them does
            so under `if __name__ == "__main__"`.

    Raises:
        InputError: The mechanism is not known.

    A mechanism that decides by values that it tells is undecided by the exact instrument, which
    knows only in which cell each lies; the finding says so.

    >>> import shortlist as sl
    >>> audit = sl.audit.run(sl.mechanisms.Peeling, quick=True)
    >>> audit.holds
    True
    """
    series = list(_series(mechanism, quick=quick))
    jobs: list[Job] = []
    if mechanism is None or not series:
        jobs += (_by_samples if statistical else _exactly)(mechanism, quick=quick)
    jobs += (_series_by_samples if statistical else _series_exactly)(series, quick=quick)
    workers = min(processes, len(jobs) // _WORTH_IT)
    if workers <= 1:
        found = list(map(_done, jobs))
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(_done, jobs))
    findings = [finding for those in found for finding in those]
    return Audit.of(findings, "samples" if statistical else "pairs")


def _exactly(mechanism: Asked, *, quick: bool) -> list[Job]:
    from shortlist.audit.exact.far import audit_far, far_settings
    from shortlist.audit.exact.neighbouring_pairs import audit_exactly
    from shortlist.audit.transcripts.draw_by_draw import audit_by_transcript

    real = _instances(mechanism, partial(real_settings, quick=quick))
    more = [] if quick else _instances(mechanism, settings_of)
    far = [] if quick else _instances(mechanism, far_settings)
    jobs: list[Job] = [partial(audit_exactly, instance) for instance in more]
    jobs += [partial(audit_far, instance) for instance in far]
    few = list(_instances(mechanism, _FEW))
    jobs += [partial(audit_exactly, instance, quick=True) for instance in few]
    for at, takes in _BESIDE.items():
        jobs += [
            partial(audit_exactly, instance, quick=True, at=at) for instance in filter(takes, few)
        ]
    return jobs + [partial(audit_by_transcript, instance, quick=quick) for instance in real]


def _series(asked: Asked, *, quick: bool) -> Iterator[WholeSeries]:
    if isinstance(asked, WholeSeries):
        yield asked
        return
    for name, kind in _SERIES.items():
        if asked is None or asked in (name, kind):
            yield from settings_of_series(kind, quick=quick)


def _series_exactly(series: Sequence[WholeSeries], *, quick: bool) -> list[Job]:
    from shortlist.audit.exact.neighbouring_pairs import audit_exactly

    return [partial(audit_exactly, each, quick=quick) for each in series]


def _series_by_samples(series: Sequence[WholeSeries], *, quick: bool) -> list[Job]:
    """Of each kind, twelve runs of one: those of exact laws are of too few."""
    from shortlist.audit.samples.whole_questions import audit_question, of_series, sampled_series

    kinds = [kind for kind in _SERIES.values() if any(isinstance(each, kind) for each in series)]
    return [partial(audit_question, of_series(sampled_series(k)), quick=quick) for k in kinds]


def _by_samples(mechanism: Asked, *, quick: bool) -> list[Job]:
    """Each mechanism's samples in equal parts of its settings; questions too, if all is asked."""
    from shortlist.audit.samples.sampler import audit_by_samples
    from shortlist.audit.samples.whole_questions import QUESTIONS, audit_question

    instances = [_telling(instance, mechanism) for instance in _instances(mechanism, _FEW)]
    settings = Counter(map(type, instances))
    jobs: list[Job] = [
        partial(audit_by_samples, instance, quick=quick, settings=settings[type(instance)])
        for instance in instances
    ]
    questions = QUESTIONS if mechanism is None else ()
    return jobs + [partial(audit_question, question, quick=quick) for question in questions]


def _telling(instance: Mechanism, asked: Asked) -> Mechanism:
    """The instance with a delta that samples show more at, unless none was left open."""
    own = asked.keywords if isinstance(asked, partial) else {}
    given = isinstance(asked, Mechanism) or "delta" in own or instance.delta == 0
    if given or instance.audit_hints().inner is not None:  # which has a delta of its own
        return instance
    known: Any = instance
    telling: Mechanism = dataclasses.replace(known, delta=_DELTA)
    return telling


def _done(job: Job) -> list[Finding]:
    return job()


def _instances(
    mechanism: Asked, settings: Callable[[Kind], Iterator[Mechanism]]
) -> Iterator[Mechanism]:
    if isinstance(mechanism, Mechanism):
        yield mechanism
        return
    named = _named(mechanism) if isinstance(mechanism, str) else mechanism
    every: list[Kind] = [*every_mechanism(), *_WRAPPERS.values()]
    for kind in every if named is None else [_required(named)]:
        yield from settings(kind)


def _named(name: str) -> type[Mechanism]:
    return _WRAPPERS[name] if name in _WRAPPERS else mechanism_named(name)


def _required(kind: object) -> Kind:
    """Refuse what is no mechanism that can be built from the numbers of `settings`."""
    made: Any = kind.func if isinstance(kind, partial) else kind
    is_kind = isinstance(made, type) and issubclass(made, Mechanism) and not isabstract(made)
    if is_kind and isinstance(kind, partial):
        is_kind = not kind.args and kind.keywords.keys() <= set(made.fields())
    if not is_kind:
        raise InputError(
            "must be a mechanism's name, its class, a functools.partial of it with its parameters "
            "by name, an instance, or None for all",
            given={"mechanism": kind},
        )
    return cast("Kind", kind)
