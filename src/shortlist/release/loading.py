"""A release from the file that it was saved to. Nothing that stands in the file is ever run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist._version import __version__
from shortlist.errors import InputError, Words, written
from shortlist.privacy.guarantee import Guarantee
from shortlist.privacy.stored import cost_from
from shortlist.processes import require_threads
from shortlist.release import Release, Scores
from shortlist.release._types import type_named, values
from shortlist.release.described import Described, GivenBefore
from shortlist.release.formats import FORMAT, GROUPED, METADATA, VERSION

if TYPE_CHECKING:
    import polars as pl

__all__ = ["from_json", "load"]

_T = TypeVar("_T")

_NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # that JSON has no word for


def load(path: str | os.PathLike[str]) -> Release:
    """The release that was saved to `path` as JSON or Parquet: it equals the one that was saved.

    Its cost composes with others. Its mechanism has a name and parameters, and cannot be run
    again. What the file says is believed: nothing in it proves where it comes from.

    Args:
        path: A file whose name ends in `.json` or `.parquet`.

    Raises:
        InputError: It cannot be read, is not a release that shortlist saved, or has another
            version of the format.

    >>> import polars as pl, shortlist as sl, tempfile
    >>> rows = pl.DataFrame({"user": range(500), "title": ["Emma", "Ulysses"] * 250})
    >>> release = sl.pairs(rows, user="user", item="title").domain(epsilon=1.0, delta=1e-6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save(f"{folder}/titles.json")
    ...     sl.load(f"{folder}/titles.json") == release
    True
    """
    require_threads()
    given = written(os.fspath(path))
    reader = _READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(
            "cannot load {path!}: a whole release is in a .json or .parquet file",
            ".csv and .md files have no types, and .csv has no guarantee either",
            given={"path": Words("{path}", path=given)},
        )
    try:
        return reader(Path(path))
    except OSError as error:
        problem = f"{error.strerror or 'it cannot be read'}."
    except InputError as error:
        problem = str(error)
    except Exception:  # noqa: BLE001 - whatever a library finds wrong with a file
        problem = "it is not a whole release: it is damaged, or was changed by hand."
    raise InputError(
        "cannot load {path!}: {problem}",
        given={"path": Words("{path}", path=given)},
        problem=problem,
    )


def _from_json(path: Path) -> Release:
    return from_json(path.read_bytes())


def from_json(text: str | bytes) -> Release:
    """The release that a JSON text holds.

    Raises:
        InputError: It is no such text.
    """
    try:
        whole = json.loads(text)
    except ValueError:
        raise InputError("it is not JSON") from None
    about = _known(whole)
    columns, records = about["columns"], whole["items"]
    names = [*columns["items"], *([columns["score"]] if columns["score"] else [])]
    names.insert(len(_groups(about)), columns["rank"])
    if any(list(record) != names for record in records):
        raise InputError("its items have other columns than it says")
    items = [
        values([record[name] for record in records], type_named(columns["types"][name])).alias(name)
        for name in columns["items"]
    ]
    return _release(
        about, [record[columns["rank"]] for record in records], items, _scores(about, records)
    )


def _from_parquet(path: Path) -> Release:
    import polars as pl

    path.open("rb").close()  # the system's own reason, if there is one
    try:
        metadata = pl.read_parquet_metadata(path)
    except Exception:  # noqa: BLE001 - as above
        raise InputError("it is not a Parquet file") from None
    about = _known(json.loads(metadata.get(METADATA, "null")))
    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    columns = about["columns"]
    items = [frame[name] for name in columns["items"]]
    for column in items:
        if column.dtype != type_named(columns["types"][column.name]):
            raise InputError("its columns have other types than it says")
    ranks = frame[columns["rank"]].to_list()
    return _release(about, ranks, items, _scores(about, frame.iter_rows(named=True)))


_READERS: dict[str, Callable[[Path], Release]] = {".json": _from_json, ".parquet": _from_parquet}


def _known(about: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the file holds
    """What a file says of its release, if it is one of a version that is known here."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError("it is not a release that shortlist saved")
    version = about.get("version")
    if not isinstance(version, int) or version < VERSION:
        raise InputError(
            "it was saved in version {version} of the format, which did not say the types of its "
            "columns",
            "read it as plain data",
            version=version,
        )
    if version > GROUPED:
        raise InputError(
            "it was saved in version {version} of the format, by shortlist {theirs}",
            "this is shortlist {ours}, which knows version {known}. Install a newer one",
            version=version,
            theirs=about.get("library"),
            ours=__version__,
            known=GROUPED,
        )
    return about


def _scores(about: Mapping[str, Any], records: Any) -> Scores | None:  # noqa: ANN401 - an iterable
    name, noise = about["columns"]["score"], about["scores"]
    if noise is None:
        return None
    unit, noise_sd = _of(str, noise["unit"]), _of(float, _number(noise["noise_sd"]))
    shared = noise.get("shared_sd")
    shared_sd = None if shared is None else _of(float, _number(shared))
    scores = [_of(float, record[name]) for record in records]
    return Scores(scores, unit=unit, noise_sd=noise_sd, shared_sd=shared_sd)


def _release(
    about: Mapping[str, Any], ranks: list[int], items: list[pl.Series], scores: Scores | None
) -> Release:
    import polars as pl

    mechanism = about["mechanism"]
    parameters = _of(dict, _number(mechanism["parameters"]))
    release = Release(
        question=_of(str, about["question"]),
        items=pl.DataFrame(items),
        scores=scores,
        guarantee=_guarantee(about["guarantee"]),
        mechanism=Described(_of(str, mechanism["name"]), parameters),
        by=_groups(about),
        budget=_of(str, about.get("budget", "")),
        given_before=_given_before(about.get("given_before")),
    )
    if ranks != release.ranks:
        raise InputError("its ranks are not 1, 2, 3 and so on")
    return release


def _groups(about: Mapping[str, Any]) -> list[str]:
    """The columns of groups, if there are any."""
    return _of(list, about["columns"].get("groups", []))


def _given_before(said: Any) -> GivenBefore | None:  # noqa: ANN401 - a JSON value
    """Which charge has paid for it, where it was given again."""
    if said is None:
        return None
    return GivenBefore(_of(int, said["charge"]), date.fromisoformat(_of(str, said["day"])))


def _guarantee(said: Mapping[str, Any]) -> Guarantee:
    epsilon, delta = _of(float, said["epsilon"]), _of(float, said["delta"])
    if not (0 < epsilon < math.inf and 0 <= delta < 1):
        raise InputError("its guarantee is none: epsilon must be above 0, and delta from 0 to 1")
    return Guarantee(
        epsilon=epsilon,
        delta=delta,
        cost=cost_from(**_number(said["cost"])),
        adjacency=_of(str, said["adjacency"]),
        protects=_of(str, said["protects"]),
        assumes=tuple(_of(str, sentence) for sentence in said["assumes"]),
        private=_of(bool, said["private"]),
    )


def _number(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    """The value, with floats where JSON has texts for them."""
    if isinstance(value, dict):
        return {name: _number(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_number(inner) for inner in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def _of(kind: type[_T], value: Any) -> _T:  # noqa: ANN401 - a JSON value
    """The value, if it is of that kind; a whole number is a float, too."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise TypeError(f"must be of type {kind.__name__}.")
    return value
