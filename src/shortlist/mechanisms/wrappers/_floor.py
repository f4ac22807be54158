"""A floor on numbers of users: of the items selected, those whose noisy counts reach it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shortlist.draws import Draws, Floats
from shortlist.draws.noise import Laplace, Normal
from shortlist.draws.normal_law import normal_chances
from shortlist.mechanisms.finding import ByPlay, Detection

# So far above 0, or farther, noise lies with a probability of at most 0.01; both are rounded up.
_FAR_OF_NORMAL = 2.3264  # in standard deviations
_FAR_OF_LAPLACE = 3.9121  # in scales: the logarithm of 50

AT_MOST = "an item that fewer than {:,} users hold is named in at most 1 of 100 cases"


class Floor(NamedTuple):
    """The least noisy count with which an item is named, and what that means for its users.

    It is so far above the number asked for that noise lifts an item of fewer users there in at most
    1 of 100 cases. A count of `kept_from` or more falls below it in at most 1 of 100.

    >>> floor = Floor.of(Normal(10.0), 100)
    >>> floor.least, floor.kept_from
    (123, 147)

    Attributes:
        min_users: The number of users asked for.
        far: How far noise reaches to either side in all but 1 of 100 cases.
        step: What noisy counts are rounded down to multiples of; 0 if it is decided before that.
    """

    min_users: int
    far: float
    step: float = 0.0

    @classmethod
    def of(cls, noise: Laplace | Normal, min_users: int, step: float = 0.0) -> Floor:
        """For counts in this noise."""
        if isinstance(noise, Laplace):
            return cls(min_users, _FAR_OF_LAPLACE * noise.scale, step)
        return cls(min_users, _FAR_OF_NORMAL * noise.sd, step)

    @property
    def least(self) -> int:
        """What a noisy count has to reach: `far` above the most that is fewer than asked for."""
        return math.ceil(self.min_users - 1 + self.far)

    @property
    def kept_from(self) -> int:
        """The least count that is `far` above that."""
        return math.ceil(self.least + self.far + self.step)

    def explained(self) -> list[str]:
        """What it does, a plain sentence each."""
        named = (
            "Of these only items are named whose noisy count is at least "
            f"{self.least:,}: {AT_MOST.format(self.min_users)}."
        )
        kept = (
            "One that is selected is named in at least 99 of 100 cases if it is counted for "
            f"{self.kept_from:,} users or more."
        )
        return [named, kept]


@dataclass(frozen=True)
class FoundAndCounted(Detection):
    """The item is found, and its count in noise of its own reaches a floor.

    Attributes:
        found: How it is found.
        floor: What it has to reach.
        noise: Of its count.
    """

    found: Detection
    floor: Floor
    noise: Laplace | Normal

    @property
    def around(self) -> float:  # type: ignore[override]
        return self.found.around

    @property
    def most(self) -> int | None:  # type: ignore[override]
        return self.found.most

    @property
    def caption(self) -> str:  # type: ignore[override]
        needed = f"Its noisy count has to be at least {self.floor.least:,}, too."
        return f"{self.found.caption}\n{needed}"

    def users_at_half(self, held: int) -> float:
        return max(self.found.users_at_half(held), self.floor.least)

    def chances(self, users: Sequence[int], held: int, draws: Draws) -> Floats | None:
        found = self.found.chances(users, held, draws)
        return None if found is None else found * self._counted(users)

    def _counted(self, users: Sequence[int]) -> Floats:
        """The chance that the count of so many users, in noise, reaches the floor."""
        over = np.asarray(users, np.float64) - self.floor.least
        if isinstance(self.noise, Normal):
            return normal_chances(over / self.noise.sd)
        tails = np.exp(-np.abs(over) / self.noise.scale) / 2
        return np.where(over < 0, tails, 1 - tails)


@dataclass(frozen=True, kw_only=True)
class PlayedWithFloor(ByPlay):
    """Whatever finds and counts items, by clipped counts of a bound that suits all users.

    Attributes:
        floor: What a count has to reach at the bound 1.
    """

    floor: Floor
    caption: str = (
        f"{ByPlay.caption}\nA floor reaches higher where others hold more: how high is chosen "
        "privately."
    )

    def users_at_half(self, held: int) -> float:
        floor = self.floor.min_users + self.floor.far * math.sqrt(held)
        return max(super().users_at_half(held), floor)
