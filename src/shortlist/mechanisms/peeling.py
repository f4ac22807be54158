"""Peeling: the exponential mechanism k times, each time without the items already picked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import ClassVar

import numpy as np

from shortlist.algorithms.grouping import EqualCounts
from shortlist.draws import Draws, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import (
    Accounting,
    Mechanism,
    Selection,
    cost_of_release,
    picked_in_turn,
)
from shortlist.parameters import Delta, Epsilon, Whole
from shortlist.privacy import Cost, Pure
from shortlist.privacy.accountant import BoundedRange, Composition, Stage
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import (
    WORTH_A_DELTA,
    divide_down,
    peeling_epsilon,
    peeling_epsilon_lemma_b1,
)


@dataclass(frozen=True, kw_only=True)
class Peeling(Mechanism):
    """Top-k of public items: k picks, each an item with odds exp(local_epsilon · count).

    The same law as one-shot Gumbel noise of scale 1/local_epsilon on every count.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, which moves any counts by at
    most 1, all the same way. Each pick is local_epsilon-bounded-range, and local_epsilon is the
    largest with which k of them, each chosen by what those before released, are within
    (epsilon, delta); or with which they are pure, where delta allows hardly more.

    Source: Durfee & Rogers (2019); Gillenwater et al. (2022), Lemma 4.2, with a tighter
    composition: `docs/proofs/accountant.md`. Proof note: `docs/proofs/peeling.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In [0, 1); with 0 the guarantee is pure, and for so few items that it buys nothing.
        accounting: By the worst case of all picks; in zCDP, for one release of many; or as
            published, by Lemma 4.2.

    >>> round(Peeling(k=20, epsilon=1.0, delta=1e-6).local_epsilon, 4)
    0.1067
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    accounting: Accounting = Accounting.EXACT

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("local_epsilon",)
    accountings: ClassVar[tuple[Accounting, ...]] = tuple(Accounting)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        return picks_epsilon(self.accounting, self.k, epsilon=self.epsilon, delta=self.delta)

    @cached_property
    def cost(self) -> Cost:
        return picks_cost(self.accounting, self.k, self.local_epsilon, self.epsilon)

    def explain(self) -> list[str]:
        return [f"{picked_in_turn(self.k)}: {odds(self.local_epsilon)}", *self.unused]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items in the order picked (all, if there are fewer)."""
        each = self.local_epsilon * evidence.unit
        return Selection(peel(evidence.counts, self.k, each, draws))


def odds(local_epsilon: float, of: str = "an item") -> str:
    """What the parameter of a pick means."""
    return (
        f"one user changes the odds of {of} being picked by a factor of at most "
        f"exp({local_epsilon:.3g})."
    )


def peel(counts: Ints, k: int, local_epsilon: float, draws: Draws) -> Ints:
    """Positions of `k` items (all, if fewer), picked one by one with odds exp(epsilon · count).

    Items of equal count have equal odds. So each pick is of a count, by its odds times the number
    of items left that have it; which of its items is drawn at the end. The cost grows with
    the number of distinct counts only.
    """
    return peel_groups(EqualCounts.of(counts), k, local_epsilon, draws)


def peel_groups(groups: EqualCounts, k: int, local_epsilon: float, draws: Draws) -> Ints:
    """The same of items that are grouped by count already."""
    weights = ExponentialWeights(groups.values, groups.sizes, local_epsilon)
    return groups.draw_members(draws.choices_in_turn(weights, k), draws)


def first(k: int, picked: Iterable[int]) -> Ints:
    """The first k picks, or all, if there are fewer."""
    return np.fromiter(islice(picked, k), np.int64)


EDGE = 1.1
"""A parameter by which the exponential mechanism is as good as exponential noise."""


def picks_epsilon(accounting: Accounting, k: int, *, epsilon: float, delta: float) -> float:
    """The largest local epsilon of k picks by the exponential mechanism.

    Pure where delta is 0, or would allow less than 1 % more.

    >>> [round(picks_epsilon(Accounting.EXACT, k, epsilon=1.0, delta=1e-6), 4) for k in (5, 20)]
    [0.2328, 0.1067]
    """
    if accounting is Accounting.PUBLISHED:
        return peeling_epsilon_lemma_b1(k, epsilon=epsilon, delta=delta)
    by_rho = peeling_epsilon(k, epsilon=epsilon, delta=delta)
    if accounting is Accounting.ZCDP or delta == 0:
        return by_rho

    def stages(local: float) -> tuple[Stage, ...]:
        return (BoundedRange(local, k),)

    local = largest_within(stages, epsilon=epsilon, delta=delta, by_rho=by_rho)
    pure = divide_down(epsilon, k)
    return local if local > WORTH_A_DELTA * pure else pure


def picks_cost(accounting: Accounting, k: int, local_epsilon: float, epsilon: float) -> Cost:
    """Of k picks, calibrated to an epsilon by `picks_epsilon`."""
    by_rho = Pure.bounded_range(local_epsilon) * k
    return cost_of_release(
        accounting, Composition((BoundedRange(local_epsilon, k),)), by_rho, epsilon
    )
