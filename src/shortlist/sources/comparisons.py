"""(winner, loser) rows: which of two items did better."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Unpack

from shortlist.engines.comparisons_in_memory import ComparisonsInMemory
from shortlist.errors import InputError, in_quotes
from shortlist.evidence import Outcomes
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.parameters import require_count
from shortlist.plan import Chargeable
from shortlist.questions import Rank
from shortlist.release import About, Release
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources.source import LIST_IS_PUBLIC, DataFacts, Source
from shortlist.table import Writing
from shortlist.table.comparison_rows import ComparisonTable, open_comparisons
from shortlist.table.public_items import IN_TABLE, KNOWN_IN_TABLE, InTable, open_public_items

if TYPE_CHECKING:
    import polars as pl


def comparisons(  # noqa: PLR0913 - the arguments are the interface
    data: object,
    *,
    winner: str,
    loser: str,
    public_items: object,
    user: str | None = None,
    max_comparisons_per_user: int | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    budget: Chargeable | None = None,
    dataset: str | None = None,
    as_of: str | date | None = None,
) -> Comparisons:
    """A sensitive table with one row per comparison of two items, of which one won.

    The privacy unit is one comparison, a row; or, with `user`, a user: all rows of any one value
    of that column are protected together. Repeated rows count as several comparisons. A row that
    holds a null, an item that is not public, or the same item twice is ignored. Only the named
    columns are read, once, at the first question.

    Args:
        data: As in `pairs`.
        winner: The column of the items that won. Of the types in `pairs`.
        loser: The column of the items that lost, of the same type.
        public_items: What everybody knows: a list, or a table or file with the items alone, none
            twice; a CSV file begins with the name of the winners' or losers' column, or item.
            `shortlist.IN_TABLE` if everybody knows which items the table compares.
        user: The column of who compared them, if all that one has compared is to be protected
            together; None to protect each comparison by itself.
        max_comparisons_per_user: With `user`, the most comparisons of one user that count; of a
            user with more, a uniformly random subset counts. More noise for a larger bound, more
            comparisons lost for a smaller one. Choose it without looking at the data.
        separator: As in `pairs`.
        encoding: As in `pairs`.
        budget: As in `pairs`.
        dataset: As in `pairs`.
        as_of: As in `pairs`.

    Raises:
        InputError: The data cannot be opened, a column is missing or of no usable type, or the
            public items are no such list or the table itself. Nothing private is in the message.

    >>> import polars as pl
    >>> from shortlist import IN_TABLE
    >>> games = pl.DataFrame({"won": ["Ann"] * 90 + ["Bob"], "lost": ["Bob"] * 90 + ["Ann"]})
    >>> source = comparisons(games, winner="won", loser="lost", public_items=IN_TABLE)
    >>> source.rank(1, epsilon=1.0).items
    ['Ann']
    """
    about = About.of_data(dataset, as_of)
    require_bound(user, max_comparisons_per_user)
    if public_items is None:
        raise InputError(
            "which items are compared would say something about the rows",
            "give a list of items that everybody knows, or {sl.IN_TABLE} if those of the table are "
            "known",
            given={"public_items": None},
        )
    writing = Writing(separator, encoding)
    table = open_comparisons(data, winner=winner, loser=loser, user=user, writing=writing)
    public: pl.DataFrame | InTable = IN_TABLE
    if public_items is not IN_TABLE:
        public = open_public_items(
            public_items,
            table.item,
            also=(loser, "item"),
            table=table.parts,
            otherwise=KNOWN_IN_TABLE,
        )
    bound = None if max_comparisons_per_user is None else int(max_comparisons_per_user)
    return Comparisons(table, public, bound, DataFacts(budget, about=about))


def require_bound(user: object, max_comparisons_per_user: object) -> None:
    """Refuse users without a bound, and a bound without users."""
    bound = max_comparisons_per_user
    if user is not None and bound is None:
        raise InputError(
            "all comparisons of a user are protected together, so their number must be bounded",
            "give {max_comparisons_per_user}, such as 10, or omit {user} to protect each "
            "comparison by itself",
            given={"user": in_quotes(user)},
        )
    if user is None and bound is not None:
        raise InputError(
            "it bounds the comparisons of each user",
            "give {user}, the column of users, or omit the bound",
            given={"max_comparisons_per_user": bound},
        )
    if bound is not None:
        require_count("max_comparisons_per_user", bound)  # type: ignore[arg-type]  # checked there


class Comparisons(Source):
    """(winner, loser) rows and the question that can be asked of them. Built by `comparisons`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        table: ComparisonTable,
        public: pl.DataFrame | InTable,
        max_comparisons_per_user: int | None,
        facts: DataFacts,
    ) -> None:
        self._bound = max_comparisons_per_user
        known = "the items that the table compares are public"
        super().__init__(
            ComparisonsInMemory(table, public),
            protects=self._unit,
            assumes=(known if public is IN_TABLE else LIST_IS_PUBLIC,),
            bounds={"max_comparisons_per_user": max_comparisons_per_user},
            facts=facts,
        )
        roles = zip(("winner", "loser", "user"), table.columns, strict=False)
        names = ", ".join(f'{role}="{name}"' for role, name in roles)
        bounded = "" if self._bound is None else f", max_comparisons_per_user={self._bound}"
        self._described = f"{names}{bounded}"

    @even_unmade
    def __repr__(self) -> str:
        return f"<Comparisons: {self._described}>"

    @takes(Terms)
    def rank(self, k: int, **terms: Unpack[Terms]) -> Release:
        """The k items that do best in comparisons, best first, with differential privacy.

        `WinCount` answers by default, with the noisy number of comparisons that each item won.

        Args:
            k: How many items; at most the number of public items.
            **terms: `epsilon` and all else of `Source.ask`; `delta` must be 0: no mechanism
                here uses one, and none is spent without use.

        Guarantee: epsilon-differential privacy when one comparison is added or removed, or with
            `user` one user; by `SpectralRanking` only when outcomes change, and with a
            `contraction` only between outcomes that keep it. `release.guarantee` says which.

        Raises:
            InputError: An argument cannot be used; found before data is read, unless `k` is more
                than the items that are `IN_TABLE`.
        """
        return self.ask(Rank(k), **terms)

    def _protected(self, mechanism: Mechanism) -> str:
        if mechanism.evidence is not Outcomes:
            return self._unit
        if self._bound is None:
            return f"who won, in {self._unit}"
        return f"who won, in the comparisons of one user, at most {self._bound}"

    @property
    def _unit(self) -> str:
        if self._bound is None:
            return "one comparison"
        return f"one user, at most {self._bound} comparison{'s' * (self._bound != 1)}"
