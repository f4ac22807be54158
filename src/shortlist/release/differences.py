"""Two lists of one question: which items are new, gone or moved, and which moves are no noise.

Only what was released is looked at, so that it costs nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.errors import InputError, in_quotes, written
from shortlist.questions import OF_SERIES, ListSoFar
from shortlist.release._columns import (
    SCORE,
    columns_of,
    name_of_type,
    names_items,
    shown_scores,
)
from shortlist.release._difference_faces import chart_of_differences, sheet_of_differences
from shortlist.release._possible_ranks import often_in_each, possible_ranks
from shortlist.release.json_values import asked_for, described, records_of
from shortlist.release.noisy_scores import law_of_counts
from shortlist.release.release import Release
from shortlist.release.rendering import html, markdown, rich, text
from shortlist.runtime.processes import require_threads

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from rich.console import RenderableType

    from shortlist.privacy.guarantee import Guarantee

FORMAT = "shortlist.diff"
VERSION = 1
_TYPES = "types of the columns"
_CLIPPED = "clipped counts may lie below the numbers of users"
_STATED = "scores are no numbers of users"
_AMOUNTS = "they are ranked by amounts, of which the intervals say how far they reach"
_NEVER_JUDGED = {
    "domain": f"a domain has no other counts than clipped ones: {_CLIPPED}",
    **dict.fromkeys(OF_SERIES, "the weights of a series are no numbers of users"),
    "hitting-set": "a hitting set says how many users hold an item and none above it, which is not "
    "how many hold the item",
    "rank": "scores are numbers of wins there, and not of users",
    "top-scores": _STATED,
    "bottom-scores": _STATED,
}
_COME_AND_GO = (
    "Whether an item is new or gone by more than noise is not known: near the end of a list, items "
    "come and go."
)
_FIRST_OF_SERIES = (
    "A series keeps every item that it has named, but these are the first of each list only: near "
    "their end, items come and go."
)
_KEEPS = (
    "A series keeps every item that it has named, so that none is gone. A new item was named since "
    "the earlier list. Enough users may have held it before: noise, too, decides when one is named."
)
_NOT_IN_ORDER = (
    "A series keeps every item that it has named. Some are gone here, so that the list that is "
    "called the earlier one is the later one, or the lists are of two series."
)
_MAY_BE_UNKNOWN = ("data set", "item columns", _TYPES)


class ItemChange(NamedTuple):
    """What became of an item.

    Attributes:
        key: The values of its group and of itself.
        before: Its place in the earlier list, from 0; None where it was not in it.
        now: Its place in the later list, likewise.
        rank_before: Its rank in the earlier list.
        rank: Its rank in the later list.
        beyond_noise: Whether it moved by more than noise; None where that cannot be known.
    """

    key: tuple[Any, ...]
    before: int | None
    now: int | None
    rank_before: int | None
    rank: int | None
    beyond_noise: bool | None

    @property
    def change(self) -> str:
        """In a word: "new", "gone", "up", "down" or "same"."""
        if self.rank_before is None:
            return "new"
        if self.rank is None:
            return "gone"
        if self.rank == self.rank_before:
            return "same"
        return "up" if self.rank < self.rank_before else "down"


@dataclass(frozen=True, eq=False)
class Difference:
    """What changed from one list to the next. Made by `diff`; prints as a table.

    Attributes:
        before: The earlier list.
        now: The later list.
        unjudged: Why it cannot be known which moves are more than noise; "" where it can.
    """

    before: Release = field(repr=False)
    now: Release = field(repr=False)
    unjudged: str

    @property
    def new(self) -> list[Any]:
        """The items of the later list alone, in its order."""
        return self._items("new")

    @property
    def gone(self) -> list[Any]:
        """The items of the earlier list alone, in its order."""
        return self._items("gone")

    @property
    def new_or_gone(self) -> str:
        """What can be said of items that are new or gone, in words."""
        if self.now.question != ListSoFar.name:
            return _COME_AND_GO
        if asked_for(self.now.mechanism) is not None:
            return _FIRST_OF_SERIES
        return _NOT_IN_ORDER if self.gone else _KEEPS

    @property
    def moved(self) -> list[Any]:
        """The items with another rank, in the order of the later list."""
        return self._items("up", "down")

    @property
    def beyond_noise(self) -> list[Any]:
        """The items that moved by more than noise; none where that cannot be known."""
        return [self._item(one) for one in self.changes if one.beyond_noise]

    def _items(self, *kinds: str) -> list[Any]:
        return [self._item(one) for one in self.changes if one.change in kinds]

    def _item(self, one: ItemChange) -> Any:
        return one.key[0] if len(one.key) == 1 else one.key

    @cached_property
    def changes(self) -> tuple[ItemChange, ...]:
        """What became of each item: those of the later list in its order, and then those gone."""
        places = {key: place for place, key in enumerate(keys(self.before))}
        ranks, ranks_before = self.now.ranks, self.before.ranks
        surely = None if self.unjudged else _surely(self.before, self.now)
        found = []
        for place, key in enumerate(keys(self.now)):
            was = places.pop(key, None)
            rank_before = None if was is None else ranks_before[was]
            one = ItemChange(key, was, place, rank_before, ranks[place], None)
            if surely is not None and was is not None:
                one = one._replace(beyond_noise=surely.get(key) == one.change)
            found.append(one)
        gone = (
            ItemChange(k, was, None, ranks_before[was], None, None) for k, was in places.items()
        )
        return (*found, *gone)

    def to_polars(self) -> pl.DataFrame:
        """A frame with a row for each item of either list.

        The columns of the groups; `rank` and `rank_before` (UInt32, null where it was not listed);
        those of the items; `change`: "new", "gone", "up", "down" or "same"; `beyond_noise`
        (Boolean, null where it cannot be known). Where both lists have counts, these follow under
        their name, and again with `_before`. If an item column has such a name, "shortlist_" is put
        before the added one's.
        """
        import polars as pl

        now, by = self.now._frame, len(self.now.by)  # noqa: SLF001 - of this room
        columns = list(zip(*(one.key for one in self.changes), strict=True)) or [()] * now.width
        held = [
            pl.Series(name, values, dtype=dtype)
            for (name, dtype), values in zip(now.schema.items(), columns, strict=True)
        ]
        added = [
            pl.Series("rank", [one.rank for one in self.changes], dtype=pl.UInt32),
            pl.Series("rank_before", [one.rank_before for one in self.changes], dtype=pl.UInt32),
            pl.Series("change", [one.change for one in self.changes], dtype=pl.String),
            pl.Series("beyond_noise", [one.beyond_noise for one in self.changes], dtype=pl.Boolean),
            *self._scores(),
        ]
        taken = set(now.columns)
        for place, series in enumerate(added):
            name = series.name
            while name in taken:
                name = f"shortlist_{name}"
            taken.add(name)
            added[place] = series.alias(name)
        return pl.DataFrame([*held[:by], *added[:2], *held[by:], *added[2:]])

    @property
    def heading(self) -> str | None:
        """What the scores of both lists are called; None where people are shown none, or others."""
        both = (shown_scores(self.before), shown_scores(self.now))
        headings = {None if scores is None else scores.heading for scores in both}
        return headings.pop() if len(headings) == 1 else None

    def _scores(self) -> list[pl.Series]:
        """The scores of both lists, where people are shown them and they measure the same."""
        import polars as pl

        if (heading := self.heading) is None:
            return []
        return [
            pl.Series(f"{heading}{end}", [None if p is None else held[p] for p in at], held.dtype)
            for held, at, end in (
                (_held_scores(self.now), [one.now for one in self.changes], ""),
                (_held_scores(self.before), [one.before for one in self.changes], "_before"),
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, under a versioned format: both lists' terms, and the rows."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "before": described(self.before),
            "now": described(self.now),
            "unjudged": self.unjudged,
            "new_or_gone": self.new_or_gone,
            "items": list(records_of(self.to_polars())),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text, in ASCII."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_csv(self) -> str:
        """`to_polars` as CSV text."""
        require_threads()
        return self.to_polars().write_csv()

    def to_markdown(self) -> str:
        """The whole of it as a Markdown table, with what it means below."""
        return markdown(sheet_of_differences(self, whole=True))

    def plot(self) -> alt.LayerChart:
        """A line for each item from its rank before to its rank now.

        Raises:
            InputError: Nothing is in either list, items are in groups, or Altair is not installed.
        """
        return chart_of_differences(self)

    def __str__(self) -> str:
        return text(sheet_of_differences(self))

    def __rich__(self) -> RenderableType:
        return rich(sheet_of_differences(self))

    def _repr_html_(self) -> str:
        return html(sheet_of_differences(self))


def diff(before: Release, now: Release) -> Difference:
    """What changed from one list to the next: items that are new, gone or moved.

    A move is more than noise where the item's rank among the items of both lists, by numbers of
    users, has changed that way. In 95 of 100 comparisons, every move that is called so is a real
    one. One that is due to new items above it is not called so. It can be known where both lists
    have counts that were bought by `noisy_counts=True`, whose noise had no part in choosing the
    items; those of domains and hitting sets do not help. Whether an item is new or gone by more
    than noise is not known: at the end of a list, items come and go. Only whole lists so far of one
    series keep every item.

    It looks at the two lists alone, so that it costs nothing.

    Args:
        before: The earlier list, such as `shortlist.load("last.json")`.
        now: The later list.

    Raises:
        InputError: The lists are of different questions, data sets, groups, items or units.

    >>> import polars as pl, shortlist as sl
    >>> rows = pl.DataFrame({"user": range(900), "title": ["Emma", "Emma", "Ulysses"] * 300})
    >>> plays = sl.pairs(rows, user="user", item="title")
    >>> last, this = (plays.top_k(2, epsilon=1.0, delta=1e-6, noisy_counts=True) for _ in "ab")
    >>> found = sl.diff(last, this)
    >>> found.new, found.gone, found.beyond_noise
    ([], [], [])
    """
    for name, one in (("before", before), ("now", now)):
        if not isinstance(one, Release):
            raise InputError(
                "must be a release, such as shortlist.load reads from a file",
                "load the file first",
                given={name: written(one)},
            )
    require_comparable(before, _terms(now))
    return Difference(before, now, _unjudged(before, now))


def _held_scores(release: Release) -> pl.Series:
    (held,) = (column.values for column in columns_of(release) if column.added is SCORE)
    return held


def terms_of(  # noqa: PLR0913 - all that two lists may differ in
    *,
    question: str,
    ordered: bool,
    k: int | None,
    by: Sequence[str],
    dataset: str | None,
    where: str | None,
    amount: str | None,
    guarantee: Guarantee,
    items: Mapping[str, pl.DataType | None],
) -> dict[str, object]:
    """What two lists must have in common, by what messages call it; None where it is not known.

    The columns of items, by their types, are those of `Engine.items`.
    """
    return {
        "question": question,
        "order": "best first" if ordered else "none",
        "number of items asked for": k,
        "data set": dataset,
        "filter of rows": where or "none",
        "sums that are ranked": amount or "none",
        "columns of groups": ", ".join(by) or "none",
        "item columns": ", ".join(list(items)[len(by) :]) or None,
        _TYPES: _types(items),
        "unit that is protected": guarantee.protects,
        "neighbours": guarantee.adjacency,
    }


def _terms(release: Release) -> dict[str, object]:
    return terms_of(
        question=release.question,
        ordered=release.ordered,
        k=asked_for(release.mechanism),
        by=release.by,
        dataset=release.about.dataset,
        where=release.about.where,
        amount=release.about.amount,
        guarantee=release.guarantee,
        items=release._frame.schema,  # noqa: SLF001 - of this room
    )


def _types(columns: Mapping[str, pl.DataType | None]) -> str | None:
    known = [(name, dtype) for name, dtype in columns.items() if dtype is not None]
    if not known or len(known) < len(columns):
        return None
    return ", ".join(f"{name} ({name_of_type(dtype)})" for name, dtype in known)


def require_comparable(before: Release, now: Mapping[str, object]) -> None:
    """Refuse an earlier list that is of something else than these terms of a later one.

    And one in which nothing can be new or move, since whoever asked chose the items.
    """
    if not before.ordered:
        raise InputError(
            "a list without order has no ranks that could change",
            "look which items are in one list alone",
        )
    if before.associations is not None:
        raise InputError(
            "{discoveries}: an item may be named in one list and not in the other by noise alone, "
            "and the best of several answers are not what a rate was promised for",
            "publish one of them",
        )
    if not names_items(before):
        raise InputError(
            "{user_counts}: whoever asked chose the items and their order, so that none can be "
            "new, gone or moved",
            "look at the counts and their intervals, in the two tables",
        )
    for name, mine in _terms(before).items():
        theirs = now[name]
        known = name not in _MAY_BE_UNKNOWN or None not in (mine, theirs)
        if known and mine != theirs:
            raise InputError(
                "the two lists cannot be compared: they differ in the {name}, {mine} before and "
                "{theirs} now",
                "compare lists of one question about one data set",
                name=name,
                mine=in_quotes(str(mine)),
                theirs=in_quotes(str(theirs)),
            )


def keys(release: Release) -> list[tuple[Any, ...]]:
    """The values of the groups and items."""
    return release._frame.rows()  # noqa: SLF001 - of this room


def _unjudged(before: Release, now: Release) -> str:
    """Why ranks of two lists cannot be judged; "" where they can."""
    lacking = [name for name, one in (("earlier", before), ("later", now)) if _law(one) is None]
    if not lacking:
        return ""
    if (never := _never_judged(before, now)) is not None:
        return f"ranks cannot be judged, since {never}"
    which = "neither list has" if len(lacking) == 2 else f"the {lacking[0]} list does not have"
    return (
        f"ranks cannot be judged, since {which} counts of users whose noise had no part in "
        "choosing the items; ask both with noisy counts"
    )


def _never_judged(before: Release, now: Release) -> str | None:
    """Why no noisy counts would help; None where they would."""
    if now.question in _NEVER_JUDGED:
        return _NEVER_JUDGED[now.question]
    if now.about.amount is not None:
        return _AMOUNTS
    clipped = any(one.scores is not None and one.scores.are_clipped for one in (before, now))
    return _CLIPPED if clipped else None


def _law(release: Release) -> str | None:
    scores = release.scores
    law = law_of_counts(release.mechanism.parameters())
    counts = scores is not None and scores.unit == "noisy count" and math.isfinite(scores.noise_sd)
    return law if counts else None


def _surely(before: Release, now: Release) -> dict[tuple[Any, ...], str]:
    """Which items are surely "up" or "down" among those of both lists, in their group.

    All possible ranks of both lists hold together with a chance of at least 95 %.
    """
    by, known = len(now.by), set(keys(before))
    in_both: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for key in keys(now):
        if key in known:
            in_both.setdefault(key[:by], []).append(key)
    was, then = _possible(before), _possible(now)
    found: dict[tuple[Any, ...], str] = {}
    for shared in in_both.values():
        found |= _apart(shared, was(shared), then(shared))
    return found


Bounds = tuple[list[int], list[int]]


def _possible(release: Release) -> Callable[[list[tuple[Any, ...]]], Bounds]:
    """The best and the worst ranks of some items of a group among themselves.

    Those of all groups hold together with a chance of at least 97.5 %, whichever items are asked
    about: what the second list names may have been chosen by the counts of the first.
    """
    scores, law, by = release.scores, _law(release), len(release.by)
    assert scores is not None  # noqa: S101 - there is a law of them
    assert law is not None  # noqa: S101 - likewise
    own_sd, counts = scores.own_sd, dict(zip(keys(release), scores, strict=True))
    sizes = Counter(key[:by] for key in counts)
    often = often_in_each(2 * len(sizes))  # of either list

    def possible(shared: list[tuple[Any, ...]]) -> Bounds:
        values = [counts[key] for key in shared]
        return possible_ranks(values, own_sd, law, often, sizes[shared[0][:by]])

    return possible


def _apart(shared: list[tuple[Any, ...]], was: Bounds, now: Bounds) -> dict[tuple[Any, ...], str]:
    """The items that can have no rank in both, and where they went."""
    bounds = zip(shared, *was, *now, strict=True)
    return {
        key: "down" if worst < least else "up"
        for key, best, worst, least, most in bounds
        if worst < least or most < best
    }
