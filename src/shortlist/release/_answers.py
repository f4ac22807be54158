"""What a reader of a list asks, and the answers: from what the release says, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from shortlist.release._explained import explained, finds_private_items, people_to_be_named
from shortlist.release._promises import meaning, of_epsilon, protected, taken
from shortlist.release.described import NONE_CHARGED, GivenBefore
from shortlist.release.intervals import has_intervals, told_of_intervals
from shortlist.release.sheet import advice, harmless, parameters, ranks_are_apart

if TYPE_CHECKING:
    from shortlist.release import Release

__all__ = ["UNPROVEN", "Answer", "answers", "of_budget", "title"]

_SCORES = {  # what a score is, by its unit
    "noisy weight": (
        "No. A score is a noisy weight: a user who holds one item adds 1 to it, and one who holds "
        "several adds less than 1 to each. So it is usually below the number of users who hold the "
        "item, sometimes far below, and cannot be turned into that number."
    ),
    "noisy count": "Yes, but noisy: each is a number of users, with random noise added.",
    "noisy clipped count": (
        "Nearly: each is a number of users, with random noise added, to which a user who holds "
        "many of the items found adds less than 1. So it may lie below the number of users who "
        "hold the item."
    ),
    "noisy number of wins": (
        "They are noisy numbers of wins: how many comparisons the item won, with random noise "
        "added."
    ),
}
_MISSING = {  # why an item may be missing, by question
    "rank": "it may have won often, but less often than those listed",
    "hitting-set": "most of its users may hold another item of the list already",
}
_BEST_FIRST = ("top-k", "rank")  # a set is found by other numbers than its scores, in rounds
_MORE = "other items may have more users"
_RARE = "it may have too few users to be named safely"
_BELOW = "noise may have kept it below the threshold"
_BEHIND = "noise may have put it behind others"


_TITLES = {
    "top-k": "The items that the most users hold",
    "domain": "All items with enough users to be named safely",
    "hitting-set": "Items that together reach the most users",
    "rank": "The items that do best in comparisons",
}
UNPROVEN = "A file cannot prove who made it, or that it was not changed."


class Answer(NamedTuple):
    """A question, and its answer in paragraphs; points are set apart below them."""

    question: str
    paragraphs: list[str]
    points: list[str]


def title(release: Release) -> str:
    """What the list is."""
    named = _TITLES.get(release.question, harmless(release.question))
    return f"{named}, by {', '.join(map(harmless, release.by))}" if release.by else named


def of_budget(release: Release) -> str:
    """Which budget it was charged to."""
    if release.budget not in ("", NONE_CHARGED):
        again = f" {_of_again(release.given_before)}" if release.given_before else ""
        return f"It was charged to this budget: {harmless(release.budget)}.{again}"
    said = "It was counted in no budget" if release.budget else "It names no budget"
    return f"{said}. Whoever publishes it must keep account of all lists about the same people."


def _of_again(before: GivenBefore) -> str:
    return (
        f"It is not new: it was given again from what the budget has kept of charge "
        f"{before.charge}, of {before.day.isoformat()}. The table was not read again, and may have "
        "changed since."
    )


def answers(release: Release) -> list[Answer]:
    """All of them, in the order in which one asks."""
    return [
        Answer("Who is protected?", protected(release.guarantee), taken(release.guarantee)),
        Answer(of_epsilon(release.guarantee), meaning(release.guarantee), []),
        Answer(_of_missing(release), _missing(release), []),
        Answer("Are the scores counts?", list(_scores(release)), []),
        *([Answer("Is the order right?", list(_order(release)), [])] if len(release) > 1 else []),
        *_drawn(release),
    ]


def _of_missing(release: Release) -> str:
    if release.question == "rank":
        return "Did a missing item win nothing?"
    return "Does a missing item have no users?"


def _missing(release: Release) -> list[str]:
    k, more = release.k, advice(release)
    needed = people_to_be_named(release.mechanism)
    lines = [" ".join([f"Not necessarily: {_why(release)}.", *needed])]
    if k is not None and release.by:
        lines.append(f"The list of a group ends at the latest with number {k:,}, as asked for.")
    elif k is not None and len(release) >= k:
        lines.append(f"The list ends here because {k:,} were asked for.")
    return [*lines, more] if more else lines


def _why(release: Release) -> str:
    """Why an item may be missing."""
    reasons = [_RARE] if finds_private_items(release.mechanism) is not False else []
    if release.k is None:
        return ", or ".join([*reasons, _BELOW])
    return ", or ".join([_MISSING.get(release.question, _MORE), *reasons, _BEHIND])


def _scores(release: Release) -> Iterator[str]:
    scores = release.scores
    if scores is None:
        yield "There are none. The list does not say how many users hold an item."
        return
    default = f"Each score is this: {harmless(scores.unit)}, with random noise added."
    yield _SCORES.get(scores.unit, default)
    most = "at most " if scores.unit == "noisy clipped count" else ""
    yield f"The noise has a standard deviation of {most}{scores.noise_sd:.4g}.{_of_shared(release)}"
    if has_intervals(release):
        yield f"{told_of_intervals()} It covers the noise, and nothing else.{_of_luck(release)}"


def _of_luck(release: Release) -> str:
    """What it means that the noise of a score also decided whether the item is listed."""
    apart = "selection" in release.mechanism.parameters()  # counts have noise of their own
    if apart or release.question not in _BEST_FIRST:
        return ""
    return (
        " The same noise helped to decide which items are listed: near the end of the list, scores "
        "are more often too high than too low."
    )


def _of_shared(release: Release) -> str:
    if release.scores is None or release.scores.shared_sd is None:
        return ""
    which = "all scores of a group" if release.by else "all scores"
    return (
        f" Part of it is one random number, of standard deviation {release.scores.shared_sd:.4g}, "
        f"that was added to {which} alike. It changes no difference between two of them, but "
        "builds up when they are added."
    )


def _order(release: Release) -> Iterator[str]:
    scores = release.scores
    if scores is None and release.question == "domain":
        yield "There is none to be right or wrong: the items are listed by name."
        return
    yield "Roughly. Items that are close together may be in the wrong order."
    if has_intervals(release):
        yield "Where the intervals of two items overlap, do not rely on which of them is ahead."
    if ranks_are_apart(release):
        yield "The noise of the ranks is not that of the scores, so the two may disagree."


def _drawn(release: Release) -> Iterator[Answer]:
    needed = people_to_be_named(release.mechanism)
    lines = [line for line in explained(release.mechanism) if line not in needed]
    numbers = parameters(release.guarantee, release.mechanism)
    numbers[0] = f"All parameters: {numbers[0]}"
    yield Answer("How was the list made?", [], [*map(harmless, lines), *numbers])
