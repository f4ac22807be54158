"""What a ledger says of a plan: all of it is public, and enough to know the same plan again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shortlist._version import __version__
from shortlist.budget._chain import digest
from shortlist.release.described import named, plain

if TYPE_CHECKING:
    from shortlist.plan import Plan

__all__ = ["described", "fingerprint"]


def described(plan: Plan) -> dict[str, Any]:
    """The question, the mechanism with all parameters, what was asked, and of which columns."""
    told = {
        "question": {"name": plan.question.name, **vars(plan.question)},
        "mechanism": named(plan.mechanism),
        "asked": {"epsilon": plan.guarantee.epsilon, "delta": plan.mechanism.delta},
        "adjacency": plan.guarantee.adjacency,
        "protects": plan.guarantee.protects,
        "assumes": plan.guarantee.assumes,
        "data": {"engine": type(plan.engine).__name__, **plan.engine.about()},
    }
    return {name: plain(value) for name, value in told.items()}


def fingerprint(plan: Plan, dataset: str) -> str:
    """What two plans share that ask the same of one data set, by one version.

    Of rows nothing is looked at: two frames with the same columns are taken for one.
    """
    said = {"dataset": dataset, "library": __version__, **described(plan)}
    return digest(json.dumps(said, sort_keys=True, allow_nan=False))
