"""The comparison of mechanisms as a command: arguments to source to printed figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shortlist.cli._progress import showing_progress
from shortlist.cli._publishing import print_text
from shortlist.cli.answer import warnings_of_ours, without_panics
from shortlist.cli.failure import releasing_nothing, warn
from shortlist.cli.memory import prepare
from shortlist.cli.request import Request
from shortlist.errors import InputError
from shortlist.progress import phase

if TYPE_CHECKING:
    from shortlist.questions import Question

__all__ = ["Comparing", "compared"]

_UNUSED: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 0.0,
    "max_items_per_user": None,
    "mechanism": None,
    "option": None,
    "output": None,
    "report": None,
    "overwrite": False,
    "form": None,
    "as_json": False,
    "dry_run": False,
    "seed": None,
    "budget": None,
    "reuse": False,
    "who": None,
    "dataset": None,
}
"""What a request has for one answer, and a comparison has not."""


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """The arguments of the command; `table` has those that say what is read."""

    question: str
    table: dict[str, Any]
    k: list[int]
    epsilon: list[float]
    delta: list[float]
    max_items_per_user: list[int]
    mechanism: list[str]
    runs: int
    as_csv: bool
    not_private: bool

    def questions(self) -> list[Question]:
        """One for each k, if there is any."""
        from shortlist.questions import Domain, HittingSet, TopK

        kinds = {TopK.name: TopK, HittingSet.name: HittingSet}
        kind = kinds.get(self.question)
        if (kind is None) == bool(self.k):
            needed = InputError("{k} is needed for this question", "add {k=20}")
            raise needed if kind else InputError("{k}: a domain has no number of items", "omit it")
        return [Domain()] if kind is None else [kind(k) for k in self.k]


def compared(asked: Comparing) -> int:
    """Print what each mechanism leaves out; the exit status."""
    from shortlist.mechanisms.registry import mechanism_named
    from shortlist.metrics import compare

    if not asked.not_private:
        raise InputError(
            "this looks at the rows without noise", "add {not_private} if they may be looked at"
        )
    request = Request(question=asked.question, **asked.table, **_UNUSED, not_private=True)
    request.require_sense()
    questions = asked.questions()
    prepare()
    with releasing_nothing(), showing_progress(), without_panics():
        with warnings_of_ours() as warned:
            source = request.source()
        usable = source.mechanisms_for(questions[0])
        with phase("Comparing"):
            found = compare(
                source,
                questions,
                epsilon=asked.epsilon,
                delta=asked.delta or 0.0,
                max_items_per_user=asked.max_items_per_user or None,
                mechanisms=[mechanism_named(name, usable) for name in asked.mechanism] or None,
                runs=asked.runs,
            )
    for warning in warned():
        warn(warning)
    print_text(found.frame.write_csv() if asked.as_csv else f"{found}\n")
    return 0
