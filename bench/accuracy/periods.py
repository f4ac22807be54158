"""Lists of single periods: a series of them, beside a share of the budget for each list."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from bench.common import real, report
from bench.common.cells import means
from bench.common.seeds import draws_of
from shortlist.draws import Ints
from shortlist.privacy.accountant.gaussian_threshold import least_threshold
from shortlist.series import PeriodRun, PeriodTerms, State, of_period

__all__ = ["measure"]

TABLES = {"movietweetings_2013_days": "Films in tweets", "amazon_grocery_5core_days": "Groceries"}
EPSILONS, PERIODS, DELTA = (0.3, 1.0, 3.0), (12, 52), 1e-5
SERIES, SHARES = "series", "a share for each"
SHOWN, NAMED = "shown", "ever named"


class Table(NamedTuple):
    """Who holds what, and when each pair came, as a part of the whole time."""

    title: str
    users: Ints
    items: Ints
    when: np.ndarray

    def periods(self, n: int) -> Iterator[tuple[Ints, Ints]]:
        """The users and the items of each of n periods of the same length."""
        of = np.minimum((self.when * n).astype(np.int64), n - 1)
        return ((self.users[of == period], self.items[of == period]) for period in range(n))


def measure(runs: int) -> None:
    """Measure, print and write.

    Args:
        runs: Of both ways in each cell.
    """
    found = real.find(list(TABLES))
    if len(found) < len(TABLES):
        return
    tables = [_table(TABLES[name], path) for name, path in found.items()]
    rows = [row for table in tables for row in _of_table(table, runs)]
    figures = means(pl.DataFrame(rows), [SHOWN, NAMED])
    beside = figures.pivot(
        on="mechanism", index=["table", "epsilon", "periods"], values=[SHOWN, NAMED]
    )
    beside = beside.rename(lambda name: name.replace("_", ", "))
    ratio = pl.col(f"{SHOWN}, {SERIES}") / pl.col(f"{SHOWN}, {SHARES}").replace(0, None)
    how = (
        "Periods of the same length, of tables with days. Shown is how many items the lists of all "
        "periods have, an item counted in each list that has it; ever named is how many different "
        f"ones. delta={DELTA:g}, at most 100 items of a user; means of {runs} runs from fixed "
        "seeds (so nothing here is private). With a share for each list, each has noise for 1/T of "
        "rho, each pair of a user and an item counts alike, and what was named once is shown again "
        "from 3 standard deviations on, as in the series."
    )
    whole = {"Items on all lists": beside.with_columns(ratio.alias("ratio of shown"))}
    report.write("periods", "Lists of single periods", whole, [how], {})


def _table(title: str, path: object) -> Table:
    rows = pl.read_parquet(path)  # type: ignore[arg-type]
    users, items = (
        rows[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in ("user", "item")
    )
    days = rows["day"].cast(pl.Int32).to_numpy()
    return Table(title, users, items, (days - days.min()) / (days.max() - days.min() + 1))


def _of_table(table: Table, runs: int) -> Iterator[dict[str, object]]:
    for epsilon, n, run in product(EPSILONS, PERIODS, range(runs)):
        terms = PeriodTerms(epsilon=epsilon, delta=DELTA, periods=n)
        label = table.title, epsilon, n, run
        for way, answer in ((SERIES, _by_series), (SHARES, _by_shares)):
            shown, named = answer(terms, table, *label)
            cell = {"table": table.title, "epsilon": epsilon, "periods": n, "mechanism": way}
            yield cell | {SHOWN: shown, NAMED: named}


def _by_series(terms: PeriodTerms, table: Table, *label: object) -> tuple[int, int]:
    state, draws, shown = State(), draws_of(*label), 0
    for users, items in table.periods(terms.periods):
        state = PeriodRun(terms, state, users, items, draws).made()
        shown += len(of_period(terms, state).items)
    return shown, len(state.counted)


def _by_shares(terms: PeriodTerms, table: Table, *label: object) -> tuple[int, int]:
    """In floats: nothing is published of it."""
    rng = np.random.default_rng(zlib.crc32(" ".join(map(str, label)).encode()))
    n, bound = terms.periods, terms.max_items_per_user
    sigma = terms.sigma * n**0.5
    bar = least_threshold(sigma, terms.lost / n, bound)
    named, shown = np.zeros(int(table.items.max()) + 1, np.bool_), 0
    for pairs in table.periods(n):
        order = np.lexsort((rng.random(len(pairs[0])), pairs[0]))
        users, items = (codes[order] for codes in pairs)
        _, starts, of, held = np.unique(
            users, return_index=True, return_inverse=True, return_counts=True
        )
        kept = np.arange(len(users)) - starts[of] < bound
        weights = np.minimum(held, bound)[of] ** -0.5
        sums = np.bincount(items[kept], weights[kept], minlength=len(named))
        noisy = sums + rng.normal(0, sigma, len(named))
        new = (noisy >= bar) & (np.bincount(items[kept], minlength=len(named)) > 0)
        shown += int((new | (named & (noisy >= 3 * sigma))).sum())
        named |= new
    return shown, int(named.sum())
