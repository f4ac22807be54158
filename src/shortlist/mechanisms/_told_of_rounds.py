"""What mechanisms say of their rounds, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from shortlist.mechanisms.weighted_gaussian import weight_added

__all__ = ["in_turn", "ordinal", "told_of_first", "told_of_rounds"]


def told_of_rounds(
    thresholds: Sequence[float], sigma: float, *, bound: int | str, named: str, may_stop: bool
) -> list[str]:
    """Which weights users add, the noise, and when an item is `named`, or found.

    >>> told = told_of_rounds((9.5, 4.25), 1.0, bound=3, named="found", may_stop=True)
    >>> print(told[0].partition(" In the first")[0])
    There are up to 2 rounds.
    """
    number = f"{'up to ' if may_stop else ''}{len(thresholds)}"
    added = weight_added(bound)
    close = f"not yet {named}, but close to it by the noisy weights so far"
    sd = f"In the mean of all rounds, its standard deviation is {sigma:.3g}."
    least = in_turn([f"{threshold:.4g}" for threshold in thresholds])
    return [
        f"There are {number} rounds. In the first, {added[0].lower()}{added[1:]}",
        f"In each later round, users move weight to those of their items that are {close}.",
        f"Normal noise is added to each item's weight in each round. {sd}",
        f"An item is {named} if its mean noisy weight is at least {least}.",
    ]


def told_of_first(score_sd: float) -> str:
    """What the scores are, where later rounds decide by other weights."""
    return (
        "The score of an item is its noisy weight of the first round, in noise of standard "
        f"deviation {score_sd:.3g}: of an item that a later round named it may be small."
    )


def in_turn(levels: Sequence[str]) -> str:
    """A level for each round, the first one apart.

    >>> in_turn(["40"]), in_turn(["40", "30"])
    ('40 after the first round', '40 after the first round, or 30 after the next')
    >>> in_turn(["40", "30", "24", "20"])
    '40 after the first round, or 30, 24 and 20 after the next ones'
    """
    first, *later = levels
    if not later:
        return f"{first} after the first round"
    if len(later) == 1:
        return f"{first} after the first round, or {later[0]} after the next"
    following = f"{', '.join(later[:-1])} and {later[-1]}"
    return f"{first} after the first round, or {following} after the next ones"


def ordinal(number: int) -> str:
    """The number in a row.

    >>> ordinal(1), ordinal(12), ordinal(10_003)
    ('1st', '12th', '10,003rd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ending}"
