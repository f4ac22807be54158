"""A mechanism of counts on scores: what one user can move stands for one user."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from shortlist.draws import Draws, Order
from shortlist.draws.noise import Laplace, Normal
from shortlist.errors import InputError
from shortlist.evidence import PublicCounts, PublicScores, Wants
from shortlist.mechanisms.mechanism import (
    ADD_OR_REMOVE,
    FIXED,
    Adjacency,
    AuditHints,
    Mechanism,
    Selection,
    score_digits,
)
from shortlist.mechanisms.one_shot_laplace import Extreme
from shortlist.mechanisms.wrappers._wrapper import Wrapper
from shortlist.mechanisms.wrappers.noisy_counts import (
    CorrelatedNoise,
    NoisyCounts,
    independent,
    least_correlated,
)
from shortlist.parameters import Delta, Direction, Epsilon, Sensitivity
from shortlist.privacy import Cost
from shortlist.questions import Question, TopScores


@dataclass(frozen=True)
class Grid:
    """How finely scores are told apart.

    Attributes:
        steps: How many steps the sensitivity is: a power of 2, so that nothing is lost by it.
    """

    steps: int = 2**10

    @property
    def coarse(self) -> Grid:
        """A single step: what one user changes can be looked at in full."""
        return Grid(1)


@dataclass(frozen=True, kw_only=True)
class OfScores(Wrapper):
    """A mechanism of public counts, of scores of which one user moves each by a stated sensitivity.

    Scores are rounded down to whole steps, 1,024 to the sensitivity. The selection reads
    differences of scores alone, of which one user moves none by more than the spread: the
    sensitivity, or twice that where scores move both ways. So the spread stands for one user, and
    all that is known of counts holds.

    Guarantee: that of the selection, for the neighbours that the sensitivity is stated for.

    Source: of this project. Proof note: `docs/proofs/of-scores.md`.

    Attributes:
        selection: The mechanism that selects, and perhaps tells noisy scores.
        epsilon: Of the whole.
        delta: Of the whole.
        sensitivity: How far one user moves a score at most, as was stated.
        direction: Whether one user moves all scores the same way.
        neighbours: The neighbours that this was stated for.
        extreme: Whether the items of the largest scores are named, or those of the smallest.
    """

    selection: Mechanism
    epsilon: Epsilon
    delta: Delta
    sensitivity: Sensitivity
    direction: Direction
    neighbours: Adjacency = Adjacency.ADD_REMOVE
    extreme: Extreme = Extreme.LARGEST
    design: Grid = field(default=Grid(), repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = TopScores
    evidence: ClassVar[type] = PublicScores

    @classmethod
    def of(
        cls,
        build: Callable[[float, float], Mechanism],
        *,
        k: int,
        epsilon: float,
        delta: float,
        sensitivity: float,
        direction: Direction,
        score_share: float | None = None,
        **given: Any,
    ) -> Self:
        """Around the mechanism that `build(epsilon, delta)` gives for what the share leaves.

        Args:
            build: From epsilon and delta to the mechanism that selects.
            k: How many items it selects.
            epsilon: Of the whole.
            delta: Of the whole.
            sensitivity: As the attribute.
            direction: As the attribute.
            score_share: The share for a noisy score of each item; None where there are none.
            given: The other fields.
        """
        price: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        moved: dict[str, Any] = {"sensitivity": sensitivity, "direction": direction}
        if score_share is None:
            selection = build(epsilon, delta)
        else:
            selection = NoisyScores.of(build, k=k, count_share=score_share, **price, **moved)
        return cls(selection=selection, **price, **moved, **given)

    def __post_init__(self) -> None:
        super().__post_init__()
        inner = self.selection
        if not (inner.reads_unit and inner.evidence is PublicCounts):
            raise InputError(
                "{kind} looks at numbers of users, and these are scores",
                "omit {mechanism}, or take another",
                given={"mechanism": ...},
                kind=type(inner),
            )
        if inner.adjacency != ADD_OR_REMOVE or inner.wants.bound is not None:
            raise InputError(
                "how far one user moves scores, {sensitivity} and {direction} say",
                "omit its option on users",
                given={"mechanism": type(inner)},
            )

    @property
    def adjacency(self) -> str:
        return self.neighbours.value

    @property
    def cost(self) -> Cost:
        return self.selection.cost

    @property
    def wants(self) -> Wants:
        return Wants(self.evidence)

    def parameters(self) -> dict[str, object]:
        inner = self.selection
        return {
            "sensitivity": self.sensitivity,
            "direction": self.direction.value,
            "selection": {"name": type(inner).__name__, **inner.parameters()},
        }

    def audit_hints(self) -> AuditHints:
        coarse = None if self.design == self.design.coarse else self.design.coarse
        return replace(
            self.selection.audit_hints(),
            coarse=None if coarse is None else self.with_design(coarse),
        )

    def with_design(self, design: Grid) -> Self:
        """The same with scores told apart as finely as that."""
        inner: Any = self.selection
        if isinstance(inner, NoisyScores):
            inner = replace(inner, steps=design.steps)
        return replace(self, selection=inner, design=design)

    def explain(self) -> list[str]:
        return [in_spreads(self.sensitivity, self.direction), *self.selection.explain()]

    def select(self, evidence: PublicScores, draws: Draws) -> Selection:
        """What is selected of the scores as counts, and of the negated ones if the least are named.

        Raises:
            InputError: One user can move scores further than the cost accounts for.
        """
        self._require_stated(evidence)
        counts = evidence.as_counts(self.design.steps)
        if self.extreme is Extreme.LARGEST:
            return self.selection.select(counts, draws)
        # Rounded down and then negated is rounded up, which commutes with whole steps, too.
        selection = self.selection.select(replace(counts, counts=-counts.counts), draws)
        scores = None if selection.scores is None else 0.0 - selection.scores
        return selection._replace(scores=scores)

    def _require_stated(self, evidence: PublicScores) -> None:
        looser = evidence.sensitivity > self.sensitivity
        if looser or evidence.direction.spread > self.direction.spread:
            raise InputError(
                "the evidence is looser: it states {other}",
                "give the mechanism what is stated",
                given={"sensitivity": self.sensitivity},
                other=evidence.sensitivity,
            )


def in_spreads(sensitivity: float, direction: Direction) -> str:
    """How what is said of counts and people is to be read of scores, in a sentence."""
    moves = "moves a score" if direction is Direction.ONE else "moves two scores apart"
    return (
        f"One user {moves} by at most {sensitivity * direction.spread:g}. In what follows, 1 "
        "person stands for that much, and a count for a score divided by it."
    )


@dataclass(frozen=True, kw_only=True)
class NoisyScores(NoisyCounts):
    """Another mechanism's selection, each item with its score in fresh noise.

    As `NoisyCounts`, with scores in the place of counts. Where one user moves all scores the same
    way, a part of normal noise is the same for all, so that less noise is enough.

    Guarantee: (epsilon, delta)-DP by composition, within `OfScores`. count_share of epsilon and
    delta is withheld from the selection; the scores get all that the selection does not use.

    Source: composition, `docs/proofs/costs.md`. Proof note:
    `docs/proofs/noisy-scores.md`.

    Attributes:
        selection: The mechanism that selects.
        k: How many items it selects at most.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
        max_items_per_user: None: one user moves all scores.
        min_users: None: scores are no numbers of users.
        sensitivity: How far one user moves a score at most.
        direction: Whether one user moves all scores the same way.
        steps: How many steps of the counts are the sensitivity.
    """

    sensitivity: Sensitivity
    direction: Direction
    steps: int = field(default=Grid().steps, repr=False, metadata=FIXED)

    score_unit: ClassVar[str | None] = "noisy score"

    @property
    def reads_unit(self) -> bool:  # type: ignore[override]
        return self.selection.reads_unit

    def parameters(self) -> dict[str, object]:
        told = super().parameters()
        return {"score_share": told.pop("count_share"), **told}

    @property
    def count_sd(self) -> float:
        """The standard deviation of the noise of a score."""
        return _sd(self._best.of_each) * self.sensitivity

    def audit_hints(self) -> AuditHints:
        # Of what `select` tells, whose unit is the sensitivity.
        return replace(super().audit_hints(), score_sd=_sd(self._best.of_each))

    @property
    def count_shared_sd(self) -> float | None:
        shared = super().count_shared_sd
        return None if shared is None else shared * self.sensitivity

    def _require_useful_counts(self, sd: float, most: float) -> None:
        super()._require_useful_counts(sd / self.sensitivity, most)

    def _laid(self, mu: float) -> CorrelatedNoise:
        if self.direction is Direction.ONE:
            return least_correlated(mu, k=self.k, m=self.k)
        return independent(mu, m=self.k)

    def _explained_counts(self) -> list[str]:
        noise = (
            "Each selected item's score is published with noise of standard deviation "
            f"{self.count_sd:.3g} ({self.count_noise})."
        )
        return [noise, *self._explained_shared("scores")]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """The selection, with noisy scores."""
        selection = self.selection.select(evidence, draws)
        noise, _, shared = self._best
        told = draws.order(
            Order(
                evidence.counts[selection.positions],
                [noise],
                shared=shared,
                unit=1 / self.steps,
                digits=score_digits(_sd(self._best.of_each)) + 1,
            )
        ).by_position()
        return selection._replace(
            scores=told,
            noise_sd=_sd(self._best.of_each),
            shared_sd=None if shared is None else shared.sd,
            score_step=self.sensitivity,
        )


def _sd(noise: Laplace | Normal) -> float:
    return math.sqrt(2) * noise.scale if isinstance(noise, Laplace) else noise.sd
