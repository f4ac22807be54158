"""The columns of a release: which there are, their names and types, and how cells are written.

To add a column to a release, add an `AddedColumn` here: tables, files, displays and pages follow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.parameters import ShareOfUsers
from shortlist.questions import UserCounts
from shortlist.release._associations import difference_in_words, evidence_in_words, is_named
from shortlist.release.noisy_scores import AMOUNTS, REACHED, STATED, law_of_counts
from shortlist.release.readable import intact, with_commas, without_idle_digits

if TYPE_CHECKING:
    import polars as pl

    from shortlist.algorithms.e_values import Associated
    from shortlist.release._shares_of_users import Share
    from shortlist.release.noisy_scores import Scores
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

    Whether there is one, its name and its type follow from the plan: from the mechanism and the
    unit of its scores, and from nothing that was drawn.

    Attributes:
        key: What a file calls it, under "columns".
        filled: Its heading, a value for each item, and the name of their type in Polars; None where
            a release has no such column.
        cells: Its values as people read them.
        mark: The class of its cells in the page of a report: "n" for numbers, and a letter.
    """

    key: str
    filled: Callable[[Release], tuple[str, Iterable[object], str] | None]
    cells: Callable[[Release, Sequence[Any]], list[str]]
    mark: str


def names_items(release: Release) -> bool:
    """Whether it found the items, and did not only count those of a list."""
    return release.question != UserCounts.name


def is_ranked(release: Release) -> bool:
    """Whether the place of an item is part of the answer, and not only of what was asked."""
    return release.ordered and names_items(release)


def _ranks(release: Release) -> tuple[str, list[int], str] | None:
    return ("rank", release.ranks, "UInt32") if is_ranked(release) else None


def _scores(release: Release) -> tuple[str, list[Any], str] | None:
    scores = release.scores
    if scores is None:
        return None
    if scores.are_whole:
        return scores.heading, list(map(int, scores)), "Int64"
    return scores.heading, list(scores), "Float64"


def _lows(release: Release) -> tuple[str, list[float], str] | None:
    """The least numbers of users: of clipped counts, which are no larger, too."""
    scores, far = release.scores, reach_of_counts(release)
    if scores is None or far is None:
        return None
    return f"{_ended(scores)}_low", scores.ends(beyond=-far), _type_of_ends(scores)


def _type_of_ends(scores: Scores) -> str:
    return "Float64" if scores.are_stated or scores.are_amounts else "Int64"


def _ended(scores: Scores) -> str:
    """What has the ends: a number of users, also where the score is a clipped one."""
    return "count" if scores.are_clipped else scores.heading


def _highs(release: Release) -> tuple[str, list[float], str] | None:
    """The largest numbers of users; of clipped counts none follow."""
    scores, far = release.scores, reach_of_counts(release)
    if scores is None or far is None or scores.are_clipped:
        return None
    return f"{_ended(scores)}_high", scores.ends(beyond=far), _type_of_ends(scores)


def shares_of(release: Release) -> list[Share] | None:
    """Of each item, which share of users hold it; None where that was not asked for."""
    from shortlist.release._shares_of_users import NoisyShares, shares_of_stated

    scores, users, far = release.scores, release.users, reach_of_counts(release)
    law = law_of_counts(release.mechanism.parameters())
    if scores is None or users is None or far is None or law is None:
        return None
    if release.share_of_users is ShareOfUsers.STATED:
        return shares_of_stated(scores.values, users, far)
    noisy = NoisyShares(own_sd=scores.own_sd, shared_sd=scores.shared_sd or 0.0, law=law)
    return noisy.of(scores.values, users)


def _users(release: Release) -> tuple[str, Sequence[int], str] | None:
    return None if release.users is None else ("users", release.users, "Int64")


def _ends_of_shares(
    heading: str, end: Callable[[Share], float]
) -> Callable[[Release], tuple[str, Iterable[object], str] | None]:
    def filled(release: Release) -> tuple[str, Iterable[object], str] | None:
        shares = shares_of(release)
        return None if shares is None else (heading, list(map(end, shares)), "Float64")

    return filled


def _shares_in_words(release: Release) -> tuple[str, list[str], str] | None:
    """A share and both its ends in one column."""
    from shortlist.release._shares_of_users import in_percent

    shares = shares_of(release)
    return None if shares is None else ("share of users", in_percent(shares), "String")


def _best_ranks(release: Release) -> tuple[str, list[int], str] | None:
    ranks = possible_ranks_of(release)
    return None if ranks is None else ("rank_low", [low for low, _ in ranks], "UInt32")


def _worst_ranks(release: Release) -> tuple[str, list[int], str] | None:
    ranks = possible_ranks_of(release)
    return None if ranks is None else ("rank_high", [high for _, high in ranks], "UInt32")


def possible_ranks_of(release: Release) -> list[tuple[int, int]] | None:
    """Of each item among those listed, or among those of its group, by numbers of users.

    All of them hold together as often as is said, those of all groups.

    None where there are none, where a user may add less than 1 to some of them, where they are
    other scores, and where ranks are those of picks, or items were asked for in an order.
    """
    from shortlist.release._possible_ranks import often_in_each, possible_ranks

    scores, law = release.scores, law_of_counts(release.mechanism.parameters())
    if scores is None or reach_of_counts(release) is None or law is None:
        return None
    if scores.are_clipped or scores.unit in (REACHED, STATED, AMOUNTS) or not is_ranked(release):
        return None
    groups = [part.scores for _, part in release.groups()] if release.by else [scores]
    parts = [part.values for part in groups if part is not None]
    often = often_in_each(len(parts))
    found = (possible_ranks(values, scores.own_sd, law, often) for values in parts)
    return [pair for lows, highs in found for pair in zip(lows, highs, strict=True)]


def reach_of_counts(release: Release) -> float | None:
    """How far from its count a number of users is at most, in 95 of 100 cases.

    None where a release has no counts, or where the noise of these chose the items, too.
    """
    law = law_of_counts(release.mechanism.parameters())
    if release.scores is None or law is None or not 0 < release.scores.noise_sd < math.inf:
        return None
    return release.scores.reach(law)


def reached_in_all(release: Release) -> tuple[int, int, int] | None:
    """How many users all items of a hitting set reach together, and the ends of its interval."""
    scores, law = release.scores, law_of_counts(release.mechanism.parameters())
    if scores is None or scores.unit != REACHED or law is None or release.by:
        return None
    return scores.together(law)


def shown_scores(release: Release) -> Scores | None:
    """The scores that people are shown; None where there are none, or weights alone."""
    scores = release.scores
    return None if scores is None or scores.are_weights else scores


def _cells_of_scores(release: Release, values: Sequence[float]) -> list[str]:
    assert release.scores is not None  # noqa: S101 - there is no such column without them
    return with_commas(without_idle_digits(values, release.scores.noise_sd))


def _written(_: Release, values: Sequence[object]) -> list[str]:
    return list(map(str, values))


def _intervals(release: Release) -> tuple[str, list[str], str] | None:
    """Both ends in one column, as people read them."""
    lows, highs = _lows(release), _highs(release)
    if lows is None:
        return None
    low = _ends_in_words(release, lows[1])
    if highs is None:
        texts = [f"at least {least}" for least in low]
    else:
        high = _ends_in_words(release, highs[1])
        texts = [f"{least} to {most}" for least, most in zip(low, high, strict=True)]
    return INTERVAL_HEADING, texts, "String"


def _ends_in_words(release: Release, ends: Sequence[float]) -> list[str]:
    assert release.scores is not None  # noqa: S101 - there are no ends without them
    if release.scores.are_stated or release.scores.are_amounts:
        return with_commas(without_idle_digits(ends, release.scores.noise_sd))
    return with_commas(map(str, ends))


def _ranks_in_words(release: Release) -> tuple[str, list[str], str] | None:
    """Both in one column; one number where the rank is certain."""
    ranks = possible_ranks_of(release)
    if ranks is None:
        return None
    texts = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in ranks]
    return "95\N{NO-BREAK SPACE}% rank", texts, "String"


def _associated(
    heading: str, value: Callable[[Associated], object], dtype: str, mark: str = "n"
) -> AddedColumn:
    """What is told of the relation of each item to a label."""

    def filled(release: Release) -> tuple[str, Iterable[object], str] | None:
        told = release.associations
        return None if told is None else (heading, [value(one) for one in told], dtype)

    return AddedColumn(heading, filled, _written, mark)


def _named(release: Release) -> tuple[str, list[bool], str] | None:
    told = release.associations
    if told is None:
        return None
    return "named", [is_named(release.mechanism, one) for one in told], "Boolean"


RANK = AddedColumn("rank", _ranks, _written, mark="n r")
SCORE = AddedColumn("score", _scores, _cells_of_scores, mark="n s")
LOW = AddedColumn("low", _lows, _written, mark="n i")
HIGH = AddedColumn("high", _highs, _written, mark="n i")
USERS = AddedColumn("users", _users, _written, mark="n i")
SHARE = AddedColumn("share", _ends_of_shares("share", lambda each: each.share), _written, mark="n")
SHARE_LOW = AddedColumn(
    "share_low", _ends_of_shares("share_low", lambda each: each.low), _written, mark="n i"
)
SHARE_HIGH = AddedColumn(
    "share_high", _ends_of_shares("share_high", lambda each: each.high), _written, mark="n i"
)
BEST_RANK = AddedColumn("rank_low", _best_ranks, _written, mark="n i")
WORST_RANK = AddedColumn("rank_high", _worst_ranks, _written, mark="n i")
INTERVAL_HEADING = "95\N{NO-BREAK SPACE}% interval"
INTERVAL = AddedColumn("interval", _intervals, _written, mark="n i")
POSSIBLE_RANKS = AddedColumn("ranks", _ranks_in_words, _written, mark="n i")
SHARES_IN_WORDS = AddedColumn("shares", _shares_in_words, _written, mark="n i")
NAMED = AddedColumn("named", _named, _written, mark="")
DIRECTION = _associated("direction", lambda one: one.direction, "String", mark="")
E_VALUE = _associated("e_value", lambda one: one.e_value, "Float64")
LEVEL = _associated("level", lambda one: one.level, "Float64")
DIFFERENCE = _associated("difference", lambda one: one.difference, "Float64")
DIFFERENCE_LOW = _associated("difference_low", lambda one: one.low, "Float64", mark="n i")
DIFFERENCE_HIGH = _associated("difference_high", lambda one: one.high, "Float64", mark="n i")
_NUMBERS = (E_VALUE, LEVEL, DIFFERENCE, DIFFERENCE_LOW, DIFFERENCE_HIGH)
OF_ASSOCIATIONS = (NAMED, DIRECTION, *_NUMBERS)
ASSOCIATIONS_IN_WORDS = (
    DIRECTION,
    _associated("e-value", evidence_in_words, "String"),
    LEVEL,
    _associated("percentage points more", difference_in_words, "String", mark="n i"),
)
BEFORE_ITEMS = (RANK,)
OF_SHARES = (SHARE, SHARE_LOW, SHARE_HIGH)
BEHIND_ITEMS = (
    *(SCORE, LOW, HIGH, USERS, *OF_SHARES, BEST_RANK, WORST_RANK),
    *OF_ASSOCIATIONS,
)


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
    """All columns in their order: those of groups, ranks, items, scores and ends of intervals.

    An added column whose name an item column has gets "shortlist_" before its own until it is free.
    """
    return _laid_out(release, BEHIND_ITEMS)


def columns_for_people(release: Release) -> list[FilledColumn]:
    """Those of a text or a page: intervals in one column, and no weights."""
    score = () if shown_scores(release) is None else (SCORE,)
    beside = INTERVAL, SHARES_IN_WORDS, POSSIBLE_RANKS, *ASSOCIATIONS_IN_WORDS
    return _laid_out(release, (*score, *beside))


def _laid_out(release: Release, behind: Iterable[AddedColumn]) -> list[FilledColumn]:
    held = [FilledColumn(series.name, series, None) for series in release._frame.get_columns()]  # noqa: SLF001 - of this room
    groups, items = held[: len(release.by)], held[len(release.by) :]
    taken = {column.name for column in held}
    return [
        *groups,
        *_filled(release, BEFORE_ITEMS, taken),
        *items,
        *_filled(release, behind, taken),
    ]


def _filled(
    release: Release, several: Iterable[AddedColumn], taken: set[str]
) -> list[FilledColumn]:
    import polars as pl

    made = []
    for added in several:
        if (filled := added.filled(release)) is None:
            continue
        name, values, dtype = filled
        while name in taken:
            name = f"shortlist_{name}"
        taken.add(name)
        made.append(FilledColumn(name, pl.Series(name, values, dtype=getattr(pl, dtype)()), added))
    return made


def table_of(release: Release) -> pl.DataFrame:
    """All columns as a frame."""
    return _frame_of(columns_of(release))


def table_without_weights(release: Release) -> pl.DataFrame:
    """All columns as a frame for a spreadsheet: a weight would be taken for a number of users."""
    hidden = SCORE if shown_scores(release) is None else None
    columns = columns_of(release)
    return _frame_of(c for c in columns if c.added is None or c.added is not hidden)


def _frame_of(columns: Iterable[FilledColumn]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([column.values for column in columns])


def described_columns(release: Release) -> dict[str, Any]:
    """Which columns there are, as a file says it."""
    columns = columns_of(release)
    added = {column.added.key: column for column in columns if column.added}
    items = [column for column in columns if column.added is None]
    bounds = [c.key for c in BEHIND_ITEMS if c is not SCORE and c.key in added]
    return {
        RANK.key: added[RANK.key].name if RANK.key in added else None,
        "items": [column.name for column in items],
        "types": {column.name: name_of_type(column.values.dtype) for column in items},
        **_described_scores(added.get(SCORE.key)),
        **{key: added[key].name for key in bounds},
        **_described_ends(added.get(LOW.key)),
        **({"groups": list(release.by)} if release.by else {}),
    }


def _described_scores(column: FilledColumn | None) -> dict[str, str | None]:
    if column is None:
        return {SCORE.key: None}
    return {SCORE.key: column.name, "score_type": name_of_type(column.values.dtype)}


def _described_ends(column: FilledColumn | None) -> dict[str, str]:
    """Their type, where they are no whole numbers of users."""
    if column is None or column.values.dtype.is_integer():
        return {}
    return {"end_type": name_of_type(column.values.dtype)}


def columns_in_file(described: Mapping[str, Any]) -> list[tuple[str, pl.DataType]]:
    """The names and types of all columns of a file, in their order, from what it says of them."""
    types, by = described["types"], len(described.get("groups", []))
    items = [(name, type_named(types[name])) for name in described["items"]]
    columns = [*items[:by], *_added_in_file(described, BEFORE_ITEMS)]
    columns += [*items[by:], *_added_in_file(described, BEHIND_ITEMS)]
    names = [name for name, _ in columns]
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError("each column has a name of its own.")
    return columns


def _added_in_file(
    described: Mapping[str, Any], several: Iterable[AddedColumn]
) -> list[tuple[str, pl.DataType]]:
    import polars as pl

    # Files of version 0.2 do not say the type of scores: it was always this.
    numbers = {"Float64": pl.Float64(), "Int64": pl.Int64()}
    score_type = numbers[described.get("score_type", "Float64")]
    end_type = numbers[described.get("end_type", "Int64")]
    types = {
        **dict.fromkeys((RANK, BEST_RANK, WORST_RANK), pl.UInt32()),
        **dict.fromkeys((LOW, HIGH), end_type),
        USERS: pl.Int64(),
        **dict.fromkeys(OF_SHARES, pl.Float64()),
        SCORE: score_type,
        NAMED: pl.Boolean(),
        DIRECTION: pl.String(),
        **dict.fromkeys(_NUMBERS, pl.Float64()),
    }
    given = ((described.get(added.key), types[added]) for added in several)
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
