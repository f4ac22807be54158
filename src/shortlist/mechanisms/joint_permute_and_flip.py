"""JOINT's utility with permute-and-flip in place of the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences
from shortlist.algorithms.slack import SlackClasses
from shortlist.draws import Draws, Ints
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.joint import require_few, sequences_of
from shortlist.mechanisms.mechanism import Mechanism, Selection, counted
from shortlist.parameters import Epsilon, Whole
from shortlist.privacy import Pure


@dataclass(frozen=True, kw_only=True)
class JointPermuteAndFlip(Mechanism):
    """Top-k of public items at once, as `Joint`, by permute-and-flip over all sequences.

    All sequences of k items are visited in random order, and the first one accepted is the answer,
    each accepted with probability exp(-epsilon/2 · its slack). The slack that comes out is never
    stochastically larger than that of `Joint` at the same epsilon.

    Guarantee: epsilon-DP when one user is added or removed. Unlike `Joint` it is not of bounded
    range, and composes as epsilon²/2-zCDP.

    Source: Gillenwater et al. (2022) for the utility, McKenna & Sheldon (2020) for the choice.
    Proof note: `docs/proofs/joint-permute-and-flip.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.

    Raises:
        InputError: By `select`, if k, epsilon and the number of items are such that counting the
            sequences might take more than a gigabyte.

    >>> JointPermuteAndFlip(k=20, epsilon=1.0).cost
    Pure(epsilon=1.0, rho=0.5)
    """

    k: Whole
    epsilon: Epsilon

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True

    @property
    def cost(self) -> Pure:
        return Pure(self.epsilon)

    def explain(self) -> list[str]:
        return [flipped_as_a_whole(self.k, self.epsilon)]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items, best first (all, if there are fewer)."""
        evidence = evidence.coarse
        k = min(self.k, len(evidence.counts))
        if k == 0:
            return Selection(np.empty(0, np.int64))
        decay = self.epsilon / 2 * evidence.unit
        sequences = Sequences(EqualCounts.of(evidence.counts), k)
        require_few(self.epsilon, sequences, decay)
        classes = SlackClasses.of(sequences, decay)
        return Selection(draw_flipped(classes, draws))

    def require_items(self, n_items: int) -> None:
        require_few(self.epsilon, sequences_of(n_items, self.k), self.epsilon / 2)


def flipped_as_a_whole(k: int, epsilon: float) -> str:
    """What it does, in plain words."""
    return (
        f"Sequences of {counted(k, 'item')} are visited in random order, and the first "
        "one accepted is the answer. A sequence whose worst item falls c people short of the "
        "true item of that rank is accepted with probability "
        f"exp(-{epsilon / 2:.3g} c)."
    )


def draw_flipped(classes: SlackClasses, draws: Draws) -> Ints:
    """Positions of the first list accepted, each with chance exp(-decay · slack)."""
    drawn = draws.permute_and_flip(classes)
    return classes.lists.draw_exactly(classes.slack(drawn), draws)
