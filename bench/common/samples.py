"""Generated tables and counts, in random order, the same for a seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = [
    "KINDS",
    "MILLION",
    "TWENTY_MILLION",
    "Shape",
    "coded_pairs",
    "falling_counts",
    "huge_counts",
    "positive_weights",
    "small_sets",
    "write",
    "write_grouped",
    "write_with_rare_items",
]

Ints = NDArray[np.int64]
_SEED = 20260101
_TASTE = {"exponent": 1.0, "flat": 5.0}  # of the items' popularity
_ACTIVITY = {"exponent": 0.6, "flat": 50.0}  # of the users' numbers of rows


@dataclass(frozen=True)
class Shape:
    """How large a generated table is."""

    rows: int
    users: int
    items: int  # that there are to choose from; the rarest of them are in no row

    def scaled(self, factor: float) -> Shape:
        """The same table, smaller."""
        numbers = (self.rows, self.users, self.items)
        return Shape(*(max(int(number * factor), 10) for number in numbers))


MILLION = Shape(rows=1_000_000, users=100_000, items=188_000)
TWENTY_MILLION = Shape(rows=20_000_000, users=2_000_000, items=500_000)
KINDS = ("dense", "sparse", "text")


def _zipf(n: int, size: int, rng: np.random.Generator, *, exponent: float, flat: float) -> Ints:
    """Numbers below n, number r with odds (r + 1 + flat) ** -exponent, shape (size,)."""
    sums = np.cumsum((np.arange(n) + 1.0 + flat) ** -exponent)
    return np.searchsorted(sums, rng.random(size) * sums[-1])


def _rows(shape: Shape, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Users and items, row by row: every user has a row, names say nothing about frequency."""
    more = _zipf(shape.users, shape.rows - shape.users, rng, **_ACTIVITY)
    users = rng.permutation(np.concatenate([np.arange(shape.users), more]))
    items = _zipf(shape.items, shape.rows, rng, **_TASTE)
    return rng.permutation(shape.users)[users], rng.permutation(shape.items)[items]


def _named(kind: str, stem: str, codes: Ints, n: int, rng: np.random.Generator) -> Any:
    """The keys that the codes stand for."""
    if kind == "dense":
        return codes
    if kind == "sparse":
        return rng.integers(-(2**63), 2**63 - 1, n)[codes]
    marks = rng.integers(0, 2**32, n).tolist()  # so that names share no long beginning
    names = pl.Series([f"{mark:08x} {stem} {number}" for number, mark in enumerate(marks)])
    return names.gather(codes)


def write(shape: Shape, kind: str, folder: Path) -> Path:
    """A Parquet file with columns `user` and `item`, both dense integers, sparse ones, or text."""
    rng = np.random.default_rng(_SEED)
    return _write(shape, kind, *_rows(shape, rng), folder, rng)


def _write(
    shape: Shape, kind: str, users: Ints, items: Ints, folder: Path, rng: np.random.Generator
) -> Path:
    path = folder / f"{kind}-{shape.rows}.parquet"
    frame = {
        "user": _named(kind, "person", users, shape.users, rng),
        "item": _named(kind, "title", items, shape.items, rng),
    }
    pl.DataFrame(frame).write_parquet(path)
    return path


def write_with_rare_items(shape: Shape, kind: str, folder: Path) -> Path:
    """As `write`, but half of the rows take any item alike."""
    rng = np.random.default_rng(_SEED)
    users, items = _rows(shape, rng)
    alike = rng.random(shape.rows) < 0.5
    items[alike] = rng.integers(0, shape.items, int(alike.sum()))
    return _write(shape, kind, users, items, folder, rng)


def write_grouped(shape: Shape, n_groups: int, folder: Path) -> Path:
    """The same with a column `group`, all dense integers: each user is in one of so many groups."""
    rng = np.random.default_rng(_SEED)
    users, items = _rows(shape, rng)
    groups = _zipf(n_groups, shape.users, rng, **_TASTE)[users]
    path = folder / f"groups-{shape.rows}-{shape.items}.parquet"
    pl.DataFrame({"user": users, "group": groups, "item": items}).write_parquet(path)
    return path


def coded_pairs(n: int = 943_522) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int, int]:
    """`n` distinct pairs of codes in random order, and the numbers of users and items.

    Sets reach several hundred items, so that a bound of 100 has much to leave out.
    """
    shape = Shape(rows=n + n // 4, users=max(n // 16, 10), items=max(n // 7, 10))
    rng = np.random.default_rng(_SEED)
    users, items = _rows(shape, rng)
    packed = rng.permutation(np.unique(users * shape.items + items))[:n]
    users, items = np.divmod(packed, shape.items)
    return users.astype(np.uint32), items.astype(np.uint32), shape.users, shape.items


def small_sets(n: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int, int]:
    """`n` distinct pairs of codes, about ten of each user, and the numbers of users and items.

    The items' popularity is that of Zipf with exponent 1.05.
    """
    n_users, n_items = max(n // 10, 1), max(n // 5, 10)
    rng = np.random.default_rng(_SEED)
    rows = n + n * 7 // 10  # enough, with those that repeat others
    users = rng.integers(0, n_users, rows)
    items = rng.permutation(n_items)[_zipf(n_items, rows, rng, exponent=1.05, flat=0.0)]
    packed = rng.permutation(np.unique(users * n_items + items))[:n]
    users, items = np.divmod(packed, n_items)
    return users.astype(np.uint32), items.astype(np.uint32), n_users, n_items


def positive_weights(n: int = 1_000_000) -> tuple[Ints, Ints]:
    """Weights above 0 in fixed point, and counts, of n items with Zipf popularity."""
    counts = np.ceil(200_000 / (np.arange(n) + 1.0)).astype(np.int64)
    counts = np.random.default_rng(_SEED).permutation(counts)
    weight_of_five = int(2**32 / 5**0.5)
    return counts * weight_of_five, counts


def falling_counts(n: int, largest: float, exponent: float) -> Ints:
    """Counts of n items, of which number r in rank has largest / r ** exponent, rounded up."""
    counts = np.ceil(largest / np.arange(1, n + 1) ** exponent).astype(np.int64)
    return np.random.default_rng(_SEED).permutation(counts)


def huge_counts(n: int) -> Ints:
    """Counts of n items, uniform below 2^62, and so all different."""
    return np.random.default_rng(_SEED).integers(0, 2**62, n)
