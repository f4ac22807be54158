"""Which items go with a label: picks, noisy values, and e-values from these."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist.algorithms.e_values import (
    BETA,
    Associated,
    ETest,
    NoisyNumbers,
    Sizes,
    e_values,
    levels,
    reach_of_sizes,
)
from shortlist.draws import Draws, Floats, Ints, Order, RoundingGrid
from shortlist.draws.noise import Normal
from shortlist.errors import InputError
from shortlist.evidence import LabelledCounts
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    Mechanism,
    Selection,
    cost_of_release,
    counted,
    picked_in_turn,
    score_digits,
)
from shortlist.mechanisms.peeling import odds, peel
from shortlist.mechanisms.wrappers.noisy_counts import CorrelatedNoise, least_correlated
from shortlist.parameters import (
    DeltaOfNormal,
    Epsilon,
    FalseDiscoveryRate,
    Side,
    SizeError,
    Whole,
    require_sizes,
)
from shortlist.privacy import Cost, Gaussian, Pure, round_down, round_up
from shortlist.privacy.accountant import BoundedRange, Composition, GaussianStage, Stage
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import (
    bounded_range_epsilon,
    divide_down,
    gaussian_sigma,
    zcdp_rho,
)
from shortlist.questions import Discoveries, Question

NO_RELATION = (
    "An item has no relation to the label if knowing who holds it says nothing about who the "
    "cases are: any other users could just as well be the cases. A common cause is a relation, too."
)
NO_GROUPS = (
    "That is about labels of single users. If whole groups share a label, such as shops, families "
    "or days, items without a relation may be named: then the group must be the user."
)
NO_ACTIVITY = (
    "If cases do more of everything than controls, or less, every item is related to the label."
)
_MOST_SD = 2.0**20  # of users; with more, all is noise
_OF_PICKS, _OF_SIZES, _OF_HOLDERS = 0.45, 0.05, 0.05  # of rho; the scores have the rest
_HALF = 0.5
_MOST_USERS = 2**28


@dataclass(frozen=True)
class SizeGrid:
    """Which noisy sizes are told apart.

    Attributes:
        highest: All above stand here, and then nothing is named.
    """

    highest: int = _MOST_USERS

    @property
    def coarse(self) -> SizeGrid:
        """Few enough to look at each."""
        return SizeGrid(2)


class RhoShares(NamedTuple):
    """The parts of rho, by what they are for."""

    sizes: float
    picks: float
    scores: float
    holders: float


@dataclass(frozen=True, kw_only=True)
class Association(Mechanism):
    """Items that go with a label, of which at most a stated share is named by chance, on average.

    First the numbers of cases and controls are drawn in noise, unless they are stated. An item's
    score is its holders among cases, each times the share of controls, without those among
    controls, each times the share of cases: 0 on average where the label has nothing to do with
    the item. k items are picked by their scores, as in peeling, and each gets its score and its
    number of holders in fresh noise. From these follows an e-value, whose mean is at most 1 for an
    item without relation, whatever else depends on what; and those are named whose e-values are
    large enough together (e-BH).

    Guarantee: (epsilon, delta)-DP when one user is added or removed, with label and items, of which
    any number counts. The false discovery rate is at most `fdr` if labels are exchangeable between
    users for every item without relation, and where sizes are stated, if they are off by no more
    than is said.

    Source: of this project, from e-BH (Wang & Ramdas 2022) and Serfling's (1974) inequality. Proof
    note: `docs/proofs/association.md`.

    Args:
        k: How many items are looked at.
        n_items: How many items are asked about, looked at or not; public.
        epsilon: Above 0.
        delta: In (0, 1).
        fdr: The false discovery rate.
        side: Whether items are looked for that are more common among cases, or among controls.
        cases: How many users are cases, if that is public; None to draw it.
        controls: How many are controls, likewise.
        size_error: How many users each of these may be off.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = Association(k=100, n_items=5000, epsilon=1.0, delta=1e-6, fdr=0.1)
    >>> round(mechanism.local_epsilon, 4)
    0.0318
    """

    k: Whole
    n_items: Whole
    epsilon: Epsilon
    delta: DeltaOfNormal
    fdr: FalseDiscoveryRate
    side: Side = Side.CASES
    cases: Whole | None = None
    controls: Whole | None = None
    size_error: SizeError | None = None
    accounting: Accounting = Accounting.EXACT
    design: SizeGrid = field(default=SizeGrid(), repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = Discoveries
    evidence: ClassVar[type] = LabelledCounts
    derived: ClassVar[tuple[str, ...]] = (
        "rho",
        "size_sd",
        "local_epsilon",
        "score_sd",
        "holders_sd",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_sizes(self.cases, self.controls, self.size_error)
        for name in ("cases", "controls"):
            if (getattr(self, name) or 0) >= _MOST_USERS:
                raise InputError(
                    "must be below {most}", given={name: getattr(self, name)}, most=_MOST_USERS
                )
        if self.k > self.n_items:
            raise InputError(
                "there are only {n_items} items", given={"k": self.k}, n_items=self.n_items
            )
        if max(self.score_sd, self.holders_sd, self.size_sd or 0.0) > _MOST_SD:
            raise InputError(
                "so small that all would be noise", "give more", given={"epsilon": self.epsilon}
            )

    @property
    def _sizes_are_stated(self) -> bool:
        return self.cases is not None

    def shares(self, rho: float) -> RhoShares:
        """The parts of a rho."""
        sizes = 0.0 if self._sizes_are_stated else _OF_SIZES * rho
        picks, holders = _OF_PICKS * rho, _OF_HOLDERS * rho
        return RhoShares(sizes, picks, rho - sizes - picks - holders, holders)

    def stages(self, rho: float) -> tuple[Stage, ...]:
        """Sizes, picks, and values of what was picked, in this order."""
        shares = self.shares(rho)
        sizes = () if self._sizes_are_stated else (GaussianStage(_mu(shares.sizes)),)
        picks = BoundedRange(bounded_range_epsilon(self.k, shares.picks), self.k)
        values = GaussianStage(_mu(shares.scores)), GaussianStage(_mu(shares.holders))
        return (*sizes, picks, *values)

    @cached_property
    def rho(self) -> float:
        """About the zCDP of all stages together: all their parameters follow from it."""
        by_rho = zcdp_rho(epsilon=self.epsilon, delta=self.delta) * (1 - 2.0**-40)
        if self.accounting is Accounting.ZCDP:
            return by_rho
        return largest_within(self.stages, epsilon=self.epsilon, delta=self.delta, by_rho=by_rho)

    @cached_property
    def cost(self) -> Cost:
        """Of all stages."""
        shares = self.shares(self.rho)
        normal = shares.sizes, shares.scores, shares.holders
        picks = Pure.bounded_range(self.local_epsilon) * self.k
        by_rho = sum((Gaussian(_rho(_mu(share))) for share in normal if share), picks)
        stages = Composition(self.stages(self.rho))
        return cost_of_release(self.accounting, stages, by_rho, self.epsilon)

    @property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        return bounded_range_epsilon(self.k, self.shares(self.rho).picks)

    @property
    def size_sd(self) -> float | None:
        """The standard deviation of the noise in both sizes; None where they are stated."""
        return None if self._sizes_are_stated else _sd(_mu(self.shares(self.rho).sizes))

    @cached_property
    def _score_noise(self) -> CorrelatedNoise:
        """Of what one user moves by at most 1."""
        return least_correlated(_mu(self.shares(self.rho).scores), k=self.k, m=self.k)

    @cached_property
    def _holder_noise(self) -> CorrelatedNoise:
        return least_correlated(_mu(self.shares(self.rho).holders), k=self.k, m=self.k)

    @property
    def score_sd(self) -> float:
        """That of the noise in a score, of which one user moves each by at most 1."""
        return self._score_noise.sd

    @property
    def holders_sd(self) -> float:
        """That of the noise in a number of holders."""
        return self._holder_noise.sd

    @property
    def level(self) -> float:
        """The false discovery rate that is left to the e-values."""
        return self.fdr - self._added

    @property
    def _added(self) -> float:
        """To the rate, by sizes that are further off than is taken for granted."""
        return 0.0 if self._sizes_are_stated else BETA

    @property
    def assumes(self) -> tuple[str, ...]:
        if not self._sizes_are_stated:
            return ()
        return ("how many users are cases, and how many controls, was public before",)

    def explain(self) -> list[str]:
        side = {
            Side.CASES: "which items cases hold more often than controls do",
            Side.CONTROLS: "which items controls hold more often than cases do",
            Side.BOTH: "which items cases hold more often than controls do, or less often",
        }[self.side]
        items = counted(self.n_items, "public item")
        values = (
            "For each of them, holders among cases are then compared with those among controls. "
            f"The noise has a standard deviation of at most {self.score_sd:.3g} users. All holders "
            f"are counted with noise of {self.holders_sd:.3g}."
        )
        e_value = (
            "These numbers give each item an e-value, which is at most 1 on average for an item "
            "without a relation to the label."
        )
        named = (
            "Items with large e-values are named. Of all items named, a share of at most "
            f"{self.fdr:g} is false, on average over repetitions."
        )
        picked = f"{picked_in_turn(self.k)}, to be looked at: {odds(self.local_epsilon)}"
        asked = f"The question is {side}, of {items}."
        named_by = e_value, named, NO_RELATION, NO_GROUPS, NO_ACTIVITY
        return [asked, *self._explained_sizes(), picked, values, *named_by]

    def _explained_sizes(self) -> list[str]:
        if self.size_sd is None:
            stated = (
                f"It was stated that there are {self.cases:,} cases and {self.controls:,} "
                f"controls, each number off by at most {self.size_error:,}. If one is further "
                "off, items may be named that have nothing to do with the label."
            )
            return [stated]
        drawn = (
            "The numbers of cases and of controls are counted with noise of standard deviation "
            f"{self.size_sd:.3g}. With a chance of {BETA:g} they are further off than the e-values "
            "allow for; the stated rate includes that."
        )
        return [drawn]

    def select(self, evidence: LabelledCounts, draws: Draws) -> Selection:
        """The items that are looked at as picked, with their noisy scores, and holders as `users`.

        Scores are in parts of a user, of which there are as many as there are users in both sizes;
        these are the `others`.
        """
        sizes = self._drawn_sizes(evidence, draws)
        cases, controls = _usable(sizes)
        scores = evidence.cases * controls - evidence.controls * cases
        if self.side is Side.CONTROLS:
            scores = -scores
        widest = max(cases, controls)
        picked = self._picked(scores, divide_down(self.local_epsilon, widest), draws)
        noise = _times(self._score_noise, widest)
        holders = (evidence.cases + evidence.controls)[picked]
        values = _noisy(scores[picked], noise, draws, up=False)
        return Selection(
            picked,
            values,
            users=_noisy(holders, self._holder_noise, draws, up=True),
            others=sizes.astype(np.float64),
            noise_sd=noise.sd,
            shared_sd=noise.shared or None,
        )

    def _drawn_sizes(self, evidence: LabelledCounts, draws: Draws) -> Ints:
        """Of cases and controls, rounded to whole numbers of 0 or more."""
        if self.size_sd is None:
            return np.array([self.cases, self.controls], np.int64)
        sizes = np.array([evidence.n_cases, evidence.n_controls], np.int64)
        # In halves, and with one more of these: what is then rounded down is the nearest.
        grid = RoundingGrid(round(1 / _HALF), 1, self.design.highest)
        return draws.rounded_down(sizes * 2 + 1, Normal(self.size_sd), grid, unit=_HALF)

    def _picked(self, scores: Ints, local_epsilon: float, draws: Draws) -> Ints:
        """The positions of k items; for both sides, those of the smallest scores behind."""
        if self.side is not Side.BOTH:
            return peel(scores, self.k, local_epsilon, draws)
        first = peel(scores, self.k - self.k // 2, local_epsilon, draws)
        left = np.delete(np.arange(len(scores)), first)
        return np.append(first, left[peel(-scores[left], self.k // 2, local_epsilon, draws)])

    def concluded(self, selection: Selection) -> Selection:
        """The same items by falling e-value, with what follows from their noisy numbers."""
        drawn, values, holders = selection.others, selection.scores, selection.users
        assert drawn is not None  # noqa: S101 - as `select` gives them
        assert values is not None  # noqa: S101 - likewise
        assert holders is not None  # noqa: S101 - likewise
        measured, test = self._measured(drawn, values, holders)
        logarithms = test.log_e_values(measured, self.side)
        if drawn.sum() <= 0 or drawn.max() >= _MOST_USERS:
            logarithms = np.full(len(values), -np.inf)
        falling = np.lexsort((selection.positions, -logarithms))
        told = e_values(logarithms[falling])
        rates = levels(told, n_items=self.n_items, added=self._added)
        differences = test.differences(self._towards_cases(measured))
        directions = self._directions(measured.scores)
        return Selection(
            selection.positions[falling],
            associations=tuple(
                Associated(directions[place], e_value, rate, *differences[place])
                for place, e_value, rate in zip(falling.tolist(), told, rates, strict=True)
            ),
        )

    def _measured(
        self, drawn: Floats, values: Floats, holders: Floats
    ) -> tuple[NoisyNumbers, ETest]:
        """The noisy numbers in users, and the test of them."""
        cases, controls = _usable(drawn.astype(np.int64))
        stated = self.size_error
        off = reach_of_sizes(self.size_sd) if self.size_sd is not None else float(stated or 0)
        sizes = Sizes(cases, controls, off)
        noise = _times(self._score_noise, max(cases, controls))
        step = _step(noise) / sizes.total
        test = ETest.of(
            sizes,
            score_sd=noise.sd / sizes.total,
            holder_sd=self.holders_sd,
            level=self.level,
            k=self.k,
            n_items=self.n_items,
        )
        measured = NoisyNumbers(
            values / sizes.total, holders, step, float(_step(self._holder_noise))
        )
        return measured, test

    def _towards_cases(self, measured: NoisyNumbers) -> NoisyNumbers:
        """With scores that are large where cases hold more."""
        if self.side is not Side.CONTROLS:
            return measured
        return measured._replace(scores=-measured.scores - measured.score_step)

    def _directions(self, scores: Floats) -> list[str]:
        if self.side is not Side.BOTH:
            return ["more" if self.side is Side.CASES else "less"] * len(scores)
        return ["more" if score >= 0 else "less" for score in scores.tolist()]


def _mu(rho: float) -> float:
    """Normal noise of that zCDP tells neighbours apart as N(0, 1) and N(mu, 1), rounded down."""
    return round_down(1 / Fraction(gaussian_sigma(rho)))


def _rho(mu: float) -> float:
    return round_up(Fraction(mu) ** 2 / 2)


def _sd(mu: float) -> float:
    """The standard deviation of noise on what one user moves by 1, rounded up."""
    return round_up(1 / Fraction(mu))


def _usable(sizes: Ints) -> tuple[int, int]:
    """The sizes, or one of each where there would be none."""
    cases, controls = sizes.tolist()
    return (cases, controls) if cases + controls > 0 else (1, 1)


def _times(noise: CorrelatedNoise, factor: int) -> CorrelatedNoise:
    """The noise of what one user moves by so much, rounded up."""
    return CorrelatedNoise(*(round_up(Fraction(part) * factor) for part in noise))


def _step(noise: CorrelatedNoise) -> int:
    """To which multiples numbers in this noise are rounded: a power of 10."""
    return int(10 ** -min(0, score_digits(noise.sd) + 1))


def _noisy(numbers: Ints, noise: CorrelatedNoise, draws: Draws, *, up: bool) -> Floats:
    """The numbers in noise, rounded down to multiples of a step, or up to these.

    Half a step less is rounded to the nearest as the whole is rounded down.
    """
    step = _step(noise)
    asked = Order(
        numbers * 2 + (step if up else -step),
        [Normal(noise.own)],
        shared=Normal(noise.shared) if noise.shared else None,
        digits=-round(math.log10(step)),
        unit=_HALF,
    )
    return draws.order(asked).by_position()
