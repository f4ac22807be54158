"""Spectral ranking: noise on the stationary distribution of a walk from losers to winners."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from shortlist.algorithms.random_walk import GRID, Walk, is_connected
from shortlist.draws import Draws, Ints, Order
from shortlist.draws.noise import Laplace
from shortlist.errors import InputError, Words
from shortlist.evidence import Outcomes
from shortlist.mechanisms.mechanism import (
    Mechanism,
    Selection,
    best_are_named,
    counted,
    require_bounded,
    score_digits,
)
from shortlist.parameters import Contraction, Epsilon, Whole
from shortlist.privacy import Cost, Pure, round_up
from shortlist.privacy.calibration import one_shot_laplace_scale
from shortlist.questions import Question, Rank

# How near the stationary distribution is found, over what one neighbour changes.
_CLOSE = 2.0**-12
# The least number of comparisons of a pair, where there are none: nothing changes then.
_MANY = 2**32
_NOT_PROTECTED = "other outcomes are not protected"


@dataclass(frozen=True, kw_only=True)
class SpectralRanking(Mechanism):
    """Ranks public items by wins over items that win: rank centrality, in Laplace noise.

    A walk moves from each item to those that won against it; an item's score is its share of the
    walk's time. Which pairs were compared, and how often, is taken as public. Prefer `WinCount`
    where an item's number of wins will do: it assumes nothing, and its noise is far less.

    Guarantee: epsilon-DP, pure, when the outcome of one comparison changes; or those of one user,
    with at most `max_comparisons_per_user` comparisons. Without a `contraction` this holds for all
    outcomes, and every pair of items must have been compared. With a `contraction` rho it holds
    between two tables whose walks both have an ergodicity coefficient of at most rho; other
    outcomes are not protected, and nothing here checks which a table has. No rho below 1 - 1/d
    holds for all outcomes where all pairs were compared, and none below 1 where a pair is missing.

    The scale of the noise is 2 c / (d L (1 - rho) epsilon), or 2 c / (L epsilon) if all pairs were
    compared and that is less, for c outcomes, degree d and at least L comparisons of each pair
    compared; it is rounded up to pay for the precision of the scores. The scores are private
    together.

    Source: Qiao et al. (2021), Algorithm 3, with less noise than Theorem 3.5: by a factor of
    8 sqrt(k ln(m / delta)). Proof note: `docs/proofs/spectral-ranking.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        contraction: Rho, from 0 to 1 - 1e-6: only outcomes that keep it are protected from each
            other. Chosen without looking at outcomes; None to protect all.
        degree: With how many others an item was compared at most, or more: the d of the walk whose
            coefficient is meant. None to take it from the pairs compared; of no effect without a
            `contraction`.
        max_comparisons_per_user: How many comparisons a user has made at most; None to protect one
            comparison.

    >>> SpectralRanking(k=10, epsilon=1.0).adjacency
    'change the outcome of one comparison'
    """

    k: Whole
    epsilon: Epsilon
    contraction: Contraction | None = None
    degree: Whole | None = None
    max_comparisons_per_user: Whole | None = None

    question: ClassVar[type[Question]] = Rank
    evidence: ClassVar[type] = Outcomes
    score_unit: ClassVar[str | None] = "noisy share of a walk's time"

    @property
    def adjacency(self) -> str:
        if self.max_comparisons_per_user is None:
            return "change the outcome of one comparison"
        return "change the outcomes of one user's comparisons"

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is public about comparisons, and between which tables the guarantee holds."""
        whose = "" if self.max_comparisons_per_user is None else ", and by whom,"
        public = f"which pairs were compared and how often{whose} is public"
        if self.contraction is None:
            return (public,)
        drawn = "" if not whose else ", whichever comparisons of each user are drawn to count"
        kept = f"whose walks both have an ergodicity coefficient of at most {self.contraction}"
        return (public, f"private between two tables {kept}{drawn}; {_NOT_PROTECTED}")

    @property
    def cost(self) -> Cost:
        return Pure(self.epsilon)

    @property
    def _outcomes(self) -> int:
        """How many outcomes one neighbour changes."""
        return self.max_comparisons_per_user or 1

    def explain(self) -> list[str]:
        most = 2 * self._outcomes / self.epsilon
        of_all = f"scale {most:.3g} / L, for at least L comparisons of each pair"
        every = "Every pair must have been compared."
        if self.contraction is not None:
            scale = most / (1 - self.contraction)
            of_all = (
                f"scale {scale:.3g} / (d L), for at least L comparisons of each pair compared, and "
                "d others that an item was compared with at most"
            )
            every = f"If all pairs were compared, the scale is {most:.3g} / L where that is less."
        return [
            "A walk moves from items to those that won against them; its time there is the score.",
            f"Laplace noise is added once to every score: of {of_all}.",
            every,
            best_are_named(self.k, "largest noisy score"),
            "The noisy scores are published.",
            *self._restriction(),
        ]

    def _restriction(self) -> list[str]:
        """Between which tables nothing is hidden."""
        if self.contraction is None:
            return []
        bound = f"an ergodicity coefficient of at most {self.contraction}"
        none = "holds for all outcomes where all pairs were compared, and none below 1 where"
        return [
            f"Only tables whose walks have {bound} are hidden from each other; {_NOT_PROTECTED}.",
            "Nothing checks which coefficient a table has.",
            f"No contraction below 1 - 1/d {none} a pair is missing.",
        ]

    def select(self, evidence: Outcomes, draws: Draws) -> Selection:
        """K items (all, if there are fewer), best first, with their noisy scores.

        Raises:
            InputError: The evidence is bounded more loosely than `max_comparisons_per_user`; the
                degree is less than that of an item; comparisons do not link all items; or there is
                no contraction and a pair was not compared. All of that is public.
        """
        require_bounded(evidence, max_comparisons_per_user=self.max_comparisons_per_user)
        degree, gap = self._degree_and_gap(evidence)
        walk = Walk.of(evidence, degree)
        least = int(evidence.times.min(initial=_MANY))
        # What one neighbour changes in a step from the same shares, and how near to its goal a walk
        # comes: both in ℓ1 norm, both of public numbers alone.
        changed = Fraction(2 * self._outcomes, degree * least)
        tolerance = max(float(changed) * _CLOSE, 8 * walk.rounding / float(gap))
        steps = math.ceil(math.log(8 / tolerance) / gap)
        shares = walk.stationary(tolerance=tolerance, steps=steps)
        return self._ranked(shares, (changed + 2 * Fraction(tolerance)) / gap, draws)

    def _ranked(self, shares: Ints, moved: Fraction, draws: Draws) -> Selection:
        """The largest in noise, of shares that one neighbour moves so much in sum."""
        total = round_up(moved)
        scale = one_shot_laplace_scale(self.k, epsilon=self.epsilon, spread=total, total=total)
        sd = math.sqrt(2) * scale
        digits = score_digits(sd)
        ranked = draws.order(Order(shares, [Laplace(scale)], digits=digits, unit=GRID, k=self.k))
        return Selection(ranked.positions, ranked.values, noise_sd=sd)

    def _degree_and_gap(self, evidence: Outcomes) -> tuple[int, Fraction]:
        """The d of the walk, and how far below 1 its ergodicity coefficient is at least."""
        most = max(int(evidence.degrees.max(initial=0)), 1)
        degree = most if self.degree is None else self.degree
        if degree < most:
            raise InputError(
                "an item was compared with {most} others",
                "give {most} or more, or omit it",
                given={"degree": degree},
                most=most,
            )
        complete = len(evidence.first) == evidence.n_items * (evidence.n_items - 1) // 2
        self._require_links(evidence, complete=complete)
        if self.contraction is None:
            return most, Fraction(1, most)
        gap = 1 - Fraction(self.contraction)
        # The scores are the same for any d: the noise is 1 over d times the gap.
        return (most, Fraction(1, most)) if complete and degree * gap <= 1 else (degree, gap)

    def _require_links(self, evidence: Outcomes, *, complete: bool) -> None:
        n_items = evidence.n_items
        alone = 0 if n_items <= 1 else int(np.count_nonzero(evidence.degrees == 0))
        if alone:
            raise InputError(
                "{alone} of {n_items} public items {were} compared with no other{counted}",
                "leave such items out of {public_items}, or omit {mechanism}",
                alone=alone,
                n_items=n_items,
                given={"mechanism": SpectralRanking},
                were="was" if alone == 1 else "were",
                counted=self._counted,
            )
        if not is_connected(evidence):
            raise InputError(
                "no chain of comparisons links some of the items with the others, so that nothing "
                "ranks them together{counted}",
                "rank each part by itself, or omit {mechanism}",
                given={"mechanism": SpectralRanking},
                counted=self._counted,
            )
        if self.contraction is None and not complete:
            raise InputError(
                "not every pair of items was compared{counted}",
                "give its option {contraction}, with which fewer outcomes are protected, or omit "
                "{mechanism}: the default protects all",
                given={"mechanism": SpectralRanking},
                counted=self._counted,
            )

    @property
    def _counted(self) -> Words:
        """That of a user not all may count, which can leave items or pairs without any."""
        c = self.max_comparisons_per_user
        if c is None:
            return Words("")
        return Words(
            ", of at most {comparisons} of each user, drawn at random, which a larger "
            "{max_comparisons_per_user} may fix",
            comparisons=counted(c, "comparison"),
        )
