"""The columns of a release: which there are, their names and types, and how cells are written.

To add a column to a release, add an `AddedColumn` here: tables, files, displays and pages follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.release.readable import intact, without_idle_digits

if TYPE_CHECKING:
    import polars as pl

    from shortlist.release.release import Release

_TYPES_OF_ITEMS = (
    "String", "Date",
    "Int8", "Int16", "Int32", "Int64", "Int128",
    "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
)  # fmt: skip
_DATETIME = re.compile(r"Datetime\[(ms|us|ns)(?:, ([\w/+:-]+))?\]")


@dataclass(frozen=True)
class AddedColumn:
    """A column that a release has beside those of its items.

    Attributes:
        key: What a file calls it, under "columns".
        dtype: The name of its type in Polars.
        filled: Its heading and a value for each item; None where a release has no such column.
        cells: Its values as people read them.
        mark: The class of its cells in the page of a report: "n" for numbers, and a letter.
    """

    key: str
    dtype: str
    filled: Callable[[Release], tuple[str, Iterable[object]] | None]
    cells: Callable[[Release, Sequence[Any]], list[str]]
    mark: str

    def polars_type(self) -> pl.DataType:
        import polars as pl

        dtype: pl.DataType = getattr(pl, self.dtype)()
        return dtype


def _ranks(release: Release) -> tuple[str, list[int]]:
    return "rank", release.ranks


def _scores(release: Release) -> tuple[str, list[float]] | None:
    return None if release.scores is None else (release.scores.heading, list(release.scores))


def _cells_of_scores(release: Release, values: Sequence[float]) -> list[str]:
    assert release.scores is not None  # noqa: S101 - there is no such column without them
    return without_idle_digits(values, release.scores.noise_sd)


RANK = AddedColumn("rank", "UInt32", _ranks, lambda _, ranks: list(map(str, ranks)), mark="n r")
SCORE = AddedColumn("score", "Float64", _scores, _cells_of_scores, mark="n s")
BEFORE_ITEMS = (RANK,)
BEHIND_ITEMS = (SCORE,)


class FilledColumn(NamedTuple):
    """One column of a release, filled; `added` is None for those of groups and items."""

    name: str
    values: pl.Series
    added: AddedColumn | None

    @property
    def is_numeric(self) -> bool:
        return self.values.dtype.is_numeric()

    @property
    def mark(self) -> str:
        """The class of its cells in the page of a report."""
        return self.added.mark if self.added else "n" * self.is_numeric

    def cells(self, release: Release, first: int, *, cut: bool = False) -> list[str]:
        """The first values as people read them; items and groups cut where they are very long."""
        values = self.values.head(first).to_list()
        if self.added is not None:
            return self.added.cells(release, values)
        return [intact(value, cut=cut) for value in values]


def columns_of(release: Release) -> list[FilledColumn]:
    """All columns in their order: those of groups, the ranks, the items, and the scores.

    An added column whose name an item column has gets "shortlist_" before its own until it is free.
    """
    held = [FilledColumn(series.name, series, None) for series in release._frame.get_columns()]  # noqa: SLF001 - of this room
    groups, items = held[: len(release.by)], held[len(release.by) :]
    taken = {column.name for column in held}
    return [
        *groups,
        *_filled(release, BEFORE_ITEMS, taken),
        *items,
        *_filled(release, BEHIND_ITEMS, taken),
    ]


def _filled(
    release: Release, several: Iterable[AddedColumn], taken: set[str]
) -> list[FilledColumn]:
    import polars as pl

    made = []
    for added in several:
        if (filled := added.filled(release)) is None:
            continue
        name, values = filled
        while name in taken:
            name = f"shortlist_{name}"
        taken.add(name)
        made.append(FilledColumn(name, pl.Series(name, values, dtype=added.polars_type()), added))
    return made


def table_of(release: Release) -> pl.DataFrame:
    """All columns as a frame."""
    import polars as pl

    return pl.DataFrame([column.values for column in columns_of(release)])


def described_columns(release: Release) -> dict[str, Any]:
    """Which columns there are, as a file says it."""
    columns = columns_of(release)
    names = {column.added: column.name for column in columns if column.added}
    items = [column for column in columns if column.added is None]
    return {
        **{added.key: names.get(added) for added in BEFORE_ITEMS},
        "items": [column.name for column in items],
        "types": {column.name: name_of_type(column.values.dtype) for column in items},
        **{added.key: names.get(added) for added in BEHIND_ITEMS},
        **({"groups": list(release.by)} if release.by else {}),
    }


def columns_in_file(described: Mapping[str, Any]) -> list[tuple[str, pl.DataType]]:
    """The names and types of all columns of a file, in their order, from what it says of them."""
    types, by = described["types"], len(described.get("groups", []))
    items = [(name, type_named(types[name])) for name in described["items"]]
    columns = [
        *items[:by],
        *_added_in_file(described, BEFORE_ITEMS),
        *items[by:],
        *_added_in_file(described, BEHIND_ITEMS),
    ]
    names = [name for name, _ in columns]
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError("each column has a name of its own.")
    return columns


def _added_in_file(
    described: Mapping[str, Any], several: Iterable[AddedColumn]
) -> list[tuple[str, pl.DataType]]:
    given = ((described.get(added.key), added.polars_type()) for added in several)
    return [(name, dtype) for name, dtype in given if name is not None]


def name_of_type(dtype: pl.DataType) -> str:
    """What a file calls it.

    >>> import polars as pl
    >>> name_of_type(pl.Int64()), name_of_type(pl.Datetime("us", "Europe/Paris"))
    ('Int64', 'Datetime[us, Europe/Paris]')
    """
    import polars as pl

    if not isinstance(dtype, pl.Datetime):
        return str(dtype)
    zone = f", {dtype.time_zone}" if dtype.time_zone else ""
    return f"Datetime[{dtype.time_unit}{zone}]"


def type_named(name: str) -> pl.DataType:
    """The type of that name.

    Raises:
        ValueError: There is none that the items of a question can have.
    """
    import polars as pl

    if found := _DATETIME.fullmatch(name):
        return pl.Datetime(found[1], found[2])  # type: ignore[arg-type]  # one of the three
    if name not in _TYPES_OF_ITEMS or not hasattr(pl, name):
        raise ValueError(f"no item is of type {name}.")
    dtype: pl.DataType = getattr(pl, name)()
    return dtype


def iso_texts(times: pl.Series) -> list[str]:
    """Datetimes as ISO texts with all their digits, of which Python's own have six at most."""
    return times.dt.to_string(_format(times.dtype)).to_list()


def series_of(values: list[object], dtype: pl.DataType) -> pl.Series:
    """The column that JSON values of that type stand for."""
    import polars as pl

    if not isinstance(dtype, pl.Datetime):
        if dtype == pl.Date:
            return pl.Series(values, dtype=pl.String).str.to_date("%Y-%m-%d")
        return pl.Series(values, dtype=dtype)
    unit = dtype.time_unit
    times = pl.Series(values, dtype=pl.String).str.to_datetime(_format(dtype), time_unit=unit)
    return times.dt.convert_time_zone(dtype.time_zone) if dtype.time_zone else times


def _format(dtype: pl.DataType) -> str:
    zone = "%:z" if getattr(dtype, "time_zone", None) else ""
    return f"%Y-%m-%dT%H:%M:%S%.f{zone}"
