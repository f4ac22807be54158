"""What all mechanisms around a selection share that buy counts of the selected items."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from shortlist.mechanisms.mechanism import Accounting, Mechanism
from shortlist.privacy import Composed, Cost
from shortlist.privacy.accountant import Composition
from shortlist.privacy.calibration import largest, subtract_down

if TYPE_CHECKING:
    from shortlist.mechanisms.finding import Detection

__all__ = ["Counted"]


class Counted(Mechanism):
    """Another mechanism's selection, and a number for each selected item.

    Attributes:
        selection: The mechanism that selects.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
    """

    selection: Mechanism
    count_share: float

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
        """Around the mechanism that `build(epsilon, delta)` gives for what the share leaves."""
        rest = (subtract_down(whole, whole * count_share) for whole in (epsilon, delta))
        kind: Any = cls
        around: Self = kind(
            selection=build(*rest), epsilon=epsilon, delta=delta, count_share=count_share, **given
        )
        return around

    @property
    def adjacency(self) -> str:
        """As the selection's."""
        return self.selection.adjacency

    @property
    def finding(self) -> Detection | None:
        """As the selection's."""
        return self.selection.finding

    @property
    def _is_exact(self) -> bool:
        """Whether the selection counts by its worst case, as most do, or is pure."""
        exact = Accounting.EXACT
        return getattr(self.selection, "accounting", exact) is exact

    @property
    def _delta_left(self) -> float:
        return subtract_down(self.delta, self.selection.spent_delta)

    def _largest(self, cost_of: Callable[[float], Cost]) -> float:
        return largest(cost_of, epsilon=self.epsilon, delta=self.delta)

    def _composed(self, stages: Composition, counts: Cost) -> Cost:
        """All stages, those of the counts included, which cost so much by themselves."""
        by_rho = self.selection.cost.ways[0] + counts
        return Composed(stages, by_rho, epsilon=self.epsilon)

    def parameters(self) -> dict[str, object]:
        """All public parameters, those of the selection under its own name."""
        own = {name: getattr(self, name) for name in ("count_share", *self.derived)}
        name = type(self.selection).__name__
        return own | {"selection": {"name": name, **self.selection.parameters()}}

    def explain(self) -> list[str]:
        """The selection and the noise in plain words."""
        replaced = {*self.selection.unused, *self.selection.told_of_scores}
        own = [step for step in self.selection.explain() if step not in replaced]
        return [*own, *self._told_of_counts(), *self.unused]

    @abstractmethod
    def _told_of_counts(self) -> list[str]:
        """How the counts are made, a plain sentence each."""
