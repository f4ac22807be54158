"""A release as JSON values, and as the bytes of a file: JSON, CSV, Parquet, Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.release._types import name_of_type, texts
from shortlist.release.described import named, plain, promised
from shortlist.runtime.processes import require_threads

if TYPE_CHECKING:
    import os

    import polars as pl

    from shortlist.release import Release

__all__ = [
    "FORMAT",
    "GROUPED",
    "METADATA",
    "SUFFIXES",
    "VERSION",
    "about",
    "as_json",
    "encoder",
    "records",
]

FORMAT = "shortlist.release"
VERSION = 2
GROUPED = 3  # the version of what has groups, which older ones would take for damaged
METADATA = "shortlist.release"  # the key under which a Parquet file holds all but the items


def about(release: Release) -> dict[str, Any]:
    """Everything that a release says but its items, as JSON values."""
    from shortlist._version import __version__  # looks for the installed package

    frame, scores, before = release.to_polars(), release.scores, release.given_before
    columns = frame.columns
    rank = columns.pop(len(release.by))
    score = noise = None
    if scores is not None:
        score = columns.pop()
        noise = {"unit": scores.unit, "noise_sd": plain(scores.noise_sd)}
        if scores.shared_sd is not None:
            noise["shared_sd"] = plain(scores.shared_sd)
    types = {name: name_of_type(frame.schema[name]) for name in columns}
    return {
        "format": FORMAT,
        "version": GROUPED if release.by else VERSION,
        "library": __version__,
        "question": release.question,
        "guarantee": promised(release.guarantee),
        "mechanism": named(release.mechanism),
        "columns": {
            "rank": rank,
            "items": columns,
            "types": types,
            "score": score,
            **({"groups": list(release.by)} if release.by else {}),
        },
        **({"budget": release.budget} if release.budget else {}),
        **({"given_before": plain(vars(before))} if before else {}),
        "scores": noise,
    }


def records(release: Release) -> Iterator[dict[str, object]]:
    """The rows of `release.to_polars()` as JSON values."""
    frame = release.to_polars()
    for row in zip(*map(_values, frame.iter_columns()), strict=True):
        yield dict(zip(frame.columns, row, strict=True))


def _values(column: pl.Series) -> Iterable[object]:
    import polars as pl

    if isinstance(column.dtype, pl.Datetime):
        return texts(column)
    return map(plain, column.to_list())


def as_json(release: Release) -> str:
    """The release as one JSON object: ASCII text with one item a line."""
    head = json.dumps(about(release), indent=2).removesuffix("\n}")
    lines = ",".join(f"\n    {json.dumps(record)}" for record in records(release))
    return f'{head},\n  "items": [{lines}\n  ]\n}}\n'


def _parquet(release: Release) -> bytes:
    require_threads()
    file = BytesIO()
    metadata = {METADATA: json.dumps(about(release))}
    release.to_polars().write_parquet(file, metadata=metadata)
    return file.getvalue()


_ENCODERS: dict[str, Callable[[Release], bytes]] = {
    ".md": lambda release: release.to_markdown().encode(),
    ".json": lambda release: release.to_json().encode(),
    ".csv": lambda release: release.to_csv().encode(),
    ".parquet": _parquet,
}
SUFFIXES = tuple(_ENCODERS)


def encoder(path: str | os.PathLike[str]) -> Callable[[Release], bytes]:
    """What turns a release into the bytes of the file `path`, by its suffix in any case."""
    return _ENCODERS[Path(path).suffix.lower()]
