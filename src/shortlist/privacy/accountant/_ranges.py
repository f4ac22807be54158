"""Stages of bounded range, and of a bounded loss, on a grid of losses."""

from __future__ import annotations

import math

import numpy as np

from shortlist.privacy.accountant import _loops as loops
from shortlist.privacy.accountant._grid import Grid, Ints, Profile, Window
from shortlist.privacy.accountant.stages import PureStage

__all__ = ["apply_pure", "apply_ranges"]


def apply_ranges(grid: Grid, inner: Profile, epsilon: float, firsts: Ints, lasts: Ints) -> Profile:
    """Stages of range epsilon, one for each window, from firsts to lasts, of nodes that are wanted.

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
    loops.sweep(
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


def apply_pure(grid: Grid, inner: Profile, stage: PureStage, window: Window) -> Profile:
    """One stage of loss epsilon or -epsilon: what randomised response has, the worst of all."""
    steps = grid.steps(stage.epsilon)
    chance = 1 / (1 + math.exp(-steps * grid.step))
    above = grid.extended(inner, Window(window.first + steps, window.last + steps))
    below = grid.extended(inner, Window(window.first - steps, window.last - steps))
    return Profile(window.first, chance * above + (1 - chance) * below)
