"""What a list leaves out, in noise: users who hold none of its items, and pairs it covers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortlist.draws.reach import LEAST_SD, REACH
from shortlist.release.noisy_scores import Scores

_MOST = 2**63 - 1024
_ROUNDED = math.sqrt(0.5)  # noise of this reach does what rounding does to numbers of pairs


@dataclass(frozen=True)
class Others:
    """Noisy numbers of what is in a list and what is not.

    >>> others = Others(users=120, covered=60, left=40, most_pairs=100, sd=2.0, law="Normal")
    >>> others.users_without
    (120, 116, 124)
    >>> others.coverage
    (0.6, 0.566, 0.634)

    Attributes:
        users: How many users hold none of the named items; a whole number, perhaps below 0.
        covered: How many pairs of a user and an item are of named items, over `most_pairs`;
            likewise.
        left: How many pairs are of other items, over `most_pairs`; likewise.
        most_pairs: What all pairs of one user count for at most; public.
        sd: The standard deviation of the noise in each of the three; public.
        law: The law of the noise before rounding, "Normal" or "Laplace".
    """

    users: int
    covered: int
    left: int
    most_pairs: int
    sd: float
    law: str

    @classmethod
    def of(cls, numbers: Sequence[object], parameters: Mapping[str, object]) -> Others:
        """Of the first three, and what the mechanism says of the rest.

        Raises:
            ValueError: They are no such numbers, or it does not say it.
        """
        law, sd, most = (
            parameters.get(name) for name in ("others_noise", "users_sd", "max_pairs_per_user")
        )
        known = isinstance(sd, float) and 0 < sd < math.inf and isinstance(most, int) and most > 0
        if law not in REACH or not known:
            raise ValueError("the noise of the others must be known.")
        users, covered, left = map(_whole, numbers)
        return cls(users, covered, left, most, sd, str(law))  # type: ignore[arg-type]  # as known

    @property
    def users_without(self) -> tuple[int, int, int]:
        """How many users hold none of the named items, and the ends of its interval.

        In 95 of 100 cases the number is within these, both included.
        """
        of_users = Scores([self.users], unit="noisy count", noise_sd=self.sd)
        return of_users.together(self.law)

    @property
    def coverage(self) -> tuple[float, float, float]:
        """The share of all pairs that the list covers, from 0 to 1, and the ends of its interval.

        In 95 of 100 cases the share is within these. They are those shares s for which
        (1 - s) covered - s left, which is noise around 0 for the true one, is no farther from 0
        than this noise reaches: Fieller's interval. From 0 to 1 where the pairs are few beside
        the noise.
        """
        covered, whole = float(self.covered), float(self.covered + self.left)
        far = REACH[self.law] * max(self.sd, LEAST_SD) + _ROUNDED
        if whole <= math.sqrt(2) * far:
            return (_rounded(covered / whole) if whole > 0 else 0.5), 0.0, 1.0
        # A square below another one: s^2 a - 2 s b + c <= 0.
        a = whole**2 - 2 * far**2
        b = covered * whole - far**2
        root = far * math.sqrt(self.left**2 + covered**2 - far**2)
        low, high = (b - root) / a, (b + root) / a
        return _rounded(covered / whole), _floor(low), _ceil(high)

    def json_values(self) -> dict[str, float]:
        """What was drawn, and what follows from it."""
        _, *ends = self.users_without
        share, *reaches = self.coverage
        return {
            "users_without": self.users,
            "users_without_low": ends[0],
            "users_without_high": ends[1],
            "pairs_covered": self.covered * self.most_pairs,
            "pairs_left": self.left * self.most_pairs,
            "coverage": share,
            "coverage_low": reaches[0],
            "coverage_high": reaches[1],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, object], parameters: Mapping[str, object]) -> Others:
        """What `json_values` has said, beside the parameters of the mechanism.

        Raises:
            ValueError: It is none of that.
        """
        most = parameters.get("max_pairs_per_user")
        users, *pairs = (said.get(n) for n in ("users_without", "pairs_covered", "pairs_left"))
        if not all(isinstance(number, int) for number in (most, *pairs)):
            raise ValueError("the others must be whole numbers.")
        others = cls.of([users, *(number // most for number in pairs)], parameters)  # type: ignore[operator]  # whole
        if others.json_values() != said:
            raise ValueError("what follows from the others must be what is said of them.")
        return others

    def __str__(self) -> str:
        (users, *ends), (share, *reaches) = self.users_without, self.coverage
        return (
            f"about {users:,} users hold none of these items, {ends[0]:,} to {ends[1]:,} in 95 of "
            f"100 cases; of all pairs of a user and an item, those of one user counted as "
            f"{self.most_pairs:,} at most, the list covers about {share:.1%}, {reaches[0]:.1%} to "
            f"{reaches[1]:.1%} in 95 of 100 cases"
        )


def _whole(number: object) -> int:
    """A whole number, within 64 bits: noise beyond says nothing."""
    if not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError("the others must be numbers.")
    return max(-_MOST, min(int(number), _MOST))


def _rounded(share: float) -> float:
    return round(min(max(share, 0.0), 1.0), 3)


def _floor(share: float) -> float:
    return math.floor(min(max(share, 0.0), 1.0) * 1000) / 1000


def _ceil(share: float) -> float:
    return math.ceil(min(max(share, 0.0), 1.0) * 1000) / 1000
