"""JOINT: the exponential mechanism over whole sequences of k items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences
from shortlist.algorithms.slack import SlackWeights
from shortlist.draws import Draws, Ints
from shortlist.errors import InputError
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import Mechanism, Selection, counted
from shortlist.parameters import Epsilon, Whole
from shortlist.privacy import Pure


@dataclass(frozen=True, kw_only=True)
class Joint(Mechanism):
    """Top-k of public items at once: a sequence of k items with odds exp(-epsilon/2 · its slack).

    The slack of a sequence is the most, over its places r, that its item r falls short of the r-th
    largest count. Where the gaps between the largest counts are several times k/epsilon it is
    nearly always right; where they are small, very many sequences have equal slack, and it is not.

    Guarantee: epsilon-DP when one user is added or removed, which moves every slack by at most 1
    either way. It is of bounded range.

    Source: Gillenwater et al. (2022), Theorem 3.1. It is sampled by the number of sequences of each
    slack: `docs/proofs/joint.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.

    Raises:
        InputError: By `select`, if k, epsilon and the number of items are such that counting the
            sequences might take more than a gigabyte.

    >>> Joint(k=20, epsilon=1.0).cost
    Pure(epsilon=1.0, rho=0.125)
    """

    k: Whole
    epsilon: Epsilon

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True

    @property
    def cost(self) -> Pure:
        return Pure.bounded_range(self.epsilon)

    def explain(self) -> list[str]:
        return [as_a_whole(self.k, self.epsilon)]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items, best first (all, if there are fewer)."""
        evidence = evidence.coarse
        groups = EqualCounts.of(evidence.counts)
        k = min(self.k, len(evidence.counts))
        if k == 0:
            return Selection(np.empty(0, np.int64))
        decay = self.epsilon / 2 * evidence.unit
        sequences = Sequences(groups, k)
        require_few(self.epsilon, sequences, decay)
        return Selection(draw_joint(SlackWeights.of(sequences, decay), draws))

    def require_items(self, n_items: int) -> None:
        require_few(self.epsilon, sequences_of(n_items, self.k), self.epsilon / 2)


def sequences_of(n_items: int, k: int) -> Sequences:
    """Those of so many items: their number, and nothing of counts."""
    return Sequences(EqualCounts.of(np.zeros(n_items, np.int64)), min(k, n_items))


def require_few(epsilon: float, lists: Sequences, decay: float) -> None:
    """Refuse where memory might not hold how many sequences compete at which slack."""
    if lists.k and lists.too_many(decay):
        raise InputError(
            "with so small an epsilon, for so many items, more sequences compete than memory may "
            "hold",
            "give more epsilon, ask for fewer items, or give {JointOrPeel}, which then names "
            "items one by one",
            given={"epsilon": epsilon},
        )


def as_a_whole(k: int, epsilon: float) -> str:
    """What JOINT does, in plain words."""
    return (
        f"A sequence of {counted(k, 'item')} is picked as a whole. Its odds are divided by "
        f"exp({epsilon / 2:.3g}) for each person by which its worst item falls short of the true "
        "item of that rank."
    )


def draw_joint(weights: SlackWeights, draws: Draws) -> Ints:
    """Positions of a list S with odds exp(-decay · slack of S), from all weights.

    Draw a slack t with odds N(t) exp(-decay t), then a uniform list of slack t or less: the
    odds of a list are the sum of exp(-decay t) over all t from its slack on.
    """
    piece = draws.choice(weights)
    if piece == len(weights.starts):
        return draw_joint(weights.beyond(), draws)
    return weights.lists.draw_at_most(int(weights.starts[piece]), draws)
