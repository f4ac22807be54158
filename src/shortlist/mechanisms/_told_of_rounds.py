"""What mechanisms say of their rounds, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["in_turn", "told_of_rounds"]


def told_of_rounds(
    thresholds: Sequence[float], sigma: float, *, bound: int | str, named: str, may_stop: bool
) -> list[str]:
    """Which weights users add, the noise, and when an item is `named`, or found.

    >>> told = told_of_rounds((9.5, 4.25), 1.0, bound=3, named="found", may_stop=True)
    >>> print(told[0])
    There are up to 2 rounds. In the first, each user adds weight 1/sqrt(t) to t items, t at most 3.
    """
    number = f"{'up to ' if may_stop else ''}{len(thresholds)}"
    first = f"In the first, each user adds weight 1/sqrt(t) to t items, t at most {bound}."
    close = f"items that are close to being {named}, by the noisy weights so far"
    sd = f"In the mean of all rounds, its standard deviation is {sigma:.3g}."
    least = in_turn([f"{threshold:.4g}" for threshold in thresholds])
    return [
        f"There are {number} rounds. {first}",
        f"In each later round, users move weight to {close}.",
        f"Normal noise is added to each item's weight in each round. {sd}",
        f"An item is {named} if its mean noisy weight is at least {least}.",
    ]


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
