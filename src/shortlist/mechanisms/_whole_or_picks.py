"""A private choice between a list as a whole and picks: whichever suits the gaps of the counts."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist import privacy
from shortlist.algorithms.competition import Competition, Crowded, CrowdedByOdds
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.slack import ListsBySlack, SlackClasses, SlackWeights
from shortlist.algorithms.subsets import LARGEST_COUNT
from shortlist.draws import Draws, Ints
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.joint import draw_joint
from shortlist.mechanisms.joint_permute_and_flip import draw_flipped
from shortlist.mechanisms.mechanism import (
    Accounting,
    Mechanism,
    Selection,
    cost_of_release,
    picked_in_turn,
)
from shortlist.mechanisms.one_shot_exponential import OneShotExponential
from shortlist.mechanisms.peeling import EDGE, odds, peel, picks_cost, picks_epsilon
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


class UsualChoice(NamedTuple):
    """What was measured to be best where a caller gives no other.

    Attributes:
        share_beside_picks: The choice's share of epsilon where it costs no more than a few picks.
        pure_share: Its share where it is pure.
        threshold_beside_picks: From where on items are picked, where picks use a delta.
    """

    share_beside_picks: float
    pure_share: float
    threshold_beside_picks: float


# The share of the logarithm of the number of all lists from which on nearly all compete, so
# that noise errs more than the list as a whole. Measured likewise.
_HOPELESS = 0.7


@dataclass(frozen=True, kw_only=True)
class WholeOrPicks(Mechanism):
    """A list as a whole where few of them compete, else item by item: see the classes below it.

    Class attributes:
        lists: What is drawn as a whole.
        noun: What such lists are called.
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    choice_share: Share | None = None
    threshold: Number | None = None
    accounting: Accounting = Accounting.EXACT

    lists: ClassVar[type[ListsBySlack]]
    noun: ClassVar[str]
    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True

    @property
    @abstractmethod
    def usual(self) -> UsualChoice:
        """The parameters of the choice."""

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
        unmade = self.derived[:2] if self.always_whole else self.derived[:3]
        picks = ("local_epsilon",) if self.always_whole else ()
        return (*super().idle, "choice_share", *threshold, *unmade, *picks)

    @property
    def always_whole(self) -> bool:
        """Whether the list is drawn as a whole with all of epsilon, and there is no choice."""
        return False

    @cached_property
    def choice_epsilon(self) -> float:
        """The epsilon of the choice; 0 where there is none."""
        return self.epsilon * self.share if self.chooses else 0.0

    @property
    def share(self) -> float:
        """The choice's share of epsilon, with its default."""
        if self.choice_share is None and self.one_shot:
            return self.usual.pure_share
        return self._share_beside_picks

    @property
    def _share_beside_picks(self) -> float:
        return self.usual.share_beside_picks if self.choice_share is None else self.choice_share

    @property
    def _choice_beside_picks(self) -> float:
        return self.epsilon * self._share_beside_picks if self.chooses else 0.0

    @cached_property
    def whole_epsilon(self) -> float:
        """The epsilon of whichever way follows, if it is pure."""
        return subtract_down(self.epsilon, self.choice_epsilon)

    @property
    def switch_at(self) -> float:
        """The threshold, with its default."""
        if self.threshold is not None:
            return self.threshold
        pure = self.local_epsilon == self._pure_epsilon
        return self._pure_threshold if pure else self.usual.threshold_beside_picks

    @property
    @abstractmethod
    def _pure_threshold(self) -> float:
        """The threshold where no delta is used, with its default."""

    @cached_property
    def _pure_epsilon(self) -> float:
        return divide_down(self.whole_epsilon, self.k)

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
            return by_rho  # the whole, which is pure, is left out there
        return largest_within(self._stages, epsilon=self.epsilon, delta=self.delta, by_rho=by_rho)

    def _stages(self, local_epsilon: float) -> tuple[Stage, ...]:
        """The choice and the picks: what follows it instead is pure."""
        choice = self._choice_beside_picks
        left = subtract_down(self.epsilon, choice)
        whole = (PureStage if self._flips else BoundedRange)(left)
        return BoundedRange(choice), EitherStage((whole,), (BoundedRange(local_epsilon, self.k),))

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
        return OneShotExponential(k=self.k, epsilon=self.whole_epsilon)

    @cached_property
    def slope(self) -> float:
        """One over the scale of the choice's noise.

        The logarithm of what competes moves by at most whole_epsilon / 2.
        """
        return round_down(2 * Fraction(self.choice_epsilon) / Fraction(self.whole_epsilon))

    @property
    def _whole_cost(self) -> Pure:
        return (Pure if self._flips else Pure.bounded_range)(self.whole_epsilon)

    @cached_property
    def cost(self) -> Cost:
        if self.always_whole:
            return self._whole_cost
        if not self.chooses and not self.one_shot:
            return picks_cost(self.accounting, self.k, self.local_epsilon, self.epsilon)
        if self.one_shot:
            return self._choice_cost + Pure(self.whole_epsilon)
        one_by_one = Pure.bounded_range(self.local_epsilon) * self.k
        by_rho = self._choice_cost + privacy.max(self._whole_cost, one_by_one)
        composition = Composition(self._stages(self.local_epsilon))
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    @abstractmethod
    def _as_a_whole(self) -> str:
        """How the whole list is drawn, in a sentence or two."""

    def explain(self) -> list[str]:
        if self.always_whole:
            return [self._as_a_whole(), *self.unused]
        if not self.chooses:
            return [self._as_one_by_one, *self.unused]
        many = f"is at least {self.switch_at:.3g}"
        if self.one_shot:
            many += f", but less than {_HOPELESS:g} times that of the number of all {self.noun}"
        choice = (
            f"First, {self.choice_epsilon:.3g} of epsilon decides whether many {self.noun} of "
            f"{self.k} items are almost as good as the best: whether the logarithm of their "
            f"number, with noise of scale {1 / self.slope:.3g}, {many}."
        )
        ways = _in("If not,", self._as_a_whole()), _in("If so,", self._as_one_by_one)
        return [choice, *ways, *self.unused]

    @property
    def _as_one_by_one(self) -> str:
        if not self.one_shot:
            picked = f"{picked_in_turn(self.k)} by the exponential mechanism"
            return f"{picked}: {odds(self.local_epsilon)}"
        noise, named = self._once.explain()
        return f"{noise[:-1]}, and t{named[1:]}"

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items (all, if there are fewer), and which way they were drawn."""
        if len(evidence.counts) == 0:
            return Selection(np.empty(0, np.int64), ordered=not self.names_sets)
        if not (self.chooses or self.always_whole):
            return self._named(self._named_one_by_one(evidence, draws))
        coarse = evidence.coarse
        # One user moves what is clipped by no more than what is not.
        groups = EqualCounts.of(np.minimum(coarse.counts, LARGEST_COUNT))
        near = self.competition(groups, coarse.unit)
        if self.always_whole:
            if near.every.too_many(near.decay):
                return self._named(self._named_purely(evidence, draws))
            known = near.every.near(near.decay)
            return self._named(self._named_as_a_whole(known, near.decay, draws))
        if self._is_crowded(near, draws):
            return self._named(self._named_one_by_one(evidence, draws), "one by one")
        return self._named(self._named_as_a_whole(near.lists, near.decay, draws), "as a whole")

    def _named(self, positions: Ints, branch: str | None = None) -> Selection:
        """In the order drawn where that is part of the answer, and else in none."""
        positions = np.sort(positions) if self.names_sets else positions
        return Selection(positions, ordered=not self.names_sets, branch=branch)

    def competition(self, groups: EqualCounts, unit: float = 1.0) -> Competition:
        """The lists of as many items, and from which slack on the choice counts them."""
        lists = self.lists(groups, min(self.k, len(groups.counts)))
        return Competition(lists, self.whole_epsilon / 2 * unit, floor=max(lists.k - 1, 1))

    def ceiling(self, near: Competition) -> float:
        """From where on the whole is drawn again: where nearly all compete, it errs less."""
        most = _HOPELESS * near.every.log_number
        return max(self.switch_at, most) if self.one_shot else math.inf

    def _is_crowded(self, near: Competition, draws: Draws) -> bool:
        """The private choice; where so many lists do not exist, or too many, there is none."""
        if near.every.too_many(near.decay):
            return True
        crowded = self.crowded(near)
        return crowded is not None and bool(draws.coin(crowded)[0])

    def crowded(self, near: Competition) -> Crowded | CrowdedByOdds | None:
        """The probability that many compete, as the choice sees it; None where they never do."""
        if near.weights is None:
            return None
        if self.one_shot:
            return Crowded(near.weights, self.slope, self.switch_at, self.ceiling(near))
        return CrowdedByOdds(near.weights, self.slope, self.switch_at)

    def _named_as_a_whole(self, lists: ListsBySlack, decay: float, draws: Draws) -> Ints:
        if self._flips:
            return draw_flipped(SlackClasses(lists, decay), draws)
        return draw_joint(SlackWeights(lists, decay), draws)

    def _named_purely(self, evidence: PublicCounts, draws: Draws) -> Ints:
        """Item by item at what is paid for the whole, which is pure."""
        if self._flips:
            return self._once.select(evidence, draws).positions
        return peel(evidence.counts, self.k, self._pure_epsilon * evidence.unit, draws)

    def _named_one_by_one(self, evidence: PublicCounts, draws: Draws) -> Ints:
        if self.one_shot:
            return self._once.select(evidence, draws).positions
        return peel(evidence.counts, self.k, self.local_epsilon * evidence.unit, draws)


def _in(case: str, sentence: str) -> str:
    return f"{case} {sentence[0].lower()}{sentence[1:]}"
