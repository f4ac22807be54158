"""By Tumult's `Session`, on Spark. The bound on a user's items is chosen by hand.

Each question is written out whole, as whoever asks it alone would: its lines are counted.
"""

import os
import sys
from tempfile import mkdtemp

os.environ["PYSPARK_PYTHON"] = sys.executable

from asking import CAP, DELTA, EPSILON, FLOOR, Counts, K, bound, tell
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)


def floor(path: str, _: str, __: list[str]) -> Counts:
    """Items of at least about so many users."""
    budget, unit = ApproxDPBudget(EPSILON, DELTA), AddRowsWithID("user")
    session = Session.from_dataframe(budget, "rows", _spark().read.parquet(path), unit)
    bounded = QueryBuilder("rows").enforce(MaxGroupsPerID("item", bound()))
    bounded = bounded.enforce(MaxRowsPerGroupPerID("item", 1))
    half = ApproxDPBudget(EPSILON / 2, DELTA)
    keys = KeySet.from_dataframe(session.evaluate(bounded.get_groups(["item"]), half))
    counts = session.evaluate(bounded.groupby(keys).count(), PureDPBudget(EPSILON / 2))
    return [tuple(row) for row in counts.filter(f"count >= {FLOOR}").collect()]


def filtered(path: str, condition: str, _: list[str]) -> Counts:
    """The best items of some rows."""
    budget, unit = ApproxDPBudget(EPSILON, DELTA), AddRowsWithID("user")
    session = Session.from_dataframe(budget, "rows", _spark().read.parquet(path), unit)
    bounded = QueryBuilder("rows").filter(condition).enforce(MaxGroupsPerID("item", bound()))
    bounded = bounded.enforce(MaxRowsPerGroupPerID("item", 1))
    half = ApproxDPBudget(EPSILON / 2, DELTA)
    keys = KeySet.from_dataframe(session.evaluate(bounded.get_groups(["item"]), half))
    counts = session.evaluate(bounded.groupby(keys).count(), PureDPBudget(EPSILON / 2))
    return [tuple(row) for row in counts.orderBy("count", ascending=False).limit(K).collect()]


def known(path: str, _: str, items: list[str]) -> Counts:
    """How many users hold each of some items."""
    budget, unit = ApproxDPBudget(EPSILON, DELTA), AddRowsWithID("user")
    session = Session.from_dataframe(budget, "rows", _spark().read.parquet(path), unit)
    bounded = QueryBuilder("rows").enforce(MaxGroupsPerID("item", bound()))
    bounded = bounded.enforce(MaxRowsPerGroupPerID("item", 1))
    counts = bounded.groupby(KeySet.from_dict({"item": items})).count()
    return [tuple(row) for row in session.evaluate(counts, budget).collect()]


def amounts(path: str, _: str, __: list[str]) -> Counts:
    """The best items by what users spent on them, of whom each counts up to a cap."""
    budget, unit = ApproxDPBudget(EPSILON, DELTA), AddRowsWithID("user")
    session = Session.from_dataframe(budget, "rows", _spark().read.parquet(path), unit)
    bounded = QueryBuilder("rows").enforce(MaxGroupsPerID("item", bound()))
    bounded = bounded.enforce(MaxRowsPerGroupPerID("item", 1))
    half = ApproxDPBudget(EPSILON / 2, DELTA)
    keys = KeySet.from_dataframe(session.evaluate(bounded.get_groups(["item"]), half))
    total = bounded.groupby(keys).sum("amount", low=0.0, high=CAP, name="amount")
    sums = session.evaluate(total, PureDPBudget(EPSILON / 2))
    return [tuple(row) for row in sums.orderBy("amount", ascending=False).limit(K).collect()]


def _spark() -> SparkSession:
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        # Where Tumult writes rows, which are not to lie in the project.
        .config("spark.sql.warehouse.dir", mkdtemp())
        .getOrCreate()
    )


if __name__ == "__main__":
    _spark()  # started before any question is timed
    tell({"floor": floor, "filter": filtered, "known items": known, "amounts": amounts})
