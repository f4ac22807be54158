"""What users spent, as whole numbers of steps: what counts, what is left out, what is refused."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.refusals import refusal
from shortlist.table import open_table
from shortlist.table.amounts import MOST, Amounts, amounts_of

ROWS = {"user": range(6), "page": list("abcdef")}
VALUES = [1.0, 0.30000005, None, float("nan"), float("inf"), -2.5]


def steps(data, cap=2):
    table = open_table(data, user="user", items=["page"], amounts=Amounts("spent", cap))
    users, pages, spent = table.with_amounts()
    assert len(users.codes) == len(pages.codes) == len(spent)
    return dict(zip(pages.take(pages.codes)["page"], spent.tolist(), strict=True))


HALF = MOST // 2
KEPT = {"a": HALF, "b": 157_286, "f": -5 * HALF // 2}


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int8, pl.Decimal(20, 4), pl.UInt64])
def test_every_type_of_numbers_counts_in_steps_rounded_down(dtype):
    spent = pl.Series("spent", [3, 0, None, 5, 1, 2]).cast(dtype)
    found = steps(pl.DataFrame(ROWS).with_columns(spent))
    assert found == {"a": 3 * HALF, "b": 0, "d": 5 * HALF, "e": HALF, "f": MOST}


def test_what_is_no_finite_number_is_left_out_and_not_refused(tmp_path):
    frame = pl.DataFrame({**ROWS, "spent": VALUES}, strict=False)
    assert steps(frame) == steps(frame.lazy()) == steps(frame.to_arrow()) == KEPT
    assert steps(frame.to_pandas()) == KEPT
    assert steps({**ROWS, "spent": VALUES}) == KEPT
    assert steps({**ROWS, "spent": np.array(VALUES, np.float64)}) == KEPT
    frame.write_parquet(tmp_path / "spent.parquet")
    assert steps(tmp_path / "spent.parquet") == KEPT
    written = ["1", "0.30000005", "", "NaN", "1e400", "-25e-1"]
    frame.with_columns(spent=pl.Series(written)).write_csv(tmp_path / "spent.csv")
    assert steps(tmp_path / "spent.csv") == KEPT
    texts = ["1.0", "0.30000005", "much", "", "1_0e", "-2.5"]
    assert steps({**ROWS, "spent": texts}) == KEPT


def test_lists_take_whatever_is_a_number():
    held = [Decimal(1), 0.30000005, object(), Decimal("NaN"), date(2026, 1, 1), -2.5]
    assert steps({**ROWS, "spent": held}) == KEPT


def test_a_row_saturates_far_above_the_cap():
    most = 2**31
    spent = [1e300, -1e300, 2**62, 200.0, 1e14, 0.0]
    found = list(steps(pl.DataFrame({**ROWS, "spent": spent}, strict=False)).values())
    assert found == [most, -most, most, 100 * MOST, most, 0]


def test_what_no_engine_divides_is_nothing():
    spent = [1e-291, -1e-291, 5e-324, -1e-200, 0.0, -0.0]
    found = list(steps(pl.DataFrame({**ROWS, "spent": spent}), cap=1e15).values())
    assert found == [0, 0, 0, -1, 0, 0]


def test_a_filter_may_look_at_amounts_too():
    frame = pl.DataFrame({**ROWS, "spent": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    given = {"user": "user", "items": ["page"], "amounts": Amounts("spent", 2)}
    table = open_table(frame, where="spent > 4", **given)
    assert table.with_amounts()[2].tolist() == [5 * HALF, 6 * HALF]
    table.check()


@pytest.mark.parametrize("cap", [600, 0.5, 1 / 3, 1e15, 1e-9, np.float64(60), np.int64(60)])
def test_a_cap_has_as_many_steps_whatever_it_is(cap):
    frame = pl.DataFrame({"user": [1, 2], "page": ["a", "b"], "spent": [float(cap), 0.7 * cap]})
    assert steps(frame, cap) == {"a": MOST, "b": int(0.7 * MOST)}
    amounts = Amounts("spent", cap)
    assert amounts.step == float(cap) / MOST
    assert amounts.json_values() == {"column": "spent", "cap": float(cap), "steps": MOST}


@pytest.mark.parametrize("cap", [0, -1, 1e16, 1e-10, float("nan"), float("inf"), True, "600", None])
def test_a_cap_out_of_range_is_refused(cap):
    refusal(lambda: amounts_of("spent", cap), "cap", "without looking at the data")


def test_one_goes_with_the_other():
    assert amounts_of(None, None) is None
    refusal(lambda: amounts_of(None, 600), "cap=600: it goes with amount")
    refusal(lambda: amounts_of("spent", None), 'amount="spent"', "give cap=600")
    refusal(lambda: amounts_of(7, 600), "amount=7", "a string")


@pytest.mark.parametrize(
    "spent", [pl.Series(["1"] * 6), pl.Series([True] * 6), pl.Series([date(2026, 1, 1)] * 6)]
)
def test_a_column_that_holds_no_numbers_is_refused_by_its_type(spent):
    frame = pl.DataFrame(ROWS).with_columns(spent=spent)
    refusal(lambda: steps(frame), 'amount="spent" is of type', "cast it to a number")
    refusal(lambda: steps(frame.drop("spent")), 'amount="spent" is not a column')
    refusal(lambda: steps(pd.DataFrame({**ROWS, "spent": [{}] * 6})), "cast it to a number")


def test_a_column_has_one_role():
    given = {"user": "user", "items": ["page"]}
    refusal(
        lambda: open_table(pl.DataFrame(ROWS), **given, amounts=Amounts("page", 1)),
        'amount="page" and item="page" are the same column',
    )
