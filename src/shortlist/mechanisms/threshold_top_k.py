"""Top-k by the threshold algorithm: noise is a second sorted list, drawn as far as it is read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.race import BITS, Race
from shortlist.algorithms.threshold_algorithm import balanced, read
from shortlist.draws import Draws, Noise, Order
from shortlist.draws.noise import Exponential, Given, Gumbel, Laplace
from shortlist.draws.reals import ROUNDING
from shortlist.errors import InputError
from shortlist.evidence.view import View
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    best_are_named,
    counted,
)
from shortlist.mechanisms.peeling import EDGE, odds, picks_cost, picks_epsilon
from shortlist.parameters import Delta, Epsilon, Option, Whole
from shortlist.privacy import Cost, Pure, round_up
from shortlist.privacy.calibration import divide_down, one_shot_laplace_scale

_FEW_BITS = 2  # leading bits of which all branches can be taken


class AddedNoise(Option):
    """Which noise is added once to every score."""

    GUMBEL = "gumbel"
    """The law of `Peeling`; for k = 1, of the exponential mechanism."""

    LAPLACE = "laplace"
    """The law of `OneShotLaplace` without a delta."""

    EXPONENTIAL = "exponential"
    """The law of `OneShotExponential`: half the variance of Laplace noise, as private."""


@dataclass(frozen=True, kw_only=True)
class ThresholdTopK(Mechanism):
    """Top-k of a store: noise once on every score, the k largest named in order; few are read.

    The law is that of reading all m items. The expected number of accesses to scores is at most
    twice 2 (sqrt(mk) + sqrt(m/2)), with as many sorted as random ones if these cost the same.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, which moves any scores by at
    most 1, all the same way. With Gumbel noise it is `Peeling`: k picks of range 1 / scale, within
    (epsilon, delta) by their worst case. Laplace and exponential noise of scale k / epsilon are
    pure. By default noise is exponential if delta is 0, or if k is so small that delta buys little,
    and Gumbel otherwise. The guarantee covers what is returned; how much is read, and so
    the time it takes, depends on the data.

    Source: Wu, Ohrimenko & Wirth (2023), Algorithm 3, Theorem 4.2, Corollary 4.3; Durfee & Rogers
    (2019); Qiao et al. (2021). Proof note: `docs/proofs/threshold-top-k.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In [0, 1), and 0 where Laplace or exponential noise is asked for. The guarantee is
            pure with 0, and for so few items that it buys little.
        noise: `AddedNoise.GUMBEL`, `AddedNoise.LAPLACE` or `AddedNoise.EXPONENTIAL`; None for the
            one that errs least.
        accounting: Of Gumbel noise: by the worst case, or in zCDP, for one release of many, where
            noise is Gumbel unless another one is asked for.

    Raises:
        InputError: A parameter is out of range, or a delta is given where no use is made of it.

    >>> ThresholdTopK(k=20, epsilon=1.0).added, ThresholdTopK(k=20, epsilon=1.0).scale
    (<AddedNoise.EXPONENTIAL: 'exponential'>, 20.0)
    >>> round(ThresholdTopK(k=20, epsilon=1.0, delta=1e-6).scale, 3)
    9.369
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    noise: AddedNoise | None = None
    accounting: Accounting = Accounting.EXACT
    leading_bits: int = field(default=BITS, repr=False, metadata=FIXED)  # drawn when it is read

    evidence: ClassVar[type] = View
    derived: ClassVar[tuple[str, ...]] = ("added", "scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta > 0 and self.noise not in (None, AddedNoise.GUMBEL):
            raise InputError(
                "{noise} noise makes no use of a delta",
                "give {delta=0}, or take AddedNoise.GUMBEL, which needs less noise for it",
                given={"delta": self.delta},
                noise=self.added.value,
            )

    @cached_property
    def added(self) -> AddedNoise:
        """Which noise is added."""
        if self.noise is not None:
            return self.noise
        pure = divide_down(self.epsilon, self.k)
        worth = self._local_epsilon > EDGE * pure
        is_gumbel = worth or self.accounting is Accounting.ZCDP
        return AddedNoise.GUMBEL if is_gumbel else AddedNoise.EXPONENTIAL

    @cached_property
    def scale(self) -> float:
        """The scale of the noise, rounded up."""
        if self.added is AddedNoise.GUMBEL:
            return round_up(1 / Fraction(self._local_epsilon))
        return one_shot_laplace_scale(self.k, epsilon=self.epsilon)

    @cached_property
    def _local_epsilon(self) -> float:
        return picks_epsilon(self.accounting, self.k, epsilon=self.epsilon, delta=self.delta)

    @cached_property
    def cost(self) -> Cost:
        """That of the mechanism which reads everything."""
        if self.added is AddedNoise.GUMBEL:
            return picks_cost(self.accounting, self.k, self._local_epsilon, self.epsilon)
        return Pure(self.epsilon)

    def audit_hints(self) -> AuditHints:
        coarse = replace(self, leading_bits=1) if self.leading_bits > _FEW_BITS else None
        return replace(super().audit_hints(), coarse=coarse)

    def explain(self) -> list[str]:
        sd = self._sd * self.scale
        noise = f"{self.added.value.capitalize()} noise of standard deviation {sd:.3g}"
        sentences = [
            f"{noise} is added once to every score, but drawn only for those that are read.",
            best_are_named(self.k, "largest noisy score"),
        ]
        if self.added is AddedNoise.GUMBEL:
            sentences.append(f"That is {counted(self.k, 'pick')}: {odds(self._local_epsilon)}")
        return [*sentences, *self.unused]

    def select(self, evidence: View, draws: Draws) -> Selection:
        """Ids of k items in the order of their noisy scores (of all, if fewer exist)."""
        race = Race(evidence.size, draws, self.leading_bits)
        lengths = self._lengths(evidence)
        ids, (scores, leading) = read([evidence, race], self.k, self._ahead, lengths)
        exists = np.flatnonzero(scores >= 0)
        known = self._known(leading[exists])
        best = draws.order(Order(scores[exists], [known], unit=1.0, k=self.k)).positions
        return Selection(ids[exists[best]])

    def _lengths(self, view: View) -> Iterator[tuple[int, int]]:
        return balanced(view.size, self.k, view.costs)

    def _ahead(
        self, values: Sequence[NDArray[Any]], last: Sequence[NDArray[Any]]
    ) -> NDArray[np.bool_]:
        """Which items, by bounds of their noise, are at least the best that can lie beyond.

        Scores are compared as differences, which are exact, so that their size does not matter.
        """
        scores, leading = values
        last_score, last_leading = last
        least, most = self._known(leading).least(), self._known(last_leading).most()
        gaps = (scores - last_score).astype(np.float64)
        floors = gaps + least
        floors -= (np.abs(gaps) + np.abs(least)) * ROUNDING
        reached: NDArray[np.bool_] = (scores >= 0) & (floors >= most)
        return reached

    def _known(self, leading: NDArray[np.int64]) -> Given:
        return Given(self._noise, leading, self.leading_bits)

    @property
    def _noise(self) -> Noise:
        match self.added:
            case AddedNoise.GUMBEL:
                return Gumbel(self.scale)
            case AddedNoise.LAPLACE:
                return Laplace(self.scale)
            case AddedNoise.EXPONENTIAL:
                return Exponential(self.scale)

    @property
    def _sd(self) -> float:
        """The standard deviation of the noise over its scale."""
        match self.added:
            case AddedNoise.GUMBEL:
                return math.pi / math.sqrt(6)
            case AddedNoise.LAPLACE:
                return math.sqrt(2)
            case AddedNoise.EXPONENTIAL:
                return 1.0
