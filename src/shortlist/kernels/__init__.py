"""Compiled loops over plain arrays.

Those with `first` and `last` do one part of the work, so that threads share it: they release the
interpreter's lock. One signature each, compiled at the first call and cached on disk; where no
cache can be written they are compiled again in each process. Numba is loaded with the first.
"""

from shortlist.kernels.accounts import mark, spend
from shortlist.kernels.combining import combine, count_pairs
from shortlist.kernels.compiling import inner_kernel, kernel
from shortlist.kernels.filling import count_units, descend
from shortlist.kernels.hashing import (
    BLOCK,
    NOWHERE,
    fill,
    look_up,
    name_users,
    number_anew,
    place_of,
    sort_chunks,
)
from shortlist.kernels.items_in_groups import group_parts, place_parts, unite_parts
from shortlist.kernels.normal_quantiles import CELLS, FIRST_OCTAVE, OCTAVES, UNCLEAR, round_normals
from shortlist.kernels.rounds import DROPPED, FOUND, hear, look_up_boosts, spread_boosts, steer
from shortlist.kernels.subset_numbers import (
    SCALE,
    add_numbers,
    add_up_numbers,
    new_subsets,
    subset_jumps,
)
from shortlist.kernels.tallies import add_up, choose, farthest, find_members, slack_jumps, tally
from shortlist.kernels.user_items import (
    distinct,
    draw_bounds,
    find_hit,
    group,
    invert,
    keep_items,
    lower,
    partition,
    pick_subsets,
    reach,
    renumber,
    rows_per_bucket,
    sort_falling,
    weigh,
)

__all__ = [
    "BLOCK",
    "CELLS",
    "DROPPED",
    "FIRST_OCTAVE",
    "FOUND",
    "NOWHERE",
    "OCTAVES",
    "SCALE",
    "UNCLEAR",
    "add_numbers",
    "add_up",
    "add_up_numbers",
    "choose",
    "combine",
    "count_pairs",
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
    "hear",
    "inner_kernel",
    "invert",
    "keep_items",
    "kernel",
    "look_up",
    "look_up_boosts",
    "lower",
    "mark",
    "name_users",
    "new_subsets",
    "number_anew",
    "partition",
    "pick_subsets",
    "place_of",
    "place_parts",
    "reach",
    "renumber",
    "round_normals",
    "rows_per_bucket",
    "slack_jumps",
    "sort_chunks",
    "sort_falling",
    "spend",
    "spread_boosts",
    "steer",
    "subset_jumps",
    "tally",
    "unite_parts",
    "weigh",
]
