"""How good an answer to expect of a table that is only guessed: the plan is played on one."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist.charts import NamedCurve, curves
from shortlist.draws import Draws, ExactDraws, Ints
from shortlist.draws.random_bits import SeededBits
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.parameters import require_count, require_number
from shortlist.questions import Discoveries, Domain, Question, TopK, TopScores, UserCounts
from shortlist.table import open_table

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_MOST_ROWS = 20_000_000
# The same table and the same noise each time.
_SEED = 1
_POINTS = 60
_GROUPED = "Ranks that lie close together are averaged."


@dataclass(frozen=True, kw_only=True, repr=False)
class Expectation:
    """What a plan answered on a table that was invented: a guess, of which no data is part.

    Attributes:
        described: The table and the plan, in words.
        k: How many items are asked for; None for as many as can be named.
        named: How many were named, on average.
        right: How many of these are among the k of the largest counts; all, where there is no k.
        chances: Of the item of each rank by its count, in how many of the runs it was named.
        runs: How often it was asked.
    """

    described: str
    k: int | None
    named: float
    right: float
    chances: tuple[float, ...]
    runs: int

    def __repr__(self) -> str:
        asked = "" if self.k is None else f" of {self.k}"
        lines = [f"{self.described}:", f"- {self.named:.1f}{asked} items named"]
        if self.k is not None:
            lines.append(f"- {self.right:.1f} of them among the {self.k} of the largest counts")
        lines.append(f"- {self._often()} named in at least half of the runs")
        return "\n".join([*lines, f"{_means(self.runs)} No data was read, and nothing was spent."])

    def _often(self) -> str:
        """Which items, from the most common one on, were named in at least half of the runs."""
        sure = next((at for at, chance in enumerate(self.chances) if chance < 0.5), None)
        if sure is None:
            return "each item"
        if sure < 2:
            return "the most common item" if sure else "not even the most common item"
        return f"each of the {sure} most common items"

    def plot(self) -> alt.LayerChart:
        """How often the item of each rank was named.

        Raises:
            InputError: Altair is not installed: it is in the extra `shortlist[plot]`.
        """
        return curves(
            [NamedCurve("share of runs", self._points())],
            title="What to expect",
            notes=[f"{self.described}.", f"{_means(self.runs)} {_GROUPED} No data was read."],
            across="rank of an item by its count",
            up="share of runs in which it was named",
        )

    def _points(self) -> list[tuple[float, float]]:
        """The mean rank and the mean chance of neighbouring ranks: single ones far up, then more.

        As far as twice the last rank that was named at all.
        """
        chances = np.array(self.chances)
        end = min(2 * (int(np.flatnonzero(chances).max(initial=0)) + 1), len(chances))
        starts = np.unique(np.geomspace(1, end, _POINTS).round().astype(np.int64)) - 1
        sizes = np.diff(starts, append=end)
        ranks = np.add.reduceat(np.arange(1.0, end + 1), starts) / sizes
        means = np.add.reduceat(chances[:end], starts) / sizes
        return list(zip(ranks.tolist(), means.tolist(), strict=True))


def _means(runs: int) -> str:
    return "1 run." if runs == 1 else f"Means of {runs} runs."


class ZipfTable:
    """A table that nobody has: users who each draw items by Zipf's law."""

    def __init__(self, users: int, items: int, exponent: float, each: int) -> None:
        if users * each > _MOST_ROWS or items > _MOST_ROWS:
            raise InputError(
                "a table of {rows} rows is too large to be invented",
                "give less: noise does not grow with the table, so a smaller one tells as much",
                given={"users": users},
                rows=f"{users * each:,}",
            )
        self.users, self.items, self.exponent, self.each = users, items, exponent, each
        self._drawn = self._draw()
        self._by_count = self._order()

    @classmethod
    def asked(cls, users: int, items: int, exponent: float, each: int) -> ZipfTable:
        """By numbers that a caller gave as `users`, `items`, `exponent` and `items_per_user`."""
        return cls(
            require_count("users", users),
            require_count("items", items),
            _require_exponent(exponent),
            require_count("items_per_user", each),
        )

    def _draw(self) -> Ints:
        """The item of each draw, shape (users * each,): item i has odds of 1/(i + 1)^exponent."""
        shares = np.cumsum(np.arange(1, self.items + 1, dtype=np.float64) ** -self.exponent)
        generator = np.random.default_rng(_SEED)
        at = generator.random(self.users * self.each) * shares[-1]
        drawn: Ints = np.searchsorted(shares, at, side="right").clip(max=self.items - 1)
        return drawn

    def _order(self) -> Ints:
        """The rank of each item by the number of users who hold it, from 0."""
        counts = np.bincount(self.pairs[1], minlength=self.items)
        ranks = np.empty(self.items, np.int64)
        ranks[np.argsort(-counts, kind="stable")] = np.arange(self.items)
        return ranks

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """Of each distinct pair the user and the item, from 0."""
        whose = np.arange(self.users).repeat(self.each)
        users, items = np.divmod(np.unique(whose * self.items + self._drawn), self.items)
        return users, items

    def engine(self, *, public: bool) -> RowsInMemory:
        """What shows the table to a mechanism."""
        import polars as pl

        whose = np.arange(self.users).repeat(self.each)
        frame = pl.DataFrame({"user": whose, "item": self._drawn})
        known = pl.DataFrame({"item": np.arange(self.items)}) if public else None
        return RowsInMemory(open_table(frame, user="user", items=["item"]), known)

    def ranks(self, items: pl.Series) -> Ints:
        """The ranks of these items by their counts, from 0."""
        ranks: Ints = self._by_count[np.asarray(items, np.int64)]
        return ranks

    def __str__(self) -> str:
        return (
            f"{self.users:,} users who each draw {self.each:,} of {self.items:,} items, Zipf "
            f"exponent {self.exponent:g}"
        )


def expected(
    question: Question,
    mechanism: Mechanism,
    *,
    users: int,
    items: int,
    exponent: float,
    items_per_user: int,
    runs: int,
    public: bool,
) -> Expectation:
    """As `Plan.expect`; `public` is whether everybody knows the items."""
    table = ZipfTable.asked(users, items, exponent, items_per_user)
    require_count("runs", runs)
    k = _number_asked(question, mechanism, table)
    engine = table.engine(public=public)
    if not issubclass(mechanism.wants.kind, engine.can_show):
        raise InputError(
            "{kind} is shown what no invented table has",
            "use metrics.compare on a table that may be looked at",
            kind=type(mechanism),
        )
    draws = ExactDraws(SeededBits(_SEED))
    ranks = [table.ranks(_answered(mechanism, engine, draws)) for _ in range(runs)]
    named = np.bincount(np.concatenate(ranks), minlength=items) / runs
    return Expectation(
        described=f"{question.name} by {type(mechanism).__name__} of {table}",
        k=k,
        named=float(named.sum()),
        right=float(named[:k].sum()),
        chances=tuple(named.tolist()),
        runs=runs,
    )


def _require_exponent(value: float) -> float:
    exponent = require_number("exponent", value)
    if not 0 <= exponent <= 10:
        raise InputError("must be from 0 to 10", "1 is usual", given={"exponent": value})
    return exponent


def _number_asked(question: Question, mechanism: Mechanism, table: ZipfTable) -> int | None:
    if isinstance(question, UserCounts):
        raise InputError(
            "{user_counts}: every item of the list is counted, and none is selected",
            "explain() of the plan says how large the noise is",
        )
    if isinstance(question, TopScores):
        raise InputError(
            "{question}: what scores to expect, only whoever computes them knows",
            "explain() of the plan says how large the noise is",
            question=question.name,
        )
    if isinstance(question, Discoveries):
        raise InputError(
            "{question}: an invented table has no labels",
            "explain() of the plan says how large the noise is; where nothing is real, an item is "
            "named with a chance of at most {fdr}",
            question=question.name,
            fdr=question.fdr,
        )
    if not isinstance(question, Domain | TopK):
        raise InputError(
            "what to expect of {kind} is not told by the counts of items",
            "use metrics.compare on a table that may be looked at",
            kind=type(question),
        )
    k = question.most_items
    if k is not None and k > table.items and not mechanism.names_private_items:
        raise InputError(
            "{items=} is less than the {k} items asked for",
            "give more",
            given={"items": table.items},
            k=k,
        )
    return k


def _answered(mechanism: Mechanism, engine: RowsInMemory, draws: Draws) -> pl.Series:
    with engine.show(mechanism.wants, draws) as shown:
        positions = copy(mechanism).select(shown.evidence, draws).positions
        return shown.items(positions).to_series()
