"""Stages of bounded range, and of a bounded loss, on a grid of losses.

Loops are compiled at the first call, and cached on disk where a folder can be written to.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from shortlist.kernels import inner_kernel, kernel
from shortlist.privacy._delta_curves import Floats
from shortlist.privacy.accountant._loss_grid import Ints, LossGrid, Profile, Window
from shortlist.privacy.accountant.stages import PureStage

# Nothing is divided by 0.
_kernel = partial(kernel, error_model="numpy")
_inner_kernel = partial(inner_kernel, error_model="numpy")

_TINY = 1e-300
_ROUNDING = 1e-14
_DIVIDED = 4  # the stages, from the end, at which the best choice changes quickly along the grid
_SEGMENT = 128  # nodes for which the choice is divided in one way
_WIDER = 5  # by how much each cell away from the best choice is wider than the one before


def apply_ranges(
    grid: LossGrid, inner: Profile, epsilon: float, firsts: Ints, lasts: Ints
) -> Profile:
    """The value function before stages of range epsilon, one for each window of nodes.

    The adversary chooses t in [0, epsilon] at each node: the loss is t with probability
    p = (1 - e^(t - epsilon)) / (1 - e^-epsilon), and else t - epsilon.
    """
    if not len(firsts):
        return inner
    steps = grid.steps(epsilon)
    if steps == 0:  # rounded down
        return Profile(
            int(firsts[-1]), grid.extended(inner, Window(int(firsts[-1]), int(lasts[-1])))
        )
    firsts, lasts = np.append(inner.first, firsts), np.append(inner.last, lasts)
    size = int((lasts - firsts).max()) + 1
    values = np.zeros(size)
    values[: len(inner.values)] = inner.values
    nodes = np.arange(size + 3 * steps + int(np.ptp(lasts)) + 2)
    decay = np.exp(-nodes * grid.step)
    excess = decay[: steps + 1] * -np.expm1((nodes[: steps + 1] - steps) * grid.step)
    linear = np.exp(np.minimum(grid.epsilon - lasts * grid.step, 700.0)) * (1 + 1e-12)
    sweep(
        values,
        firsts,
        lasts,
        steps,
        decay,
        -np.expm1(-nodes * grid.step),
        excess,
        grid.up,
        linear,
        np.empty(size + 2 * steps),
        np.empty(size),
        np.empty(steps + 64, np.int64),
    )
    return Profile(int(firsts[-1]), values[: lasts[-1] - firsts[-1] + 1])


def apply_pure(grid: LossGrid, inner: Profile, stage: PureStage, window: Window) -> Profile:
    """The value function before one pure stage; the worst one is randomised response."""
    steps = grid.steps(stage.epsilon)
    chance = 1 / (1 + math.exp(-steps * grid.step))
    above = grid.extended(inner, Window(window.first + steps, window.last + steps))
    below = grid.extended(inner, Window(window.first - steps, window.last - steps))
    return Profile(window.first, chance * above + (1 - chance) * below)


@_inner_kernel("float64(float64, float64, float64, float64, float64, float64, float64)")
def cell_bound(
    near: float,
    far: float,
    near_low: float,
    far_low: float,
    near_chance: float,
    far_chance: float,
    arch: float,
) -> float:
    """At least the value of every two-point law whose upper loss t lies in one cell.

    The values at the two ends of the cell, and at those less the range, are given, and the chances
    of t there. With u = 1 at the near end and 0 at the far one, both chords are linear in u, and
    the chance is above its own chord by at most arch u (1 - u): so the value is at most
    (1 - u) at_far + u at_near + bend u (1 - u), whose maximum over 0 <= u <= 1 is returned.
    """
    spread_near, spread_far = near - near_low, far - far_low
    at_near = near_low + near_chance * spread_near
    at_far = far_low + far_chance * spread_far
    bend = (near_chance - far_chance) * (spread_far - spread_near)
    wider = spread_near if spread_near > spread_far else spread_far
    bend += arch * wider if wider > 0.0 else 0.0
    distance = abs(at_near - at_far)
    bend = bend if bend > distance else distance  # where it is that, the maximum is at an end
    bend = bend if bend > _TINY else _TINY
    return (at_near + at_far) / 2 + (bend + distance * distance / bend) / 4


@_inner_kernel("float64(float64[::1], int64, int64, int64, float64[::1], float64[::1])")
def node_value(
    values: Floats, place: int, node: int, steps: int, decay: Floats, excess: Floats
) -> float:
    """The value at a place where the adversary chooses t on a node."""
    chance = excess[node] / (decay[node] * excess[0])
    below = values[place + node - steps]
    return float(below + chance * (values[place + node] - below))


@_inner_kernel("int64(float64[::1], int64, int64, float64[::1], float64[::1])")
def best_node(values: Floats, place: int, steps: int, decay: Floats, excess: Floats) -> int:
    """About the number of steps up that an adversary would choose at this place; a guess."""
    low, high = 0, steps
    while high - low > 2:
        third = (high - low) // 3
        first, second = low + third, high - third
        at_first = node_value(values, place, first, steps, decay, excess)
        if at_first <= node_value(values, place, second, steps, decay, excess):
            low = first
        else:
            high = second
    return (low + high) // 2


@_inner_kernel("int64(int64, int64, int64, int64[::1])")
def divide(low: int, high: int, steps: int, edges: Ints) -> int:
    """Cells of one step from low to high, and wider ones further away; returns how many edges.

    Where a maximum lies between low and high, the value falls off with the square of the distance,
    and what a cell adds to it grows with the square of its width: so widths may grow as distances.
    """
    count, last, distance = 0, -1, 1
    while distance < low:
        distance *= _WIDER
    while distance >= 1:
        edge = low - distance if low > distance else 0
        if edge > last:
            edges[count] = last = edge
            count += 1
        distance //= _WIDER
    for node in range(low, high + 1):
        if node > last:
            edges[count] = last = node
            count += 1
    distance = 1
    while last < steps:
        last = high + distance if high + distance < steps else steps
        edges[count] = last
        count += 1
        distance *= _WIDER
    return count


@_inner_kernel(
    "void(float64[::1], int64, int64, int64, int64, float64[::1], float64[::1], boolean, float64, "
    "float64[::1])"
)
def pad(  # noqa: PLR0913, PLR0917 - a loop over plain arrays
    values: Floats,
    known_first: int,
    known_last: int,
    begin: int,
    size: int,
    decay: Floats,
    rise: Floats,
    up: bool,  # noqa: FBT001
    linear: float,
    padded: Floats,
) -> None:
    """Write values on `size` nodes from `begin` on, with bounds of what is not known.

    They are those of `LossGrid.extended`, in one pass.
    """
    below = values[0] if up else 0.0
    top = values[known_last - known_first]
    for place in range(size):
        node = begin + place
        if node < known_first:
            padded[place] = below
        elif node <= known_last:
            padded[place] = values[node - known_first]
        elif up:
            padded[place] = top + (1.0 - top) * rise[node - known_last]
        else:
            line = 1.0 - linear * decay[node - known_last] - _ROUNDING
            padded[place] = line if line > top else top


@_inner_kernel(
    "void(float64[::1], int64, int64[::1], int64, int64, float64[::1], float64[::1], boolean, "
    "float64[::1])"
)
def maximise(  # noqa: PLR0913, PLR0917 - a loop over plain arrays
    padded: Floats,
    start: int,
    edges: Ints,
    count: int,
    steps: int,
    decay: Floats,
    excess: Floats,
    up: bool,  # noqa: FBT001
    best: Floats,
) -> None:
    """Write the best value over all cells to each place of a segment; for lower bounds, all edges.

    Place number n of the segment, at loss x, finds its value at x less the range at start + n.
    """
    length = len(best)
    here = start + steps
    for n in range(length):
        best[n] = 0.0
    for cell in range(count - 1 if up else count):
        left, right = edges[cell], edges[cell + 1 if up else cell]
        near_chance = excess[left] / (decay[left] * excess[0])
        far_chance = excess[right] / (decay[right] * excess[0])
        width = decay[left] - decay[right]
        arch = decay[steps] * width * width
        arch /= excess[0] * decay[right] * decay[right] * decay[left]
        near, far = np.uint64(here + left), np.uint64(here + right)
        near_low, far_low = np.uint64(start + left), np.uint64(start + right)
        for n in range(length):
            at = np.uint64(n)  # a place that has no sign costs less to look up
            low, high = padded[near_low + at], padded[near + at]
            if up:
                bound = cell_bound(
                    high, padded[far + at], low, padded[far_low + at], near_chance, far_chance, arch
                )
            else:
                bound = low + near_chance * (high - low)
            best[n] = bound if bound > best[n] else best[n]


@_kernel(
    "void(float64[::1], int64[::1], int64[::1], int64, float64[::1], float64[::1], float64[::1], "
    "boolean, float64[::1], float64[::1], float64[::1], int64[::1])"
)
def sweep(  # noqa: PLR0913, PLR0917 - a loop over plain arrays
    values: Floats,
    firsts: Ints,
    lasts: Ints,
    steps: int,
    decay: Floats,
    rise: Floats,
    excess: Floats,
    up: bool,  # noqa: FBT001
    linear: Floats,
    padded: Floats,
    target: Floats,
    edges: Ints,
) -> None:
    """Apply one stage of bounded range after another, each on a window of its own.

    Args:
        values: On the nodes firsts[0] .. lasts[0] at first; in the end on the last window.
        firsts: The first node of each window.
        lasts: The last node of each window.
        steps: The range, in steps of the grid.
        decay: exp(-i h) for each i; long enough for all that lies above a window.
        rise: 1 - decay[i], without cancellation.
        excess: decay[i] - decay[steps], without cancellation.
        up: Whether everything is rounded up, or down.
        linear: exp(epsilon - x) at the last node of each window, rounded up.
        padded: Room for a window with all that is looked up beside it.
        target: Room for a window.
        edges: Room for the ends of the cells that the choice is divided into.
    """
    for stage in range(1, len(firsts)):
        size = lasts[stage] - firsts[stage] + 1
        known_first, known_last = firsts[stage - 1], lasts[stage - 1]
        begin = firsts[stage] - steps
        all_nodes, line = size + 2 * steps, linear[stage - 1]
        pad(values, known_first, known_last, begin, all_nodes, decay, rise, up, line, padded)
        for start in range(0, size, _SEGMENT):
            length = _SEGMENT if size - start > _SEGMENT else size - start
            low, high = 0, steps
            if stage > _DIVIDED:
                one = best_node(padded, start + steps, steps, decay, excess)
                other = best_node(padded, start + steps + length - 1, steps, decay, excess)
                one, other = (one, other) if one < other else (other, one)
                low, high = one - 1 if one > 0 else 0, other + 1 if other < steps else steps
            count = divide(low, high, steps, edges)
            best = target[start : start + length]
            maximise(padded, start, edges, count, steps, decay, excess, up, best)
        for n in range(size):
            values[n] = target[n]
