"""A histogram of items that are easily confused, as a source."""

import polars as pl

import shortlist as sl

ASK = {"epsilon": 5.0, "delta": 1e-6}
TITLE, READERS = "titre, [bold]", "lecteurs é"
ITEMS = ["007", "7", "\u00e9t\u00e9", "e\u0301te\u0301", "[bold]x[/]", 'a, "b"', "\x1b[31m日本"]
STEP = 1000  # readers between one item and the next: many times the noise
ROWS = {"public_items": sl.IN_TABLE}  # the items are known, and how many rows there are


def table(items, step=STEP):
    """Item number i of n has (n - i) step readers; rows are shuffled, and so are the columns."""
    readers = [(len(items) - i) * step for i in range(len(items))]
    return pl.DataFrame({READERS: readers, TITLE: items}, strict=False).sample(
        fraction=1, shuffle=True, seed=3
    )


def counts(data, **more):
    return sl.counts(data, item=TITLE, count=READERS, **more)
