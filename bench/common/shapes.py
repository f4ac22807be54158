"""Odd tables, made here: users who hold much and users who hold little want different things."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

__all__ = ["SHAPES"]

_FAR = 1_000_000  # items from here on are each held by one user alone


def _some(users: range, each: int, items: range, power: float, seed: int) -> pl.DataFrame:
    """Each user draws `each` times, with repetitions; item r is as popular as 1 / r^power."""
    popularity = 1.0 / np.arange(1, len(items) + 1) ** power
    drawn = np.random.default_rng(seed).choice(
        np.array(items), size=len(users) * each, p=popularity / popularity.sum()
    )
    return pl.DataFrame({"user": np.repeat(np.array(users), each), "item": drawn})


def _rare_by_light() -> pl.DataFrame:
    light, heavy = range(1000, 30_000), range(1000)
    popular = _some(heavy, 400, range(300), 0.5, 1)
    return pl.concat([popular, _some(light, 1, range(300, 1800), 0.4, 2)])


def _rare_by_heavy() -> pl.DataFrame:
    light, heavy = range(1000, 20_000), range(1000)
    rare = _some(heavy, 300, range(300, 4300), 0.0, 3)
    return pl.concat([rare, _some(light, 3, range(300), 0.8, 4)])


def _own_of_heavy() -> pl.DataFrame:
    everybody, heavy, each = range(20_000), range(2000), 600
    users = np.repeat(np.array(heavy), each)
    own = pl.DataFrame({"user": users, "item": _FAR + np.arange(users.size)})
    return pl.concat([_some(everybody, 2, range(3000), 0.8, 5), own])


def _families() -> pl.DataFrame:
    families, size, each = 60, 200, 60
    held = np.repeat(np.arange(families * each).reshape(families, each), size, axis=0)
    users = np.repeat(np.arange(families * size), each)
    return pl.DataFrame({"user": users, "item": held.ravel()})


def _three_classes() -> pl.DataFrame:
    heavy = _some(range(300), 1500, range(2000), 0.3, 6)
    others = _some(range(300, 3000), 60, range(2000, 3500), 0.6, 7)
    return pl.concat([heavy, others, _some(range(3000, 20_000), 1, range(3500, 4300), 0.6, 8)])


def _few_hold_most() -> pl.DataFrame:
    heavy, light = range(400), range(400, 40_000)
    most = _some(heavy, 1000, range(3000), 0.5, 9)
    return pl.concat([most, _some(light, 1, range(1500, 4500), 0.7, 10)])


SHAPES: dict[str, Callable[[], pl.DataFrame]] = {
    "Rare items of light users": _rare_by_light,
    "Rare items of heavy users": _rare_by_heavy,
    "Heavy users' own items": _own_of_heavy,
    "Families that hold the same": _families,
    "Three kinds of users": _three_classes,
    "Few users hold most of the rows": _few_hold_most,
}
"""Rows of users and items."""
