"""A private choice between JOINT and peeling: whichever suits the gaps between the counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shortlist.algorithms.sequences import Sequences
from shortlist.algorithms.slack import ListsBySlack
from shortlist.mechanisms._whole_or_picks import UsualChoice, WholeOrPicks
from shortlist.mechanisms.joint import as_a_whole
from shortlist.mechanisms.joint_permute_and_flip import flipped_as_a_whole


@dataclass(frozen=True, kw_only=True)
class JointOrPeel(WholeOrPicks):
    """Top-k of public items, the default: as a whole where few sequences compete, else one by one.

    Where the gaps between the largest counts are wide, JOINT is exact and peeling errs. Where they
    are narrow, very many sequences have about the same slack, and JOINT draws any of them. JOINT's
    normaliser tells how many compete; it is summed from the slack on that at least exp(k - 1)
    sequences reach. A small share of epsilon compares its logarithm plus noise with a threshold;
    the rest goes to the mechanism that was chosen. That is `JointPermuteAndFlip` where few compete,
    and else `Peeling`, or `OneShotExponential` where delta is 0 or k so small that delta buys
    little. For one to three items there is no choice: one of the latter two names them.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of the
    choice and of whichever way follows. The choice is choice_share of epsilon, pure, and of bounded
    range where picks may follow; `JointPermuteAndFlip` is pure with the rest; the picks get what
    (epsilon, delta) leaves beside the choice. For one release of many, `Accounting.ZCDP` takes
    mechanisms of bounded range alone, `Joint` and `Peeling`, which add a fourth of the rho to
    others.

    Source: Gillenwater et al. (2022) for JOINT and peeling; the choice is ours. Proof notes:
    `docs/proofs/joint-or-peel.md`, `docs/proofs/one-shot-exponential.md`,
    `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In [0, 1). The guarantee is pure with 0, or with so few items that delta buys little.
        choice_share: The choice's share of epsilon; None for 0.4/sqrt(k), at most 0.15, where a
            delta is used, and 0.3/sqrt(k), at most 0.1, where not. These and the thresholds were
            measured, see `bench/results/choice.md`.
        threshold: Items are picked one by one where the noisy logarithm is at least this; None for
            -sqrt(k) where a delta is used, and k/2 - 3 where not. Where one is given, there is
            a choice from 2 items on.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = JointOrPeel(k=20, epsilon=1.0, delta=1e-6)
    >>> round(mechanism.joint_epsilon, 4), round(mechanism.local_epsilon, 4)
    (0.9106, 0.1048)
    >>> JointOrPeel(k=2, epsilon=1.0).local_epsilon
    0.5
    """

    lists: ClassVar[type[ListsBySlack]] = Sequences
    noun: ClassVar[str] = "sequences"
    derived: ClassVar[tuple[str, ...]] = (
        "choice_epsilon",
        "switch_at",
        "joint_epsilon",
        "local_epsilon",
    )

    @property
    def usual(self) -> UsualChoice:
        """Shares fall with k: the logarithm is further from the threshold if more are asked for."""
        root = math.sqrt(self.k)
        return UsualChoice(min(0.4 / root, 0.15), min(0.3 / root, 0.1), -root)

    @property
    def joint_epsilon(self) -> float:
        """The epsilon of whichever way follows, if it is pure."""
        return self.whole_epsilon

    @property
    def _pure_threshold(self) -> float:
        return self.k / 2 - 3

    def _as_a_whole(self) -> str:
        sentence_of = flipped_as_a_whole if self._flips else as_a_whole
        return sentence_of(self.k, self.whole_epsilon)
