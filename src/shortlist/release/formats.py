"""A release as JSON values, and as the bytes of a file: JSON, CSV, Parquet."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from shortlist.privacy import Cost
    from shortlist.release import Guarantee, Mechanism, Release

__all__ = ["SUFFIXES", "about", "as_json", "encoder", "plain", "records"]


def about(release: Release) -> dict[str, Any]:
    """Everything that a release says but its items, as JSON values."""
    rank, *columns = release.to_polars().columns
    scores = release.scores
    score = noise = None
    if scores is not None:
        score = columns.pop()
        noise = {"unit": scores.unit, "noise_sd": plain(scores.noise_sd)}
    return {
        "format": "shortlist.release",
        "version": 1,
        "question": release.question,
        "guarantee": _guarantee(release.guarantee),
        "mechanism": _named(release.mechanism),
        "columns": {"rank": rank, "items": columns, "score": score},
        "scores": noise,
    }


def records(release: Release) -> Iterator[dict[str, object]]:
    """The rows of `release.to_polars()` as JSON values."""
    for row in release.to_polars().iter_rows(named=True):
        yield {name: plain(value) for name, value in row.items()}


def as_json(release: Release) -> str:
    """The release as one JSON object: ASCII text with one item a line."""
    head = json.dumps(about(release), indent=2).removesuffix("\n}")
    lines = ",".join(f"\n    {json.dumps(record)}" for record in records(release))
    return f'{head},\n  "items": [{lines}\n  ]\n}}\n'


def plain(value: object) -> object:
    """The JSON value nearest to `value`; never fails, since the budget is spent by then.

    >>> plain({"day": date(2024, 2, 29), "threshold": math.inf, "split": (0.5, None)})
    {'day': '2024-02-29', 'threshold': 'inf', 'split': [0.5, None]}
    """
    if value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else str(value)


def _guarantee(guarantee: Guarantee) -> dict[str, object]:
    return {
        "epsilon": plain(guarantee.epsilon),
        "delta": plain(guarantee.delta),
        "cost": _named(guarantee.cost),
        "adjacency": guarantee.adjacency,
        "protects": guarantee.protects,
        "assumes": list(guarantee.assumes),
        "private": guarantee.private,
    }


def _named(value: Mechanism | Cost) -> dict[str, object]:
    return {"name": type(value).__name__, "parameters": plain(value.parameters())}


def _json(release: Release) -> bytes:
    return as_json(release).encode()


def _csv(release: Release) -> bytes:
    return release.to_polars().write_csv().encode()


def _parquet(release: Release) -> bytes:
    file = BytesIO()
    metadata = {"shortlist.release": json.dumps(about(release))}
    release.to_polars().write_parquet(file, metadata=metadata)
    return file.getvalue()


_ENCODERS: dict[str, Callable[[Release], bytes]] = {
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
SUFFIXES = tuple(_ENCODERS)


def encoder(path: str | os.PathLike[str]) -> Callable[[Release], bytes]:
    """What turns a release into the bytes of the file `path`, by its suffix in any case."""
    return _ENCODERS[Path(path).suffix.lower()]
