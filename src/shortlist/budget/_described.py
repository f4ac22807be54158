"""What a ledger says of a plan: all of it is public, and enough to know the same plan again."""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING, Any

from shortlist._version import __version__
from shortlist.release.json_values import described_mechanism, json_value

if TYPE_CHECKING:
    from shortlist.plan import Plan

__all__ = ["described", "fingerprint"]


def described(plan: Plan) -> dict[str, Any]:
    """The question, the mechanism with all parameters, what was asked, and of which columns."""
    told = {
        "question": {"name": plan.question.name, **vars(plan.question)},
        "mechanism": described_mechanism(plan.mechanism),
        "asked": {"epsilon": plan.guarantee.epsilon, "delta": plan.mechanism.delta},
        "adjacency": plan.guarantee.adjacency,
        "protects": plan.guarantee.protects,
        "assumes": plan.guarantee.assumes,
        "data": {"engine": type(plan.engine).__name__, **plan.engine.about()},
    }
    return {name: json_value(value) for name, value in told.items()}


def fingerprint(plan: Plan, dataset: str, key: str) -> str:
    """What two plans share that ask the same of the same rows, by one version.

    The size of a file is hashed, too, which tells how many rows there are: without the key nobody
    can find it out by trying sizes. Of rows nothing is looked at: two frames in memory with the
    same columns are taken for one.
    """
    said = described(plan)
    for name in ("data", "files"):  # as they were typed: where they really are is in the identity
        said["data"].pop(name, None)
    whole = {
        "dataset": dataset,
        "library": __version__,
        "identity": json_value(plan.engine.identity()),
        **said,
    }
    text = json.dumps(whole, sort_keys=True, allow_nan=False)
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()
