"""Mistakes in the loop over all users by which a round sums weights."""

import numpy as np

from helpers.planted.planting import Plant
from shortlist import kernels
from shortlist.algorithms.search_in_rounds import BOOSTS

_ONE = 2**40
IN_ALL = (
    "adaptive-gaussian",
    "chosen-bound",
    "adaptive-top-k",
    "adaptive-hitting-set",
    "per-group",
)
CASES = "adaptive-gaussian zcdp", "chosen-bound zcdp", "adaptive-hitting-set zcdp"


def steering(*, norm=1.0, found_count=False, floor_on_top=False):
    """The compiled loop of a round in Python, with mistakes."""

    def steer(*given):
        starts, sizes, items, first, last, left, kept, boosts, floors, caps, sums = given
        for user in range(first, last):
            mine = items[starts[user] : starts[user] + left[user]].copy()
            still = mine[boosts[mine] >= 0]
            left[user] = len(still)
            kept[starts[user] : starts[user] + len(still)] = still
            if not len(still):
                continue
            worth = boosts[still].astype(np.float64) / BOOSTS
            floor, cap = floors[sizes[user]], caps[sizes[user]]
            rest = norm * _ONE - (0 if floor_on_top else len(still) * floor)
            squares = np.full(len(still), float(floor))
            if worth.any():
                squares += worth**2 * rest / (worth @ worth)
            if found_count:  # what others of the user's items had is spent once more
                squares *= len(mine) / len(still)
            np.add.at(sums, still, np.sqrt(np.minimum(squares, cap)).astype(np.int64))

    return steer


def _norm(patch):
    patch.number(kernels, "steer", steering(norm=1.2))


def _floor_on_top(patch):
    patch.number(kernels, "steer", steering(floor_on_top=True))


def _found_still_count(patch):
    patch.number(kernels, "steer", steering(found_count=True))


KERNELS = [
    Plant("the squares of a user's weights add up to 1.2", "kernels", IN_ALL, _norm, CASES),
    Plant(
        "what is spent evenly is not taken from the rest",
        "kernels",
        IN_ALL[:2],
        _floor_on_top,
        CASES[:1],
    ),
    Plant(
        "weight of found items is handed on beside the whole weight",
        "kernels",
        IN_ALL,
        _found_still_count,
        CASES,
    ),
]
