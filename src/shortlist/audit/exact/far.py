"""A few data sets and settings far from the small ones, where code may begin to be another.

Numbers wrap at 2^31, floats are coarse from 2^24 or 2^53 on and vanish 745 behind, and there may be
a branch for many items, for many that are equal, or for small parameters. Only mechanisms are
looked at whose laws stay small there: with k = 1, an answer about 60 items is one of 60.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shortlist.audit.audited_parameters import Kind, class_of, options_of
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.findings import Finding
from shortlist.audit.universes import Data
from shortlist.evidence import PrivateCounts, PublicCounts, WeightedHistogram, Wins
from shortlist.mechanisms import Gamma, Mechanism, Peeling, PermuteAndFlip
from shortlist.mechanisms.wrappers import (
    ChosenCap,
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    NoisyOthers,
    OfScores,
)

_UNDERFLOWS = 745  # below exp(-745) floats are 0
_EXPONENTS = (4, 8, 12, 16, 24, 31, 32, 40, 48, 53, 61)
_MIDDLE = (20, 50, 70, 200)
_SETTINGS: tuple[dict[str, Any], ...] = (
    {"k": 1, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 1},
    {"k": 1, "epsilon": 0.01, "delta": 1e-9, "max_items_per_user": 10},
    {"k": 1, "epsilon": 2.0, "delta": 0.02, "max_items_per_user": 50},
    {"k": 1, "epsilon": 0.1, "delta": 0.02, "max_items_per_user": 6},
)
_TWO_LAWS = NoisyCounts, NoisyClippedCounts, NoisyOthers, ChosenCap, EachGroup, OfScores
_COMPARISONS = 7  # of one user, at most: there are many ways to make them
_BY_PICKS = (Peeling, PermuteAndFlip)  # whose laws of six picks of seven items are found in seconds
_PICKED = 6
_MOST_PICKS: dict[str, Any] = {"k": _PICKED, "epsilon": 2.0, "delta": 0.0, "max_items_per_user": 7}


def far_settings(kind: Kind) -> Iterator[Mechanism]:
    """Instances of a mechanism that are looked at far away."""
    made: Any = class_of(kind)
    if issubclass(made, _TWO_LAWS):
        return
    (option, *_) = options_of(kind)
    picks = [_MOST_PICKS] if issubclass(made, _BY_PICKS) else []
    for given in (*_SETTINGS, *picks):
        most = {"max_comparisons_per_user": min(given["max_items_per_user"], _COMPARISONS)}
        own = {name: x for name, x in (given | most).items() if name in made.fields()}
        yield made(**(own | option))


def audit_far(mechanism: Mechanism) -> list[Finding]:
    """As `audit_exactly`, on these data sets alone; nothing, if there are none.

    Args:
        mechanism: With its parameters; with k above 1, fewer data sets are looked at.
    """
    most = mechanism.audit_hints().n_items
    families = [one for one in _families(mechanism) if most is None or len(one[0]) <= most]
    return audit_exactly(mechanism, families=families) if families else []


def _families(mechanism: Mechanism) -> Iterator[list[Data]]:
    hints = mechanism.audit_hints()
    k = hints.most_items or 1
    if mechanism.evidence is WeightedHistogram and hints.most_items is None:
        yield [((0, 0),) * min(hints.user_bound or 1, _PICKED)]
    if mechanism.evidence not in (PublicCounts, PrivateCounts, Wins):
        return
    yield from _of_two(mechanism)
    if k == 1 and not isinstance(mechanism, Gamma):  # whose laws are sums over faces of a cube
        yield from _of_many()
    if k == _PICKED and isinstance(mechanism, _BY_PICKS):
        yield [(*[100] * k, 0)]


def _of_two(mechanism: Mechanism) -> Iterator[list[Data]]:
    """Counts that are large, just below it, equal, one apart, or far apart."""
    exponents = _EXPONENTS if not isinstance(mechanism, Gamma) else _EXPONENTS[:-2]  # balls end
    large = [2**n for n in exponents] + list(_MIDDLE)
    behind = int(_UNDERFLOWS / mechanism.epsilon)
    gaps = [int(x / mechanism.epsilon) for x in (10, 30, 100)] + [behind - 1, behind + 2]
    yield [pair for n in large for pair in ((n, n), (n + 1, n), (n, 1), (n - 1, 1))]
    yield [(gap + 1, 1) for gap in [*gaps, 4 * behind]]


def _of_many() -> Iterator[list[Data]]:
    """Twelve or ten items, and sixty; that all are equal, or that some lead."""
    for n in (10, 12):
        yield [(5,) * n, (9,) + (1,) * (n - 1), (9,) * (n - 1) + (1,)]
    yield [(100,) + (1,) * 59]
