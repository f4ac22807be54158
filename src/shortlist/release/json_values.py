"""A release as JSON values: what it says, and its rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from shortlist._version import __version__
from shortlist.parameters import ShareOfUsers
from shortlist.privacy.stored import stored
from shortlist.release._associations import rate_of
from shortlist.release._columns import described_columns, iso_texts, table_of

if TYPE_CHECKING:
    import polars as pl

    from shortlist.mechanisms.mechanism import Mechanism
    from shortlist.privacy.guarantee import Guarantee
    from shortlist.release.release import Release

FORMAT = "shortlist.release"
VERSION = 4
OLDEST = 2  # which is read; 3 was that of what has groups, and neither knew ends of intervals

_T = TypeVar("_T")

AnyMechanism: TypeAlias = "Mechanism | LoadedMechanism"


@dataclass(frozen=True)
class LoadedMechanism:
    """The mechanism of a release that was loaded: its name and parameters, and nothing that runs.

    >>> LoadedMechanism("Peeling", {"k": 3}).parameters()
    {'k': 3}
    """

    name: str
    values: Mapping[str, object] = field(hash=False)

    def parameters(self) -> dict[str, object]:
        """All public parameters by name."""
        return dict(self.values)


def name_of(mechanism: AnyMechanism) -> str:
    """The name of its class."""
    return mechanism.name if isinstance(mechanism, LoadedMechanism) else type(mechanism).__name__


def asked_for(mechanism: AnyMechanism) -> int | None:
    """How many items the question asked for, or None where it named no number."""
    return None if rate_of(mechanism) is not None else _parameter(mechanism, "k")


def floor_of(mechanism: AnyMechanism) -> int | None:
    """How many users an item should have to be named, or None where no such floor was asked for."""
    return _parameter(mechanism, "min_users")


def share_of_users(mechanism: AnyMechanism) -> ShareOfUsers | None:
    """Of how many users counts are told as shares, or None where these were not asked for."""
    value = _parameter(mechanism, "share_of_users", str)
    return None if value is None else ShareOfUsers(value)


def _parameter(mechanism: AnyMechanism, name: str, kind: type[_T] = int) -> _T | None:  # type: ignore[assignment]  # the usual kind
    """Of the mechanism, or of the outermost that it wraps and that has it."""
    parameters: object = mechanism.parameters()
    while isinstance(parameters, Mapping):
        if isinstance(value := parameters.get(name), kind):
            return value
        parameters = parameters.get("selection")  # around which it is
    return None


def described_mechanism(mechanism: AnyMechanism) -> dict[str, Any]:
    """Its name and parameters as JSON values."""
    return {"name": name_of(mechanism), "parameters": json_value(mechanism.parameters())}


def described_guarantee(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as JSON values."""
    return {
        "epsilon": json_value(guarantee.epsilon),
        "delta": json_value(guarantee.delta),
        "cost": json_value(stored(guarantee.cost)),
        "adjacency": guarantee.adjacency,
        "protects": guarantee.protects,
        "assumes": list(guarantee.assumes),
        "private": guarantee.private,
    }


def json_value(value: object) -> object:
    """The JSON value nearest to `value`; never fails, since the budget is spent by then.

    >>> json_value({"day": date(2024, 2, 29), "threshold": math.inf, "split": (0.5, None)})
    {'day': '2024-02-29', 'threshold': 'inf', 'split': [0.5, None]}
    """
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {str(name): json_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else str(value)


def described(release: Release) -> dict[str, Any]:
    """Everything that a release says but its items, as JSON values."""
    scores, before = release.scores, release.given_before
    noise = None
    if scores is not None:
        noise = {"unit": scores.unit, "noise_sd": json_value(scores.noise_sd)}
        if scores.shared_sd is not None:
            noise["shared_sd"] = json_value(scores.shared_sd)
    return {
        "format": FORMAT,
        "version": VERSION,
        "library": __version__,
        "about": release.about.json_values(),
        "question": release.question,
        **({} if release.ordered else {"ordered": False}),
        "guarantee": described_guarantee(release.guarantee),
        "mechanism": described_mechanism(release.mechanism),
        "columns": described_columns(release),
        **({"budget": release.budget} if release.budget else {}),
        **({"given_before": json_value(vars(before))} if before else {}),
        "scores": noise,
        **({"others": release.others.json_values()} if release.others else {}),
        **({"cap": release.cap} if release.cap else {}),
    }


def records(release: Release) -> Iterator[dict[str, object]]:
    """The rows of `release.to_polars()` as JSON values."""
    return records_of(table_of(release))


def records_of(frame: pl.DataFrame) -> Iterator[dict[str, object]]:
    """The rows of a frame as JSON values."""
    for row in zip(*map(_json_values, frame.get_columns()), strict=True):
        yield dict(zip(frame.columns, row, strict=True))


def _json_values(column: pl.Series) -> Iterable[object]:
    import polars as pl

    if isinstance(column.dtype, pl.Datetime):
        return iso_texts(column)
    return map(json_value, column.to_list())


def as_json(release: Release) -> str:
    """The release as one JSON object: ASCII text with one item a line."""
    head = json.dumps(described(release), indent=2).removesuffix("\n}")
    lines = ",".join(f"\n    {json.dumps(record)}" for record in records(release))
    return f'{head},\n  "items": [{lines}\n  ]\n}}\n'
