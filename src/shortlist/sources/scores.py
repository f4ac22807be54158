"""Scores of items: any numbers, if somebody states how far one user can move them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Unpack

from shortlist.engines.scores_in_memory import StatedScores
from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import Adjacency
from shortlist.parameters import Direction, require_number, require_option, require_sensitivity
from shortlist.plan import Chargeable
from shortlist.questions import BottomScores, TopScores
from shortlist.release import About, Release
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources.source import LIST_IS_PUBLIC, DataFacts, Source, opened
from shortlist.table import SensitiveTable, Writing, open_table
from shortlist.table.public_items import IN_TABLE, KNOWN_IN_TABLE, InTable, open_public_items

if TYPE_CHECKING:
    import polars as pl


def scores(  # noqa: PLR0913 - the arguments are the interface
    data: object,
    *,
    item: str | Sequence[str],
    score: str,
    sensitivity: float,
    direction: Direction,
    missing: float,
    public_items: object,
    neighbours: Adjacency = Adjacency.ADD_REMOVE,
    separator: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    budget: Chargeable | None = None,
    users: int | None = None,
    dataset: str | None = None,
    as_of: str | date | None = None,
) -> ItemScores:
    """Sensitive scores with one row per item: sums, differences, any numbers made from users' data.

    The guarantee rests on what you state: how far one user can move a score, and whether one user
    moves all scores the same way. The program cannot check it. It must hold for the numbers as they
    stand in the column, whoever else is in the data. A sum of floats, or a score divided by a
    standard deviation of the data, does not have the sensitivity of its formula.

    Rows with a null item are ignored. Only the named columns are read, once, at the first question.

    Args:
        data: As in `pairs`; from a table in an engine, items and scores are fetched.
        item: The column of items, or several: then an item is a tuple. Of the types in `pairs`; no
            item may have two rows.
        score: The column of scores: integers or floats; in a text file written as 0.5 or 5e-1.
        sensitivity: The most by which one user can move any score, in the unit of the scores.
        direction: `shortlist.Direction.ONE` if one user moves all scores the same way, as when
            amounts of 0 or more are added up; `shortlist.Direction.ANY` if not, or if you do not
            know. If you say `ONE` and some scores move the other way, the true epsilon may be twice
            as large.
        missing: The score of a public item that has none: no row, a null, NaN or a text that is no
            number. It is a public number, such as 0 for sums. Sensitivity and direction must hold
            for it, too: an added user may give an item its first score. Infinities stand above and
            below all numbers.
        public_items: What everybody knows: a list, table or file of items. Those that the table
            lacks have the score `missing`, and others are dropped. `shortlist.IN_TABLE` if
            everybody knows the item column as it is.
        neighbours: Which change of the data `sensitivity` and `direction` are about:
            `Adjacency.ADD_REMOVE` of `shortlist.mechanisms`, one user more or less, or
            `Adjacency.GENERAL`, if one user may also be replaced by another.
        separator: As in `pairs`.
        encoding: As in `pairs`.
        table: As in `pairs`.
        budget: As in `pairs`.
        users: As in `pairs`.
        dataset: As in `pairs`.
        as_of: As in `pairs`.

    Raises:
        InputError: The data cannot be opened, a column is missing or of no usable type, a number is
            out of range, or the public items are no such list or the table itself. Nothing private
            is in the message, and no score is refused, whatever it is.

    >>> import polars as pl
    >>> from shortlist import IN_TABLE, Direction
    >>> spent = pl.DataFrame({"title": ["Emma", "Dune", "Ulysses"], "hours": [950.5, 40.25, 0.0]})
    >>> hours = scores(
    ...     spent, item="title", score="hours", sensitivity=8, direction=Direction.ONE,
    ...     missing=0, public_items=IN_TABLE,
    ... )
    >>> hours.top_k(1, epsilon=1.0).items
    ['Emma']
    """
    about = About.of_data(dataset, as_of)
    stated = {
        "sensitivity": require_sensitivity("sensitivity", sensitivity),
        "direction": require_option(Direction, "direction", direction),
    }
    require_option(Adjacency, "neighbours", neighbours)
    missing = require_number("missing", missing)
    if public_items is None:
        raise InputError(
            "which items have a score would say something about users",
            "give a list of items that everybody knows, or {sl.IN_TABLE} if those of the table are "
            "known",
            given={"public_items": None},
        )
    data = opened(data, table)
    if isinstance(data, InputError):
        raise data from None
    checked = open_table(data, score=score, items=item, writing=Writing(separator, encoding))
    public: pl.DataFrame | InTable = IN_TABLE
    if public_items is not IN_TABLE:
        public = open_public_items(
            public_items, checked.items, table=checked.parts, otherwise=KNOWN_IN_TABLE
        )
    engine = StatedScores(checked, public, missing=missing, **stated)  # type: ignore[arg-type]  # checked above
    facts = DataFacts(budget, users, about)
    return ItemScores(engine, checked, {**stated, "neighbours": neighbours}, facts)


class ItemScores(Source):
    """Scores and the questions that can be asked of them. Built by `scores`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        engine: StatedScores,
        table: SensitiveTable,
        stated: dict[str, object],
        facts: DataFacts,
    ) -> None:
        score, *items = (f'"{name}"' for name in table.columns)
        most, one = stated["sensitivity"], stated["direction"] is Direction.ONE
        way = "all the same way" if one else "each one up or down"
        known = ", ".join(items)
        word = (
            f"that one user moves the scores no further, {way}, is the word of whoever gave them, "
            "and holds for the numbers as they were computed"
        )
        public = f"the items in {known} are public"
        super().__init__(
            engine,
            protects=f"one user, who moves each score in {score} by at most {most:g}, {way}",
            assumes=(word, public if engine.n_items is None else LIST_IS_PUBLIC),
            bounds=stated,  # type: ignore[arg-type]  # a number and options
            facts=facts,
        )
        self._described = f"item={known}, score={score}, sensitivity={most:g}"

    @even_unmade
    def __repr__(self) -> str:
        return f"<ItemScores: {self._described}>"

    @takes(Terms)
    def top_k(
        self,
        k: int,
        *,
        score_share: float | None = None,
        noisy_scores: bool = False,
        **terms: Unpack[Terms],
    ) -> Release:
        """The k items with the largest scores, best first, with differential privacy.

        By default `JointOrPeel` answers, and most other mechanisms for public counts can. Their
        noise is scaled to how far one user can move two scores apart: the sensitivity, or twice as
        much if scores may move both ways.

        Args:
            k: How many items; at most the number of public items.
            score_share: As in `shortlist.TopScores`.
            noisy_scores: As in `shortlist.TopScores`: each item comes with a noisy score, and an
                interval.
            **terms: `epsilon` and all else of `Source.ask`.

        Guarantee: (epsilon, delta)-differential privacy for the neighbours that the sensitivity is
            stated for, if what is stated of the scores is true.

        Raises:
            InputError: An argument cannot be used; found before data is read, unless `k` is more
                than the items that are `IN_TABLE`.
        """
        return self.ask(TopScores(k, score_share, noisy_scores), **terms)

    @takes(Terms)
    def bottom_k(
        self,
        k: int,
        *,
        score_share: float | None = None,
        noisy_scores: bool = False,
        **terms: Unpack[Terms],
    ) -> Release:
        """The k items with the smallest scores, the smallest first, with differential privacy.

        Args:
            k: As in `top_k`.
            score_share: As in `top_k`.
            noisy_scores: As in `top_k`.
            **terms: `epsilon` and all else of `Source.ask`.

        Guarantee: As of `top_k`.

        Raises:
            InputError: As of `top_k`.
        """
        return self.ask(BottomScores(k, score_share, noisy_scores), **terms)
