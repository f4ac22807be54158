"""Compiled loops over plain arrays.

Those with `first` and `last` do one part of the work, so that threads share it: they release the
interpreter's lock. One signature each, compiled at the first call and cached on disk; where no
cache can be written they are compiled again in each process. Numba is loaded with the first.
"""

from shortlist.kernels.compiling import kernel
from shortlist.kernels.counts import add_up, find_members, slack_jumps, tally
from shortlist.kernels.groups import group_parts, place_parts, unite_parts
from shortlist.kernels.hitting import distinct, find_hit, invert, lower, reach, sort_falling
from shortlist.kernels.keys import fill, look_up, name_users, place_of, sort_chunks
from shortlist.kernels.matrices import farthest
from shortlist.kernels.policies import count_units, descend
from shortlist.kernels.rounds import steer
from shortlist.kernels.users import (
    NOWHERE,
    draw_bounds,
    group,
    keep_items,
    partition,
    pick_subsets,
    rows_per_bucket,
    weigh,
)

__all__ = [
    "NOWHERE",
    "add_up",
    "count_units",
    "descend",
    "distinct",
    "draw_bounds",
    "farthest",
    "fill",
    "find_hit",
    "find_members",
    "group",
    "group_parts",
    "invert",
    "keep_items",
    "kernel",
    "look_up",
    "lower",
    "name_users",
    "partition",
    "pick_subsets",
    "place_of",
    "place_parts",
    "reach",
    "rows_per_bucket",
    "slack_jumps",
    "sort_chunks",
    "sort_falling",
    "steer",
    "tally",
    "unite_parts",
    "weigh",
]
