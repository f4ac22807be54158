"""A release from the file that it was saved to. Nothing that stands in the file is ever run."""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist._version import __version__
from shortlist.algorithms.e_values import Associated
from shortlist.errors import InputError, Words, written
from shortlist.parameters import ShareOfUsers
from shortlist.privacy.guarantee import Guarantee
from shortlist.privacy.stored import cost_from
from shortlist.release._associations import is_named, rate_of
from shortlist.release._columns import (
    OF_ASSOCIATIONS,
    RANK,
    SCORE,
    USERS,
    columns_in_file,
    series_of,
)
from shortlist.release._others import Others
from shortlist.release.about import About
from shortlist.release.json_values import (
    FORMAT,
    OLDEST,
    VERSION,
    LoadedMechanism,
    share_of_users,
)
from shortlist.release.noisy_scores import Scores
from shortlist.release.release import GivenBefore, Release
from shortlist.release.saving import METADATA
from shortlist.runtime.processes import require_threads

if TYPE_CHECKING:
    import polars as pl

_T = TypeVar("_T")

# More than a list for people has. Of equal values, which a release has not, a few kilobytes of
# Parquet can hold billions: without a bound, such a file would take all memory.
_MOST_ITEMS = 2**24
_SLACK = 1 + 1e-9  # for the last digits of a conversion
_NUMBERS_WITHOUT_JSON = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def load(path: str | os.PathLike[str]) -> Release:
    """The release that was saved to `path` as JSON or Parquet: it equals the one that was saved.

    Its cost composes with others. Its mechanism has a name and parameters, and cannot be run
    again. What the file says is believed: nothing in it proves where it comes from.

    Args:
        path: A file whose name ends in `.json` or `.parquet`.

    Raises:
        InputError: It cannot be read, is not a release that shortlist saved, has another version
            of the format, or contradicts itself: a score that is no number, an item that is there
            twice, an epsilon that its cost does not imply. Or it is a Parquet file of more than
            16 million items.

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


def from_json(text: str | bytes) -> Release:
    """The release that a JSON text holds.

    Raises:
        InputError: It is no such text.
    """
    whole = _parsed(text)
    about = _known(whole)
    records, columns = whole["items"], columns_in_file(about["columns"])
    names = [name for name, _ in columns]
    if any(list(record) != names for record in records):
        raise InputError("its items have other columns than it says")
    return _release(
        about, [_column(name, [row[name] for row in records], dtype) for name, dtype in columns]
    )


def _column(name: str, held: list[Any], dtype: pl.DataType) -> pl.Series:
    """The column that JSON values stand for; a whole number is a float, too."""
    if dtype.is_float():
        held = [_of(float, value) for value in held]
    elif dtype.is_integer():
        held = [_of(int, value) for value in held]
    return series_of(held, dtype).alias(name)


def _parsed(text: str | bytes) -> Any:
    """The value of a JSON text, in which no name stands twice."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except InputError:
        raise
    except ValueError:
        raise InputError("it is not JSON") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two values of one name nobody could tell which holds."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("it says something twice, and so is damaged, or was changed by hand")
    return found


def _from_parquet(path: Path) -> Release:
    import polars as pl

    path.open("rb").close()  # the system's own reason, if there is one
    try:
        metadata = pl.read_parquet_metadata(path)
        rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        n_rows = rows.select(pl.len()).collect().item()  # the file says it: none is read
    except Exception:  # noqa: BLE001 - as above
        raise InputError("it is not a Parquet file") from None
    about = _known(_parsed(metadata.get(METADATA, "null")))
    if n_rows > _MOST_ITEMS:
        raise InputError(
            "it has more than {most} items",
            "read it as plain data",
            most=f"{_MOST_ITEMS:,}",
        )
    if list(rows.collect_schema().items()) != columns_in_file(about["columns"]):
        raise InputError("its columns have other types than it says")
    return _release(about, rows.collect().get_columns())


_READERS: dict[str, Callable[[Path], Release]] = {
    ".json": lambda path: from_json(path.read_bytes()),
    ".parquet": _from_parquet,
}


def _known(about: Any) -> dict[str, Any]:
    """What a file says of its release, if it is one of a version that is known here."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError("it is not a release that shortlist saved")
    version = about.get("version")
    if not isinstance(version, int) or version < OLDEST:
        raise InputError(
            "it was saved in version {version} of the format, which did not say the types of its "
            "columns",
            "read it as plain data",
            version=version,
        )
    if version > VERSION:
        raise InputError(
            "it was saved in version {version} of the format, by shortlist {theirs}",
            "this is shortlist {ours}, which knows version {known}. Install a newer one",
            version=version,
            theirs=about.get("library"),
            ours=__version__,
            known=VERSION,
        )
    return about


def _scores(noise: Mapping[str, Any], column: pl.Series) -> Scores:
    unit, noise_sd = _of(str, noise["unit"]), _of(float, _number(noise["noise_sd"]))
    shared = noise.get("shared_sd")
    shared_sd = None if shared is None else _of(float, _number(shared))
    if not (noise_sd > 0 and (shared_sd is None or shared_sd >= 0)):
        raise InputError("the noise of its scores has no size: a standard deviation is above 0")
    if column.null_count() or not column.is_finite().all():
        raise InputError("one of its scores is no finite number")
    return Scores(array("d", column.to_numpy()), unit=unit, noise_sd=noise_sd, shared_sd=shared_sd)


def _release(about: Mapping[str, Any], columns: list[pl.Series]) -> Release:
    import polars as pl

    frame, named = pl.DataFrame(columns), about["columns"]
    items, by = frame.select(_of(list, named["items"])), _of(list, named.get("groups", []))
    ranks = named[RANK.key]
    _require_items(items, by)
    if ranks is not None:
        _require_ranks(items, frame[_of(str, ranks)], by)
    mechanism = about["mechanism"]
    parameters = _of(dict, _number(mechanism["parameters"]))
    loaded = LoadedMechanism(_of(str, mechanism["name"]), parameters)
    noise, scores = about["scores"], named[SCORE.key]
    if (noise is None) != (scores is None):
        raise InputError("it has scores without their noise, or noise without scores")
    return Release(
        question=_of(str, about["question"]),
        items=items,
        scores=None if noise is None else _scores(noise, frame[scores]),
        guarantee=_guarantee(about["guarantee"]),
        mechanism=loaded,
        by=by,
        budget=_of(str, about.get("budget", "")),
        given_before=_given_before(about.get("given_before")),
        others=_others(about.get("others"), parameters),
        users=_users(frame, named.get(USERS.key), share_of_users(loaded)),
        cap=_cap(about.get("cap"), parameters),
        associations=_associations(frame, named, loaded),
        about=About.from_json(_of(dict, about.get("about", {}))),
        ordered=_of(bool, about.get("ordered", True)),
    )


def _require_items(items: pl.DataFrame, by: list[str]) -> None:
    """Refuse items that are none, or twice; and groups that are torn."""
    distinct = items.to_series().n_unique() if items.width == 1 else items.n_unique()
    if sum(items.null_count().row(0)) or distinct < items.height:
        raise InputError("an item in it is missing, or is there twice")
    if by and items.height and _runs(items, by).max() + 1 != items.select(by).n_unique():  # type: ignore[operator]  # a number
        raise InputError("its groups do not lie together")


def _require_ranks(items: pl.DataFrame, ranks: pl.Series, by: list[str]) -> None:
    """Refuse ranks that do not count, in each group from 1."""
    import polars as pl

    if by:
        each = pl.int_range(1, pl.len() + 1, dtype=pl.UInt32).over("run")
        counted = _runs(items, by).to_frame().select(each).to_series()
    else:
        counted = pl.int_range(1, items.height + 1, dtype=pl.UInt32, eager=True)
    if not counted.equals(ranks):
        raise InputError("its ranks are not 1, 2, 3 and so on")


def _runs(items: pl.DataFrame, by: list[str]) -> pl.Series:
    """The number of the group of each item, from 0."""
    import polars as pl

    return items.select(pl.struct(by).rle_id().alias("run")).to_series()


def _given_before(described: Any) -> GivenBefore | None:
    if described is None:
        return None
    return GivenBefore(
        _of(int, described["charge"]), date.fromisoformat(_of(str, described["day"]))
    )


def _others(described: Any, parameters: Mapping[str, object]) -> Others | None:
    if (described is None) == ("others_share" in parameters):
        raise InputError("it says what is not in the list unasked, or was asked and does not")
    return None if described is None else Others.from_json(_of(dict, described), parameters)


def _cap(chosen: Any, parameters: Mapping[str, object]) -> float | None:
    if chosen is None and "caps" not in parameters:
        return None
    cap = _of(float, chosen)
    if cap not in _of(list, parameters.get("caps")):
        raise InputError("its cap is none of those that one was chosen from")
    return cap


def _users(frame: pl.DataFrame, name: str | None, share: ShareOfUsers | None) -> list[int] | None:
    if (name is None) != (share is None):
        raise InputError("it tells shares of users unasked, or was asked and does not")
    if name is None:
        return None
    users = frame[name]
    if users.null_count() or (share is ShareOfUsers.STATED and users.min() < 1):  # type: ignore[operator]  # a number
        raise InputError("one of its numbers of users is missing, or is none")
    return users.to_list()


def _associations(
    frame: pl.DataFrame, named: Mapping[str, Any], mechanism: LoadedMechanism
) -> list[Associated] | None:
    """What it tells of the relation of items to a label, if that was asked."""
    told = [named.get(added.key) for added in OF_ASSOCIATIONS]
    if any(name is None for name in told) != (rate_of(mechanism) is None):
        raise InputError("it tells of relations to a label unasked, or was asked and does not")
    if None in told:
        return None
    is_in_answer, *columns = (frame[_of(str, name)] for name in told)
    if any(column.null_count() for column in columns):
        raise InputError("what it tells of an item is missing")
    found = [Associated(*row) for row in zip(*columns, strict=True)]
    if is_in_answer.to_list() != [is_named(mechanism, one) for one in found]:
        raise InputError("it names other items than its levels say")
    return found


def _guarantee(described: Mapping[str, Any]) -> Guarantee:
    epsilon, delta = _of(float, described["epsilon"]), _of(float, described["delta"])
    if not (0 < epsilon < math.inf and 0 <= delta < 1):
        raise InputError("its guarantee is none: epsilon must be above 0, and delta from 0 to 1")
    cost = cost_from(**_number(described["cost"]))
    if cost.delta(epsilon * _SLACK) > delta * _SLACK:
        raise InputError("its epsilon and delta promise more than its cost implies")
    return Guarantee(
        epsilon=epsilon,
        delta=delta,
        cost=cost,
        adjacency=_of(str, described["adjacency"]),
        protects=_of(str, described["protects"]),
        assumes=tuple(_of(str, sentence) for sentence in described["assumes"]),
        private=_of(bool, described["private"]),
    )


def _number(value: Any) -> Any:
    """The value, with floats where JSON has texts for them."""
    if isinstance(value, dict):
        return {name: _number(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_number(inner) for inner in value]
    return _NUMBERS_WITHOUT_JSON.get(value, value) if isinstance(value, str) else value


def _of(kind: type[_T], value: Any) -> _T:
    """The value, if it is of that kind; a whole number is a float, too."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise TypeError(f"must be of type {kind.__name__}.")
    return value
