"""A private choice between JOINT and peeling: whichever suits the gaps between the counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist import privacy
from shortlist.algorithms.competition import Competition, Crowded, CrowdedByOdds
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.slack import SlackClasses, SlackWeights
from shortlist.draws import Draws, Ints
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.joint import as_a_whole, draw_joint
from shortlist.mechanisms.joint_permute_and_flip import draw_flipped, flipped_as_a_whole
from shortlist.mechanisms.mechanism import (
    Accounting,
    Mechanism,
    Selection,
    cost_of_release,
    picked_in_turn,
)
from shortlist.mechanisms.one_shot_exponential import OneShotExponential
from shortlist.mechanisms.peeling import EDGE, odds, peel_groups, picks_cost, picks_epsilon
from shortlist.parameters import Delta, Epsilon, Number, Share, Whole
from shortlist.privacy import Cost, Pure, round_down
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    PureStage,
    Stage,
)
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import WORTH_A_DELTA, divide_down, largest, subtract_down

# From how many items on a choice pays. Measured: see bench/results/choice.md.
_WORTH_A_CHOICE = 4
# The choice's share of epsilon where it costs no more than a few picks, and where it is pure.
_SHARE_BESIDE_PICKS, _PURE_SHARE = 0.15, 0.1
# The share of the logarithm of the number of all sequences from which on nearly all compete, so
# that noise errs more than JOINT. Measured likewise.
_HOPELESS = 0.7


@dataclass(frozen=True, kw_only=True)
class JointOrPeel(Mechanism):
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
        choice_share: The choice's share of epsilon; None for 0.15 where a delta is used, and 0.1
            where not. These and the thresholds were measured, see `bench/results/choice.md`.
        threshold: Items are picked one by one where the noisy logarithm is at least this; None for
            -2 where a delta is used, and k/2 - 3 where not. Where one is given, there is
            a choice from 2 items on.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = JointOrPeel(k=20, epsilon=1.0, delta=1e-6)
    >>> mechanism.joint_epsilon, round(mechanism.local_epsilon, 4)
    (0.85, 0.1015)
    >>> JointOrPeel(k=2, epsilon=1.0).local_epsilon
    0.5
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    choice_share: Share | None = None
    threshold: Number | None = None
    accounting: Accounting = Accounting.EXACT

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = (
        "choice_epsilon",
        "switch_at",
        "joint_epsilon",
        "local_epsilon",
    )

    @property
    def chooses(self) -> bool:
        """Whether there is a choice: one item is named as well by one way as by the other."""
        return self.k >= (_WORTH_A_CHOICE if self.threshold is None else 2)

    @property
    def idle(self) -> tuple[str, ...]:
        # Where a threshold is given there is a choice, unless k is 1.
        if self.chooses:
            return super().idle
        threshold = ("threshold",) if self.k == 1 else ()
        return (*super().idle, "choice_share", *threshold, *self.derived[:3])

    @cached_property
    def choice_epsilon(self) -> float:
        """The epsilon of the choice; 0 where there is none."""
        return self.epsilon * self.share if self.chooses else 0.0

    @property
    def share(self) -> float:
        """The choice's share of epsilon, with its default."""
        if self.choice_share is None and self.one_shot:
            return _PURE_SHARE
        return self._share_beside_picks

    @property
    def _share_beside_picks(self) -> float:
        return _SHARE_BESIDE_PICKS if self.choice_share is None else self.choice_share

    @property
    def _choice_beside_picks(self) -> float:
        return self.epsilon * self._share_beside_picks if self.chooses else 0.0

    @cached_property
    def joint_epsilon(self) -> float:
        """The epsilon of whichever way follows, if it is pure."""
        return subtract_down(self.epsilon, self.choice_epsilon)

    @property
    def switch_at(self) -> float:
        """The threshold, with its default."""
        if self.threshold is not None:
            return self.threshold
        return self.k / 2 - 3 if self.local_epsilon == self._pure_epsilon else -2.0

    @cached_property
    def _pure_epsilon(self) -> float:
        return divide_down(self.joint_epsilon, self.k)

    @cached_property
    def _composed_epsilon(self) -> float:
        """The parameter of k picks by the exponential mechanism, composed with the choice."""
        if not self.chooses:
            return picks_epsilon(self.accounting, self.k, epsilon=self.epsilon, delta=self.delta)
        by_rho = largest(
            lambda e: (
                Pure.bounded_range(self._choice_beside_picks) + Pure.bounded_range(e) * self.k
            ),
            epsilon=self.epsilon,
            delta=self.delta,
        )
        stages = Composition(self._stages(by_rho))
        if self.accounting is Accounting.ZCDP or not stages.is_feasible:
            return by_rho  # the way of JOINT, which is pure, is left out there
        return largest_within(self._stages, epsilon=self.epsilon, delta=self.delta, by_rho=by_rho)

    def _stages(self, local_epsilon: float) -> tuple[Stage, ...]:
        """The choice and the picks: what follows it instead is pure."""
        choice = self._choice_beside_picks
        left = subtract_down(self.epsilon, choice)
        joint = (PureStage if self._flips else BoundedRange)(left)
        return BoundedRange(choice), EitherStage((joint,), (BoundedRange(local_epsilon, self.k),))

    @property
    def _choice_cost(self) -> Pure:
        """Noise whose odds fall evenly is of bounded range; Laplace noise errs half as often."""
        return (Pure if self.one_shot else Pure.bounded_range)(self.choice_epsilon)

    @property
    def _flips(self) -> bool:
        """Whether what is pure is drawn by permute-and-flip, which is not of bounded range."""
        return self.accounting is Accounting.EXACT

    @cached_property
    def one_shot(self) -> bool:
        """Whether exponential noise names items one by one: it errs less at equal parameters."""
        pure = divide_down(subtract_down(self.epsilon, self._choice_beside_picks), self.k)
        return self._flips and self._composed_epsilon <= EDGE * pure

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick, or one over the mean of exponential noise."""
        worth = self._composed_epsilon > WORTH_A_DELTA * self._pure_epsilon
        return self._composed_epsilon if worth and not self.one_shot else self._pure_epsilon

    @cached_property
    def _once(self) -> OneShotExponential:
        return OneShotExponential(k=self.k, epsilon=self.joint_epsilon)

    @cached_property
    def slope(self) -> float:
        """One over the scale of the choice's noise.

        The normaliser's logarithm moves by at most joint_epsilon / 2.
        """
        return round_down(2 * Fraction(self.choice_epsilon) / Fraction(self.joint_epsilon))

    @cached_property
    def cost(self) -> Cost:
        if not self.chooses and not self.one_shot:
            return picks_cost(self.accounting, self.k, self.local_epsilon, self.epsilon)
        if self.one_shot:
            return self._choice_cost + Pure(self.joint_epsilon)
        whole = (Pure if self._flips else Pure.bounded_range)(self.joint_epsilon)
        one_by_one = Pure.bounded_range(self.local_epsilon) * self.k
        by_rho = self._choice_cost + privacy.max(whole, one_by_one)
        composition = Composition(self._stages(self.local_epsilon))
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    def explain(self) -> list[str]:
        if not self.chooses:
            return [self._as_one_by_one, *self.unused]
        many = f"is at least {self.switch_at:.3g}"
        if self.one_shot:
            many += f", but less than {_HOPELESS:g} times that of the number of all sequences"
        choice = (
            f"First, {self.choice_epsilon:.3g} of epsilon decides whether many sequences of "
            f"{self.k} items are almost as good as the best: whether the logarithm of their "
            f"number, with noise of scale {1 / self.slope:.3g}, {many}."
        )
        sentence_of = flipped_as_a_whole if self._flips else as_a_whole
        whole = sentence_of(self.k, self.joint_epsilon)
        ways = _in("If not,", whole), _in("If so,", self._as_one_by_one)
        return [choice, *ways, *self.unused]

    @property
    def _as_one_by_one(self) -> str:
        if not self.one_shot:
            picked = f"{picked_in_turn(self.k)} by the exponential mechanism"
            return f"{picked}: {odds(self.local_epsilon)}"
        noise, named = self._once.explain()
        return f"{noise[:-1]}, and t{named[1:]}"

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items, best first (all, if there are fewer), and which way they were drawn."""
        if len(evidence.counts) == 0:
            return Selection(np.empty(0, np.int64))
        if self.one_shot and not self.chooses:
            return self._once.select(evidence, draws)
        if not self.chooses:
            return Selection(self._peeled(EqualCounts.of(evidence.counts), evidence.unit, draws))
        coarse = evidence.coarse
        groups = EqualCounts.of(coarse.counts)
        near = self.competition(groups, coarse.unit)
        if not self._is_crowded(near, draws):
            return Selection(self._named_as_a_whole(near, draws), branch="as a whole")
        if self.one_shot:
            return self._once.select(evidence, draws)._replace(branch="one by one")
        if coarse is not evidence:
            groups = EqualCounts.of(evidence.counts)
        return Selection(self._peeled(groups, evidence.unit, draws), branch="one by one")

    def competition(self, groups: EqualCounts, unit: float = 1.0) -> Competition:
        """The sequences of as many items, and from which slack on the choice counts them."""
        k = min(self.k, len(groups.counts))
        return Competition(groups, k, self.joint_epsilon / 2 * unit, floor=max(k - 1, 1))

    def ceiling(self, near: Competition) -> float:
        """From where on JOINT is drawn again: where nearly all compete, it errs less than noise."""
        return max(self.switch_at, _HOPELESS * near.log_all) if self.one_shot else math.inf

    def _is_crowded(self, near: Competition, draws: Draws) -> bool:
        """The private choice; where so many sequences do not exist, there is none."""
        crowded = self.crowded(near)
        return crowded is not None and bool(draws.coin(crowded)[0])

    def crowded(self, near: Competition) -> Crowded | CrowdedByOdds | None:
        """The probability that many compete, as the choice sees it; None where they never do."""
        if near.weights is None:
            return None
        if self.one_shot:
            return Crowded(near.weights, self.slope, self.switch_at, self.ceiling(near))
        return CrowdedByOdds(near.weights, self.slope, self.switch_at)

    def _named_as_a_whole(self, near: Competition, draws: Draws) -> Ints:
        if self._flips:
            return draw_flipped(SlackClasses(near.sequences, near.decay), draws)
        return draw_joint(SlackWeights(near.sequences, near.decay), draws)

    def _peeled(self, groups: EqualCounts, unit: float, draws: Draws) -> Ints:
        return peel_groups(groups, self.k, self.local_epsilon * unit, draws)


def _in(case: str, sentence: str) -> str:
    return f"{case} {sentence[0].lower()}{sentence[1:]}"
