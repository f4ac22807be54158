"""The top k as a set: as a whole where few sets compete, else item by item, and in no order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shortlist.algorithms.slack import ListsBySlack
from shortlist.algorithms.subsets import Subsets
from shortlist.draws import Draws
from shortlist.evidence import PublicCounts
from shortlist.mechanisms._whole_or_picks import UsualChoice, WholeOrPicks
from shortlist.mechanisms.mechanism import Selection


@dataclass(frozen=True, kw_only=True)
class SetOrPeel(WholeOrPicks):
    """Top-k of public items without their order, which is more often the true top k as a whole.

    The loss of a set of k items is by how much the largest count outside of it is above the least
    count in it. A set is drawn as a whole by permute-and-flip: sets are visited in random order,
    and the first one accepted is the answer, each with probability exp(-set_epsilon/2 · (loss - the
    least loss)). The gap behind the last item alone decides whether that is right; gaps between the
    others, which a sequence needs too, do not matter. Where very many sets have about the same
    loss, items are picked one by one instead, as `JointOrPeel` does, and their order is dropped. As
    there, a small share of epsilon decides privately which of the two it is. Two or three items are
    always drawn as a whole, and one item is picked.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, who moves a loss by at most 1;
    by the worst case of the choice and of whichever way follows. The stages and their costs are
    those of `JointOrPeel`. For one release of many, `Accounting.ZCDP` takes mechanisms of bounded
    range alone.

    Source: Shekelyan & Loukides (2022) for the loss, McKenna & Sheldon (2020) for permute-and-flip;
    the sampling and the choice are ours. Proof note: `docs/proofs/set-or-peel.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In [0, 1). The guarantee is pure with 0, or with so few items that it buys little.
        choice_share: The choice's share of epsilon; None for 0.15 where a delta is used, and 0.1
            where not. These and the thresholds were measured, see `bench/results/sets.md`.
        threshold: Items are picked one by one where the noisy logarithm is at least this; None for
            -10 where a delta is used, and -2 where not. Where one is given, there is a choice from
            2 items on.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = SetOrPeel(k=20, epsilon=1.0, delta=1e-6)
    >>> mechanism.set_epsilon, round(mechanism.local_epsilon, 4)
    (0.85, 0.1015)
    >>> SetOrPeel(k=3, epsilon=1.0).set_epsilon
    1.0
    """

    lists: ClassVar[type[ListsBySlack]] = Subsets
    noun: ClassVar[str] = "sets"
    names_sets: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = (
        "choice_epsilon",
        "switch_at",
        "set_epsilon",
        "local_epsilon",
    )

    @property
    def usual(self) -> UsualChoice:
        """The same for every k."""
        return UsualChoice(0.15, 0.1, -10.0)

    @property
    def set_epsilon(self) -> float:
        """The epsilon of whichever way follows, if it is pure."""
        return self.whole_epsilon

    @property
    def always_whole(self) -> bool:
        return self.k > 1 and not self.chooses

    def explain(self) -> list[str]:
        if self.k == 1:
            return super().explain()
        loss = (
            "The loss of a set is by how much the largest count outside of it is above the least "
            "count in it."
        )
        return [*super().explain(), loss, "The items are named in no order."]

    @property
    def _pure_threshold(self) -> float:
        return -2.0

    def _as_a_whole(self) -> str:
        rate = f"{self.whole_epsilon / 2:.3g}"
        if not self._flips:
            return (
                f"A set of {self.k} items is picked as a whole. Its odds are divided by "
                f"exp({rate}) for each person in its loss."
            )
        return (
            f"Sets of {self.k} items are visited in random order, and the first one accepted is "
            "the answer. A set whose loss is c people more than the least is accepted with "
            f"probability exp(-{rate} c)."
        )

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items (all, if there are no more), and which way they were drawn."""
        if len(evidence.counts) <= self.k:
            return self._named(np.arange(len(evidence.counts)))
        return super().select(evidence, draws)
