"""What all mechanisms around another share, and those that buy counts of the selected items."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import Accounting, Mechanism
from shortlist.privacy import ZCDP, Approximate, Composed, Cost, Either, Gaussian, Pure, Ways
from shortlist.privacy.accountant import Composition, Stage
from shortlist.privacy.calibration import largest, subtract_down

if TYPE_CHECKING:
    from shortlist.mechanisms.finding import Detection


class Wrapper(Mechanism):
    """A mechanism around another, which selects.

    Attributes:
        selection: The mechanism that selects.
    """

    selection: Mechanism

    @property
    def adjacency(self) -> str:
        return self.selection.adjacency

    @property
    def names_private_items(self) -> bool:
        return self.selection.names_private_items

    @property
    def score_unit(self) -> str | None:  # type: ignore[override]
        return self.selection.score_unit

    @property
    def noise_varies(self) -> bool:
        return self.selection.noise_varies

    def require_items(self, n_items: int) -> None:
        self.selection.require_items(n_items)

    @property
    def finding(self) -> Detection | None:
        return self.selection.finding


class Counted(Wrapper):
    """Another mechanism's selection, and what a share of the budget buys beside it, mostly counts.

    Attributes:
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
        min_users: How many users an item has to have to be named, as far as its noisy count says;
            None for any number.
    """

    count_share: float
    min_users: int | None = None

    @classmethod
    def of(
        cls,
        build: Callable[[float, float], Mechanism],
        *,
        epsilon: float,
        delta: float,
        count_share: float,
        **given: Any,
    ) -> Self:
        """Around the mechanism that `build(epsilon, delta)` gives for what the share leaves.

        Args:
            build: From epsilon and delta to the mechanism that selects.
            epsilon: Of the whole.
            delta: Of the whole.
            count_share: The share that is withheld from the selection.
            given: The other fields.
        """
        rest = (subtract_down(whole, whole * count_share) for whole in (epsilon, delta))
        kind: Any = cls
        around: Self = kind(
            selection=build(*rest), epsilon=epsilon, delta=delta, count_share=count_share, **given
        )
        return around

    def _require_useful_counts(self, sd: float, most: float) -> None:
        if sd > most:
            raise InputError(
                "so small that the counts would be all noise",
                "give more, or omit it",
                given={"count_share": self.count_share},
            )

    @property
    def _has_stages(self) -> bool:
        """Whether more stages may follow: it counts by its worst case, is pure, or normal noise."""
        exact = getattr(self.selection, "accounting", Accounting.EXACT) is Accounting.EXACT
        return exact or isinstance(self.selection.cost, Pure | Either | Gaussian)

    @property
    def _left(self) -> tuple[float, float]:
        """The epsilon and the delta that the selection's guarantee leaves."""
        spent = self.selection.epsilon, self.selection.spent_delta
        return subtract_down(self.epsilon, spent[0]), subtract_down(self.delta, spent[1])

    def _beside_guarantee(self, epsilon: float, delta: float, by_rho: Cost) -> Cost:
        """The selection's guarantee and one of so much for the counts, added up.

        Args:
            epsilon: Of the guarantee of the counts.
            delta: Of it.
            by_rho: What the counts cost in zCDP, which adds up with what the selection does.
        """
        spent = Approximate(self.selection.epsilon, self.selection.spent_delta)
        return Ways(self.selection.cost.ways[0] + by_rho, spent + Approximate(epsilon, delta))

    @property
    def _rho_left(self) -> float:
        """The zCDP that may be added to the selection's cost; 0 if none may."""
        before = self.selection.cost
        if (before + ZCDP(0.0)).delta(self.epsilon) >= self.delta:
            return 0.0
        return self._largest(lambda rho: before + ZCDP(rho))

    def _largest(self, cost_of: Callable[[float], Cost]) -> float:
        return largest(cost_of, epsilon=self.epsilon, delta=self.delta)

    def _followed_by(self, counts: tuple[Stage, ...], before: Composition, by_rho: Cost) -> Cost:
        """The selection's stages, and those of the counts, which cost so much by themselves."""
        stages = replace(before, stages=(*before.stages, *counts))
        return Composed(stages, self.selection.cost.ways[0] + by_rho, epsilon=self.epsilon)

    def parameters(self) -> dict[str, object]:
        own = {name: getattr(self, name) for name in ("count_share", *self.derived)}
        if self.min_users is not None:
            own |= self._told_of_floor(self.min_users)
        name = type(self.selection).__name__
        return own | {"selection": {"name": name, **self.selection.parameters()}}

    def explain(self) -> list[str]:
        return [*self._explained_selection(), *self._explained_counts(), *self.unused]

    def _explained_selection(self) -> list[str]:
        """What the selection does, without what it says of a delta that it does not use."""
        unused = self.selection.unused
        return [step for step in self.selection.explain() if step not in unused]

    def explain_known(self) -> list[str]:
        return self.selection.explain_known()

    def _told_of_floor(self, min_users: int) -> dict[str, object]:
        """The floor as a parameter, and from where on it leaves out hardly anything, if known."""
        return {"min_users": min_users}

    @abstractmethod
    def _explained_counts(self) -> list[str]:
        """How the counts, or whatever else stands beside, are made, a plain sentence each."""
