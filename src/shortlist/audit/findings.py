"""What an audit found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

__all__ = ["Finding", "Verdict", "share_of"]

_NOTHING = 1e-20  # less than that is how balls see 0


class Verdict(Enum):
    """What is certain of a claim, on the pairs that were looked at."""

    LEFT_OUT = "left out"
    HOLDS = "holds"
    UNDECIDED = "undecided"
    BROKEN = "broken"

    @property
    def rank(self) -> int:
        """The larger, the worse."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Finding:
    """What was found of one claim.

    Attributes:
        mechanism: Its name.
        setting: Its parameters.
        claim: What is claimed: epsilon, delta, curve, rho, …
        limit: The largest loss that is claimed.
        loss: The largest loss that was found, rounded up; for samples, what it certainly is above.
        pair: The neighbours of that loss.
        pairs: How many pairs were looked at.
        verdict: What is certain.
        at: At which epsilon or order the loss was found, or how certain it is.
        reason: Why nothing could be decided, where that is so whatever the pair; of what is left
            out, what that is.
    """

    mechanism: str
    setting: str
    claim: str
    limit: float
    loss: float
    pair: tuple[str, str]
    pairs: int
    verdict: Verdict
    at: str = ""
    reason: str = ""

    @classmethod
    def of_samples(
        cls,
        mechanism: str,
        setting: str,
        *,
        epsilon: float,
        delta: float,
        loss: float,
        pair: tuple[str, str],
        samples: int,
    ) -> Finding:
        """That a loss at this delta is certainly exceeded."""
        return cls(
            mechanism=mechanism,
            setting=setting,
            claim="epsilon",
            limit=epsilon,
            loss=loss,
            pair=pair,
            pairs=samples,
            verdict=Verdict.BROKEN if loss > epsilon else Verdict.UNDECIDED,
            at=f"delta {delta:.4g}",
        )

    @property
    def used(self) -> float:
        """The loss as a share of the limit."""
        return share_of(self.limit, self.loss)

    @property
    def is_loss(self) -> bool:
        """Whether a loss is claimed to be limited; else it is a promise that is not kept."""
        return self.limit > 0 or self.at != ""

    @property
    def text(self) -> str:
        """The claim in words."""
        at = f" at {self.at}" if self.at else ""
        return f"{self.claim} at most {self.limit:.4g}{at}" if self.is_loss else self.claim

    def worse(self, other: Finding) -> Finding:
        """The worse of two of the same pairs."""
        return max((self, other), key=lambda f: (f.verdict.rank, f.used))

    def merged(self, other: Finding) -> Finding:
        """The worse of two, with all pairs that were looked at for either."""
        return replace(self.worse(other), pairs=self.pairs + other.pairs)


def share_of(limit: float, loss: float) -> float:
    """The loss as a share of the limit, infinite where nothing was to be lost."""
    if limit > 0:
        return loss / limit
    return 0.0 if loss < _NOTHING else math.inf
