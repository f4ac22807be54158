"""The comparison of mechanisms as a command: arguments to source to printed figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import shortlist
from shortlist.cli._options import Commands
from shortlist.cli._progress_line import showing_progress
from shortlist.cli.failure import releasing_nothing, warn
from shortlist.cli.limited_memory import prepare
from shortlist.cli.publishing import print_text, warnings_of_ours, without_panics
from shortlist.cli.request import Request
from shortlist.errors import InputError
from shortlist.runtime.phases import phase

if TYPE_CHECKING:
    from shortlist.questions import Question

__all__ = ["compared"]


def compared(  # noqa: PLR0913 - a command's options are its arguments
    *,
    question: str,
    k: list[int] | None,
    epsilon: list[float],
    delta: list[float] | None,
    max_items_per_user: list[int] | None,
    mechanism: list[str] | None,
    runs: int,
    as_csv: bool,
    not_private: bool,
    **table: Any,
) -> int:
    """Print what each mechanism leaves out; the exit status.

    Args:
        question: Its name.
        k: Several of each, to be compared.
        epsilon: As `k`.
        delta: As `k`.
        max_items_per_user: As `k`.
        mechanism: As `k`, by their names.
        runs: How often each mechanism answers.
        as_csv: Whether to print CSV.
        not_private: Whether the table may be looked at.
        table: What says which table is read.
    """
    from shortlist.mechanisms.registry import mechanism_named

    if not not_private:
        raise InputError(
            "this looks at the rows without noise", "add {not_private} if they may be looked at"
        )
    request = Request.made(Commands.called(question), table)
    request.require_sense()
    questions = _questions(question, k or [])
    prepare()
    with releasing_nothing(), showing_progress(), without_panics():
        with warnings_of_ours() as warned:
            source = request.source()
        usable = source.mechanisms_for(questions[0])
        with phase("Comparing"):
            found = shortlist.metrics.compare(
                source,
                questions,
                epsilon=epsilon,
                delta=delta or 0.0,
                max_items_per_user=max_items_per_user or None,
                mechanisms=[mechanism_named(name, usable) for name in mechanism or ()] or None,
                runs=runs,
            )
    for warning in warned():
        warn(warning)
    print_text(found.frame.write_csv() if as_csv else f"{found}\n")
    return 0


def _questions(name: str, several: list[int]) -> list[Question]:
    """One for each k, if there is any."""
    if name == shortlist.Domain.name:
        if several:
            raise InputError("{k}: a domain has no number of items", "omit it")
        return [shortlist.Domain()]
    if not several:
        raise InputError("{k} is needed for this question", "add {k=20}")
    kind = shortlist.TopK if name == shortlist.TopK.name else shortlist.HittingSet
    return [kind(k) for k in several]
