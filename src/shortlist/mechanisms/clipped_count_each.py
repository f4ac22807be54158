"""Clipped count each: counts of a long public list, of which each user's part is clipped."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.draws import Draws
from shortlist.errors import InputError
from shortlist.evidence import UserSets
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    Mechanism,
    Selection,
    cost_of_release,
    score_digits,
)
from shortlist.mechanisms.wrappers.noisy_clipped_counts import (
    MOST_SD,
    NOISE_WEIGHT,
    ChoiceAndCounts,
    ClippedCountsDesign,
)
from shortlist.parameters import Delta, Epsilon
from shortlist.privacy import Cost
from shortlist.privacy.accountant import Composition
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import zcdp_rho
from shortlist.questions import Question, UserCounts

_DESIGN = ClippedCountsDesign()


@dataclass(frozen=True, kw_only=True)
class ClippedCountEach(Mechanism):
    """Clipped counts of a long public list, in noise that does not grow with the list.

    A bound D is picked privately from a grid, and a user who holds n of the listed items, more than
    D, adds sqrt(D / n) to each instead of 1. The noise is normal and grows with the square root of
    D. So a count may lie below the number of users, and only the lower end of an interval is
    given. Of some hundred items or fewer `CountEach` is better; of a thousand, this is where users
    hold few of them.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of the
    choice and the noise together.

    Source: of this project; the clipping is that of the norm of a gradient, Abadi et al. (2016).
    Proof note: `docs/proofs/clipped-count-each.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        accounting: By the worst case of both stages, or in zCDP, for one release of many.

    >>> ClippedCountEach(epsilon=1.0, delta=1e-6).cost.delta(1.0) <= 1e-6
    True
    """

    epsilon: Epsilon
    delta: Delta = 0.0
    accounting: Accounting = Accounting.EXACT
    design: ClippedCountsDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = UserCounts
    evidence: ClassVar[type] = UserSets
    derived: ClassVar[tuple[str, ...]] = ("choice_epsilon", "count_noise", "least_count_sd")
    score_unit: ClassVar[str | None] = "noisy clipped count"
    count_noise: ClassVar[str] = "Normal"

    def __post_init__(self) -> None:
        if self.delta == 0:
            raise InputError(
                "{delta=} is needed, because {kind} adds normal noise",
                "add {delta=1e-6}, or omit {mechanism}",
                given={"delta": ...},
                kind=type(self),
            )
        super().__post_init__()
        if max(self._sds) > MOST_SD:
            raise InputError(
                "so small that the counts would be all noise",
                "give more",
                given={"epsilon": self.epsilon},
            )

    @cached_property
    def _priced(self) -> ChoiceAndCounts:
        rho = zcdp_rho(epsilon=self.epsilon, delta=self.delta)
        if self.accounting is Accounting.EXACT:
            rho = largest_within(
                lambda rho: ChoiceAndCounts.of(rho).stages,
                epsilon=self.epsilon,
                delta=self.delta,
                by_rho=rho,
            )
        return ChoiceAndCounts.of(rho)

    @cached_property
    def cost(self) -> Cost:
        """Of the choice and of the counts after it."""
        stages, by_rho = Composition(self._priced.stages), self._priced.by_rho
        return cost_of_release(self.accounting, stages, by_rho, self.epsilon)

    @property
    def choice_epsilon(self) -> float:
        """The range of the choice of a bound."""
        return self._priced.choice

    @property
    def least_count_sd(self) -> float:
        """The standard deviation of the noise of a count, where the bound is 1."""
        return self._sds[0]

    @cached_property
    def _sds(self) -> tuple[float, ...]:
        """Of the noise of a count, for each bound."""
        return tuple(map(self._priced.sd, self.design.bounds))

    def explain(self) -> list[str]:
        """What is clipped, and how much noise there is."""
        return [
            "Each item of the list comes with a clipped count, also if nobody holds it.",
            "A user who holds n of the items, more than D, adds sqrt(D / n) to each instead of 1.",
            f"D is picked privately from 1, 2, 4 and so on to {self.design.bounds[-1]}.",
            f"The noise is normal, of standard deviation {self.least_count_sd:.3g} sqrt(D).",
            "A count may lie below the number of users, so that only a least number is known.",
        ]

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """All items with their noisy clipped counts: their order is no part of the answer."""
        clipped = ClippedCounts(evidence, self.design.grid, NOISE_WEIGHT)
        counts, sd = clipped.measured(self.design.bounds, self._sds, self.choice_epsilon, draws)
        scores = np.round(counts, score_digits(sd))
        return Selection(np.arange(evidence.n_items), scores, ordered=False, noise_sd=sd)
