"""Count each: how many users hold each item of a public list, in noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.draws import Draws, Floats
from shortlist.draws.noise import Laplace, Normal
from shortlist.draws.reach import reach_of_rounded
from shortlist.errors import InputError
from shortlist.evidence import PublicCounts, Wants
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Selection,
    counted,
    require_bounded,
)
from shortlist.mechanisms.wrappers.noisy_counts import (
    MOST_SD,
    InNoise,
    PricedNoise,
    least_correlated,
)
from shortlist.parameters import Delta, Epsilon, ShareOfUsers, Whole
from shortlist.privacy import Gaussian, Pure, round_down, round_up
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma, largest
from shortlist.questions import Question, UserCounts


@dataclass(frozen=True, kw_only=True)
class CountEach(InNoise):
    """How many users hold each item of a list that everybody knows: counts in noise.

    Nothing is selected, and nothing is clipped: of a user all listed items count. The noise is
    continuous, and the noisy count is rounded exactly to a whole number. Without a delta it is
    Laplace noise. With one it is the smaller of that and of normal noise, of which a part is the
    same for all counts, since one user moves them all the same way.

    Guarantee: (epsilon, delta)-DP when one user is added or removed; pure with Laplace noise, whose
    scale is m / epsilon where one user is in at most m of the counts, once in each: in
    min(n_items, max_items_per_user).

    Source: the Laplace mechanism (Dwork et al. 2006) and the Gaussian mechanism with its exact
    curve (Balle & Wang 2018); the shared part of the noise is of this project. Proof note:
    `docs/proofs/count-each.md`.

    Args:
        n_items: How many items are on the list.
        epsilon: Above 0.
        delta: Less than 1; with 0 the noise is Laplace noise.
        max_items_per_user: In how many of the counts one user is at most, where that was promised;
            None if in any number.
        accounting: With `Accounting.ZCDP` the noise is normal wherever there is a delta: it adds
            less to the cost of other releases.
        share_of_users: Of how many users each count is told as a share; None for no shares. If they
            are `COUNTED`, their number is one count more, in which every user is.
        users: How many that are, if they are `STATED`.

    >>> CountEach(n_items=30, epsilon=1.0).count_noise
    'Laplace'
    >>> CountEach(n_items=30, epsilon=1.0, delta=1e-6).count_noise
    'Normal'
    """

    n_items: Whole
    epsilon: Epsilon
    delta: Delta = 0.0
    max_items_per_user: Whole | None = None
    accounting: Accounting = Accounting.EXACT
    share_of_users: ShareOfUsers | None = None
    users: Whole | None = None

    question: ClassVar[type[Question]] = UserCounts
    evidence: ClassVar[type] = PublicCounts

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count_sd > MOST_SD:
            raise InputError(
                "so small that the counts would be all noise",
                "give more, or ask for fewer items",
                given={"epsilon": self.epsilon},
            )

    @property
    def wants(self) -> Wants:
        return replace(super().wants, users=self._counts_users)

    @property
    def _counts_users(self) -> bool:
        """Whether the number of all users is one count more."""
        return self.share_of_users is ShareOfUsers.COUNTED

    @property
    def _n_counts(self) -> int:
        return self.n_items + self._counts_users

    @property
    def _changed(self) -> int:
        """How many of the counts one user can change."""
        bound = self.max_items_per_user
        of_items = self.n_items if bound is None else min(self.n_items, bound)
        return of_items + self._counts_users

    @cached_property
    def _best(self) -> PricedNoise:
        """The smaller noise; a choice by public parameters."""
        return min(self._ways(), key=lambda way: way.of_each.rounded_sd)

    def _ways(self) -> Iterator[PricedNoise]:
        if self.delta > 0:
            yield self._normal()
        if self.delta == 0 or self.accounting is Accounting.EXACT:
            yield self._laplace()

    def _laplace(self) -> PricedNoise:
        changed = self._changed
        rate = largest(lambda rate: Pure(rate) * changed, epsilon=self.epsilon, delta=0.0)
        scale = round_up(1 / Fraction(rate))
        return PricedNoise(Laplace(scale), Pure(round_up(1 / Fraction(scale))) * changed)

    def _normal(self) -> PricedNoise:
        rho = gaussian_rho(epsilon=self.epsilon, delta=self.delta)
        mu = round_down(1 / Fraction(gaussian_sigma(rho)))
        laid = least_correlated(mu, k=self._n_counts, m=self._changed)
        shared = Normal(laid.shared) if laid.shared else None
        return PricedNoise(Normal(laid.own), Gaussian(rho), shared)

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), score_sd=self.count_sd)

    def explain(self) -> list[str]:
        """How many counts there are, how much noise they have, and how far that reaches."""
        reach = reach_of_rounded(self.count_noise, self.count_sd)
        items = counted(self.n_items, "item")
        return [
            f"The list has {items}. Each comes with its count, also if nobody holds it.",
            self._explained_noise("Each item's count"),
            f"In 95 of 100 cases a count is off by at most {reach:,.0f}, however large it is.",
            *self._explained_shares(),
            *self.unused,
        ]

    def _explained_shares(self) -> list[str]:
        if self.users is not None:
            return [f"Each count also comes as a share of {self.users:,} users, as was stated."]
        if not self._counts_users:
            return []
        number = "whose number is one count more, with the same noise"
        return [f"Each count also comes as a share of all users, {number}."]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """All items, with their noisy counts: the order of the list is no part of the answer."""
        require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        n = len(evidence.counts)
        if n > self.n_items:
            raise ValueError("there are more counts than the noise was made for.")
        counts = evidence.counts
        if self._counts_users:
            if evidence.users is None:
                raise ValueError("how many users there are is to be shown, too.")
            counts = np.append(counts, evidence.users)
        noisy = self._noisy(counts, draws)
        return Selection(
            np.arange(n),
            noisy[:n],
            users=self._users_of(noisy[n:], n),
            ordered=False,
            noise_sd=self.count_sd,
            shared_sd=self.count_shared_sd,
        )

    def _users_of(self, counted: Floats, n: int) -> Floats | None:
        """Of how many users each of n counts is told as a share."""
        if self._counts_users:
            return np.repeat(counted, n)
        return None if self.users is None else np.full(n, float(self.users))
