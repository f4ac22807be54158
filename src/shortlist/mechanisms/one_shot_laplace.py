"""One-shot Laplace: noise is added once to every count, and the k largest are named."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from shortlist.draws import Draws, Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import (
    Adjacency,
    AuditHints,
    Mechanism,
    Selection,
    best_are_named,
    require_bounded,
    whole_score,
)
from shortlist.parameters import Delta, Epsilon, Option, Whole, checked
from shortlist.privacy import Approximate, Cost, Pure
from shortlist.privacy.calibration import one_shot_laplace_scale, require_one_shot_delta


class Extreme(Option):
    """Which items are named."""

    LARGEST = "largest"
    """Those of the largest noisy counts."""

    SMALLEST = "smallest"
    """Those of the smallest noisy counts."""


@dataclass(frozen=True, kw_only=True)
class OneShotLaplace(Mechanism):
    """Top-k of public items: Laplace noise once on every count, the k largest or smallest named.

    Where a user is in at most k counts, the noisy counts come with the items, at no further cost.

    Guarantee: (epsilon, delta)-DP for the `neighbours` chosen, pure with delta = 0. The scale is
    min(k, max_items_per_user) w / epsilon, with w = 1 where one user is added or removed and w = 2
    where one user's items may also change, and the order is part of the answer. With delta > 0 it
    is 4 w sqrt(k ln(m / delta)) / epsilon if that is less, for m items, and the answer is a set.

    Source: Qiao et al. (2021), Theorems 2.1 and 2.2, half the noise for users added or removed, and
    the order with the first. Proof note: `docs/proofs/one-shot-laplace.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0; with delta > 0 at most 0.2.
        delta: At most 0.05. It helps only where k > 16 ln(m / delta), and where no m of k or more
            makes it help, the guarantee is pure.
        max_items_per_user: In how many counts a user is at most; None if there is no bound.
        neighbours: `Adjacency.ADD_REMOVE`, or `Adjacency.GENERAL` where every count may move by
            1 either way.
        extreme: `Extreme.LARGEST`, or `Extreme.SMALLEST` for the items that fewest hold.

    >>> OneShotLaplace(k=20, epsilon=1.0).scale
    20.0
    >>> OneShotLaplace(k=20, epsilon=1.0, max_items_per_user=1).scale
    1.0
    """

    k: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    max_items_per_user: Whole | None = None
    neighbours: Adjacency = Adjacency.ADD_REMOVE
    extreme: Extreme = Extreme.LARGEST

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        checked(self)
        require_one_shot_delta(self.epsilon, self.delta)  # else no noise can be calibrated
        super().__post_init__()

    @property
    def scale(self) -> float | None:
        """The scale of the noise; None where a delta is used: it depends on the number of items."""
        pure = self._pure_scale
        return None if self._uses_delta else pure

    @cached_property
    def _uses_delta(self) -> bool:
        """Whether there are numbers of items, k or more, with which a delta makes noise less."""
        return self.delta > 0 and self._calibrated(self.delta, max(self.k, 2)) < self._pure_scale

    @cached_property
    def _pure_scale(self) -> float:
        """The scale for the items in their order, without a delta."""
        return self._calibrated()

    def _calibrated(self, delta: float = 0.0, n_items: int | None = None) -> float:
        bound = math.inf if self.max_items_per_user is None else self.max_items_per_user
        return one_shot_laplace_scale(
            self.k,
            epsilon=self.epsilon,
            delta=delta,
            n_items=n_items,
            spread=self.neighbours.spread,
            total=self.neighbours.spread * bound,
        )

    @property
    def _hides_counts(self) -> bool:
        """Whether the noise hides all that one user changes, so that counts may be released."""
        return self.max_items_per_user is not None and self.max_items_per_user <= self.k

    @property
    def scores_are_counts(self) -> bool:
        # With a delta, counts are there or not by the number of items: then none are released.
        return self._hides_counts and not self._uses_delta

    @property
    def score_unit(self) -> str | None:  # type: ignore[override]
        return "noisy count" if self.scores_are_counts else None

    @property
    def cost(self) -> Cost:
        """Pure where no delta is used; Theorem 2.2 says no more than its epsilon and delta."""
        return Approximate(self.epsilon, self.delta) if self._uses_delta else Pure(self.epsilon)

    def audit_hints(self) -> AuditHints:
        sd = whole_score(Laplace(self._pure_scale))[1] if self.scores_are_counts else None
        return replace(super().audit_hints(), score_sd=sd)

    def explain(self) -> list[str]:
        scale, extreme = self._pure_scale, self.extreme.value
        named = partial(best_are_named, self.k, f"{extreme} noisy count")
        if self._uses_delta:
            root = 4 * self.neighbours.spread / self.epsilon
            either = (
                f"Laplace noise is added to every count once: of scale {scale:.3g}, or of scale "
                f"{root:.3g} sqrt({self.k} ln(m/{self.delta:.3g})) for m items, if that is less."
            )
            return [either, named(": in their order with the first, as a set with the second")]
        sd = math.sqrt(2) * scale
        noise = f"Laplace noise of standard deviation {sd:.3g} is added to every count once."
        if not self.scores_are_counts:
            return [noise, named(), "The counts are not published.", *self.unused]
        reason = f"one user is in at most {self.max_items_per_user} counts, which the noise hides."
        return [noise, named(), f"The noisy counts are published: {reason}", *self.unused]

    @property
    def noise_varies(self) -> bool:
        return False

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items (all, if there are fewer), with their noisy counts where these are free."""
        require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        largest = self.extreme is Extreme.LARGEST
        scores = evidence.counts if largest else -evidence.counts
        scale = self._pure_scale
        if self._uses_delta:
            scale = self._calibrated(self.delta, max(self.k, len(scores)))
        as_a_set = scale < self._pure_scale
        noise = Laplace(scale)
        digits, sd = whole_score(noise) if self._hides_counts and not as_a_set else (None, None)
        asked = Order(scores, [noise], digits=digits, unit=evidence.unit, k=self.k)
        ranked = draws.order(asked)
        if as_a_set:
            return Selection(np.sort(ranked.positions), ordered=False)
        if digits is None:
            return Selection(ranked.positions)
        noisy = ranked.values if largest else 0.0 - ranked.values
        return Selection(ranked.positions, noisy, noise_sd=sd)
