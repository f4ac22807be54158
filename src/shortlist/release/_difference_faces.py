"""Two lists compared, for readers: as a sheet of texts, and as a chart of slopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.charts import WIDE, Slope, slopes
from shortlist.errors import InputError
from shortlist.release._columns import SCORE, columns_of
from shortlist.release._score_intervals import DRAWN, names_of
from shortlist.release.readable import intact, visible
from shortlist.release.sheet import NOT_PRIVATE, SHORT, Sheet

if TYPE_CHECKING:
    import altair as alt

    from shortlist.release.differences import Difference, ItemChange
    from shortlist.release.release import Release

_SURELY = "more than noise"
COSTS_NOTHING = "Only what was released was compared: nothing was read, and nothing was spent."
_MEANS = (
    "More than noise: among the items of both lists, the rank by numbers of users has changed. In "
    "95 of 100 comparisons, every move that is called so is a real one."
)
_SHARE_OF_LABELS = 0.33  # of the width, at either side
_PIXELS_OF_A_LETTER = 8.5


def sheet_of_differences(found: Difference, *, whole: bool = False) -> Sheet:
    """What to show of it; if `whole`, all of every row."""
    total = len(found.changes)
    shown = total if whole or total <= SHORT else SHORT
    headings, numeric, cells = _table(found, shown, cut=not whole)
    private = found.before.guarantee.private and found.now.guarantee.private
    return Sheet(
        title=in_short(found),
        about=of_both(found),
        warning="" if private else NOT_PRIVATE,
        columns=headings if total else (),
        numeric=numeric if total else (),
        rows=tuple(zip(*cells, strict=True)),
        more=f"… and {total - shown:,} more" if shown < total else "",
        lines=tuple(meaning(found)),
    )


def in_short(found: Difference) -> str:
    """How many items are new, gone or moved, in a line."""
    n = {"new": len(found.new), "gone": len(found.gone), "moved": len(found.moved)}
    sure = "" if found.unjudged else f", {len(found.beyond_noise):,} of them by {_SURELY}"
    counts = ", ".join(f"{many:,} {what}" for what, many in n.items())
    return visible(f"{found.now.question}: {counts}{sure}")


def of_both(found: Difference) -> tuple[str, ...]:
    """What both lists are of, where that is known."""
    lists = (("before", found.before), ("now", found.now))
    lines = ((when, one.about.of or one.about.made) for when, one in lists)
    return tuple(f"{when}: {text}" for when, text in lines if text)


def meaning(found: Difference) -> list[str]:
    """What can be read from it, a sentence or two each."""
    judged = _MEANS
    if found.unjudged:
        judged = f"{found.unjudged[0].upper()}{found.unjudged[1:]}."
    return [judged, found.new_or_gone, COSTS_NOTHING]


def table_of_differences(
    found: Difference,
) -> tuple[tuple[str, ...], tuple[bool, ...], list[tuple[str, ...]]]:
    """The headings, which of them are of numbers, and all rows, for a page."""
    headings, numeric, cells = _table(found, len(found.changes), cut=False)
    return headings, numeric, list(zip(*cells, strict=True))


def _table(
    found: Difference, n: int, *, cut: bool
) -> tuple[tuple[str, ...], tuple[bool, ...], list[list[str]]]:
    """Headings, which of them are of numbers, and the cells of the first rows by column."""
    rows, by = found.changes[:n], len(found.now.by)
    held = [
        (visible(name), False, [intact(one.key[place], cut=cut) for one in rows])
        for place, name in enumerate(found.now._frame.columns)  # noqa: SLF001 - of this room
    ]
    ranks = [("rank", True, [_number(one.rank) for one in rows])]
    ranks.append(("before", True, [_number(one.rank_before) for one in rows]))
    columns = [*held[:by], *ranks, *held[by:], ("change", False, list(map(_change, rows)))]
    if not found.unjudged:
        columns.append((_SURELY, False, ["yes" if one.beyond_noise else "" for one in rows]))
    columns += _scores(found, rows)
    headings, numeric, cells = zip(*columns, strict=True)
    return headings, numeric, list(cells)


def _number(rank: int | None) -> str:
    return "" if rank is None else str(rank)


def _change(one: ItemChange) -> str:
    if one.rank is None or one.rank_before is None:
        return one.change
    by = abs(one.rank - one.rank_before)
    return f"{one.change} {by}" if by else ""


def _scores(found: Difference, rows: tuple[ItemChange, ...]) -> list[tuple[str, bool, list[str]]]:
    """The scores of both lists as people read them, where they measure the same."""
    if (heading := found.heading) is None:
        return []
    places = ([one.now for one in rows], [one.before for one in rows])
    columns = []
    for release, name, at in zip(
        (found.now, found.before), (heading, f"{heading} before"), places, strict=True
    ):
        texts = _texts(release)
        columns.append((name, True, ["" if place is None else texts[place] for place in at]))
    return columns


def _texts(release: Release) -> list[str]:
    (column,) = (column for column in columns_of(release) if column.added is SCORE)
    return column.cells(release, len(release))


def chart_of_differences(
    found: Difference, *, width: int = WIDE, titled: bool = True
) -> alt.LayerChart:
    """A line for each of the first items from its rank before to its rank now.

    Raises:
        InputError: There is nothing to draw, items are in groups, or Altair is not installed.
    """
    if found.now.by:
        raise InputError(
            "a chart compares two lists, and these are in groups",
            "compare one group, as in a.group(key) and b.group(key)",
        )
    if not found.changes:
        raise InputError("both lists are empty, so that there is nothing to draw")
    cells = round(width * _SHARE_OF_LABELS / _PIXELS_OF_A_LETTER)
    sides = [
        names_of(one, min(len(one), DRAWN), cells) if len(one) else []
        for one in (found.before, found.now)
    ]
    lines = [
        Slope(_end(one.before, sides[0]), _end(one.now, sides[1]), marked=bool(one.beyond_noise))
        for one in found.changes
    ]
    lines = [line for line in lines if line.before or line.now]
    left_out = max(len(found.before), len(found.now)) > DRAWN
    notes = [
        *of_both(found),
        *([f"The first {DRAWN} items of each list."] if left_out else []),
        *([] if found.unjudged else [f"Thick lines: moved by {_SURELY}."]),
        *([f"{found.unjudged[0].upper()}{found.unjudged[1:]}."] if found.unjudged else []),
    ]
    title = in_short(found) if titled else ""
    return slopes(lines, title=title, notes=notes if titled else (), width=width)


def _end(place: int | None, names: list[str]) -> tuple[int, str] | None:
    """The rank and the name of an item in a list, if it is drawn there."""
    return None if place is None or place >= len(names) else (place + 1, names[place])
