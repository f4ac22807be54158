"""The audit of some mechanisms, or of all, on as many processes as are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from shortlist.audit.findings import Finding
from shortlist.audit.report import Audit
from shortlist.audit.settings import settings_of
from shortlist.mechanisms.base import Mechanism
from shortlist.sources.kinds import every_mechanism, mechanism_named

__all__ = ["Kind", "run"]

_WORTH_IT = 4  # settings for each process
Kind = type[Mechanism] | partial[Mechanism]


def run(
    mechanism: Kind | Mechanism | str | None = None,
    *,
    quick: bool = False,
    statistical: bool = False,
    processes: int = 1,
) -> Audit:
    """Check what mechanisms claim, by their code's exact output laws, or by samples.

    Args:
        mechanism: A class, a `functools.partial` of one with its options, an instance, or a name as
            the command takes it; None for all.
        quick: Few parameters and small universes, or few samples. Without it, these and more.
        statistical: By samples instead of exact laws.
        processes: How many. More than one are started afresh, so a script that asks for them does
            so under `if __name__ == "__main__"`.

    Raises:
        InputError: The mechanism is not known.

    >>> import shortlist as sl
    >>> audit = sl.audit.run(sl.mechanisms.Peeling, quick=True)
    >>> audit.holds
    True
    """
    from shortlist.audit.exact import audit_exactly
    from shortlist.audit.sampled import audit_by_samples

    few = list(_instances(mechanism, few=True))
    if statistical:
        jobs = [partial(audit_by_samples, instance, quick=quick) for instance in few]
    else:
        more = [] if quick else _instances(mechanism, few=False)
        jobs = [partial(audit_exactly, instance) for instance in more]
        jobs += [partial(audit_exactly, instance, quick=True) for instance in few]
    workers = min(processes, len(jobs) // _WORTH_IT)
    if workers <= 1:
        found = list(map(_done, jobs))
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(_done, jobs))
    if statistical and mechanism is None:
        from shortlist.audit.questions import QUESTIONS, audit_question

        found.append([audit_question(question, quick=quick) for question in QUESTIONS])
    return Audit.of(finding for findings in found for finding in findings)


def _done(job: Callable[[], list[Finding]]) -> list[Finding]:
    return job()


def _instances(mechanism: Kind | Mechanism | str | None, *, few: bool) -> Iterator[Mechanism]:
    if isinstance(mechanism, Mechanism):
        yield mechanism
        return
    named = mechanism_named(mechanism) if isinstance(mechanism, str) else mechanism
    for kind in every_mechanism() if named is None else [named]:
        yield from settings_of(kind, quick=few)
