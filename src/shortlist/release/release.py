"""A private answer as a value: what it holds, how it is taken apart, and its many faces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from shortlist.errors import InputError
from shortlist.privacy.guarantee import Guarantee
from shortlist.release._associations import is_named
from shortlist.release._columns import reached_in_all, table_of, table_without_weights
from shortlist.release._others import Others
from shortlist.release.about import NOTHING_SAID, About
from shortlist.release.json_values import (
    AnyMechanism,
    as_json,
    asked_for,
    described,
    described_mechanism,
    records,
    share_of_users,
)
from shortlist.release.noisy_scores import Scores
from shortlist.release.rendering import html, markdown, rich, text
from shortlist.release.saving import check_output, encoder, write_whole
from shortlist.release.sheet import sheet
from shortlist.runtime.processes import even_unmade, require_threads

if TYPE_CHECKING:
    import os

    import altair as alt
    import numpy as np
    import pandas as pd
    import polars as pl
    from rich.console import RenderableType

    from shortlist.algorithms.e_values import Associated
    from shortlist.parameters import ShareOfUsers

NONE_CHARGED = "none was charged"
"""What a release says of budgets where its source has none."""


@dataclass(frozen=True)
class GivenBefore:
    """Of an answer that is given again: which charge has paid for it, and when.

    >>> print(GivenBefore(3, date(2026, 11, 22)))
    by charge 3, of 2026-11-22: no row was read again, and nothing was spent

    Attributes:
        charge: The number of the charge in its budget.
        day: The day of the charge, in UTC.
    """

    charge: int
    day: date

    def __str__(self) -> str:
        return (
            f"by charge {self.charge}, of {self.day.isoformat()}: no row was read again, and "
            "nothing was spent"
        )


class Release:
    """A private answer: safe to publish as a whole, and only as good as its guarantee says.

    A release behaves as the collection of its items, best first: `len(release)`, `for item in
    release`, `item in release`. It prints as a table in a terminal and in a notebook. Two are equal
    if they say the same, such as one and what `shortlist.load` reads from its file.

    In tables (`to_polars`, `to_pandas`, files, displays) the added columns are called `rank` and
    what the scores are: `count`, `clipped_count`, `weight`, `wins` or `time`; `count_low` and
    `count_high` are the ends of a count's interval, `rank_low` and `rank_high` those of the ranks
    that an item may have. If an item column already has that name,
    "shortlist_" is put before the added one's until the name is free; the item columns always keep
    their own names. Where the mechanism gives no scores, there is no such column. Weights are no
    numbers of users, so they are left out of what people read: text, CSV, Markdown and reports.

    Where items were asked for in groups, an item is a tuple that begins with its group, `by` names
    the columns of that, and the rank is within the group. `group` and `groups` take it apart.

    Attributes:
        question: What was asked, such as "top-k" or "domain".
        by: The columns of the groups; none where items were asked for in no groups.
        scores: One score per item, or None.
        guarantee: The privacy promise.
        mechanism: What drew the items.
        budget: Which charge of which budget has paid for it, in words; or that none was charged.
            Empty where that is not known, as of files of version 0.2.
        given_before: Of an answer that a budget has kept and that is given again, which charge has
            paid for it, and of which day; None for a new answer. The table may have changed since.
        others: What is not in the list, where `others=True` asked for it: how many users hold none
            of its items, and which share of the pairs of a user and an item it covers; else None.
        users: Of each item, of how many users its count is told as a share: of all in the table, or
            in the item's group, with noise; or as many as were stated. None where no shares were
            asked for.
        associations: Of each item that was looked at, the best first, what is told of its relation
            to a label; None where that was not asked. Those named are the first of them.
        cap: Of a list by amounts, up to which each user's sum for an item counts, where that was
            chosen privately from several caps; else None.
        about: What it is of: `dataset`, `as_of`, `title`, `note`, and `made_on` which day, by which
            `version`; each is None where that is not known.
        ordered: False for a list that was asked for without order, whose items are listed by name,
            or by their noisy numbers if it has any. It has no ranks.

    Raises:
        ValueError: There are not as many scores as items.
    """

    question: str
    by: tuple[str, ...]
    scores: Scores | None
    guarantee: Guarantee
    mechanism: AnyMechanism
    budget: str
    given_before: GivenBefore | None
    others: Others | None
    users: tuple[int, ...] | None
    associations: tuple[Associated, ...] | None
    cap: float | None
    about: About
    ordered: bool
    _frame: pl.DataFrame

    def __init__(  # noqa: PLR0913 - the parts of a value
        self,
        *,
        question: str,
        items: pl.DataFrame,
        scores: Scores | None,
        guarantee: Guarantee,
        mechanism: AnyMechanism,
        by: Sequence[str] = (),
        budget: str = NONE_CHARGED,
        given_before: GivenBefore | None = None,
        others: Others | None = None,
        users: Sequence[int] | None = None,
        associations: Sequence[Associated] | None = None,
        cap: float | None = None,
        about: About = NOTHING_SAID,
        ordered: bool = True,
    ) -> None:
        if scores is not None and len(scores) != items.height:
            raise ValueError("as many scores as items are needed.")
        if users is not None and len(users) != items.height:
            raise ValueError("as many numbers of users as items are needed.")
        if associations is not None and len(associations) != items.height:
            raise ValueError("as many associations as items are needed.")
        if list(by) != items.columns[: len(by)] or len(by) >= items.width:
            raise ValueError("the columns of groups are the first ones, and not all.")
        vars(self).update(
            question=question,
            by=tuple(by),
            scores=scores,
            guarantee=guarantee,
            mechanism=mechanism,
            budget=budget,
            given_before=given_before,
            others=others,
            users=None if users is None else tuple(users),
            associations=None if associations is None else tuple(associations),
            cap=cap,
            about=about,
            ordered=ordered,
            _frame=items.clone(),
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a release is a value: {name} cannot be set.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a release is a value: {name} cannot be deleted.")

    @property
    def items(self) -> list[Any]:
        """The items, best first, or by name where they are in no order.

        They are values, or tuples where the item is made of several columns.
        """
        return list(self._values)

    @cached_property
    def _values(self) -> tuple[Any, ...]:
        frame = self._frame.head(self._n_named)
        return tuple(frame.to_series().to_list() if frame.width == 1 else frame.rows())

    @cached_property
    def _n_named(self) -> int:
        """How many items are in the answer: of those that were looked at, not all may be."""
        if self.associations is None:
            return self._frame.height
        return sum(is_named(self.mechanism, one) for one in self.associations)

    @property
    def item_columns(self) -> tuple[str, ...]:
        """The names of an item's columns; in groups, those of the group first."""
        return tuple(self._frame.columns)

    @property
    def ranks(self) -> list[int]:
        """The rank of each item, from 1; in groups, within its group.

        In a list without order it says nothing, and no table has it.
        """
        places = self._places.values() if self.by else [range(self._frame.height)]
        return [rank for part in places for rank in range(1, len(part) + 1)]

    @cached_property
    def _members(self) -> frozenset[Any]:
        return frozenset(self._values)

    def group(self, *key: Any) -> Release:
        """The items of one group, best first, under the guarantee of the whole.

        Its ranks from `rank_low` to `rank_high` are right in 95 of 100 cases for this group alone.
        To compare groups take those of the whole release, which are right in all groups together.

        Args:
            key: The value of each column of groups, in their order.

        Raises:
            InputError: No such columns were asked for, or no item of such a group was named.
        """
        if not self.by:
            raise InputError("this release has no groups", "to ask in groups, give {by}")
        if len(key) != len(self.by):
            names = ", ".join(f'"{name}"' for name in self.by)
            raise InputError(
                "the columns of groups are {names}",
                "give a value for each",
                names=names,
            )
        places = self._places.get(key)
        if places is None:
            raise InputError("no item of this group was named")
        return self._part(places)

    def groups(self) -> Iterator[tuple[Any, Release]]:
        """Each group with its items, in the order of the tables.

        A group is a value, or a tuple where several columns say it. The ranks that its items may
        have hold for each group alone, as in `group`.
        """
        for key, places in self._places.items():
            yield (key[0] if len(key) == 1 else key), self._part(places)

    @cached_property
    def _places(self) -> dict[tuple[Any, ...], range]:
        """Where the items of each group stand, by the group."""
        if not self.by:
            return {}
        keys = self._frame.select(self.by).rows()
        starts = [i for i, key in enumerate(keys) if i == 0 or keys[i - 1] != key]
        return {keys[a]: range(a, b) for a, b in pairwise([*starts, len(keys)])}

    def _part(self, places: range) -> Release:
        frame, scores = self._frame[places.start : places.stop], self.scores
        return Release(
            question=self.question,
            items=frame.drop(self.by),
            scores=None if scores is None else scores[places.start : places.stop],
            users=None if self.users is None else self.users[places.start : places.stop],
            guarantee=self.guarantee,
            mechanism=self.mechanism,
            budget=self.budget,
            given_before=self.given_before,
            about=self.about,
            ordered=self.ordered,
        )

    @property
    def k(self) -> int | None:
        """How many items were asked for; None where the question names no number."""
        return asked_for(self.mechanism)

    @property
    def share_of_users(self) -> ShareOfUsers | None:
        """Of how many users counts are told as shares; None where no shares were asked for."""
        return share_of_users(self.mechanism)

    @property
    def reached(self) -> tuple[int, int, int] | None:
        """How many users the items of a hitting set reach together, and the ends of its interval.

        In 95 of 100 cases the number is within these, both ends included. None where it was not
        asked for, by `noisy_counts=True`.
        """
        return reached_in_all(self)

    def __len__(self) -> int:
        return self._n_named

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __contains__(self, item: object) -> bool:
        return item in self._members

    def to_polars(self) -> pl.DataFrame:
        """A frame: rank (UInt32, from 1), the item columns, and the scores, if there are any.

        A `count` is a whole number of users (Int64). Where its noise did not choose the items, too,
        as with `noisy_counts=True`, the interval from `count_low` to `count_high` (Int64, both ends
        included) holds the number without noise in 95 of 100 cases. `rank_low` and `rank_high`
        (UInt32) are then the best and the worst rank that the item may have by its number of users,
        among the items listed, or among those of its group: in 95 of 100 cases all of these, in
        all groups, are right together. A `clipped_count` (Float64) is usually below the number of
        users, which is `count_low` or more in 95 of 100 cases. All other scores are Float64. Where
        it was asked for, `share` is the share of `users` (Int64) who hold an item: from `share_low`
        to `share_high` (Float64, from 0 to 1) in 95 of 100 cases. The
        columns of groups stand before the rank, which begins anew in each group.

        Of discoveries it has all items that were looked at, and `named` (Boolean) says which of
        them are in the answer. `direction` is "more" or "less": how common they are among cases,
        beside controls. `e_value` is the evidence, `level` the least false discovery rate at which
        the item would be named, and `difference` that of the shares of users who hold it, from
        `difference_low` to `difference_high` in 95 of 100 cases (Float64).

        Which columns there are, and their types, follow from the plan, also where no item came out.
        """
        return table_of(self)

    def to_pandas(self) -> pd.DataFrame:
        """`to_polars` as a pandas frame; needs pandas and PyArrow.

        `pd.DataFrame(release)` has the same cells, but numbers for the columns' names: pandas takes
        none from a collection.
        """
        return self.to_polars().to_pandas()

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # noqa: FBT001 - NumPy's protocol
        """The cells of `to_polars`, as objects: what `pd.DataFrame(release)` is made of."""
        import numpy as np

        if copy is False:
            raise ValueError("a release has no array of its own; leave copy out.")
        frame = self.to_polars()
        cells = np.empty(frame.shape, dtype=object)
        for number, column in enumerate(frame.iter_columns()):
            cells[:, number] = column.to_list()
        return cells if dtype is None else cells.astype(dtype)  # type: ignore[call-overload]

    def to_dict(self) -> dict[str, Any]:
        """The whole release as JSON values, under a versioned format.

        `items` holds one dict per item, with the column names of `to_polars`; `columns` says which
        of them are the rank, the items and the score, and of which types the items are. Dates are
        ISO strings, integers stay integers. `library` is the version of shortlist.
        """
        return described(self) | {"items": list(records(self))}

    def to_json(self) -> str:
        """`to_dict` as JSON text, in ASCII, one item a line: safe to print in any terminal."""
        return as_json(self)

    def to_csv(self) -> str:
        """`to_polars` as CSV text: the items as they are, but no weights and no guarantee."""
        require_threads()
        return table_without_weights(self).write_csv()

    def to_markdown(self) -> str:
        """The whole release as a Markdown table, with its guarantee as a list below.

        What would be markup in an item, or move a cursor, is shown and not interpreted.
        """
        return markdown(sheet(self, whole=True))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def explain(self) -> str:
        """What the release means, in plain words, a question and its answer at a time.

        Who is protected, what epsilon means here, whether a missing item has no users, whether the
        scores are counts, how the list was drawn, and what it cost. It looks at the guarantee and
        the public parameters alone, so that a release and its copy from a file say the same.
        """
        from shortlist.release._in_words import in_words

        return in_words(self)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the release to `path`, whole or not at all.

        The suffix chooses the format: `.json` (as `to_dict`), `.parquet` (as `to_polars`), `.csv`
        or `.md`. JSON and Parquet carry all, and `shortlist.load` gives back an equal release; in
        Parquet the guarantee is in the file metadata, under "shortlist.release". Markdown has the
        guarantee too; CSV does not. CSV holds the items as they are: a spreadsheet may take one
        that starts with =, +, - or @ for a formula.

        Args:
            path: A file that does not exist.
            overwrite: Whether it may exist: then it is replaced.

        Raises:
            InputError: The suffix is another, the file exists, or the path cannot be written.
        """
        check_output(path, overwrite=overwrite)
        write_whole(path, encoder(path)(self))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        since: Release | None = None,
    ) -> None:
        """Write the release to `path` as a page: one file of HTML, which loads nothing.

        It is for people, on a screen, a phone or paper: the list, how far the noise reaches, who is
        protected, what the numbers mean, and how to check it. It holds nothing that the release
        does not, and the release can be taken out of it. The same release gives the same bytes,
        wherever its chart can be drawn; where it cannot, the page says so.

        Args:
            path: A file that does not exist, whose name ends in `.html`.
            overwrite: Whether it may exist: then it is replaced.
            since: An earlier answer to the same question: the page says what is new, gone or moved
                since, as `shortlist.diff` does.

        Raises:
            InputError: The suffix is another, the file exists, the path cannot be written, a
                library is not installed (they are in the extra `shortlist[report]`), or the earlier
                list is of something else.

        Warns:
            RuntimeWarning: The chart could not be drawn.
        """
        from shortlist.release.report import SUFFIXES, report

        check_output(path, overwrite=overwrite, suffixes=SUFFIXES)
        write_whole(path, report(self, since).encode())

    def plot(self) -> alt.LayerChart:
        """The best items against their scores; a bar is as far as the noise reaches.

        Of discoveries it draws the e-values of all items that were looked at against their rank,
        and fills the points of those that are named.

        In a notebook it is shown; `.save("plot.svg")` and `.save("plot.png")` write it.

        Raises:
            InputError: There are no scores, or Altair is not installed: it is in the extra
                `shortlist[plot]`.
        """
        from shortlist.release._score_intervals import chart_of

        return chart_of(self)

    def _state(self) -> tuple[object, ...]:
        mechanism = described_mechanism(self.mechanism)
        return (
            *(self.question, self.by, self.scores, self.guarantee, mechanism),
            *(self.budget, self.given_before, self.others, self.users, self.about, self.ordered),
            *(self.associations, self.cap),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        mine, theirs = self._frame, other._frame
        same = mine.schema == theirs.schema and mine.equals(theirs)
        return same and self._state() == other._state()

    def __hash__(self) -> int:
        return hash((self.question, self._values, self.scores, self.guarantee))

    def __rich__(self) -> RenderableType:
        return rich(sheet(self))

    def __str__(self) -> str:
        return text(sheet(self))

    def _repr_html_(self) -> str:
        return html(sheet(self))

    @even_unmade
    def __repr__(self) -> str:
        size = f"{len(self)} item{'s' * (len(self) != 1)}"
        if self.by:
            size += f" in {len(self._places)} group{'s' * (len(self._places) != 1)}"
        elif self.k is not None and len(self) < self.k:
            size += f", fewer than the {self.k} asked for"
        guarantee = self.guarantee
        promise = f"epsilon={guarantee.epsilon!r}, delta={guarantee.delta!r}"
        seeded = "" if guarantee.private else ", not private"
        of = f" {self.about.of}" if self.about.of else ""
        return f"<Release {self.question}: {size}{of}, {promise}{seeded}>"
