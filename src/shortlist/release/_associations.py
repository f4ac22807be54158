"""Items that were looked at for a relation to a label: which are named, and what is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shortlist.parameters import Side

if TYPE_CHECKING:
    from shortlist.algorithms.e_values import Associated
    from shortlist.release.json_values import AnyMechanism
    from shortlist.release.release import Release

DIFFERENCES = (
    "Percentage points by which the share of users who hold the item is larger among cases than "
    "among controls. 95 of 100 such intervals contain the difference without noise. They are "
    "about these data alone, and are no estimate for other people."
)
_LARGE = 1e6


def rate_of(mechanism: AnyMechanism) -> float | None:
    """Which share of the items named may be false, or None where that was not asked for."""
    rate = mechanism.parameters().get("fdr")
    return rate if isinstance(rate, float) else None


def is_named(mechanism: AnyMechanism, one: Associated) -> bool:
    """Whether an item that was looked at is in the answer."""
    rate = rate_of(mechanism)
    return rate is not None and one.level <= rate


def evidence_in_words(one: Associated) -> str:
    """The e-value, in few digits."""
    if one.e_value >= _LARGE:
        return f"{one.e_value:.1e}"
    return f"{one.e_value:,.0f}" if one.e_value >= 100 else f"{one.e_value:.3g}"


def difference_in_words(one: Associated) -> str:
    """The difference of shares in percentage points, and its interval.

    >>> from shortlist.algorithms.e_values import Associated
    >>> difference_in_words(Associated("more", 9.0, 0.1, 0.0321, 0.02, 0.0442))
    '+3.2 (+2.0 to +4.4)'
    """
    middle, low, high = (100 * x for x in (one.difference, one.low, one.high))
    digits = next((d for d in (1, 2, 3) if high - low >= 10.0**-d), 4)
    return f"{middle:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def evidence(release: Release) -> Iterator[str]:
    """What is known of the items named, and what is not."""
    rate = rate_of(release.mechanism)
    yield (
        f"Of all items named, a share of at most {rate:g} is false, on average over repetitions. "
        "If items depend on each other, all items of one list may be false. This says nothing "
        "about privacy."
    )
    yield (
        "For an item without a relation to the label, the e-value is at most 1 on average, so a "
        "large one is evidence. The level is the smallest such share at which the item would have "
        "been named."
    )
    yield DIFFERENCES
    if release.mechanism.parameters().get("side") == Side.BOTH.value:
        yield "That share does not cover whether an item is more or less common among cases."


def notes_of(release: Release) -> Iterator[tuple[str, str]]:
    """The same in short, beside the list."""
    if release.associations is None:
        return
    from shortlist.mechanisms.association import NO_ACTIVITY, NO_GROUPS, NO_RELATION

    rate, looked_at = rate_of(release.mechanism), len(release.associations)
    named = (
        f"{len(release):,} of {looked_at:,} items that were looked at; of those named, a share of "
        f"at most {rate:g} is false, on average over repetitions. This says nothing about privacy."
    )
    yield "named", named
    yield "relation", f"{NO_RELATION} {NO_GROUPS} {NO_ACTIVITY}"
    yield "difference", DIFFERENCES
