"""By OpenDP's queries on a lazy frame. The bound on a user's items is chosen by hand."""

from typing import Any

import opendp.prelude as dp
import polars as pl
from asking import CAP, DELTA, EPSILON, FLOOR, Counts, K, bound, tell

dp.enable_features("contrib")
_MOST_ROWS = 1_000_000  # of an item: what is promised, so that floats add up within bounds


def floor(path: str, _: str, __: list[str]) -> Counts:
    """Items of at least about so many users."""
    unit = dp.unit_of(contributions=1, identifier=pl.col("user"))
    loss = dp.loss_of(epsilon=EPSILON, delta=DELTA)
    rows = pl.scan_parquet(path)
    context = dp.Context.compositor(
        data=rows, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1
    )
    one_each = context.query().truncate_per_group(1, by=["item"])
    bounded = one_each.truncate_num_groups(bound(), by=["item"], keep="first")
    counts = bounded.group_by("item").agg(dp.len(signed=False)).release().collect()
    return counts.filter(pl.col("len") >= FLOOR).rows()


def filtered(path: str, condition: str, _: list[str]) -> Counts:
    """The best items of some rows."""
    unit = dp.unit_of(contributions=1, identifier=pl.col("user"))
    loss = dp.loss_of(epsilon=EPSILON, delta=DELTA)
    context = dp.Context.compositor(
        data=pl.scan_parquet(path), privacy_unit=unit, privacy_loss=loss, split_evenly_over=1
    )
    kept = context.query().filter(_condition(condition)).truncate_per_group(1, by=["item"])
    bounded = kept.truncate_num_groups(bound(), by=["item"], keep="first")
    counts = bounded.group_by("item").agg(dp.len(signed=False)).release().collect()
    return counts.sort("len", descending=True).head(K).rows()


def known(path: str, _: str, items: list[str]) -> Counts:
    """How many users hold each of some items."""
    unit = dp.unit_of(contributions=1, identifier=pl.col("user"))
    loss = dp.loss_of(epsilon=EPSILON, delta=DELTA)
    context = dp.Context.compositor(
        data=pl.scan_parquet(path), privacy_unit=unit, privacy_loss=loss, split_evenly_over=1
    )
    bounded = (
        context.query()
        .truncate_per_group(1, by=["item"])
        .truncate_num_groups(bound(), by=["item"], keep="first")
    )
    counts = bounded.group_by("item").agg(dp.len(signed=False))
    return counts.with_keys(pl.LazyFrame({"item": items})).release().collect().rows()


def amounts(path: str, _: str, __: list[str]) -> Counts:
    """The best items by what users spent on them, of whom each counts up to a cap."""
    unit = dp.unit_of(contributions=1, identifier=pl.col("user"))
    loss = dp.loss_of(epsilon=EPSILON, delta=DELTA)
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=unit,
        privacy_loss=loss,
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["item"], max_length=_MOST_ROWS, max_groups=_MOST_ROWS)],
    )
    one_each = context.query().truncate_per_group(1, by=["item"])
    bounded = one_each.truncate_num_groups(bound(), by=["item"], keep="first")
    total = pl.col("amount").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, CAP))
    sums = bounded.group_by("item").agg(dp.len(signed=False), total).release().collect()
    return sums.sort("amount", descending=True).head(K).select("item", "amount").rows()


def _condition(condition: str) -> Any:
    """The column `part` beside a text, as polars says it."""
    _, sign, text = condition.split(" ", 2)
    part, value = pl.col("part"), text.strip("'")
    return part >= value if sign == ">=" else part == value


if __name__ == "__main__":
    tell({"amounts": amounts, "floor": floor, "filter": filtered, "known items": known})
